/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests that wait for library calls. */
#include "lm/csr/csr_internal.h"
#include "common/base/array.h"
#include "lm/proc/current.h"
#include "lm/proc/hooks.h"

#include <stdlib.h>

/* --- parameters */

/* The highest number of a $par that the call has. */
static unsigned pars_of(const struct csr *c)
{
	const struct call_desc *d = call_get((unsigned)c->func);

	return d ? (c->phase == CALL_START ? d->start_npar : d->end_npar) : 0;
}

/* A partner is a rank of the world, or a process of this host. */
static int read_partner(const struct csr *c, const struct omis_value *v, int32_t *out)
{
	const struct proc *p;
	const char *token;
	int64_t rank;
	size_t n;

	if (omis_value_i64(v, &rank)) {
		*out = (int32_t)rank;
		return rank >= 0 && rank <= INT32_MAX ? 0 : -ERR_INVALID;
	}
	token = omis_value_text(v, &n);
	p = token ? procs_find(c->owner->conf.procs, token, n) : NULL;
	if (!p || p->own.rank < 0)
		return -ERR_INVALID;
	*out = p->own.rank;
	return 0;
}

static int read_partners(struct csr *c, const struct omis_value *list, struct reply *r)
{
	c->partner = calloc(list->list.n + 1, sizeof(*c->partner));
	if (!c->partner)
		return -ERR_NOMEM;
	for (size_t i = 0; i < list->list.n; i++) {
		if (read_partner(c, &list->list.v[i], &c->partner[c->npartner])) {
			reply_add_error(
				r, 0, "", STATUS_PARAMETER_ERROR,
				"partner %zu is neither a rank nor an MPI process of this host",
				i + 1);
			return -ERR_INVALID;
		}
		c->npartner++;
	}
	if (c->npartner)
		qsort(c->partner, c->npartner, sizeof(*c->partner), array_order_int32);
	return 0;
}

static int read_call(struct csr *c, const struct omis_call *event, struct reply *r)
{
	c->func = call_find(omis_value_text(&event->param[1], NULL));
	return c->is_patop ? read_partners(c, &event->param[2], r) : 0;
}

static bool has_par(const struct csr *c, int k)
{
	unsigned most = pars_of(c);

	if (c->is_patop)
		most = c->phase == CALL_START ? 2 : 1;
	else if (k == 0 && c->phase == CALL_END)
		return true;
	return k >= 1 && (unsigned)k <= most;
}

/* --- in one process */

static bool find_call(struct csr_site *s)
{
	s->chain = (unsigned)s->csr->func;
	s->npar = pars_of(s->csr);
	return true;
}

/*
 * True if the current call of a thread began before the hook was on: its time counts from now on.
 */
static bool is_late(const struct csr *c, const struct proc *p, unsigned thread,
		    struct segview_current *call)
{
	struct segview_thread t;
	const struct proc_thread *owner;

	if (segview_thread(p->seg, thread, &t) || !segview_current(p->seg, thread, call) ||
	    !call->is_inside || (int)call->func != c->func)
		return false;
	owner = proc_find_tid(p, (int32_t)t.tid);
	if (!csr_is_for_proc(c, p) && !(owner && csr_is_for_thread(c, p, owner)))
		return false;
	return !c->npartner || csr_has_partner(c, current_partner(&p->own, call));
}

static void note_late(const struct csr *c, const struct csr_site *s)
{
	struct proc *p = s->proc;
	struct segview_current call;

	for (unsigned k = 0; c->phase == CALL_START && k < segview_threads(p->seg); k++)
		if (is_late(c, p, k, &call))
			for (size_t i = 0; i < c->prefix; i++)
				if (s->entry[i] >= 0)
					segview_action_late(p->seg, (unsigned)s->entry[i], k,
							    call.number);
}

static int watch_call(struct csr_site *s, uint32_t bits)
{
	const struct csr *c = s->csr;
	int rc = hooks_add_interest(s->proc, HOOKS_CSR(c->number), c->func, bits, 0);

	hooks_apply(s->proc, c->func);
	if (!rc)
		note_late(c, s);
	return rc;
}

static void unwatch_call(struct csr_site *s)
{
	if (hooks_drop_interests(s->proc, HOOKS_CSR(s->csr->number)))
		hooks_apply(s->proc, s->csr->func);
}

static const struct event_kind kinds[] = {
	{ "patop_lib_call_ended", .phase = CALL_END, .is_patop = true },
	{ "patop_lib_call_started", .phase = CALL_START, .is_patop = true },
	{ "thread_has_ended_lib_call", .phase = CALL_END },
	{ "thread_has_started_lib_call", .phase = CALL_START },
	{ NULL },
};

static const struct site_ops site = { .find = find_call,
				      .watch = watch_call,
				      .unwatch = unwatch_call };

const struct event_source_ops call_source = {
	.kind = kinds, .read = read_call, .has_par = has_par, .site = &site
};
