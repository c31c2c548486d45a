/* SPDX-License-Identifier: Apache-2.0 */
/* Events of processes and threads as such: they begin, end, and are stopped and continued by the
 * monitor. */
#include "lm/csr/csr_internal.h"

/* Iterates by index: an action may change the list of threads meanwhile. */
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

/*
 * Fires for the process that started the new one, if it is watched, and for the host in any case.
 */
static void fire_new_proc(struct csr *c, const struct csr_changed *x, struct happening *h)
{
	h->proc = x->parent;
	h->own_name = "new_proc";
	h->own_token = x->proc->token.s;
	if (x->parent ? csr_is_for_any_thread(c, x->parent) : csr_is_for_proc(c, x->proc))
		csr_fire(c, h);
}

/* Fires for a new thread, whose creator is unknown. */
static void fire_new_thread(struct csr *c, const struct csr_changed *x, struct happening *h)
{
	h->own_name = "new_thread";
	h->own_token = x->thread->token.s;
	if (csr_is_for_any_thread(c, x->proc))
		csr_fire(c, h);
}

void csr_change(struct csr *c, const struct csr_changed *x)
{
	struct happening h = { .proc = x->proc, .time = x->time, .depth = x->depth };

	if (csr_ops(c) != &proc_source || (c->kind->what & ~CSR_OF_THREADS) != (int)x->what)
		return;
	switch (x->what) {
	case CSR_PROC_NEW:
		fire_new_proc(c, x, &h);
		break;
	case CSR_THREAD_NEW:
		fire_new_thread(c, x, &h);
		break;
	case CSR_THREAD_ENDED:
		h.thread = x->thread;
		if (csr_is_for_thread(c, x->proc, x->thread))
			csr_fire(c, &h);
		break;
	default:
		if (c->kind->what & CSR_OF_THREADS)
			fire_threads(c, &h);
		else if (csr_is_for_proc(c, x->proc))
			csr_fire(c, &h);
	}
}

static const struct event_kind kinds[] = {
	{ "proc_has_been_continued", .what = CSR_CONTINUED },
	{ "proc_has_been_stopped", .what = CSR_STOPPED },
	{ "proc_has_terminated", .what = CSR_PROC_ENDED },
	{ "thread_creates_proc", .what = CSR_PROC_NEW },
	{ "thread_creates_thread", .what = CSR_THREAD_NEW, .watches_threads = true },
	{ "thread_has_been_continued", .what = CSR_CONTINUED | CSR_OF_THREADS },
	{ "thread_has_been_stopped", .what = CSR_STOPPED | CSR_OF_THREADS },
	{ "thread_has_terminated", .what = CSR_THREAD_ENDED, .watches_threads = true },
	{ NULL },
};

const struct event_source_ops proc_source = { .kind = kinds };
