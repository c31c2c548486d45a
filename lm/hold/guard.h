/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lm-guard of this lm. It waits for the end of the lm, and then continues the processes in the
 * journal. So no process stays stopped until the next lm starts. lm-guard runs while a process is
 * held, and for a while after that.
 */
#ifndef LM_HOLD_GUARD_H
#define LM_HOLD_GUARD_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stdint.h>

/* Idle time: a tool that stops processes every few seconds starts the guard once. */
#define GUARD_IDLE_NS (20 * NSEC_PER_SEC)
/* delay of a restart after the guard was killed, or could not be started */
#define GUARD_RETRY_NS (1 * NSEC_PER_SEC)

struct guard;
struct loop;

struct guard_conf {
	struct loop *loop; /* borrowed */
	const char *program; /* path of lm-guard; copied */
	const char *journal; /* copied */
	uint64_t epoch; /* of the lm */
};

struct guard *guard_new(const struct guard_conf *c);

/* Ends lm-guard, which then releases no process. NULL is fine. */
void guard_free(struct guard *g);

/*
 * Starts lm-guard before a process is stopped, or permits its end. Failure to start is logged.
 * NULL is fine.
 */
void guard_want(struct guard *g, bool is_wanted);

/* 0: lm-guard does not run. */
int32_t guard_pid(const struct guard *g);

#endif
