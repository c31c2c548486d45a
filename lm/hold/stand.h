/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Polls whether a process has stopped after a stop signal: all its threads, as the kernel reports
 * them.
 */
#ifndef LM_HOLD_STAND_H
#define LM_HOLD_STAND_H

#include "common/base/clock.h"
#include "lm/host/host.h"

/* threads that are examined in one turn, 15 us each, so that the loop continues */
#define STAND_POLLS_MAX 64
/* a woken thread needs some 50 us on an idle processor */
#define STAND_FIRST_NS (200 * NSEC_PER_USEC)

/* The progress of polling one process; initially all 0. */
struct stand {
	int32_t last; /* the thread that was examined last; 0: none */
	char state; /* last state of the running thread */
	bool was_traced; /* in this round over the threads of the process */
	bool is_second; /* the round before had the same result */
};

/*
 * Continues to poll, and subtracts its reads from *looks. False: a thread may run, the process
 * ends, or *looks is used up. A traced thread must be stopped in two polls, because it stops at
 * each watched event.
 */
bool stand_poll(struct host *h, int32_t pid, struct stand *s, unsigned *looks);

#endif
