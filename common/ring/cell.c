/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and integrators. This is hot code, with the rules of ring.c. A cell has one writer. A
 * release store keeps the odd sequence word before each member, and each member before the even
 * one; readers load with acquire.
 */
#include "common/ring/action.h"

static void put_double(double *to, double v)
{
	__atomic_store(to, &v, __ATOMIC_RELEASE);
}

void cell_count_add(struct seg_cell *c, int64_t n)
{
	/* A single word needs no sequence word. Unsigned, so that overflow is defined. */
	__atomic_store_n(&c->n, (int64_t)((uint64_t)c->n + (uint64_t)n), __ATOMIC_RELAXED);
}

void cell_integrator_add(struct seg_cell *c, double delta, uint64_t now)
{
	double v = c->v + delta;
	double span = now > c->t ? (double)(now - c->t) : 0;

	if (!(v >= 0))
		return;
	__atomic_store_n(&c->seq, c->seq + 1, __ATOMIC_RELAXED);
	put_double(&c->integral, c->integral + c->v * span);
	put_double(&c->v, v);
	if (now > c->t)
		__atomic_store_n(&c->t, now, __ATOMIC_RELEASE);
	__atomic_store_n(&c->seq, c->seq + 1, __ATOMIC_RELEASE);
}

void cell_patop_add(struct seg_cell *c, struct cell_potential *p, double delta, uint64_t now,
		    bool potential)
{
	if (potential) {
		*p = (struct cell_potential){ .t = now, .delta = delta, .set = true };
		return;
	}
	if (delta < 0 && p->set) {
		p->set = false;
		cell_integrator_add(c, p->delta, p->t);
	}
	cell_integrator_add(c, delta, now);
}
