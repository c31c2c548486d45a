/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a gate for an image. */
#ifndef TRACER_GATE_BUILD_H
#define TRACER_GATE_BUILD_H

#include "tracer/gate/image.h"

struct build_conf {
	uint64_t base; /* of the gate in the process */
	int32_t inner_pid; /* as the process sees it */
	const char *library, *conn, *runtime, *host;
};

/*
 * Fills a gate of zeros, or arms a valid one again. Its slots and the numbers of its names stay:
 * slots, and pointers that the program has taken, lead to the entries of these numbers. -ERR_LIMIT:
 * a text or the names are too long.
 */
int build_gate(const struct image *m, const struct build_conf *c, struct gate *g, struct err *e);

/* -ERR_LIMIT: there is no room. */
int build_add_slot(struct gate *g, const struct gate_slot *slot);

#endif
