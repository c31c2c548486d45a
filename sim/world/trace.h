/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened in a world, as one number: every byte that came by any link,
 * with its time, and what the world's parts add. Two runs that did the same have the same.
 */
#ifndef SIM_WORLD_TRACE_H
#define SIM_WORLD_TRACE_H

#include "common/base/clock.h"

#include <stddef.h>
#include <stdint.h>

struct loop;

struct trace {
	const struct loop *loop;
	uint64_t hash, frames, bytes;
};

/* Links write into t from now on; NULL: into none. t is borrowed. */
void trace_begin(struct trace *t, const struct loop *l);

#endif
