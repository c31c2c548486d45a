/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/ring/made.h"

#include "common/ring/calls_id.h"

#include <stdlib.h>
#include <string.h>

void made_init(struct made *m, unsigned threads, uint64_t ring_bytes)
{
	struct seg_header *h;

	memset(&m->plan, 0, sizeof(m->plan));
	seg_plan(&m->plan, CALL_COUNT, threads, ring_bytes);
	m->n = m->plan.segment_bytes;
	m->p = aligned_alloc(64, (m->n + 63) / 64 * 64);
	if (!m->p)
		abort();
	memset(m->p, 0, m->n);
	h = (void *)m->p;
	*h = m->plan;
	h->magic = SEG_MAGIC;
}

void made_done(struct made *m)
{
	free(m->p);
}

static uint8_t *block(const struct made *m, unsigned thread)
{
	return m->p + m->plan.thread_offset + thread * m->plan.thread_bytes;
}

struct seg_thread *made_thread(const struct made *m, unsigned thread)
{
	return (void *)block(m, thread);
}

struct seg_slot *made_slot(const struct made *m, unsigned thread, unsigned func)
{
	return (struct seg_slot *)(void *)(block(m, thread) + m->plan.slot_offset) + func;
}

struct seg_cell *made_cells(const struct made *m, unsigned thread)
{
	return (void *)(block(m, thread) + m->plan.cell_offset);
}

struct ring made_ring(const struct made *m, unsigned thread)
{
	struct seg_thread *t = made_thread(m, thread);

	return (struct ring){ block(m, thread) + m->plan.ring_offset, m->plan.ring_bytes,
			      &t->ring_head, &t->ring_tail, &t->ring_dropped };
}

struct action_tables made_tables(const struct made *m, unsigned thread, struct cell_potential *p)
{
	return (struct action_tables){
		.heads = (void *)(m->p + m->plan.head_offset),
		.actions = (void *)(m->p + m->plan.action_offset),
		.lists = (void *)(m->p + m->plan.list_offset),
		.cells = made_cells(m, thread),
		.potentials = p,
	};
}
