/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a world as one hash: every byte received on any link, with its time, and additions
 * of the world's parts. Two equal runs have the same hash.
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

/* Links add to t from now on; NULL: to no trace. t is borrowed. */
void trace_begin(struct trace *t, const struct loop *l);

#endif
