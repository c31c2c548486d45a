/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests and user events, as services. */
#include "mainsm/directory/numbers.h"
#include "mainsm/service/service.h"

#include "common/omis/text/token.h"

#include <stdlib.h>

#define TOOL_EVENTS_MAX 256 /* per tool; as many as conditions */

/* A call that waits for the branches of csrs that are being enabled or disabled. */
struct awaiting {
	struct service_call c; /* .call is not used: the request may be freed */
	size_t waits; /* number of awaited results; one more while the call is being set up */
};

static struct awaiting *await_begin(const struct service_call *c)
{
	struct awaiting *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->c = *c;
	a->waits = 1;
	return a;
}

static void report_refusal(const struct awaiting *a, const struct reply *refusal)
{
	struct reply *into = run_reply(a->c.run);

	for (size_t i = 0; i < refusal->nentry; i++) {
		const struct reply_entry *e = &refusal->entry[i];

		reply_add_error(into, a->c.action, refusal->csr, e->status, "not enabled%s: %s%s%s",
				e->status == STATUS_UNKNOWN_OBJECT ? "" : ", it can never happen",
				e->objects, e->objects[0] ? ": " : "", e->value);
	}
}

static void one_done(void *arg, const struct reply *refusal)
{
	struct awaiting *a = arg;
	struct run *run = a->c.run;

	if (refusal)
		report_refusal(a, refusal);
	if (--a->waits)
		return;
	free(a);
	run_here_done(run);
}

static void abandon(void *arg)
{
	struct awaiting *a = arg;

	tool_csrs_forget_waiter(a->c.services->conf.csrs, a);
	free(a);
}

/* Ends the set-up of a call. Returns 0 if all results are known, or 1: run_here_done() follows. */
static int await_end(struct awaiting *a, int rc)
{
	if (rc) {
		abandon(a);
		return rc;
	}
	if (--a->waits == 0) {
		free(a);
		return 0;
	}
	run_set_abandon(a->c.run, abandon, a);
	return 1;
}

int service_await_armed(struct service_call *c)
{
	struct awaiting *a = await_begin(c);

	if (!a)
		return -ERR_NOMEM;
	a->waits += tool_csrs_await_armed(c->services->conf.csrs, c->session, one_done, a);
	return await_end(a, 0);
}

static int enable_one(struct service_call *c, struct awaiting *a, struct tool_csr *csr,
		      const char *token)
{
	int rc;

	a->waits++;
	rc = tool_csr_enable(c->services->conf.csrs, csr, one_done, a);
	if (!rc)
		return 0;
	a->waits--;
	return reply_add(c->into, c->action, token, status_from_err(rc), "it could not be armed");
}

static int disable_one(struct service_call *c, struct awaiting *a, struct tool_csr *csr,
		       const char *token)
{
	a->waits += tool_csr_disable(c->services->conf.csrs, csr, one_done, a);
	return 0;
}

static int delete_one(struct service_call *c, struct awaiting *a, struct tool_csr *csr,
		      const char *token)
{
	a->waits += tool_csr_delete(c->services->conf.csrs, csr, one_done, a);
	return 0;
}

static int each_csr(struct service_call *c, int (*fn)(struct service_call *, struct awaiting *,
						      struct tool_csr *, const char *))
{
	struct service_list list = service_list(c, 0);
	struct awaiting *a = await_begin(c);
	int rc = 0;

	if (!a)
		return -ERR_NOMEM;
	for (size_t i = 0; !rc && i < list.n; i++) {
		struct tool_csr *csr = tool_csr_find(c->session, list.v[i].s.p);

		rc = csr ? fn(c, a, csr, list.v[i].s.p) : service_unknown(c, list.v[i].s.p);
	}
	return await_end(a, rc);
}

static int enable(struct service_call *c)
{
	return each_csr(c, enable_one);
}

static int disable(struct service_call *c)
{
	return each_csr(c, disable_one);
}

static int delete (struct service_call *c)
{
	return each_csr(c, delete_one);
}

static int event_create(struct service_call *c)
{
	struct session *s = c->session;
	struct token t;

	if (s->events.n >= TOOL_EVENTS_MAX)
		return -ERR_LIMIT;
	token_print_number(&t, TOKEN_EVENT, numbers_mint(c->services->conf.numbers, NUMBER_EVENT));
	if (smap_put(&s->events, t.s, s, NULL))
		return -ERR_NOMEM;
	return reply_add(c->into, c->action, t.s, STATUS_OK, t.s);
}

static int event_destroy(struct service_call *c)
{
	struct service_list list = service_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++)
		if (!smap_del(&c->session->events, list.v[i].s.p))
			rc = service_unknown(c, list.v[i].s.p);
	tool_csrs_event_gone(c->services->conf.csrs, c->session);
	return rc;
}

/* Raises the event. If resume is 0, the source is that of this run. */
static int event_raise(struct service_call *c)
{
	const struct run_spec *spec = run_spec(c->run);
	struct service_list list = service_list(c, 0), values = service_list(c, 1);
	struct omis_value pars = { .kind = OMIS_LIST };
	struct csr_raise raise = { .values = &pars,
				   .source = service_int(c, 2) == 0 ? spec->source : NULL,
				   .depth = spec->depth };
	int rc = 0;

	pars.list.v = (struct omis_value *)values.v;
	pars.list.n = values.n;
	for (size_t i = 0; !rc && i < list.n; i++) {
		raise.event = list.v[i].s.p;
		if (!smap_find(&c->session->events, list.v[i].s.p))
			rc = service_unknown(c, list.v[i].s.p);
		else if (tool_csrs_raise(c->services->conf.csrs, c->session, &raise))
			return reply_add_error(c->into, c->action, list.v[i].s.p,
					       STATUS_UNSPECIFIED_ERROR,
					       "not raised, nor those behind it: more than %d user "
					       "events a second",
					       TOOL_RAISES_PER_SEC_MAX);
	}
	return rc;
}

/* Evaluates a predicate after other actions. */
static int predicate(struct service_call *c)
{
	return tool_csrs_predicate(c->services->conf.csrs, run_spec(c->run), c->action, c->call);
}

static int events_off(struct service_call *c)
{
	unsigned stay, n = tool_csrs_events_off(c->services->conf.csrs, c->session,
						&c->call->param[0], &stay);
	char text[16];
	int rc;

	snprintf(text, sizeof(text), "%u", n);
	rc = reply_add(c->into, c->action, NULL, STATUS_OK, text);
	if (rc || !stay)
		return rc;
	return reply_add_error(
		c->into, c->action, NULL, STATUS_NO_PERMISSION,
		"%u of others stay on: to switch them off needs the right %s (your own: %u are off)",
		stay, omis_right_name(OMIS_MANIPULATE), n);
}

const struct service mainsm_csr_services[] = {
	{ "omig_at_most", predicate },
	{ "omig_events_off", events_off },
	{ "omig_every", predicate },
	{ "omig_if", predicate },
	{ "csr_enable", enable },
	{ "csr_disable", disable },
	{ "csr_delete", delete },
	{ "user_event_create", event_create },
	{ "user_event_destroy", event_destroy },
	{ "user_event_raise", event_raise },
	{ 0 },
};
