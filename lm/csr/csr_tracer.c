/* SPDX-License-Identifier: Apache-2.0 */
/* Events that lm-trace detects: system calls and signals. It watches while a request needs them. */
#include "lm/csr/csr_internal.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/time/timebase.h"
#include "tree/wire.h"
#include "common/tracer/syscalls.h"
#include "lm/helper/helper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* The events that lm-trace watches in one process, for all csrs together. */
struct interest {
	uint32_t what;
	bool all_signals, all_syscalls;
	uint64_t signals, syscalls[TRACER_SYSCALL_WORDS];
};

struct held {
	struct list link;
	struct tracer *owner;
	struct proc *proc;
	struct helper_ask *ask; /* NULL: answered */
	struct interest interest;
	/*
	 * off until a csr is enabled again: there were too many events, or watching is impossible
	 */
	bool is_off;
};

/* delay of a restart, for an lm-trace that ends at once */
#define RETRY_NS NSEC_PER_SEC

struct tracer {
	struct csrs *csrs;
	struct helper *trace; /* borrowed */
	struct list held;
	struct procs_listener listener;
	struct loop_timer *retry, *reporting;
	struct loop_job refresh, report;
};

static bool is_traced(const struct csr *c)
{
	return csr_ops(c) == &tracer_source;
}

static struct tracer *tracer_of(const struct csr *c)
{
	return c->source->state;
}

/* --- parameters */

static void read_signals(struct csr *c, const struct omis_value *list)
{
	int64_t sig = 1;

	for (size_t i = 0; i < list->list.n; i++) {
		omis_value_i64(&list->list.v[i], &sig);
		c->signals_wanted |= UINT64_C(1) << (sig - 1);
	}
}

static int read_event(struct csr *c, const struct omis_call *event, struct reply *r)
{
	if (c->kind->what != TRACER_SIGNAL)
		return syscall_read(omis_value_text(&event->param[1], NULL), &c->number_wanted);
	read_signals(c, &event->param[1]);
	return 0;
}

/* --- input of lm-trace */

static struct held *find_held(const struct tracer *o, const struct proc *p)
{
	list_each (i, &o->held)
		if (list_entry(i, struct held, link)->proc == p)
			return list_entry(i, struct held, link);
	return NULL;
}

static void held_free(struct tracer *o, struct held *h)
{
	helper_ask_forget(h->ask);
	helper_keep(o->trace, -1);
	list_del(&h->link);
	free(h);
}

static void add_interest(struct interest *w, const struct csr *c)
{
	w->what |= (uint32_t)c->kind->what;
	if (c->kind->what == TRACER_SIGNAL) {
		w->signals |= c->signals_wanted;
		w->all_signals |= !c->signals_wanted;
	} else if (c->number_wanted == SYSCALL_ALL) {
		w->all_syscalls = true;
	} else {
		w->syscalls[c->number_wanted / 64] |= UINT64_C(1) << (c->number_wanted % 64);
	}
}

static void sum_interests(const struct csrs *s, const struct proc *p, struct interest *w)
{
	memset(w, 0, sizeof(*w));
	list_each (i, &s->all) {
		const struct csr *c = list_entry(i, struct csr, link);

		if (is_traced(c) && csr_is_for_any_thread(c, p))
			add_interest(w, c);
	}
	if (w->all_signals)
		w->signals = 0;
	if (w->all_syscalls)
		memset(w->syscalls, 0, sizeof(w->syscalls));
}

/*
 * dropped: events that lm-trace could not send. It is unknown which csrs they were for: each
 * reports them.
 */
static void suspend(struct tracer *o, struct held *h, uint64_t dropped, const char *why)
{
	h->is_off = true;
	o->csrs->dropped += dropped;
	log_warn("lm", "system calls and signals are no longer watched pid=%d reason=\"%s\"",
		 (int)h->proc->pid, why);
	list_each_safe (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (!is_traced(c) || !csr_is_for_any_thread(c, h->proc))
			continue;
		c->dropped += dropped;
		csr_report_suspended(c, h->proc, why);
	}
}

static bool is_awaited(const struct tracer *o, const struct csr *c)
{
	list_each (i, &o->held) {
		const struct held *h = list_entry(i, struct held, link);

		if (h->ask && csr_is_for_any_thread(c, h->proc))
			return true;
	}
	return false;
}

/* Replies to the csrs whose threads are held, or whose time is over. */
static void report_armed(void *arg)
{
	struct tracer *o = arg;
	nsec_t now = loop_now(o->csrs->conf.loop), next = 0;

	list_each_safe (i, &o->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (!c->answer)
			continue;
		if (now >= c->answer_until || !is_awaited(o, c))
			csr_report_armed(c);
		else if (!next || c->answer_until < next)
			next = c->answer_until;
	}
	if (next)
		loop_timer_arm_at(o->reporting, next);
}

/* A loss of lm-trace is reported by the other callback. */
static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct held *h = arg;
	struct tracer *o = h->owner;

	h->ask = NULL;
	if (m->type == TRACER_FAILED && h->proc->held && h->interest.what)
		suspend(o, h, 0, m->text[0]);
	loop_job_post(o->csrs->conf.loop, &o->report, report_armed, o);
}

/* Ignored: the reply to the end of a watch. */
static void on_ended(void *arg, const struct tracer_msg *m)
{
}

static int send_interest(struct tracer *o, struct held *h, struct err *e)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	struct helper_ask *ask = NULL;
	int rc;

	if (!m)
		return err_nomem(e);
	m->type = TRACER_WATCH;
	m->pid = h->proc->pid;
	m->start = h->proc->start;
	m->what = h->interest.what;
	m->nvalue = 1 + TRACER_SYSCALL_WORDS;
	m->value[0] = h->interest.signals;
	memcpy(m->value + 1, h->interest.syscalls, sizeof(h->interest.syscalls));
	rc = helper_ask(o->trace, m, &(struct helper_reply){ m->what ? on_answer : on_ended, h },
			&ask, e);
	if (!rc && m->what) {
		helper_ask_forget(h->ask);
		h->ask = ask;
	}
	free(m);
	return rc;
}

static void hold(struct tracer *o, struct proc *p, const struct interest *w)
{
	struct held *h = find_held(o, p);
	struct err e = { 0 };

	if (h && (h->is_off || !memcmp(&h->interest, w, sizeof(*w))))
		return;
	if (!h) {
		h = calloc(1, sizeof(*h));
		if (!h)
			return;
		h->owner = o;
		h->proc = p;
		list_push_back(&o->held, &h->link);
		helper_keep(o->trace, 1);
	}
	h->interest = *w;
	if (send_interest(o, h, &e))
		suspend(o, h, 0, e.text);
}

static void release(struct tracer *o, struct held *h)
{
	memset(&h->interest, 0, sizeof(h->interest));
	if (!h->is_off)
		send_interest(o, h, NULL);
	held_free(o, h);
}

static void refresh_proc(struct tracer *o, struct proc *p)
{
	struct held *h = find_held(o, p);
	struct interest w;

	sum_interests(o->csrs, p, &w);
	if (p->held && w.what)
		hold(o, p, &w);
	else if (h)
		release(o, h);
}

static void refresh(void *arg)
{
	struct tracer *o = arg;

	list_each (i, procs_all(o->csrs->conf.procs))
		refresh_proc(o, list_entry(i, struct proc, link));
	report_armed(o);
}

static void refresh_soon(struct tracer *o)
{
	loop_job_post(o->csrs->conf.loop, &o->refresh, refresh, o);
}

/* --- events of lm-trace */

static bool is_meant(const struct csr *c, const struct proc *p, const struct proc_thread *t,
		     const struct tracer_msg *m)
{
	int64_t number = (int64_t)m->value[1];

	if (!csr_is_for_thread(c, p, t))
		return false;
	if (!is_traced(c) || c->kind->what != (int)m->what)
		return false;
	if (m->what != TRACER_SIGNAL)
		return c->number_wanted == SYSCALL_ALL || c->number_wanted == number;
	return number >= 1 && number <= 64 &&
	       (!c->signals_wanted || c->signals_wanted >> (number - 1) & 1);
}

static void fire_all(struct csrs *s, struct proc *p, const struct tracer_msg *m)
{
	const struct proc_thread *t = proc_find_tid(p, m->tid);
	nsec_t now = loop_now(s->conf.loop), at = (nsec_t)m->value[0];
	struct happening h = { .proc = p,
			       .thread = t,
			       .time = timebase_at(s->conf.timebase, at < now ? at : now),
			       .par = (const int64_t *)m->value + 1,
			       .npar = (unsigned)m->nvalue - 1,
			       .has_result = m->what == TRACER_SYSCALL_END && m->nvalue == 3 };

	if (m->what == TRACER_SIGNAL) {
		h.own_name = "sig";
		h.own_number = (int64_t)m->value[1];
		h.npar = 0;
		h.never_holds = h.own_number == SIGSTOP || h.own_number == SIGCONT;
	}
	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		if (is_meant(c, p, t, m))
			csr_fire(c, &h);
	}
}

static void on_trace_event(void *arg, const struct tracer_msg *m)
{
	struct tracer *o = arg;
	struct proc *p = procs_find_pid(o->csrs->conf.procs, m->pid);
	struct held *h = p && p->start == m->start ? find_held(o, p) : NULL;

	if (!h || h->is_off)
		return;
	if (m->type == TRACER_WATCH_ENDED)
		suspend(o, h, m->nvalue ? m->value[0] : 0, m->text[0]);
	else
		fire_all(o->csrs, p, m);
}

/* Events in between are unknown. */
static void on_trace_lost(void *arg)
{
	struct tracer *o = arg;

	list_each (i, &o->held)
		memset(&list_entry(i, struct held, link)->interest, 0, sizeof(struct interest));
	if (!list_is_empty(&o->held))
		loop_timer_arm(o->retry, RETRY_NS);
}

/* --- arming */

static bool arm(struct csr *c, const struct msg_arm *m, struct reply *r)
{
	struct tracer *o = tracer_of(c);

	/* enabling the csr again causes another try */
	list_each (i, &o->held)
		if (csr_is_for_any_thread(c, list_entry(i, struct held, link)->proc)) {
			list_entry(i, struct held, link)->is_off = false;
			memset(&list_entry(i, struct held, link)->interest, 0,
			       sizeof(struct interest));
		}
	c->answer_until = loop_now(c->owner->conf.loop) + CSRS_ARMED_MAX_NS;
	refresh_soon(o);
	return true;
}

static void disarm(struct csr *c)
{
	refresh_soon(tracer_of(c));
}

/* --- new and ended processes and threads */

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct tracer *o = arg;
	struct held *h;

	if (what == PROC_BORN)
		refresh_soon(o);
	h = what == PROC_ENDED || what == PROC_FORGOTTEN ? find_held(o, p) : NULL;
	if (h)
		release(o, h);
}

static void on_thread(void *arg, struct proc *p, const struct proc_thread *t, bool is_born)
{
	struct tracer *o = arg;
	struct held *h = find_held(o, p);

	/* A thread that was created while the others were being seized is seized now. */
	if (h && is_born && !h->is_off)
		memset(&h->interest, 0, sizeof(h->interest));
	refresh_soon(o);
}

static void tracer_free(struct tracer *o)
{
	if (!o)
		return;
	list_each_safe (i, &o->held)
		held_free(o, list_entry(i, struct held, link));
	helper_listen(o->trace, &(struct helper_listener){ 0 });
	procs_unlisten(&o->listener);
	loop_job_cancel(&o->refresh);
	loop_job_cancel(&o->report);
	loop_timer_free(o->retry);
	loop_timer_free(o->reporting);
	free(o);
}

static bool open_tracer(struct event_source *source, struct csrs *s)
{
	struct tracer *o = calloc(1, sizeof(*o));

	if (!o)
		return false;
	o->csrs = s;
	o->trace = source->of;
	list_init(&o->held);
	o->retry = loop_timer_new(s->conf.loop, refresh, o);
	o->reporting = loop_timer_new(s->conf.loop, report_armed, o);
	o->listener =
		(struct procs_listener){ .on_proc = on_proc, .on_thread = on_thread, .arg = o };
	procs_listen(s->conf.procs, &o->listener);
	helper_listen(o->trace, &(struct helper_listener){ on_trace_event, on_trace_lost, o });
	source->state = o;
	return o->retry && o->reporting;
}

static void close_tracer(struct event_source *source)
{
	tracer_free(source->state);
}

static const struct event_kind kinds[] = {
	{ "thread_has_ended_sys_call", TRACER_SYSCALL_END, CALL_END, .watches_threads = true },
	{ "thread_has_started_sys_call", TRACER_SYSCALL_START, .watches_threads = true },
	{ "thread_received_signal", TRACER_SIGNAL, .watches_threads = true },
	{ NULL },
};

const struct event_source_ops tracer_source = { .kind = kinds,
						.open = open_tracer,
						.close = close_tracer,
						.read = read_event,
						.arm = arm,
						.disarm = disarm };
