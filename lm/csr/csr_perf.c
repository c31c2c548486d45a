/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests whose events the kernel records, in a ring for each thread. */
#include "common/base/log.h"
#include "common/time/timebase.h"
#include "lm/csr/csr_internal.h"
#include "lm/host/perf.h"

#include <stdlib.h>

struct perf_site {
	struct list link;
	struct csr *csr;
	struct proc *proc;
	int32_t tid;
	bool was_blocked;
	struct perf *perf; /* owned */
};

enum awaited { ADDR, SCHEDULED, DESCHEDULED, BLOCKED, UNBLOCKED };

struct perf_source {
	struct csrs *csrs;
	struct procs_listener listener;
	struct loop_timer *poll;
};

static bool is_perf(const struct csr *c)
{
	return csr_ops(c) == &perf_source;
}

static struct perf_source *source_of(const struct csr *c)
{
	return c->source->state;
}

static bool is_meant(const struct csr *c, struct perf_site *s, const struct perf_record *r)
{
	bool was_blocked = s->was_blocked;

	s->was_blocked = r->is_out && !r->is_preempted;
	switch ((enum awaited)c->kind->what) {
	case ADDR:
		return true;
	case SCHEDULED:
		return !r->is_out;
	case DESCHEDULED:
		return r->is_out;
	case BLOCKED:
		return s->was_blocked;
	default:
		return !r->is_out && was_blocked;
	}
}

static void on_record(void *arg, const struct perf_record *r)
{
	struct perf_site *s = arg;
	struct csr *c = s->csr;
	const struct csrs_conf *conf = &c->owner->conf;
	nsec_t now = loop_now(conf->loop);

	if (r->lost) {
		csr_lose(c, r->lost);
		return;
	}
	if (is_meant(c, s, r))
		csr_fire(c,
			 &(struct happening){ .proc = s->proc,
					      .thread = proc_find_tid(s->proc, s->tid),
					      /* the process has already continued */
					      .never_holds = true,
					      .time = timebase_at(conf->timebase,
								  r->time < now ? r->time : now) });
}

/* Polls all sites. An event may end its csr, so each site is searched again. */
static void poll(struct csr *c)
{
	list_each_safe (i, &c->own_sites) {
		struct perf_site *s = list_entry(i, struct perf_site, link);

		perf_read(s->perf, on_record, s);
	}
}

static bool has_site(const struct csr *c, int32_t tid)
{
	list_each (i, &c->own_sites)
		if (list_entry(i, struct perf_site, link)->tid == tid)
			return true;
	return false;
}

static int add_site(struct csr *c, struct proc *p, int32_t tid, struct err *e)
{
	struct perf_site *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_nomem(e);
	rc = perf_open(tid, c->kind->what == ADDR ? PERF_ADDR : PERF_SWITCH,
		       (uint64_t)c->number_wanted, &s->perf, e);
	if (rc) {
		free(s);
		return rc;
	}
	s->csr = c;
	s->proc = p;
	s->tid = tid;
	list_push_back(&c->own_sites, &s->link);
	return 0;
}

static void arm_thread(struct csr *c, struct proc *p, const struct proc_thread *t, struct reply *r)
{
	struct err e = { 0 };
	int rc;

	if (!p->held || has_site(c, t->tid) || !csr_is_for_thread(c, p, t))
		return;
	rc = add_site(c, p, t->tid, &e);
	if (!rc || rc == -ERR_NOTFOUND)
		return;
	if (r)
		reply_add_error(r, 0, t->token.s, status_from_err(rc), "%s", e.text);
	else
		log_warn("lm", "a thread is not watched csr=%s tid=%d reason=\"%s\"", c->token,
			 (int)t->tid, e.text);
}

static void arm_threads(struct csr *c, struct reply *r)
{
	list_each (i, procs_all(c->owner->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->held && csr_is_for_any_thread(c, p))
			for (size_t k = 0; k < p->nthread; k++)
				arm_thread(c, p, &p->thread[k], r);
	}
}

/* p NULL: all processes; tid 0: all threads */
static void disarm_threads(struct csr *c, const struct proc *p, int32_t tid)
{
	list_each_safe (i, &c->own_sites) {
		struct perf_site *s = list_entry(i, struct perf_site, link);

		if ((p && s->proc != p) || (tid && s->tid != tid))
			continue;
		list_del(&s->link);
		perf_close(s->perf);
		free(s);
	}
}

/* --- the source */

static int read_event(struct csr *c, const struct omis_call *event, struct reply *r)
{
	if (c->kind->what == ADDR)
		omis_value_i64(&event->param[1], &c->number_wanted);
	return 0;
}

static bool any_site(const struct perf_source *o)
{
	list_each (i, &o->csrs->all) {
		const struct csr *c = list_entry(i, struct csr, link);

		if (is_perf(c) && !list_is_empty(&c->own_sites))
			return true;
	}
	return false;
}

static void arm_poll(struct perf_source *o)
{
	if (!any_site(o))
		loop_timer_cancel(o->poll);
	else if (!loop_timer_is_armed(o->poll))
		loop_timer_arm(o->poll, CSRS_POLL_NS);
}

static void on_poll(void *arg)
{
	struct perf_source *o = arg;

	list_each_safe (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (is_perf(c))
			poll(c);
	}
	arm_poll(o);
}

static bool arm(struct csr *c, const struct msg_arm *m, struct reply *r)
{
	arm_threads(c, r);
	arm_poll(source_of(c));
	return false;
}

static void disarm(struct csr *c)
{
	disarm_threads(c, NULL, 0);
	arm_poll(source_of(c));
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct perf_source *o = arg;

	if (what != PROC_ENDING && what != PROC_ENDED && what != PROC_FORGOTTEN)
		return;
	list_each_safe (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (is_perf(c) && what == PROC_ENDING)
			poll(c);
		else if (is_perf(c))
			disarm_threads(c, p, 0);
	}
}

static void on_thread(void *arg, struct proc *p, const struct proc_thread *t, bool is_born)
{
	struct perf_source *o = arg;

	list_each (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (is_perf(c) && is_born)
			arm_thread(c, p, t, NULL);
		else if (is_perf(c))
			disarm_threads(c, p, t->tid);
	}
	arm_poll(o);
}

static bool open_perf(struct event_source *source, struct csrs *s)
{
	struct perf_source *o = calloc(1, sizeof(*o));

	if (!o)
		return false;
	o->csrs = s;
	o->poll = loop_timer_new(s->conf.loop, on_poll, o);
	o->listener =
		(struct procs_listener){ .on_proc = on_proc, .on_thread = on_thread, .arg = o };
	procs_listen(s->conf.procs, &o->listener);
	source->state = o;
	return o->poll;
}

static void close_perf(struct event_source *source)
{
	struct perf_source *o = source->state;

	if (!o)
		return;
	procs_unlisten(&o->listener);
	loop_timer_free(o->poll);
	free(o);
}

static const struct event_kind kinds[] = {
	{ "proc_has_been_descheduled", DESCHEDULED, .watches_threads = true },
	{ "proc_has_been_scheduled", SCHEDULED, .watches_threads = true },
	{ "thread_has_been_descheduled", DESCHEDULED, .watches_threads = true },
	{ "thread_has_been_scheduled", SCHEDULED, .watches_threads = true },
	{ "thread_has_been_unblocked", UNBLOCKED, .watches_threads = true },
	{ "thread_has_blocked", BLOCKED, .watches_threads = true },
	{ "thread_reached_addr", ADDR, .watches_threads = true },
	{ NULL },
};

const struct event_source_ops perf_source = { .kind = kinds,
					      .open = open_perf,
					      .close = close_perf,
					      .read = read_event,
					      .arm = arm,
					      .disarm = disarm };
