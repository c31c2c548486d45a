/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process to which a signal that stops was sent stands: all its threads, as the kernel
 * shows them. */
#ifndef LM_HOLD_STAND_H
#define LM_HOLD_STAND_H

#include "common/base/clock.h"
#include "lm/host/host.h"

#define STAND_POLLS_MAX 64 /* at threads in one turn, 15 us each: the loop must continue */
/* a woken thread needs some 50 us on an idle processor */
#define STAND_FIRST_NS (200 * NSEC_PER_USEC)

/* The progress of the polls of one process; all 0 at the beginning. */
struct stand {
	int32_t last; /* thread that was examined last; 0: none */
	char state; /* last state of the thread that runs */
	bool was_traced; /* in this round over its threads */
	bool is_second; /* the round before had the same result */
};

/*
 * Continues to poll, and takes what that needs from *looks. False: a thread may run, the process
 * ends, or *looks is used up. A thread that is traced has to stand in two polls. It stands at each
 * event that is watched for.
 */
bool stand_poll(struct host *h, int32_t pid, struct stand *s, unsigned *looks);

#endif
