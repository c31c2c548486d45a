/* SPDX-License-Identifier: Apache-2.0 */
/* A segment in plain memory, as libapp would make it. */
#ifndef TESTS_RING_MADE_H
#define TESTS_RING_MADE_H

#include "common/ring/segview.h"

#include <stddef.h>

struct made {
	uint8_t *p; /* 64-aligned */
	size_t n;
	struct seg_header plan;
};

void made_init(struct made *m, unsigned threads, uint64_t ring_bytes);
void made_done(struct made *m);

struct seg_thread *made_thread(const struct made *m, unsigned thread);
struct seg_slot *made_slot(const struct made *m, unsigned thread, unsigned func);
struct seg_cell *made_cells(const struct made *m, unsigned thread);
struct ring made_ring(const struct made *m, unsigned thread);
struct action_tables made_tables(const struct made *m, unsigned thread, struct cell_potential *p);

#endif
