/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts programs. lm-trace starts one and holds it before its first instruction. Here it becomes a
 * watched process that a tool has stopped: with the same limits, and a line in the journal. Then
 * lm-trace releases it, and it is stopped in the ordinary way.
 */
#include "common/base/limits.h"
#include "common/base/str.h"
#include "lm/service/families.h"
#include "lm/hold/holds.h"
#include "lm/helper/helper.h"

#include <stdlib.h>
#include <string.h>

/* Exists until lm-trace has answered, longer than a task that is given up. */
struct creation {
	struct task *task; /* NULL: the task is gone */
	const struct creator *of;
	struct procs *procs;
	uint32_t tool;
	struct token token; /* "" until it is watched */
	struct err e;
	bool is_over;
};

/* Called when the task is abandoned. */
static void abandon(void *arg)
{
	struct creation *k = arg;

	k->task = NULL;
	if (k->is_over)
		free(k);
}

static void finish(struct creation *k)
{
	k->is_over = true;
	if (k->task)
		task_go_on(k->task);
	else
		free(k);
}

static void on_let_go(void *arg, const struct tracer_msg *m)
{
	struct creation *k = arg;

	if (m->type == TRACER_FAILED)
		err_set(&k->e, (enum err_code)m->what, "%s", m->text[0]);
	finish(k);
}

/* SIGSTOP is pending now, and the journal has it. */
static int watch(struct creation *k, const struct tracer_msg *m)
{
	struct proc_registration in = { .pid = m->pid };
	struct proc *p = NULL;
	int rc = procs_take(k->procs, &in, &p, &k->e);

	if (!rc && p->start != m->start)
		rc = err_set(&k->e, ERR_NOTFOUND, "the process has ended");
	if (!rc)
		rc = holds_stop(k->of->holds, p, k->tool, &k->e);
	if (!rc)
		k->token = p->token;
	return rc;
}

/* Starts the created program, or kills it if its task has ended or it cannot be watched. */
static void on_created(void *arg, const struct tracer_msg *m)
{
	struct creation *k = arg;
	struct tracer_msg *go = NULL;
	struct helper_ask *ask;
	int got;

	if (m->type != TRACER_CREATED) {
		err_set(&k->e, m->type == TRACER_FAILED ? (enum err_code)m->what : ERR_INTERNAL,
			"%s", m->ntext ? m->text[0] : "lm-trace sent another message");
		finish(k);
		return;
	}
	got = k->task ? watch(k, m) : -ERR_CLOSED;
	go = calloc(1, sizeof(*go));
	if (go) {
		go->type = TRACER_LET_GO;
		go->pid = m->pid;
		go->start = m->start;
		go->what = got < 0;
	}
	got = go ? helper_ask(k->of->trace, go, &(struct helper_reply){ on_let_go, k }, &ask, &k->e)
		 : err_nomem(&k->e);
	free(go);
	if (got < 0)
		finish(k);
}

static int add_texts(struct tracer_msg *m, size_t which, const struct omis_value *list)
{
	if (m->ntext + list->list.n > TRACER_TEXTS_MAX)
		return -ERR_LIMIT;
	m->value[which] = list->list.n;
	for (size_t i = 0; i < list->list.n; i++)
		m->text[m->ntext++] = omis_value_text(&list->list.v[i], NULL);
	return 0;
}

static int ask(struct service_call *c, struct creation *k)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	struct helper_ask *a;
	int rc = 0;

	if (!m)
		return err_nomem(&k->e);
	m->type = TRACER_CREATE;
	m->nvalue = 3;
	m->text[m->ntext++] = call_text(c, 1);
	for (unsigned i = 0; !rc && i < 3; i++)
		rc = add_texts(m, i, &c->call->param[2 + i]);
	if (!rc && m->value[2] > TRACER_STREAMS_MAX)
		rc = -ERR_LIMIT;
	if (rc)
		err_set(&k->e, ERR_LIMIT,
			"%d texts and %d streams are the most that a program gets",
			TRACER_TEXTS_MAX - 1, TRACER_STREAMS_MAX);
	else
		rc = helper_ask(k->of->trace, m, &(struct helper_reply){ on_created, k }, &a,
				&k->e);
	free(m);
	return rc;
}

static int answer(struct service_call *c, const struct creation *k)
{
	const char *node = procs_node_token(c->procs);

	if (k->e.code)
		return reply_add_error(c->reply, c->action, node, status_from_err(-(int)k->e.code),
				       "%s", k->e.text);
	return reply_add(c->reply, c->action, node, STATUS_OK, k->token.s);
}

static int serve_proc_create(struct service_call *c)
{
	struct creation *k;
	struct err e = { 0 };
	int rc;

	if (c->retry)
		return answer(c, task_kept(c->task));
	if (!call_is_for_us(c))
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ERR_NOMEM;
	k->task = c->task;
	k->of = c->of;
	k->procs = c->procs;
	k->tool = c->tool;
	rc = ask(c, k);
	if (!rc) {
		task_keep(c->task, k, abandon);
		return SERVICE_WAITS;
	}
	e = k->e;
	free(k);
	return reply_add_error(c->reply, c->action, procs_node_token(c->procs), status_from_err(rc),
			       "%s", e.text);
}

const struct service create_services[] = {
	{ "omig_proc_create", serve_proc_create },
	{ NULL, NULL },
};
