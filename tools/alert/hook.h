/* SPDX-License-Identifier: Apache-2.0 */
/* The command of --exec: one at a time, in the order of the states; what is watched waits for none.
 */
#ifndef TOOLS_ALERT_HOOK_H
#define TOOLS_ALERT_HOOK_H

#include "common/base/err.h"

#include <stdint.h>
#include <sys/types.h>

/* On standard input, and as OMIG_ALERT_*. "" = not known. */
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
	const char *command; /* for sh -c; NULL: there is none */
	pid_t running; /* 0: none is */
	char *next[HOOK_WORDS]; /* owned; NULL: none waits for the one that runs */
};

/*
 * Starts it, or keeps it until the one before has ended. ERR_AGAIN: it is kept, and one that was
 * kept is skipped. ERR_SYS, ERR_NOMEM.
 */
int hook_start(struct hook *h, const char *const word[HOOK_WORDS], struct err *e);

/* Forgets one that has ended, and starts the next one. Fails as hook_start(). */
int hook_reap(struct hook *h, struct err *e);

/* Blocks until the next one has begun, if there is one, or a signal arrives. */
void hook_end(struct hook *h);

#endif
