/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/csr/csr.h"

#include "common/audit/audit.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/route/rights.h"
#include "common/time/timebase.h"
#include "lm/csr/csr_internal.h"
#include "lm/instrument/events.h"
#include "lm/instrument/probe.h"
#include "lm/task/rights.h"
#include "tree/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static struct csr *find(const struct csrs *s, const char *token)
{
	list_each (i, &s->all)
		if (!strcmp(list_entry(i, struct csr, link)->token, token))
			return list_entry(i, struct csr, link);
	return NULL;
}

static nsec_t system_now(const struct csrs *s)
{
	return timebase_at(s->conf.timebase, loop_now(s->conf.loop));
}

static void change(struct csrs *s, const struct csr_changed *x)
{
	list_each_safe (i, &s->all)
		csr_change(list_entry(i, struct csr, link), x);
}

/* Watches a process that has appeared after the reply to the csr. A failure is logged only. */
static void install(struct csr *c, struct proc *p)
{
	if (csr_install(c, p))
		log_warn("lm", "out of memory, a process is not watched csr=%s pid=%d", c->token,
			 (int)p->pid);
}

/*
 * An earlier lm watched the process for c, and could not save that request. The records in the
 * rings belong to c; the next request that is installed would skip them.
 */
static void take_rest(struct csr *c, struct proc *p)
{
	const struct site_ops *site = csr_ops(c)->site;

	if (!p->seg || !site->goes_on || !site->goes_on(c, p))
		return;
	install(c, p);
	csrs_drain(c->owner, p, CSRS_ALL);
	csr_uninstall(c, p);
}

static void on_born(struct csrs *s, struct proc *p)
{
	const struct csr_changed x = { .what = CSR_PROC_NEW,
				       .proc = p,
				       .parent = procs_find_pid(s->conf.procs, p->parent_pid),
				       .time = system_now(s) };

	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (csr_is_in_rank(c) && csr_is_for_any_thread(c, p))
			install(c, p);
		else if (csr_is_in_rank(c))
			take_rest(c, p);
		csr_change(c, &x);
	}
	csrs_arm_poll(s);
}

static void on_renewed(struct csrs *s, struct proc *p)
{
	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (csr_is_in_rank(c) && csr_is_for_any_thread(c, p))
			install(c, p);
	}
	csrs_arm_poll(s);
}

static void leave_all(struct csrs *s, struct proc *p)
{
	list_each_safe (i, &s->all)
		csr_uninstall(list_entry(i, struct csr, link), p);
	probes_leave(s->conf.probes, p);
	events_leave(p);
	csrs_arm_poll(s);
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct csrs *s = arg;

	switch (what) {
	case PROC_BORN:
		on_born(s, p);
		break;
	case PROC_RENEWED:
		on_renewed(s, p);
		break;
	case PROC_ENDING:
		csrs_drain(s, p, CSRS_ALL);
		leave_all(s, p);
		break;
	case PROC_DETACHING:
		leave_all(s, p);
		break;
	case PROC_ENDED:
		csrs_forget_holds(s, p);
		change(s, &(struct csr_changed){
				  .what = CSR_PROC_ENDED, .proc = p, .time = system_now(s) });
		break;
	default:
		break;
	}
}

static void on_thread(void *arg, struct proc *p, const struct proc_thread *t, bool is_born)
{
	struct csrs *s = arg;

	change(s, &(struct csr_changed){ .what = is_born ? CSR_THREAD_NEW : CSR_THREAD_ENDED,
					 .proc = p,
					 .thread = t,
					 .time = system_now(s) });
}

void csrs_stopped(void *csrs, struct proc *p, bool is_stopped, nsec_t at, unsigned depth)
{
	struct csrs *s = csrs;

	change(s, &(struct csr_changed){ .what = is_stopped ? CSR_STOPPED : CSR_CONTINUED,
					 .proc = p,
					 .time = timebase_at(s->conf.timebase, at),
					 .depth = depth });
}

static void on_restated(void *arg)
{
	struct csrs *s = arg;
	size_t before = s->n;

	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (c->is_stale)
			csr_free(c);
	}
	csrs_arm_poll(s);
	if (s->n < before)
		log_info("lm", "conditional requests ended: the parent does not know them n=%zu",
			 before - s->n);
}

void csrs_link(struct csrs *s, bool is_up)
{
	if (!is_up) {
		csrs_release_all(s);
		loop_timer_cancel(s->restate);
		return;
	}
	list_each (i, &s->all)
		list_entry(i, struct csr, link)->is_stale = true;
	if (s->n)
		loop_timer_arm(s->restate, CSRS_RESTATE_NS);
}

static void on_drain(void *arg, struct proc *p)
{
	csrs_drain(arg, p, CSRS_ALL);
}

static void on_interests_changed(void *arg)
{
	csrs_arm_poll(arg);
}

static int open_sources(struct csrs *s)
{
	assert(s->conf.nsource <= CSR_SOURCES_MAX);
	for (size_t i = 0; i < s->conf.nsource; i++)
		s->source[i] = s->conf.source[i];
	for (size_t i = 0; i < s->conf.nsource; i++) {
		struct event_source *o = &s->source[i];

		if (o->ops->open && !o->ops->open(o, s))
			return -ERR_NOMEM;
	}
	return 0;
}

static void close_sources(struct csrs *s)
{
	for (size_t i = 0; i < s->conf.nsource; i++)
		if (s->source[i].ops && s->source[i].ops->close)
			s->source[i].ops->close(&s->source[i]);
}

struct csrs *csrs_new(const struct csrs_conf *conf)
{
	struct csrs *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->conf = *conf;
	list_init(&s->all);
	list_init(&s->firings);
	list_init(&s->holds);
	s->hold_timer = loop_timer_new(conf->loop, csrs_on_hold_timer, s);
	s->poll = loop_timer_new(conf->loop, csrs_on_poll, s);
	s->restate = loop_timer_new(conf->loop, on_restated, s);
	s->losses = loop_timer_new(conf->loop, csrs_on_losses, s);
	if (!s->poll || !s->restate || !s->hold_timer || !s->losses) {
		loop_timer_free(s->losses);
		loop_timer_free(s->hold_timer);
		loop_timer_free(s->poll);
		loop_timer_free(s->restate);
		free(s);
		return NULL;
	}
	s->listener =
		(struct procs_listener){ .on_proc = on_proc, .on_thread = on_thread, .arg = s };
	procs_listen(conf->procs, &s->listener);
	probes_set_ring(conf->probes, &(struct probes_ring){ on_drain, on_interests_changed, s });
	if (!open_sources(s))
		return s;
	csrs_free(s);
	return NULL;
}

static void unlist(struct csr *c)
{
	const struct event_source_ops *ops = csr_ops(c);
	struct csrs *s = c->owner;

	if (ops->leave)
		ops->leave(c);
	csr_uninstall_all(c);
	if (c->kind->watches_threads)
		procs_watch_threads(s->conf.procs, -1);
	csrs_cancel_firings(s, c);
	list_del(&c->link);
	s->n--;
	if (ops->disarm)
		ops->disarm(c);
}

void csr_free(struct csr *c)
{
	if (!list_is_empty(&c->link))
		unlist(c);
	if (c->source && csr_ops(c)->free)
		csr_ops(c)->free(c);
	predicates_free(c->predicates);
	omis_request_free(c->request);
	reply_free(c->answer);
	free(c->object);
	free(c->partner);
	free(c->probe);
	free(c->token);
	free(c->identity);
	free(c);
}

void csrs_free(struct csrs *s)
{
	if (!s)
		return;
	s->is_ending = true;
	list_each_safe (i, &s->all)
		csr_free(list_entry(i, struct csr, link));
	csrs_release_all(s);
	list_each (i, procs_all(s->conf.procs))
		events_leave(list_entry(i, struct proc, link));
	probes_set_ring(s->conf.probes, &(struct probes_ring){ 0 });
	procs_unlisten(&s->listener);
	loop_timer_free(s->hold_timer);
	loop_timer_free(s->losses);
	loop_job_cancel(&s->refresh);
	close_sources(s);
	loop_timer_free(s->poll);
	loop_timer_free(s->restate);
	free(s);
}

static void note_par(void *arg, const char *name)
{
	*(bool *)arg = true;
}

/* user_event_raise without resume holds its process: a csr on that event may manipulate it. */
static bool is_worth_a_hold(const struct omis_call *call)
{
	int64_t resume = 1;

	if (call->service->right >= OMIS_MANIPULATE)
		return true;
	if (strcmp(call->name, "user_event_raise"))
		return false;
	omis_value_i64(&call->param[2], &resume);
	return resume == 0;
}

/* A csr of a tool that may only observe never holds a process. */
static bool wants_hold(const struct csr *c)
{
	if (c->right < OMIS_MANIPULATE || !c->owner->conf.may_manipulate)
		return false;
	for (size_t i = c->prefix; i < c->request->naction; i++)
		if (is_worth_a_hold(&c->request->action[i]))
			return true;
	return false;
}

static void note_refused(const struct csr *c, const struct omis_call *call)
{
	if (!route_may_call(c->right, call))
		audit_note(c->owner->conf.audit, &(struct audit_entry){ .identity = c->identity,
									.session = c->tool,
									.csr = c->token,
									.call = call,
									.wall = clock_wall() });
}

/* Checks the rights before the csr is enabled, and not when its event occurs. */
static int read_request(struct csr *c, const struct msg_arm *m, struct reply *r)
{
	struct omis_diag d;
	struct err e = { 0 };
	int rc = omis_read_inner((const char *)m->text.p, m->text.n, &c->request, &d);

	if (rc) {
		reply_from_diag(r, d.status, &d.err);
		return rc;
	}
	if (!c->request->event) {
		err_set(&e, ERR_INVALID, "a request without an event cannot be armed");
		reply_from_diag(r, STATUS_SYNTAX_ERROR, &e);
		return -ERR_INVALID;
	}
	if (!rights_allow(m->identity, c->request, m->local_prefix, &c->right)) {
		err_set(&e, ERR_DENIED, "%s may not do that",
			m->identity[0] ? "this identity" : "a request without an identity");
		note_refused(c, c->request->event);
		for (size_t i = 0; i < m->local_prefix && i < c->request->naction; i++)
			note_refused(c, &c->request->action[i]);
		reply_from_diag(r, STATUS_NO_PERMISSION, &e);
		return -ERR_DENIED;
	}
	if (c->request->naction > CSR_ACTIONS_MAX) {
		err_set(&e, ERR_LIMIT, "%d actions are the most that an event may start",
			CSR_ACTIONS_MAX);
		reply_from_diag(r, STATUS_PARAMETER_ERROR, &e);
		return -ERR_LIMIT;
	}
	c->prefix = m->local_prefix < c->request->naction ? m->local_prefix : c->request->naction;
	for (size_t i = c->prefix; i < c->request->naction; i++)
		omis_call_ecps(&c->request->action[i], note_par, &c->rest_uses_pars);
	c->holds = wants_hold(c);
	return csr_read_event(c, r);
}

static int make(struct csrs *s, const struct msg_arm *m, struct csr **out)
{
	struct token_parts parts;
	struct csr *c;

	if (token_parse(m->csr, strlen(m->csr), &parts) || parts.kind != TOKEN_CSR)
		return -ERR_INVALID;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ERR_NOMEM;
	c->owner = s;
	list_init(&c->link);
	list_init(&c->sites);
	list_init(&c->own_sites);
	c->func = -1;
	c->number = (uint32_t)parts.number;
	c->tool = m->tool;
	c->version = m->version;
	c->reply = m->reply;
	c->token = str_dup(m->csr);
	c->identity = str_dup(m->identity);
	if (!c->token || !c->identity) {
		csr_free(c);
		return -ERR_NOMEM;
	}
	*out = c;
	return 0;
}

static void follow_on(struct csr *c, struct csr *old)
{
	c->seq = old->seq;
	c->dropped = old->dropped;
	predicates_continue(c->predicates, old->predicates);
	csr_drop_firings(c, old);
}

/*
 * The old csr first drains the rings and is freed, so that no event counts twice. The csr of a
 * subscription (`before`) is freed after the new one is installed. So each process changes to the
 * new one in one step, and no event is off in between. The new csr is installed in all processes,
 * or in none.
 */
static int take_place(struct csrs *s, struct csr *c)
{
	struct csr *old = find(s, c->token), *before = csr_before(c);
	int rc = 0;

	if (old) {
		csr_drain(old);
		follow_on(c, old);
	}
	if (old && old != before)
		csr_free(old);
	list_push_back(&s->all, &c->link);
	s->n++;
	if (c->kind->watches_threads)
		procs_watch_threads(s->conf.procs, 1);
	if (csr_is_in_rank(c))
		rc = csr_install_all(c);
	if (before)
		csr_free(before);
	if (rc)
		csr_free(c);
	csrs_arm_poll(s);
	return rc;
}

static void send_armed(struct csrs *s, const char *csr, uint32_t version, const struct reply *r)
{
	struct msg_entry *entry = calloc(r->nentry + 1, sizeof(*entry));
	size_t n = entry ? wire_entries(r, 0, entry, r->nentry) : 0;

	s->conf.send(s->conf.arg, &(struct msg){ .type = MSG_ARM_ACK,
						 .arm_ack = { .csr = csr,
							      .version = version,
							      .entry = entry,
							      .nentry = n } });
	free(entry);
}

/* A csr that is restored needs no reply: the lm before this one has sent it. */
static void report(struct csrs *s, const char *csr, uint32_t version, struct reply *r)
{
	if (!s->is_restoring)
		send_armed(s, csr, version, r);
	reply_free(r);
}

void csr_report_armed(struct csr *c)
{
	struct reply *r = c->answer;

	c->answer = NULL;
	if (r)
		report(c->owner, c->token, c->version, r);
}

/* *out: the csr, when its event source sends the reply later. */
static int arm(struct csrs *s, const struct msg_arm *m, struct reply *r, struct csr **out)
{
	struct err e = { 0 };
	struct csr *c;
	int rc;

	if (s->n >= CSRS_MAX && !find(s, m->csr)) {
		err_set(&e, ERR_LIMIT, "%d conditional requests are armed on this host", CSRS_MAX);
		return reply_from_diag(r, status_from_err(-ERR_LIMIT), &e);
	}
	rc = make(s, m, &c);
	if (rc == -ERR_INVALID) {
		err_set(&e, ERR_INVALID, "this is not a token of a conditional request");
		return reply_from_diag(r, STATUS_PARAMETER_ERROR, &e);
	}
	if (rc)
		return rc;
	rc = read_request(c, m, r);
	if (rc && rc != -ERR_NOMEM && csr_name_refused(c, r))
		rc = -ERR_NOMEM;
	if (rc) {
		csr_free(c);
		c = find(s, m->csr);
		if (c)
			csr_free(c); /* the older version is obsolete */
		return rc == -ERR_NOMEM ? rc : 0;
	}
	rc = take_place(s, c);
	if (rc)
		return rc;
	csr_report_unwatched(c, r);
	if (csr_ops(c)->arm && csr_ops(c)->arm(c, m, r))
		*out = c;
	return 0;
}

int csrs_arm(struct csrs *s, const struct msg_arm *m)
{
	struct reply *r = reply_new();
	struct csr *later = NULL;
	int rc = r ? arm(s, m, r, &later) : -ERR_NOMEM;

	if (rc)
		reply_free(r);
	else if (later)
		later->answer = r;
	else
		report(s, m->csr, m->version, r);
	return rc ? rc : 0;
}

/* Called before the csr is freed: drains the rings, and reports all lost events. */
static void part(struct csr *c)
{
	struct csrs *s = c->owner;

	c->is_parting = true;
	if (!csr_ops(c)->has_blocks)
		csr_drain(c);
	csr_drop_firings(c, c);
	csr_send_losses(
		s, &(struct msg_losses){ .csr = c->token, .dropped = c->dropped, .is_last = true });
}

void csrs_disarm(struct csrs *s, const char *token)
{
	struct csr *c = find(s, token);

	if (c)
		part(c);
	else
		csr_send_losses(s, &(struct msg_losses){ .csr = token, .is_last = true });
	if (c)
		csr_free(c);
	csrs_arm_poll(s);
}

void csrs_tool_gone(struct csrs *s, uint32_t tool)
{
	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (c->tool == tool)
			csr_free(c);
	}
	csrs_arm_poll(s);
}

/* Deferred: the caller may be an action of a firing in progress. */
static void refresh(void *arg)
{
	struct csrs *s = arg;

	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (!csr_is_in_rank(c))
			continue;
		csr_drain(c);
		csr_uninstall_all(c);
		if (csr_install_all(c))
			log_warn("lm", "out of memory, not all processes are watched csr=%s",
				 c->token);
	}
	csrs_arm_poll(s);
}

void csrs_refresh(void *csrs)
{
	struct csrs *s = csrs;

	loop_job_post(s->conf.loop, &s->refresh, refresh, s);
}

size_t csrs_count(const struct csrs *s)
{
	return s->n;
}

void csrs_stats(const struct csrs *s, struct csrs_stats *out)
{
	out->fired = s->fired;
	out->dropped = s->dropped;
	out->is_polling = loop_timer_is_armed(s->poll);
}
