/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/service/look.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "lm/helper/helper.h"

#include <stdlib.h>
#include <string.h>

/* A call under way. */
struct look {
	struct task *task;
	const struct look_on *on;
	struct procs *procs;
	const struct look_spec *spec;
	void *owned;
	struct tracer_msg m;
	struct token *token; /* owned */
	size_t n, at;
	bool is_asked; /* the request for the object `at` was sent */
	struct looked now;
	struct helper_ask *ask; /* NULL: lm-look has no request */
	bool is_here; /* the lm reads itself: no task is waiting */
};

static void drop_now(struct look *l)
{
	buf_done(&l->now.bytes);
	buf_done(&l->now.modules);
	memset(&l->now, 0, sizeof(l->now));
}

static void look_free(void *arg)
{
	struct look *l = arg;

	helper_ask_forget(l->ask);
	drop_now(l);
	free(l->token);
	free(l->owned);
	free(l);
}

/* --- answers */

static void add_module(struct looked *o, const struct tracer_msg *m)
{
	struct omis_writer w = { .b = &o->modules, .comma = o->nmodule > 0 };

	o->nmodule++;
	omis_write_list(&w);
	omis_write_string_n(&w, m->text[0], strlen(m->text[0]));
	omis_write_string(&w, ""); /* the member of an archive, which is never used here */
	for (size_t i = 0; i < m->nvalue; i++)
		omis_write_int(&w, (int64_t)m->value[i]);
	omis_write_list_end(&w);
}

static void fail(struct look *l, int rc)
{
	l->now.rc = rc;
	l->now.is_over = true;
}

/* An answer without a number of bytes is not from lm-look: its progress is unknown. */
static void take_failure(struct look *l, const struct tracer_msg *m)
{
	bool is_write = l->m.type == TRACER_WRITE_MEMORY;

	err_set(&l->now.e, (enum err_code)m->what, "%s", m->text[0]);
	l->now.is_half_done = is_write && (!m->nvalue || m->value[0] > 0);
	fail(l, -(int)m->what);
}

static void take(struct look *l, const struct tracer_msg *m)
{
	struct looked *o = &l->now;

	switch (m->type) {
	case TRACER_BYTES:
		buf_put(&o->bytes, m->bytes, m->nbytes);
		o->is_over = !m->what;
		break;
	case TRACER_MODULE:
		add_module(o, m);
		break;
	case TRACER_DONE:
		o->is_over = true;
		break;
	case TRACER_FAILED:
		take_failure(l, m);
		break;
	default:
		fail(l, err_set(&o->e, ERR_INTERNAL, "lm-look sent another message"));
	}
}

static void on_answer(void *arg, const struct tracer_msg *m)
{
	struct look *l = arg;

	take(l, m);
	if (!l->now.is_over || l->is_here)
		return;
	l->ask = NULL;
	task_go_on(l->task);
}

/* --- asking */

static int name_process(struct look *l, struct err *e)
{
	const struct proc *p = procs_find(l->procs, l->now.token.s, strlen(l->now.token.s));

	if (!p || !p->held)
		return err_set(e, ERR_NOTFOUND, "the process has ended");
	l->m.pid = p->pid;
	l->m.start = p->start;
	return 0;
}

static int ask_there(struct look *l, struct err *e)
{
	if (l->on->look)
		return helper_ask(l->on->look, &l->m, &(struct helper_reply){ on_answer, l },
				  &l->ask, e);
	l->is_here = true;
	look_do(l->on->host, &l->m, on_answer, l);
	if (!l->now.is_over)
		return err_nomem(e);
	return 0;
}

static void ask(struct look *l)
{
	struct looked *o = &l->now;
	int rc = 0;

	l->is_asked = true;
	o->token = l->token[l->at];
	o->is_proc = l->spec->class == 'p';
	buf_init(&o->bytes, l->spec->max_bytes);
	buf_init(&o->modules, FRAME_MAX_BYTES / 2);
	if (o->is_proc)
		rc = name_process(l, &o->e);
	if (!rc)
		rc = ask_there(l, &o->e);
	if (rc)
		fail(l, rc);
}

static int add_entry(struct service_call *c, struct look *l)
{
	const struct looked *o = &l->now;

	if (o->rc == 0 && (o->bytes.failed || o->modules.failed))
		return reply_add_error(c->reply, c->action, o->token.s, STATUS_OS_ERROR,
				       "what there is is longer than a reply");
	if (o->rc == 0)
		return l->spec->add(c, o);
	if (l->spec->failed)
		l->spec->failed(c, o);
	c->is_half_done = o->is_half_done;
	return call_add_failure(c, o->token.s, o->rc, &o->e);
}

/* SERVICE_WAITS: the answer about one of them is pending. */
static int go_on(struct service_call *c, struct look *l)
{
	int rc = 0;

	while (!rc && l->at < l->n) {
		if (!l->is_asked)
			ask(l);
		if (!l->now.is_over)
			return SERVICE_WAITS;
		rc = add_entry(c, l);
		drop_now(l);
		l->is_asked = false;
		l->at++;
	}
	reply_add_time(c->reply, call_now(c), call_now(c));
	return rc;
}

static int copy_tokens(struct look *l, const struct objects *o)
{
	l->token = calloc(o->n + 1, sizeof(*l->token));
	if (!l->token)
		return -ERR_NOMEM;
	for (size_t i = 0; i < o->n; i++)
		str_copy(l->token[i].s, sizeof(l->token[i].s), o->v[i].token);
	l->n = o->n;
	return 0;
}

static int begin(struct service_call *c, struct look *l)
{
	struct objects o = { 0 };
	struct err e = { 0 };
	int rc = call_resolve(c, l->spec->class, &o);

	if (!rc)
		rc = copy_tokens(l, &o);
	objects_done(&o);
	if (rc)
		return rc;
	rc = l->n ? l->spec->fill(c, &l->m, &l->owned, &e) : 0;
	if (rc)
		return call_add_failure(c, l->spec->class == 'n' ? l->token[0].s : "", rc, &e);
	return go_on(c, l);
}

int look_serve(struct service_call *c, const struct look_on *on, const struct look_spec *spec)
{
	struct look *l = c->retry ? task_kept(c->task) : calloc(1, sizeof(*l));

	if (!l)
		return -ERR_NOMEM;
	if (c->retry)
		return go_on(c, l);
	l->task = c->task;
	l->on = on;
	l->procs = c->procs;
	l->spec = spec;
	task_keep(c->task, l, look_free);
	return begin(c, l);
}
