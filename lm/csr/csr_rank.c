/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests inside the ranks. Actions that only add to counters and integrators become
 * entries of the segment's table and run in the rank. For all others the rank writes a record of
 * the event.
 */
#include "common/base/array.h"
#include "lm/csr/csr_internal.h"
#include "lm/instrument/pa.h"
#include "lm/proc/tickbase.h"

#include <stdlib.h>
#include <string.h>

static bool is_ecp(const struct omis_value *v, const char *name)
{
	return v->kind == OMIS_ECP && v->s.n == strlen(name) && !memcmp(v->s.p, name, v->s.n);
}

/*
 * Sets an operand: a number, or a parameter of the event. With partners, $par1 is a volume and
 * $par2 is unknown in the rank.
 */
static bool set_operand(const struct csr_site *s, const struct omis_value *v, struct seg_action *a)
{
	const struct csr *c = s->csr;
	int k;

	if (omis_value_double(v, &a->value)) {
		a->operand = ACTION_CONST;
		return true;
	}
	if (v->kind != OMIS_ECP)
		return false;
	k = omis_par_number(v->s.p, v->s.n);
	if (c->is_patop) {
		a->operand = ACTION_VOLUME;
		return k == 1;
	}
	a->operand = ACTION_PAR;
	a->par = (uint32_t)k;
	return k >= 1 && (unsigned)k <= s->npar;
}

/*
 * Sets a leading predicate: one test of a parameter runs in the rank. Behind any other predicate
 * the lm changes counters from the records. Beyond 2^53 the rank could not distinguish whole
 * numbers.
 */
static bool set_test(const struct csr_site *s, struct seg_action *a)
{
	const struct csr *c = s->csr;
	struct predicate_test t;

	if (!predicates_leading(c->predicates))
		return true;
	if (c->is_patop || !predicates_simple(c->predicates, &t) || t.par > s->npar ||
	    !(t.value > -0x1p53 && t.value < 0x1p53))
		return false;
	a->test = (uint16_t)(ACTION_IF_EQ + t.op);
	a->test_par = (uint16_t)t.par;
	a->test_value = t.value;
	return true;
}

/*
 * The rank determines whether a call is potential: by $par2 of a start, and never at an end. Other
 * forms of the parameter are evaluated here.
 */
static bool is_potential_of_event(const struct csr *c, const struct omis_value *v)
{
	int64_t n;

	if (c->phase == CALL_START)
		return is_ecp(v, "par2");
	return omis_value_i64(v, &n) && n == 0;
}

static const struct {
	const char *name;
	enum action_op op;
} ops[] = {
	{ "pa_counter_global_increment", ACTION_COUNTER_ADD },
	{ "pa_counter_local_increment", ACTION_COUNTER_ADD },
	{ "pa_integrator_global_increment", ACTION_INTEGRATOR_ADD },
	{ "pa_integrator_local_increment", ACTION_INTEGRATOR_ADD },
	{ "patop_integrator_global_increment", ACTION_PATOP_INTEGRATOR_ADD },
	{ "patop_integrator_local_increment", ACTION_PATOP_INTEGRATOR_ADD },
};

static enum action_op op_of(const struct csr *c, const struct omis_call *call)
{
	enum action_op op = ACTION_NONE;

	for (size_t i = 0; i < ARRAY_LEN(ops); i++)
		if (!strcmp(call->name, ops[i].name))
			op = ops[i].op;
	if (op == ACTION_NONE || op == ACTION_COUNTER_ADD)
		return op;
	if (!is_ecp(&call->param[2], "time"))
		return ACTION_NONE;
	if (op == ACTION_PATOP_INTEGRATOR_ADD &&
	    !(c->is_patop && is_potential_of_event(c, &call->param[3])))
		return ACTION_NONE;
	return op;
}

static bool compile(const struct csr_site *s, const struct omis_call *call, struct seg_action *a)
{
	const struct csr *c = s->csr;

	memset(a, 0, sizeof(*a));
	if (!set_test(s, a))
		return false;
	a->func = (uint16_t)s->chain;
	a->phase = (uint8_t)c->phase;
	a->flags = c->is_patop ? ACTION_PATOP : 0;
	a->op = (uint16_t)op_of(c, call);
	return a->op != ACTION_NONE && call->param[0].kind == OMIS_TOKEN &&
	       set_operand(s, &call->param[1], a);
}

/* Ascending; NULL and 0 when all threads of the process count. */
static int find_threads(const struct csr *c, const struct proc *p, int32_t **tid, size_t *n)
{
	*tid = NULL;
	*n = 0;
	if (csr_is_for_proc(c, p))
		return 0;
	*tid = calloc(p->nthread + 1, sizeof(**tid));
	if (!*tid)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->nthread; i++)
		if (csr_is_for_thread(c, p, &p->thread[i]))
			(*tid)[(*n)++] = p->thread[i].tid;
	for (size_t i = 1; i < *n; i++)
		for (size_t k = i; k && (*tid)[k] < (*tid)[k - 1]; k--) {
			int32_t t = (*tid)[k];

			(*tid)[k] = (*tid)[k - 1];
			(*tid)[k - 1] = t;
		}
	return 0;
}

/* Returns -1 if the action must run in the lm. */
static int install_action(const struct csr_site *s, size_t i)
{
	const struct csr *c = s->csr;
	struct proc *p = s->proc;
	const struct omis_call *call = &c->request->action[i];
	struct pa_name name = { omis_value_text(&call->param[0], NULL), c->tool };
	struct seg_action a;
	unsigned cell, index;
	int32_t *tid;
	size_t n;
	int got;

	if (!compile(s, call, &a) || pa_cell(c->owner->conf.pa, &name, p, &cell, NULL) ||
	    find_threads(c, p, &tid, &n))
		return -1;
	a.cell = (uint16_t)cell;
	if (p->own.counts_late && a.phase == CALL_START && c->func >= 0 && action_may_be_late(&a))
		a.since = tickbase_now(c->owner->conf.ticks, p->own.tick_source);
	a.partner_count = (uint32_t)c->npartner;
	a.thread_count = (uint32_t)n;
	got = segview_action_add(p->seg, &a, c->partner, tid, &index);
	free(tid);
	return got < 0 ? -1 : (int)index;
}

static uint32_t hook_bits(const struct csr *c, const struct csr_site *s)
{
	bool is_start = c->phase == CALL_START;
	uint32_t bits = 0;

	if (s->records)
		bits |= is_start ? HOOK_EVENT_START : HOOK_EVENT_END;
	for (size_t i = 0; i < c->prefix; i++)
		if (s->entry[i] >= 0)
			bits |= is_start ? HOOK_ACTION_START : HOOK_ACTION_END;
	return bits;
}

static void install_entries(struct csr *c, struct csr_site *s)
{
	s->records = c->reply || c->prefix < c->request->naction;
	for (size_t i = 0; i < c->prefix; i++) {
		s->entry[i] = csr_ops(c)->has_blocks || predicate_is(&c->request->action[i])
				      ? -1
				      : install_action(s, i);
		if (s->entry[i] < 0 && !predicate_is(&c->request->action[i]))
			s->records = true;
	}
}

static uint64_t dropped_so_far(const struct proc *p)
{
	struct segview_thread t;
	uint64_t sum = 0;

	for (unsigned i = 0; i < segview_threads(p->seg); i++)
		if (!segview_thread(p->seg, i, &t))
			sum += t.ring_dropped;
	return sum;
}

static void remove_site(struct csr *c, struct csr_site *s)
{
	struct proc *p = s->proc;

	csr_ops(c)->site->unwatch(s);
	for (size_t i = 0; p->seg && i < c->prefix; i++)
		if (s->entry[i] >= 0)
			segview_action_del(p->seg, (unsigned)s->entry[i]);
	list_del(&s->link);
	free(s->entry);
	free(s);
}

static struct csr_site *site_new(struct csr *c, struct proc *p)
{
	struct csr_site *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->csr = c;
	s->proc = p;
	s->entry = calloc(c->prefix + 1, sizeof(*s->entry));
	if (s->entry)
		return s;
	free(s);
	return NULL;
}

int csr_install(struct csr *c, struct proc *p)
{
	const struct site_ops *site = csr_ops(c)->site;
	struct csr_site *s;
	int rc;

	if (!p->seg || csr_find_site(c, p) || c->is_over)
		return 0;
	/* earlier events do not count for c */
	if (!site->goes_on || !site->goes_on(c, p))
		csrs_drain(c->owner, p, CSRS_ALL);
	if (!p->seg)
		return 0;
	s = site_new(c, p);
	if (!s)
		return -ERR_NOMEM;
	if (!site->find(s)) {
		free(s->entry);
		free(s);
		return 0;
	}
	s->ring_dropped = dropped_so_far(p);
	list_push_back(&c->sites, &s->link);
	install_entries(c, s);
	rc = site->watch(s, hook_bits(c, s));
	if (!csr_find_site(c, p))
		/*
		 * adding an interest read the ring: it was invalid, and s was removed with the
		 * segment
		 */
		return 0;
	if (rc)
		remove_site(c, s);
	return rc;
}

void csr_uninstall(struct csr *c, struct proc *p)
{
	struct csr_site *s = csr_find_site(c, p);

	if (s)
		remove_site(c, s);
}

int csr_install_all(struct csr *c)
{
	int rc = 0;

	list_each (i, procs_all(c->owner->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (!rc && csr_is_for_any_thread(c, p))
			rc = csr_install(c, p);
	}
	return rc;
}

void csr_uninstall_all(struct csr *c)
{
	list_each_safe (i, &c->sites)
		remove_site(c, list_entry(i, struct csr_site, link));
}
