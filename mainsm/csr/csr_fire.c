/* SPDX-License-Identifier: Apache-2.0 */
/* Events of conditional requests: executes the remaining actions and notifies the tool. */
#include "mainsm/csr/csr.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/catalogue.h"
#include "common/time/timebase.h"
#include "mainsm/csr/csr_internal.h"
#include "mainsm/tool/locks.h"
#include "tree/branches.h"
#include "tree/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STANDARD_ECPS 5

/* A firing while its actions are executed. */
struct firing {
	struct tool_csr *csr;
	struct reply *reply; /* owned; begins with the results of the branch */
	size_t first;
	struct token node, proc, thread; /* referenced by trigger */
	struct trigger trigger;
};

static void firing_free(struct firing *f)
{
	if (!f)
		return;
	hold_drop(f->trigger.hold);
	reply_free(f->reply);
	free(f);
}

static const char *keep(struct token *to, const char *from)
{
	str_copy(to->s, sizeof(to->s), from);
	return to->s;
}

/* Returns the object that the tool gets: the innermost one that is known. */
static const char *object_of(const struct trigger *t)
{
	return t->thread[0] ? t->thread : t->proc[0] ? t->proc : t->node;
}

static struct firing *firing_new(const struct csr_firing *how)
{
	struct firing *f = calloc(1, sizeof(*f));
	char dropped[48] = "";
	int rc;

	if (!f)
		return NULL;
	f->csr = how->csr;
	f->first = how->first;
	f->trigger = (struct trigger){ keep(&f->node, how->trigger.node),
				       keep(&f->proc, how->trigger.proc),
				       keep(&f->thread, how->trigger.thread), how->trigger.time_ns,
				       hold_use(how->trigger.hold) };
	f->reply = reply_new();
	rc = f->reply ? 0 : -ERR_NOMEM;
	if (how->csr->dropped)
		snprintf(dropped, sizeof(dropped), "\"dropped\",%" PRIu64, how->csr->dropped);
	if (!rc)
		rc = reply_add(f->reply, 0, object_of(&f->trigger), STATUS_CSR_TRIGGERED, dropped);
	if (!rc)
		rc = wire_add_entries(f->reply, how->entry, how->nentry);
	if (!rc)
		return f;
	firing_free(f);
	return NULL;
}

/* Sends TRIGGERED and ends the firing. */
static void finish(struct firing *f)
{
	struct tool_csr *csr = f->csr;

	f->reply->id = csr->id;
	f->reply->kind = STATUS_CSR_TRIGGERED;
	if (csr->session && !reply_set_csr(f->reply, csr->token.s))
		session_reply(csr->session, f->reply);
	firing_free(f);
	tool_csr_fire_ended(csr);
}

static void on_done(void *arg, struct reply *r)
{
	struct firing *f = arg;

	/* The run has numbered its actions from 1; in the whole list they follow the first ones. */
	for (size_t i = 0; r && i < r->nentry; i++)
		if (r->entry[i].action)
			r->entry[i].action += (uint32_t)f->first;
	if (!r || reply_append(f->reply, r))
		reply_add(f->reply, 0, NULL, STATUS_NO_MEMORY, "no memory for the reply");
	reply_free(r);
	finish(f);
}

static void put_token(struct omis_ecp *e, const char *name, const char *token)
{
	e->name = name;
	e->value.kind = OMIS_TOKEN;
	e->value.s.p = token[0] ? token : "u_0";
	e->value.s.n = strlen(e->value.s.p);
}

/* node, proc, thread, time, csr; then the event's own. */
static struct omis_ecp *make_ecps(const struct csr_firing *how)
{
	struct omis_ecp *v = calloc(STANDARD_ECPS + how->npar, sizeof(*v));

	if (!v)
		return NULL;
	put_token(&v[0], "node", how->trigger.node);
	put_token(&v[1], "proc", how->trigger.proc);
	put_token(&v[2], "thread", how->trigger.thread);
	v[3].name = "time";
	v[3].value.kind = OMIS_FLOAT;
	v[3].value.f = (double)how->trigger.time_ns / (double)NSEC_PER_SEC;
	put_token(&v[4], "csr", how->csr->token.s);
	for (size_t i = 0; i < how->npar; i++)
		v[STANDARD_ECPS + i] = how->par[i];
	return v;
}

static int run_actions(const struct csr_firing *how, struct firing *f)
{
	struct tool_csr *csr = how->csr;
	struct session *s = csr->session;
	struct omis_ecp *ecp = make_ecps(how);
	struct omis_ecps ecps = { ecp, STANDARD_ECPS + how->npar };
	struct omis_request *bound = NULL;
	struct omis_diag diag = { 0 };
	struct run_spec spec = {
		.view = tool_view_now(&s->view),
		.user = s,
		.source = &f->trigger,
		.top = true,
		.identity = s->identity,
		.tool = s->number,
		.right = s->right,
		.csr = csr->token.s,
		.depth = how->depth,
		.owner = &s->runs,
		.on_done = on_done,
		.arg = f,
	};
	int rc = ecp ? omis_bind(&(struct omis_part){ csr->request, how->first,
						      csr->request->naction - how->first },
				 &ecps, &bound, &diag)
		     : -ERR_NOMEM;

	free(ecp);
	if (rc) {
		reply_add(f->reply, diag.action, NULL,
			  diag.status ? diag.status : status_from_err(rc), diag.err.text);
		return rc;
	}
	rc = locks_run(csr->c->conf.locks, &bound, &spec, NULL);
	if (rc)
		reply_add(f->reply, 0, NULL, status_from_err(rc),
			  "the actions could not be executed");
	omis_request_free(bound);
	return rc;
}

/* True when the event has been too frequent for longer than a burst. */
static bool is_overload(struct tool_csr *csr, nsec_t now)
{
	nsec_t seconds = (now - csr->second) / NSEC_PER_SEC;

	if (seconds < 1)
		return false;
	csr->overloads = seconds == 1 && csr->offered + csr->is_thinned > TOOL_FIRINGS_PER_SEC_MAX
				 ? csr->overloads + 1
				 : 0;
	csr->second = now;
	csr->offered = 0;
	csr->is_thinned = false;
	return csr->overloads >= CSR_OVERLOADS_MAX;
}

static void count_load(struct session *s, nsec_t now)
{
	if (now - s->load.since < NSEC_PER_SEC)
		return;
	s->load.since = now;
	s->load.raised = s->load.fired = 0;
}

/* Checks the limit for actions here. Results of actions at a branch are only passed on. */
static bool has_room(const struct csr_firing *how)
{
	struct session *s = how->csr->session;

	if (how->first >= how->csr->request->naction)
		return true;
	count_load(s, loop_now(how->csr->c->conf.loop));
	return s->load.fired++ < TOOL_FIRINGS_PER_SEC_MAX;
}

/*
 * A host that drops events has sent the permitted number: one more is too many. The reported
 * number does not reduce the share of others, since it may be false.
 */
static void note_dropped(struct tool_csr *csr, uint64_t n)
{
	csr->is_thinned |= n > 0;
	tool_csr_lose(csr, n);
}

/*
 * True for a csr that causes no event. It is in no loop, whatever depth a host reports: the report
 * may be false.
 */
static bool only_asks(const struct tool_csr *csr)
{
	const struct omis_request *r = csr->request;

	for (size_t i = 0; i < r->naction; i++)
		if (r->action[i].service->class != OMIS_INFO)
			return false;
	return true;
}

/* Checks the limits. Returns false if no action may be executed. */
static bool may_fire(const struct csr_firing *how)
{
	struct tool_csr *csr = how->csr;

	if (how->depth > CAUSAL_DEPTH_MAX && !only_asks(csr)) {
		tool_csr_suspend(csr, "\"suspended: its actions lead to its own event\"");
		return false;
	}
	if (is_overload(csr, loop_now(csr->c->conf.loop))) {
		tool_csr_suspend(csr,
				 "\"suspended: its event happens more than 1000 times a second\"");
		return false;
	}
	csr->offered++;
	note_dropped(csr, how->dropped);
	if (csr->offered <= TOOL_FIRINGS_PER_SEC_MAX && has_room(how))
		return true;
	tool_csr_lose(csr, 1);
	return false;
}

/*
 * Evaluates the predicates in front of a list; an event of a branch has passed them there. Without
 * memory no event passes.
 */
static bool passes(const struct csr_firing *how)
{
	struct predicates *f = how->csr->predicates;
	struct omis_ecps ecps = { NULL, STANDARD_ECPS + how->npar };
	bool yes;

	if (how->first >= predicates_leading(f))
		return true;
	ecps.v = make_ecps(how);
	yes = ecps.v && predicates_pass(f, &ecps, loop_now(how->csr->c->conf.loop));
	free((void *)ecps.v);
	return yes;
}

int tool_csrs_predicate(struct tool_csrs *c, const struct run_spec *spec, uint32_t action,
			const struct omis_call *call)
{
	const struct trigger *t = spec->source;
	const struct firing *f = t ? list_entry(t, struct firing, trigger) : NULL;

	if (!f)
		return -ERR_INVALID;
	return predicate_passes(f->csr->predicates, f->first + action - 1, call,
				loop_now(c->conf.loop))
		       ? 0
		       : RUN_ENDS;
}

static void tool_csr_fire(const struct csr_firing *event)
{
	struct csr_firing copy = *event, *how = &copy;
	struct tool_csr *csr = how->csr;
	struct firing *f;

	if (!passes(how))
		return;
	if (how->first < predicates_leading(csr->predicates))
		how->first = predicates_leading(csr->predicates);
	if (!may_fire(how))
		return;
	f = firing_new(how);
	if (!f) {
		tool_csr_lose(csr, 1);
		return;
	}
	csr->dropped = 0;
	csr->has_reported = true;
	csr->keepers++;
	csr->firings++;
	csr->c->stats.fired++;
	if (how->first >= csr->request->naction || run_actions(how, f))
		finish(f);
}

/* --- events that lms report */

int tool_csr_check_entries(const struct tool_csr *csr, const struct branch *b,
			   const struct msg_entry *entry, size_t n, struct err *e)
{
	if (!branch_owns_entries(b, entry, n))
		return err_set(e, ERR_DENIED, "a result of objects that are not its own");
	for (size_t i = 0; i < n; i++)
		if (entry[i].action > csr->request->naction)
			return err_set(e, ERR_PROTO, "a result of action %u, which there is not",
				       entry[i].action);
	return 0;
}

struct pars {
	struct omis_ecp ecp[OMIS_PAR_ECPS];
	char name[OMIS_PAR_ECPS][32];
	struct omis_values *owned[OMIS_PAR_ECPS];
	size_t n;
};

/* Writes $par7, or the seventh of the event's own parameter names. */
static void name_par(const struct omis_service *event, uint32_t index, char out[32])
{
	const char *at = event->ecps ? event->ecps : "par";
	size_t n;

	if (omis_service_has_ecp(event, "par1", 4) || !event->ecps) {
		snprintf(out, 32, "par%u", index);
		return;
	}
	for (uint32_t i = 1; i < index && *at; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	n = strcspn(at, " ");
	snprintf(out, 32, "%.*s", (int)n, at);
}

/* A probe's first parameter has a second name. */
static void name_vt(const struct omis_service *event, struct pars *p)
{
	if (!omis_service_has_ecp(event, "vt", 2) || p->n >= OMIS_PAR_ECPS)
		return;
	p->ecp[p->n] = (struct omis_ecp){ "vt", p->ecp[p->n - 1].value };
	p->owned[p->n++] = NULL;
}

static int read_pars(const struct omis_service *event, const struct msg_triggered *m,
		     struct pars *p, struct err *e)
{
	for (size_t i = 0; i < m->npar && p->n < OMIS_PAR_ECPS; i++) {
		const struct msg_par *par = &m->par[i];
		int rc = omis_parse_values((const char *)par->value.p, par->value.n,
					   &p->owned[p->n], e);

		if (rc)
			return rc;
		if (p->owned[p->n]->n != 1 || par->index >= OMIS_PAR_ECPS) {
			omis_values_free(p->owned[p->n]);
			return err_set(e, ERR_PROTO, "parameter %u of an event is not one value",
				       par->index);
		}
		name_par(event, par->index, p->name[p->n]);
		p->ecp[p->n].name = p->name[p->n];
		p->ecp[p->n].value = p->owned[p->n]->v[0];
		p->n++;
		if (par->index == 1)
			name_vt(event, p);
	}
	return 0;
}

static void free_pars(struct pars *p)
{
	for (size_t i = 0; i < p->n; i++)
		omis_values_free(p->owned[i]);
}

/*
 * Returns the number of actions that the branch has executed, in order: the leading predicates,
 * and those up to the highest number with an entry.
 */
static size_t executed_below(const struct tool_csr *csr, const struct msg_triggered *m)
{
	size_t n = predicates_leading(csr->predicates);

	for (size_t i = 0; i < m->nentry; i++)
		if (m->entry[i].action > n && m->entry[i].action <= csr->request->naction)
			n = m->entry[i].action;
	return n;
}

static void not_armed(struct tool_csrs *c, uint32_t branch, const char *token)
{
	struct msg m = { .type = MSG_DISARM, .disarm = { .csr = token } };

	c->stats.strays++;
	branches_send(c->conf.branches, branch, &m);
}

/*
 * Returns the depth of the event, one more than that of its cause. All depths beyond the limit are
 * equal.
 */
static unsigned depth_of(const struct msg_triggered *m)
{
	return 1 + (m->depth < CAUSAL_DEPTH_MAX ? m->depth : CAUSAL_DEPTH_MAX);
}

/* Refuses results of a branch for actions of mainsm, whose text may name any object. */
static int check_places(const struct tool_csr *csr, const struct msg_triggered *m, struct err *e)
{
	for (size_t i = 0; i < m->nentry; i++) {
		uint32_t action = m->entry[i].action;

		if (action && csr->request->action[action - 1].service->where == OMIS_AT_TOP)
			return err_set(e, ERR_PROTO,
				       "a result of action %u, which is not executed there",
				       action);
	}
	return 0;
}

static int triggered(struct tool_csrs *c, uint32_t branch, const struct msg_triggered *m,
		     struct hold *hold, struct err *e)
{
	const struct branch *b = branches_at(c->conf.branches, branch);
	struct tool_csr *csr = tool_csrs_find_any(c, m->csr);
	struct pars pars = { 0 };
	int rc;

	/* The event happened before the csr was disarmed there. */
	if (csr && !tool_csr_is_enabled(csr) && parting_awaits(&csr->parting, branch)) {
		tool_csr_lose(csr, 1 + parting_bounded(m->dropped));
		return 0;
	}
	if (!csr || !tool_csr_is_enabled(csr) || !standing_find(csr->standing, branch)) {
		not_armed(c, branch, m->csr);
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	}
	if (!branch_owns_event(b, m))
		return err_set(e, ERR_DENIED, "an event of objects that are not its own");
	rc = tool_csr_check_entries(csr, b, m->entry, m->nentry, e);
	if (!rc)
		rc = check_places(csr, m, e);
	if (!rc)
		rc = read_pars(csr->request->event->service, m, &pars, e);
	if (!rc)
		tool_csr_fire(&(struct csr_firing){
			.csr = csr,
			.par = pars.ecp,
			.npar = pars.n,
			.trigger = { m->node, m->proc, m->thread, m->time_ns, hold },
			.first = executed_below(csr, m),
			.entry = m->entry,
			.nentry = m->nentry,
			.dropped = m->dropped,
			.depth = depth_of(m) });
	free_pars(&pars);
	return rc;
}

int tool_csrs_triggered(struct tool_csrs *c, uint32_t branch, const struct msg_triggered *m,
			struct err *e)
{
	struct hold *hold = m->held ? hold_new(c->conf.branches, branch, m) : NULL;
	int rc = triggered(c, branch, m, hold, e);

	hold_drop(hold);
	return rc;
}

/* --- events that arise in mainsm: those that tools raise, and reads of measurements */

static size_t values_to_pars(const struct omis_service *event, const struct omis_value *values,
			     struct pars *p)
{
	for (size_t i = 0; i < values->list.n && i + 1 < OMIS_PAR_ECPS; i++) {
		name_par(event, (uint32_t)i + 1, p->name[i]);
		p->ecp[i].name = p->name[i];
		p->ecp[i].value = values->list.v[i];
		p->n++;
	}
	return p->n;
}

/* True if the csr waits for that event. An empty list means each event of the tool. */
static bool waits_for(const struct tool_csr *csr, const char *event)
{
	const struct omis_value *list = &csr->request->event->param[0];

	if (!tool_csr_is_enabled(csr) || csr->request->event->service->object != event[0])
		return false;
	return (list->kind == OMIS_LIST && list->list.n == 0) || smap_find(&csr->objects, event);
}

int tool_csrs_raise(struct tool_csrs *c, struct session *s, const struct csr_raise *r)
{
	const struct trigger nothing = { "", "", "",
					 timebase_at(c->conf.timebase, loop_now(c->conf.loop)),
					 NULL };
	struct smap_iter i = { 0 };
	struct pars pars = { 0 };
	struct token hit[TOOL_CSRS_MAX];
	size_t n = 0;

	count_load(s, loop_now(c->conf.loop));
	if (s->load.raised >= TOOL_RAISES_PER_SEC_MAX)
		return -ERR_LIMIT;
	s->load.raised++;
	/* A firing may delete or define csrs, so names are collected first. */
	while (smap_next(&s->csrs, &i)) {
		struct tool_csr *csr = i.value;

		if (waits_for(csr, r->event))
			hit[n++] = csr->token;
	}
	for (size_t k = 0; k < n; k++) {
		struct tool_csr *csr = tool_csr_find(s, hit[k].s);

		if (!csr || !tool_csr_is_enabled(csr))
			continue;
		pars.n = 0;
		values_to_pars(csr->request->event->service, r->values, &pars);
		tool_csr_fire(&(struct csr_firing){ .csr = csr,
						    .par = pars.ecp,
						    .npar = pars.n,
						    .trigger = r->source ? *r->source : nothing,
						    .depth = r->depth + 1 });
	}
	return 0;
}
