/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests and user events, as services. */
#include "mainsm/numbers.h"
#include "mainsm/top_internal.h"

#include "common/omis/token.h"

#include <stdlib.h>

#define TOOL_EVENTS_MAX 256 /* of one tool; as many as it may have conditions */

/* A csr_enable() that waits for the children. */
struct enabling {
	struct run *run;
	struct session *session;
	size_t waits; /* for so many CSRs; one more while it is being set up */
	size_t n;
	struct token token[];
};

static void one_armed(void *arg)
{
	struct enabling *e = arg;
	struct run *run = e->run;

	if (--e->waits)
		return;
	free(e);
	run_here_done(run);
}

static void abandon(void *arg)
{
	struct enabling *e = arg;

	for (size_t i = 0; i < e->n; i++) {
		struct csr *csr = csr_find(e->session, e->token[i].s);

		if (csr)
			csr_forget_waiter(csr, e);
	}
	free(e);
}

static int enable_one(struct top_call *c, struct enabling *e, const char *token)
{
	struct csr *csr = csr_find(c->session, token);
	int rc;

	if (!csr)
		return top_unknown(c, token);
	e->waits++;
	rc = csr_enable(c->top->conf.csrs, csr, one_armed, e);
	if (!rc)
		return 0;
	e->waits--;
	return reply_add(c->into, c->action, token, status_from_err(rc), "it could not be armed");
}

static int csrs_enable_list(struct top_call *c)
{
	struct top_list list = top_list(c, 0);
	struct enabling *e = calloc(1, sizeof(*e) + list.n * sizeof(e->token[0]));
	int rc = 0;

	if (!e)
		return -ERR_NOMEM;
	e->run = c->run;
	e->session = c->session;
	e->waits = 1;
	for (size_t i = 0; !rc && i < list.n; i++) {
		snprintf(e->token[e->n++].s, TOKEN_BYTES, "%s", list.v[i].s.p);
		rc = enable_one(c, e, list.v[i].s.p);
	}
	if (rc) {
		abandon(e);
		return rc;
	}
	if (--e->waits == 0) {
		free(e);
		return 0;
	}
	run_set_abandon(c->run, abandon, e);
	return 1;
}

static int each_csr(struct top_call *c, void (*fn)(struct csrs *, struct csr *))
{
	struct top_list list = top_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++) {
		struct csr *csr = csr_find(c->session, list.v[i].s.p);

		if (csr)
			fn(c->top->conf.csrs, csr);
		else
			rc = top_unknown(c, list.v[i].s.p);
	}
	return rc;
}

static int disable(struct top_call *c)
{
	return each_csr(c, csr_disable);
}

static int delete(struct top_call *c)
{
	return each_csr(c, csr_delete);
}

static int event_create(struct top_call *c)
{
	struct session *s = c->session;
	struct token t;

	if (s->events.n >= TOOL_EVENTS_MAX)
		return -ERR_LIMIT;
	token_print_number(&t, TOKEN_EVENT, numbers_mint(c->top->conf.numbers, NUMBER_EVENT));
	if (smap_put(&s->events, t.s, s, NULL))
		return -ERR_NOMEM;
	return reply_add(c->into, c->action, t.s, STATUS_OK, t.s);
}

static int event_destroy(struct top_call *c)
{
	struct top_list list = top_list(c, 0);
	int rc = 0;

	for (size_t i = 0; !rc && i < list.n; i++)
		if (!smap_del(&c->session->events, list.v[i].s.p))
			rc = top_unknown(c, list.v[i].s.p);
	return rc;
}

/* With resume 0 what led to this run is the source of the event. */
static int event_raise(struct top_call *c)
{
	const struct run_spec *spec = run_spec(c->run);
	struct top_list list = top_list(c, 0), values = top_list(c, 1);
	struct omis_value pars = { .kind = OMIS_LIST };
	int rc = 0;

	pars.list.v = (struct omis_value *)values.v;
	pars.list.n = values.n;
	for (size_t i = 0; !rc && i < list.n; i++) {
		if (!smap_find(&c->session->events, list.v[i].s.p))
			rc = top_unknown(c, list.v[i].s.p);
		else if (csrs_raise(c->top->conf.csrs, c->session, list.v[i].s.p, &pars,
				    top_int(c, 2) == 0 ? spec->source : NULL, spec->depth))
			return reply_add_error(c->into, c->action, list.v[i].s.p,
					       STATUS_UNSPECIFIED_ERROR,
					       "not raised, nor those behind it: more than %d user "
					       "events a second",
					       TOOL_RAISES_PER_SEC_MAX);
	}
	return rc;
}

/* One that stands behind other actions. */
static int filter(struct top_call *c)
{
	return csrs_filter(c->top->conf.csrs, run_spec(c->run), c->action, c->call);
}

static int events_off(struct top_call *c)
{
	char n[16];

	snprintf(n, sizeof(n), "%u", csrs_events_off(c->top->conf.csrs, &c->call->param[0]));
	return reply_add(c->into, c->action, NULL, STATUS_OK, n);
}

const struct top_service top_csr_services[] = {
	{ "omig_at_most", filter },
	{ "omig_events_off", events_off },
	{ "omig_every", filter },
	{ "omig_if", filter },
	{ "csr_enable", csrs_enable_list },
	{ "csr_disable", disable },
	{ "csr_delete", delete },
	{ "user_event_create", event_create },
	{ "user_event_destroy", event_destroy },
	{ "user_event_raise", event_raise },
	{ 0 },
};
