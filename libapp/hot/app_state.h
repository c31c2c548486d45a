/* SPDX-License-Identifier: Apache-2.0 */
/* The process's segment, which MPI_Init, a probe or an event creates. */
#ifndef LIBAPP_HOT_APP_STATE_H
#define LIBAPP_HOT_APP_STATE_H

#include "common/base/clock.h"
#include "common/gate/gate.h"
#include "common/ring/action.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum app_life {
	APP_NONE, /* not set up yet, or never */
	APP_WITHOUT_MPI, /* for probes and events; MPI_Init makes the process a rank */
	APP_RANK,
	APP_FORKED, /* a child of a process without MPI: it may set up a segment of its own */
	APP_OVER, /* a child process of a rank */
};

struct app_state {
	uint8_t *base; /* NULL: not watched */
	size_t bytes;
	/* a private copy, so that nothing is read from shared memory twice */
	struct seg_header plan;
	enum ticks_source ticks;
	int life; /* enum app_life; atomic */
	int rank, world_size;
	int fd; /* the memfd, or -1; not needed after registration */
	/* the gate through which this library entered a running program; NULL: it was preloaded */
	const struct gate *gate;
	int lm_lock, lm_listener; /* to be inherited by an lm that is being started; else -1 */
};
extern struct app_state app_state;

static inline struct seg_header *app_header(void)
{
	return (struct seg_header *)(void *)app_state.base;
}

static inline uint8_t *app_block(uint32_t index)
{
	return app_state.base + app_state.plan.thread_offset + index * app_state.plan.thread_bytes;
}

#pragma GCC visibility pop

#endif
