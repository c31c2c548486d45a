/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/service/services.h"

#include "common/base/str.h"
#include "common/daemon/audit.h"
#include "mainsm/service/service.h"

#include <stdlib.h>

static const struct top_service *const families[] = {
	top_attach_services, top_csr_services,	 top_pa_services,
	top_ask_services,    top_admin_services, top_site_services,
	top_job_services,    top_dfg_services,	 top_kept_services,
};

struct top *top_new(const struct top_conf *conf)
{
	struct top *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->conf = *conf;
	list_init(&t->takings);
	return t;
}

void top_free(struct top *t)
{
	if (t)
		loop_job_cancel(&t->came);
	free(t);
}

static top_fn find(const char *name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (const struct top_service *s = families[i]; s->name; s++)
			if (str_eq(s->name, name))
				return s->fn;
	return NULL;
}

bool top_has(const char *service)
{
	return find(service) != NULL;
}

/* What goes on is done by hosts, and written down by them. */
static void note(const struct top_call *c, size_t first, int rc)
{
	const struct run_spec *spec = run_spec(c->run);
	struct audit_entry x = { .identity = spec->identity,
				 .session = spec->tool,
				 .csr = spec->csr,
				 .call = c->call,
				 .action = c->action,
				 .reply = c->into,
				 .first = first,
				 .wall = c->top->conf.wall_now(c->top->conf.arg) };
	struct reply *failed = NULL;

	if (rc > 0 || !c->top->conf.audit || !audit_concerns(c->call))
		return;
	if (rc < 0) {
		failed = reply_new();
		if (failed)
			reply_add(failed, c->action, NULL, status_from_err(rc), err_name(rc));
		x.reply = failed;
		x.first = 0;
	}
	if (x.reply)
		audit_note(c->top->conf.audit, &x);
	reply_free(failed);
}

int top_execute(struct top *t, struct run *run, const struct plan_here *here, struct reply *into)
{
	struct top_call c = { t, run, run_spec(run)->user, here->call, here->action, into };
	top_fn fn = find(here->call->name);
	size_t first = into->nentry;
	int rc = fn ? fn(&c) : -ERR_UNSUPPORTED;

	note(&c, first, rc);
	return rc;
}

struct top_list top_list(const struct top_call *c, size_t at)
{
	const struct omis_value *v = at < c->call->nparam ? &c->call->param[at] : NULL;

	if (!v)
		return (struct top_list){ NULL, 0 };
	if (v->kind != OMIS_LIST)
		return (struct top_list){ v, 1 };
	return (struct top_list){ v->list.v, v->list.n };
}

int64_t top_int(const struct top_call *c, size_t at)
{
	int64_t v = 0;

	if (at < c->call->nparam)
		omis_value_i64(&c->call->param[at], &v);
	return v;
}

const char *top_text(const struct top_call *c, size_t at)
{
	const char *s = at < c->call->nparam ? omis_value_text(&c->call->param[at], NULL) : NULL;

	return s ? s : "";
}

int top_value(struct top_call *c, const char *objects, struct buf *b)
{
	int rc = b->failed ? -ERR_LIMIT
			   : reply_add_n(c->into, c->action, objects, STATUS_OK, b->p, b->n);

	buf_done(b);
	return rc;
}

void top_follow(struct top_call *c)
{
	csrs_follow(c->top->conf.csrs, c->session);
	measures_follow_soon(c->top->conf.measures);
}

int top_unknown(struct top_call *c, const char *token)
{
	return reply_add(c->into, c->action, token, STATUS_UNKNOWN_OBJECT,
			 "there is no such object");
}

void top_pass_missing(struct top_call *c, const struct reply *r)
{
	const struct reply_coverage *from = r ? &r->coverage : NULL;
	struct reply_coverage *to = &c->into->coverage;

	for (size_t i = 0; from && i < from->nmissing; i++)
		reply_add_missing(c->into, from->missing[i].object, from->missing[i].reason);
	if (from && to->answered >= from->nmissing)
		to->answered -= (uint32_t)from->nmissing;
}

int top_ask_below(struct top_call *c, struct omis_request **request, const struct top_asking *how)
{
	struct run_spec spec = *run_spec(c->run);
	struct run *run = c->run;
	int rc;

	spec.view = view_now(&c->session->view);
	spec.numbers = NULL;
	spec.deadline = run_remaining(run);
	spec.policy = MSG_WAIT_ALL;
	spec.owner = how->runs;
	spec.on_done = how->on_done;
	spec.arg = how->arg;
	run_set_abandon(run, how->abandon, how->arg);
	rc = executor_run(c->top->conf.executor, request, &spec, NULL);
	if (rc)
		run_set_abandon(run, NULL, NULL);
	return rc;
}
