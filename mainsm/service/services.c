/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/service/services.h"

#include "common/audit/audit.h"
#include "common/base/str.h"
#include "mainsm/service/service.h"

#include <stdlib.h>

struct services *services_new(const struct services_conf *conf)
{
	struct services *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->conf = *conf;
	list_init(&t->adoptions);
	list_init(&t->waiting);
	return t;
}

void services_free(struct services *t)
{
	if (t)
		loop_job_cancel(&t->came);
	free(t);
}

service_fn services_find(const struct service *const *families, const char *name)
{
	for (; *families; families++)
		for (const struct service *s = *families; s->name; s++)
			if (str_eq(s->name, name))
				return s->fn;
	return NULL;
}

/* Actions that branches execute are recorded in the audit of their hosts. */
static void note(const struct service_call *c, size_t first, int status)
{
	const struct run_spec *spec = run_spec(c->run);
	struct audit_entry x = { .identity = spec->identity,
				 .session = spec->tool,
				 .csr = spec->csr,
				 .call = c->call,
				 .action = c->action,
				 .reply = c->into,
				 .first = first,
				 .wall = c->services->conf.wall_now(c->services->conf.arg) };
	struct reply *failed = NULL;

	if (status > 0 || !c->services->conf.audit || !audit_concerns(c->call))
		return;
	if (status < 0) {
		failed = reply_new();
		if (failed)
			reply_add(failed, c->action, NULL, status_from_err(status),
				  err_name(status));
		x.reply = failed;
		x.first = 0;
	}
	if (x.reply)
		audit_note(c->services->conf.audit, &x);
	reply_free(failed);
}

int services_execute(struct services *t, struct run *run, const struct plan_here *here,
		     struct reply *into)
{
	struct service_call c = { t, run, run_spec(run)->user, here->call, here->action, into };
	service_fn fn = services_find(t->conf.families, here->call->name);
	size_t first = into->nentry;
	int rc = fn ? fn(&c) : -ERR_UNSUPPORTED;

	note(&c, first, rc);
	return rc;
}

struct service_list service_list(const struct service_call *c, size_t at)
{
	const struct omis_value *v = at < c->call->nparam ? &c->call->param[at] : NULL;

	if (!v)
		return (struct service_list){ NULL, 0 };
	if (v->kind != OMIS_LIST)
		return (struct service_list){ v, 1 };
	return (struct service_list){ v->list.v, v->list.n };
}

int64_t service_int(const struct service_call *c, size_t at)
{
	int64_t v = 0;

	if (at < c->call->nparam)
		omis_value_i64(&c->call->param[at], &v);
	return v;
}

const char *service_text(const struct service_call *c, size_t at)
{
	const char *s = at < c->call->nparam ? omis_value_text(&c->call->param[at], NULL) : NULL;

	return s ? s : "";
}

int service_value(struct service_call *c, const char *objects, struct buf *b)
{
	int rc = b->failed ? -ERR_LIMIT
			   : reply_add_n(c->into, c->action, objects, STATUS_OK, buf_bytes(b));

	buf_done(b);
	return rc;
}

void service_follow(struct service_call *c)
{
	tool_csrs_follow(c->services->conf.csrs, c->session);
	measures_follow_soon(c->services->conf.measures);
}

int service_unknown(struct service_call *c, const char *token)
{
	return reply_add(c->into, c->action, token, STATUS_UNKNOWN_OBJECT,
			 "there is no such object");
}

void service_pass_missing(struct service_call *c, const struct reply *r)
{
	const struct reply_coverage *from = r ? &r->coverage : NULL;
	struct reply_coverage *to = &c->into->coverage;

	for (size_t i = 0; from && i < from->nmissing; i++)
		reply_add_missing(c->into, from->missing[i].object, from->missing[i].reason);
	if (from && to->answered >= from->nmissing)
		to->answered -= (uint32_t)from->nmissing;
}

int service_ask_branches(struct service_call *c, struct omis_request **request,
			 const struct service_inquiry *how)
{
	struct run_spec spec = *run_spec(c->run);
	struct run *run = c->run;
	int rc;

	spec.view = tool_view_now(&c->session->view);
	spec.numbers = NULL;
	spec.deadline = run_remaining(run);
	spec.policy = MSG_WAIT_ALL;
	spec.owner = how->runs;
	spec.on_done = how->on_done;
	spec.arg = how->arg;
	run_set_abandon(run, how->abandon, how->arg);
	rc = executor_run(c->services->conf.executor, request, &spec, NULL);
	if (rc)
		run_set_abandon(run, NULL, NULL);
	return rc;
}
