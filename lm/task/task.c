/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/task/task.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/audit/audit.h"
#include "common/omis/services/added.h"
#include "common/time/timebase.h"
#include "common/loop/loop.h"
#include "common/route/rights.h"
#include "lm/hold/holds.h"

#include <stdlib.h>
#include <string.h>

struct tasks {
	struct tasks_conf conf;
	struct list all;
	size_t n;
};

struct task {
	struct list link;
	struct tasks *owner;
	struct task_spec spec; /* proc is NULL once an action has waited: */
	struct token proc; /* the process may be removed meanwhile; "" = none, or no wait */
	uint32_t *number; /* owned copies of the arrays in spec */
	bool *skip;
	char *identity, *csr; /* owned */
	struct reply *reply;
	size_t first; /* entry of the action that runs, or waits */
	size_t at; /* action that is next, or waits */
	bool waits;
	void *kept; /* stored for the waiting call; owned */
	void (*free_kept)(void *arg);
	struct loop_timer *deadline;
};

struct tasks *tasks_new(const struct tasks_conf *c)
{
	struct tasks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->conf = *c;
	list_init(&s->all);
	return s;
}

static void drop_kept(struct task *t)
{
	void *kept = t->kept;

	t->kept = NULL;
	if (kept)
		t->free_kept(kept);
}

static void task_free(struct task *t)
{
	list_del(&t->link);
	t->owner->n--;
	drop_kept(t);
	loop_timer_free(t->deadline);
	reply_free(t->reply);
	free(t->number);
	free(t->skip);
	free(t->identity);
	free(t->csr);
	free(t);
}

void tasks_free(struct tasks *s)
{
	if (!s)
		return;
	list_each_safe (i, &s->all)
		task_free(list_entry(i, struct task, link));
	free(s);
}

size_t tasks_waiting(const struct tasks *s)
{
	return s->n;
}

static uint32_t number_of(const struct task *t, size_t i)
{
	return t->number ? t->number[i] : (uint32_t)i + 1;
}

/* The action has ended, with the entries since t->first. */
static void note(const struct task *t)
{
	audit_note(t->owner->conf.audit,
		   &(struct audit_entry){ .identity = t->identity,
					  .session = t->spec.tool,
					  .csr = t->csr,
					  .call = &t->spec.request->action[t->at],
					  .reply = t->reply,
					  .action = number_of(t, t->at),
					  .first = t->first,
					  .wall = clock_wall() });
}

/* Checks the right of an action again: the daemons above may be wrong, or rogue. */
static bool is_allowed(const struct task *t, const struct omis_call *call)
{
	if (route_right_of_call(call) > OMIS_OBSERVE && !t->owner->conf.may_manipulate)
		return false;
	return route_may_call(t->spec.right, call);
}

static struct proc *proc_of(const struct task *t)
{
	if (!t->proc.s[0])
		return t->spec.proc;
	return procs_find(t->owner->conf.procs, t->proc.s, strlen(t->proc.s));
}

/* Puts the family's object into *of. NULL: not done here. */
static service_fn find_service(const struct tasks_conf *c, const char *name, void **of)
{
	for (size_t i = 0; i < c->nfamily; i++)
		for (const struct service *s = c->family[i].service; s->name; s++)
			if (!strcmp(s->name, name)) {
				*of = c->family[i].of;
				return s->fn;
			}
	return NULL;
}

static int run_action(struct task *t)
{
	const struct tasks_conf *conf = &t->owner->conf;
	struct proc *proc = proc_of(t);
	const struct omis_call *call = &t->spec.request->action[t->at];
	struct service_call c = { .loop = conf->loop,
				  .timebase = conf->timebase,
				  .procs = conf->procs,
				  .task = t,
				  .call = call,
				  .action = number_of(t, t->at),
				  .tool = t->spec.tool,
				  .proc = proc,
				  .is_proc_gone = t->proc.s[0] && !proc,
				  .reply = t->reply,
				  .retry = t->waits };
	service_fn fn = find_service(conf, call->service->name, &c.of);
	struct err e = { 0 };
	int got;

	if (!fn)
		return reply_add_error(t->reply, c.action, "", STATUS_UNSUPPORTED_SERVICE,
				       "a host cannot do %s", call->service->name);
	if (!is_allowed(t, call)) {
		route_denied(call, &e);
		return reply_add(t->reply, c.action, "", STATUS_NO_PERMISSION, e.text);
	}
	holds_set_depth(conf->holds, t->spec.depth);
	got = fn(&c);
	holds_set_depth(conf->holds, 0);
	if (got >= 0)
		return got;
	err_set(&e, (enum err_code)(-got), "%s failed: %s", added_name_of(call), err_name(got));
	return reply_add_error(t->reply, c.action, "", status_from_err(got), "%s", e.text);
}

static void finish(struct task *t)
{
	void (*on_done)(void *, struct reply *) = t->spec.on_done;
	struct reply *r = t->reply;
	void *arg = t->spec.arg;

	t->reply = NULL;
	reply_merge(r, t->spec.request, t->number);
	task_free(t);
	on_done(arg, r);
}

static void keep_proc(struct task *t)
{
	if (t->spec.proc)
		t->proc = t->spec.proc->token;
	t->spec.proc = NULL;
}

/* Returns true if the task has ended and is freed. */
static bool go(struct task *t)
{
	for (; t->at < t->spec.request->naction; t->at++) {
		bool skips = t->skip && t->skip[t->at];
		int rc;

		if (!t->waits)
			t->first = t->reply->nentry;
		rc = skips ? 0 : run_action(t);
		t->waits = rc == SERVICE_WAITS;
		if (t->waits) {
			keep_proc(t);
			return false;
		}
		if (!skips)
			note(t);
		drop_kept(t);
	}
	finish(t);
	return true;
}

void task_go_on(void *task)
{
	go(task);
}

/* The action has begun; its end will stay unknown. */
static void end_waiting(struct task *t, const char *why)
{
	reply_add_error(t->reply, number_of(t, t->at), "", STATUS_UNSPECIFIED_ERROR, "%s", why);
	note(t);
}

static void on_deadline(void *arg)
{
	struct task *t = arg;

	end_waiting(t, "the request's time was over");
	for (t->at++; t->at < t->spec.request->naction; t->at++)
		reply_add_error(t->reply, number_of(t, t->at), "", STATUS_UNSPECIFIED_ERROR,
				"the request's time was over");
	finish(t);
}

static int copy_spec(struct task *t)
{
	size_t n = t->spec.request->naction;

	t->identity = str_dup(t->spec.identity ? t->spec.identity : "");
	t->csr = str_dup(t->spec.csr ? t->spec.csr : "");
	if (!t->identity || !t->csr)
		return -ERR_NOMEM;
	if (t->spec.number) {
		t->number = calloc(n, sizeof(*t->number));
		if (!t->number)
			return -ERR_NOMEM;
		memcpy(t->number, t->spec.number, n * sizeof(*t->number));
	}
	if (t->spec.skip) {
		t->skip = calloc(n, sizeof(*t->skip));
		if (!t->skip)
			return -ERR_NOMEM;
		memcpy(t->skip, t->spec.skip, n * sizeof(*t->skip));
	}
	return 0;
}

int task_start(struct tasks *s, const struct task_spec *spec, struct task **out)
{
	struct task *t;

	*out = NULL;
	if (s->n >= TASKS_MAX)
		return -ERR_LIMIT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ERR_NOMEM;
	t->owner = s;
	t->spec = *spec;
	list_push_back(&s->all, &t->link);
	s->n++;
	t->reply = reply_new();
	if (!t->reply || copy_spec(t)) {
		task_free(t);
		return -ERR_NOMEM;
	}
	if (go(t))
		return 0;
	if (spec->deadline > 0) {
		t->deadline = loop_timer_new(s->conf.loop, on_deadline, t);
		if (t->deadline)
			loop_timer_arm(t->deadline, spec->deadline);
	}
	*out = t;
	return 0;
}

void task_cancel(struct task *t)
{
	if (t && t->waits)
		end_waiting(t, "it was cancelled while it ran");
	if (t)
		task_free(t);
}

void task_keep(struct task *t, void *arg, void (*free_fn)(void *))
{
	drop_kept(t);
	t->kept = arg;
	t->free_kept = free_fn;
}

void *task_kept(const struct task *t)
{
	return t->kept;
}

int64_t call_int(const struct service_call *c, unsigned i)
{
	int64_t v = 0;

	omis_value_i64(&c->call->param[i], &v);
	return v;
}

double call_float(const struct service_call *c, unsigned i)
{
	double v = 0;

	omis_value_double(&c->call->param[i], &v);
	return v;
}

const char *call_text(const struct service_call *c, unsigned i)
{
	const char *p = omis_value_text(&c->call->param[i], NULL);

	return p ? p : "";
}

void call_count_object(struct service_call *c)
{
	c->reply->coverage.asked++;
	c->reply->coverage.answered++;
}

int call_add_ok(struct service_call *c, const struct objects *o)
{
	struct buf names = BUF_INIT(FRAME_MAX_BYTES);
	int rc;

	if (!o->n)
		return 0;
	for (size_t i = 0; i < o->n; i++)
		buf_printf(&names, "%s%s", i ? "," : "", o->v[i].token);
	rc = names.failed ? -ERR_NOMEM
			  : reply_add(c->reply, c->action, buf_str(&names), STATUS_OK, NULL);
	buf_done(&names);
	return rc;
}

int call_add_values(struct service_call *c, const char *object, struct buf *b)
{
	int rc = b->failed ? -ERR_LIMIT
			   : reply_add_n(c->reply, c->action, object, STATUS_OK, buf_bytes(b));

	buf_done(b);
	return rc;
}

struct each {
	int (*proc)(struct service_call *, struct proc *, struct err *); /* or: */
	int (*thread)(struct service_call *, const struct object *, struct err *);
};

int call_add_failure(struct service_call *c, const char *object, int rc, const struct err *e)
{
	unsigned status = rc == -ERR_NOTFOUND ? STATUS_UNKNOWN_OBJECT : status_from_err(rc);

	if (c->is_half_done)
		status |= STATUS_FATAL;
	return reply_add_error(c->reply, c->action, object, status, "%s", e->text);
}

/* 1: it was done, 0: the error is in the reply. */
static int call_one(struct service_call *c, const struct each *fn, const struct object *o)
{
	struct err e = { 0 };
	int got;

	c->is_half_done = false;
	got = fn->proc ? fn->proc(c, o->proc, &e) : fn->thread(c, o, &e);
	return got >= 0 ? 1 : call_add_failure(c, o->token, got, &e);
}

int call_resolve(struct service_call *c, char class, struct objects *out)
{
	return resolve(&(struct resolve_from){ c->procs, &c->call->param[0], c->action }, class,
		       out, c->reply);
}

int call_each_object(struct service_call *c, char class,
		     int (*fn)(struct service_call *, const struct object *))
{
	struct objects o = { 0 };
	int rc = call_resolve(c, class, &o);

	for (size_t i = 0; !rc && i < o.n; i++)
		rc = fn(c, &o.v[i]);
	reply_add_time(c->reply, call_now(c), call_now(c));
	objects_done(&o);
	return rc;
}

static int call_each(struct service_call *c, char class, const struct each *fn)
{
	struct objects o = { 0 };
	size_t good = 0;
	int got;

	got = call_resolve(c, class, &o);
	for (size_t i = 0; got >= 0 && i < o.n; i++) {
		got = call_one(c, fn, &o.v[i]);
		if (got > 0)
			o.v[good++] = o.v[i];
	}
	o.n = good;
	if (got >= 0)
		got = call_add_ok(c, &o);
	objects_done(&o);
	return got;
}

int call_each_proc(struct service_call *c,
		   int (*fn)(struct service_call *, struct proc *, struct err *))
{
	return call_each(c, 'p', &(struct each){ .proc = fn });
}

int call_each_thread(struct service_call *c,
		     int (*fn)(struct service_call *, const struct object *, struct err *))
{
	return call_each(c, 't', &(struct each){ .thread = fn });
}

bool call_is_for_us(struct service_call *c)
{
	struct objects o = { 0 };
	int rc = call_resolve(c, 'n', &o);
	bool is_named = !rc && o.n > 0;

	objects_done(&o);
	return is_named;
}

nsec_t call_now(const struct service_call *c)
{
	return timebase_at(c->timebase, loop_now(c->loop));
}
