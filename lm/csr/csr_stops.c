/* SPDX-License-Identifier: Apache-2.0 */
/* Events of processes that the monitor itself stops and continues. */
#include "common/base/timebase.h"
#include "lm/csr/csr_internal.h"

/* By index: an action may change the list of threads behind our back. */
static void fire_threads(struct csr *c, struct happening *h)
{
	const struct proc *p = h->proc;

	for (size_t i = 0; i < p->nthread; i++) {
		h->thread = &p->thread[i];
		if (csr_is_for_thread(c, p, h->thread))
			csr_fire(c, h);
	}
	h->thread = NULL;
}

void csrs_stopped(void *csrs, struct proc *p, bool is_stopped, nsec_t at, unsigned depth)
{
	struct csrs *s = csrs;
	enum csr_kind of_proc = is_stopped ? CSR_PROC_STOPPED : CSR_PROC_CONTINUED;
	enum csr_kind of_thread = is_stopped ? CSR_THREAD_STOPPED : CSR_THREAD_CONTINUED;
	struct happening h = { .proc = p,
			       .time = timebase_at(s->conf.timebase, at),
			       .depth = depth };

	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (c->kind == of_proc && csr_is_for_proc(c, p))
			csr_fire(c, &h);
		else if (c->kind == of_thread)
			fire_threads(c, &h);
	}
}
