/* SPDX-License-Identifier: Apache-2.0 */
/* The command of --exec: one at a time, and nothing waits for it. */
#ifndef TOOLS_ALERT_HOOK_H
#define TOOLS_ALERT_HOOK_H

#include "common/base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct hook {
	const char *command; /* for sh -c; NULL: there is none */
	pid_t running; /* 0: none is */
	uint64_t skipped;
};

/* What it gets: on its standard input, and as OMIG_ALERT_*. "" = not known. */
struct hook_event {
	const char *state, *condition, *job, *value, *rank, *text;
};

/*
 * Starts it. ERR_AGAIN: the one before still runs, and this one is skipped. ERR_SYS, ERR_NOMEM.
 */
int hook_start(struct hook *h, const struct hook_event *v, struct err *e);

/* Forgets one that has ended. */
void hook_reap(struct hook *h);

#endif
