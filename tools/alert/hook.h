/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of --exec. One runs at a time, in the order of the states; the watch never waits for
 * it.
 */
#ifndef TOOLS_ALERT_HOOK_H
#define TOOLS_ALERT_HOOK_H

#include "common/base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* Lines of the command's standard input, and its variables OMIG_ALERT_*. "" = not known. */
enum hook_word {
	HOOK_STATE,
	HOOK_CONDITION,
	HOOK_JOB,
	HOOK_VALUE,
	HOOK_RANK,
	HOOK_TEXT,
	HOOK_WORDS
};

struct hook {
	const char *command; /* for sh -c; NULL: none */
	pid_t running; /* 0: none is */
	char *next[HOOK_WORDS]; /* owned; NULL: none is waiting */
};

/*
 * Starts the command, or stores it until the previous one has ended. ERR_AGAIN: stored, and a
 * command that was waiting is dropped. ERR_SYS, ERR_NOMEM.
 */
int hook_start(struct hook *h, const char *const word[HOOK_WORDS], struct err *e);

/* Reaps an ended command, and starts the next one. Fails as hook_start(). */
int hook_reap(struct hook *h, struct err *e);

/* Blocks until the waiting command, if any, has begun, or a signal arrives. */
void hook_end(struct hook *h);

#endif
