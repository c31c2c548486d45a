/* SPDX-License-Identifier: Apache-2.0 */
/* The life of conditional requests: defined, enabled, disabled, deleted. */
#include "mainsm/csr/csr.h"

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/services/catalogue.h"
#include "common/route/event.h"
#include "mainsm/csr/csr_internal.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/tool/locks.h"
#include "tree/states.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static void on_follow(void *arg);

struct tool_csrs *tool_csrs_new(const struct tool_csrs_conf *conf)
{
	struct tool_csrs *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->conf = *conf;
	smap_init(&c->by_token);
	partings_init(&c->partings, conf->loop, CSR_PARTED_MAX_NS);
	c->follow = loop_timer_new(conf->loop, on_follow, c);
	c->losses = loop_timer_new(conf->loop, tool_csrs_on_losses, c);
	if (c->follow && c->losses)
		return c;
	tool_csrs_free(c);
	return NULL;
}

void tool_csrs_free(struct tool_csrs *c)
{
	if (!c)
		return;
	smap_done(&c->by_token);
	loop_timer_free(c->follow);
	loop_timer_free(c->losses);
	free(c);
}

void tool_csrs_stats(const struct tool_csrs *c, struct tool_csrs_stats *out)
{
	*out = c->stats;
	out->defined = c->by_token.n;
}

bool tool_csr_is_of_user_event(const struct tool_csr *csr)
{
	return csr->request->event->service->where == OMIS_AT_TOP;
}

static void tool_csr_free(struct tool_csr *csr)
{
	if (!csr)
		return;
	list_splice_back(&csr->waiters, &csr->parted);
	list_each_safe (i, &csr->waiters)
		free(list_entry(i, struct csr_waiter, in_waiters));
	parting_done(&csr->parting);
	smap_done(&csr->came);
	smap_done(&csr->refused);
	standing_free(csr->standing);
	smap_done(&csr->objects);
	reply_free(csr->news);
	predicates_free(csr->predicates);
	omis_request_free(csr->request);
	free(csr);
}

/* --- states */

static const char *const state_names[CSR_STATES] = { "off",	  "enabling", "enabled",
						     "disabling", "leaving",  "deleted" };
static const char *const event_names[CSR_EVENTS] = { "enable", "refuse", "disable", "report",
						     "delete" };

#define OFF CSR_OFF
#define ENABLING CSR_ENABLING
#define ENABLED CSR_ENABLED
#define DISABLING CSR_DISABLING
#define LEAVING CSR_LEAVING
#define DELETED CSR_DELETED

/* by event, in their order */
static const uint8_t next[CSR_STATES][CSR_EVENTS] = {
	[OFF] = { ENABLING, OFF, OFF, OFF, DELETED },
	[ENABLING] = { ENABLING, OFF, DISABLING, ENABLED, DELETED },
	[ENABLED] = { ENABLED, ENABLED, DISABLING, ENABLED, DELETED },
	[DISABLING] = { DISABLING, DISABLING, DISABLING, OFF, LEAVING },
	[LEAVING] = { LEAVING, LEAVING, LEAVING, DELETED, LEAVING },
	[DELETED] = { DELETED, DELETED, DELETED, DELETED, DELETED },
};

const struct states csr_states = { .name = "csr",
				   .state = state_names,
				   .event = event_names,
				   .nstate = CSR_STATES,
				   .nevent = CSR_EVENTS,
				   .next = next[0] };

void tool_csr_step(struct tool_csr *csr, enum csr_event ev)
{
	csr->state = states_step(&csr_states, csr->state, ev, csr->token.s);
}

bool tool_csr_is_enabled(const struct tool_csr *csr)
{
	return csr->state == CSR_ENABLING || csr->state == CSR_ENABLED;
}

static bool is_deleted(const struct tool_csr *csr)
{
	return csr->state == CSR_LEAVING || csr->state == CSR_DELETED;
}

/* --- life */

static struct tool_csr *tool_csr_new(struct tool_csrs *c, struct session *s, uint64_t id)
{
	struct tool_csr *csr = calloc(1, sizeof(*csr));

	if (!csr)
		return NULL;
	csr->c = c;
	csr->session = s;
	csr->id = id;
	list_init(&csr->waiters);
	list_init(&csr->parted);
	smap_init(&csr->objects);
	smap_init(&csr->came);
	smap_init(&csr->refused);
	token_print_number(&csr->token, TOKEN_CSR, numbers_mint(c->conf.numbers, NUMBER_CSR));
	csr->standing = tool_csr_standing_new(csr);
	if (!parting_init(&csr->parting, &c->partings, tool_csr_parted, csr) && csr->standing)
		return csr;
	tool_csr_free(csr);
	return NULL;
}

static int allowed(const struct session *s, const struct omis_request *r, struct err *e)
{
	if (s->csrs.n >= TOOL_CSRS_MAX)
		return err_set(e, ERR_LIMIT, "a tool may have %d conditional requests",
			       TOOL_CSRS_MAX);
	if (r->naction > CSR_ACTIONS_MAX)
		return err_set(e, ERR_LIMIT, "a conditional request may have %d actions",
			       CSR_ACTIONS_MAX);
	for (size_t i = 0; i < r->naction; i++)
		if (!route_may_call(s->right, &r->action[i]))
			return route_denied(&r->action[i], e);
	return route_may_call(s->right, r->event) ? 0 : route_denied(r->event, e);
}

/* Refuses user events and measurements that do not exist: their names are never used again. */
static int check_events(const struct session *s, const struct omis_call *event, struct err *e)
{
	const struct omis_value *list = &event->param[0];
	bool any = event->service->where != OMIS_AT_TOP || !list->list.n;

	for (size_t i = 0; !any && i < list->list.n; i++)
		any = tool_csr_event_exists(s, list->list.v[i].s.p);
	return any ? 0
		   : err_set(e, ERR_NOTFOUND, "there is no such object: %.40s",
			     list->list.v[0].s.p);
}

/*
 * Tokens of counters are never reused: a missing one will never exist. The lms drop increments of
 * missing cells, and report nothing.
 */
static int check_cells(const struct session *s, const struct omis_request *r, struct err *e)
{
	for (size_t i = 0; i < r->naction; i++) {
		const struct omis_service *service = r->action[i].service;
		const struct omis_value *v;

		if (service->where != OMIS_AT_RANK)
			continue;
		v = &r->action[i].param[service->object_param];
		if (v->kind == OMIS_TOKEN && !pa_set_find(s->pas, v->s.p))
			return err_set(e, ERR_NOTFOUND, "there is no such object: %.40s", v->s.p);
	}
	return 0;
}

/* six: the request is consumed, and its id and token are numbers of two sides. */
int tool_csr_define(struct tool_csrs *c, struct session *s, struct omis_request **request,
		    uint64_t id, const char **out, struct err *e)
{
	struct predicates *predicates = NULL;
	int rc = allowed(s, *request, e);
	struct tool_csr *csr;

	if (!rc)
		rc = event_check((*request)->event, e);
	if (!rc)
		rc = check_events(s, (*request)->event, e);
	if (!rc)
		rc = check_cells(s, *request, e);
	if (!rc)
		rc = predicates_new(*request, &predicates, e);
	if (rc)
		return rc;
	csr = tool_csr_new(c, s, id);
	if (!csr || smap_put(&c->by_token, csr->token.s, csr, NULL) ||
	    smap_put(&s->csrs, csr->token.s, csr, NULL)) {
		if (csr)
			smap_del(&c->by_token, csr->token.s);
		tool_csr_free(csr);
		predicates_free(predicates);
		return err_nomem(e);
	}
	csr->request = *request;
	csr->predicates = predicates;
	*request = NULL;
	*out = csr->token.s;
	return 0;
}

struct tool_csr *tool_csr_find(const struct session *s, const char *token)
{
	return smap_find(&s->csrs, token);
}

/* Reports an end, or losses alone. Each is reported once. */
static void put_losses(struct tool_csr *csr, unsigned kind, struct buf *value)
{
	if (!csr->dropped || kind == STATUS_CSR_ENABLED)
		return;
	buf_printf(value, "%s\"dropped\",%" PRIu64, value->n ? "," : "", csr->dropped);
	csr->dropped = 0;
}

void tool_csr_report(struct tool_csr *csr, unsigned kind, const char *objects, const char *why,
		     struct reply *more)
{
	struct buf value = BUF_INIT(FRAME_MAX_BYTES);
	struct reply *r = reply_new();

	buf_puts(&value, why ? why : csr->token.s);
	put_losses(csr, kind, &value);
	if (r && csr->session && !value.failed && !reply_set_csr(r, csr->token.s) &&
	    !reply_add(r, 0, objects, kind, buf_str(&value)) && (!more || !reply_append(r, more))) {
		r->id = csr->id;
		r->kind = kind;
		session_reply(csr->session, r);
	}
	buf_done(&value);
	reply_free(r);
}

/*
 * Waiters run inside and may delete the csr: a caller that needs it afterwards must hold it as a
 * keeper.
 */
static void switch_off(struct tool_csr *csr, enum csr_event ev)
{
	csr->c->stats.enabled -= tool_csr_is_enabled(csr);
	tool_csr_step(csr, ev);
	reply_free(csr->news);
	csr->news = NULL;
	tool_csr_disarm(csr);
	standing_check(csr->standing, true);
}

static int await(struct list *waiters, csr_on_fn fn, void *arg)
{
	struct csr_waiter *w = calloc(1, sizeof(*w));

	if (!w)
		return -ERR_NOMEM;
	w->fn = fn;
	w->arg = arg;
	list_push_back(waiters, &w->in_waiters);
	return 0;
}

static void forget_waiter(struct list *waiters, const void *arg)
{
	list_each_safe (i, waiters) {
		struct csr_waiter *w = list_entry(i, struct csr_waiter, in_waiters);

		if (w->arg == arg) {
			list_del(i);
			free(w);
		}
	}
}

void tool_csr_call_waiters(struct list *waiters, const struct reply *refusal)
{
	struct list ready;

	list_init(&ready);
	list_splice_back(&ready, waiters);
	for (struct list *i = list_pop_front(&ready); i; i = list_pop_front(&ready)) {
		struct csr_waiter *w = list_entry(i, struct csr_waiter, in_waiters);

		w->fn(w->arg, refusal);
		free(w);
	}
}

int tool_csr_enable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg)
{
	bool was = tool_csr_is_enabled(csr);
	int rc = await(&csr->waiters, fn, arg);

	if (rc)
		return rc;
	if (!was)
		tool_csr_report_disabled(csr, true);
	tool_csr_step(csr, CSR_ENABLE);
	c->stats.enabled += !was;
	rc = tool_csr_arm(csr);
	if (rc) {
		forget_waiter(&csr->waiters, arg);
		if (!was)
			switch_off(csr, CSR_REFUSE);
		return rc;
	}
	standing_check(csr->standing, false);
	return 0;
}

size_t tool_csrs_await_armed(struct tool_csrs *c, struct session *s, csr_on_fn fn, void *arg)
{
	struct smap_iter i = { 0 };
	size_t n = 0;

	while (smap_next(&s->csrs, &i)) {
		struct tool_csr *csr = i.value;

		n += tool_csr_is_enabled(csr) && standing_is_pending(csr->standing) &&
		     !await(&csr->waiters, fn, arg);
	}
	return n;
}

void tool_csrs_forget_waiter(struct tool_csrs *c, void *arg)
{
	struct smap_iter i = { 0 };

	while (smap_next(&c->by_token, &i)) {
		forget_waiter(&((struct tool_csr *)i.value)->waiters, arg);
		forget_waiter(&((struct tool_csr *)i.value)->parted, arg);
	}
	list_each (k, &c->partings.all)
		forget_waiter(&list_entry(k, struct tool_csr, parting.in_all)->parted, arg);
}

static void bury(struct tool_csr *csr)
{
	tool_csr_report(csr, STATUS_CSR_DELETED, NULL, NULL, NULL);
	tool_csr_free(csr);
}

void tool_csr_let_go(struct tool_csr *csr)
{
	csr->keepers--;
	if (csr->keepers == 0 && is_deleted(csr) && !parting_is_open(&csr->parting))
		bury(csr);
}

/* Returns true if fn will be called. */
static bool part(struct tool_csr *csr, csr_on_fn fn, void *arg)
{
	bool waits = fn && parting_is_open(&csr->parting) && !await(&csr->parted, fn, arg);

	tool_csr_check_parted(csr);
	return waits;
}

static bool disable(struct tool_csr *csr, const char *why, csr_on_fn fn, void *arg)
{
	bool waits;

	csr->keepers++;
	csr->why = why;
	switch_off(csr, CSR_DISABLE);
	waits = part(csr, fn, arg);
	tool_csr_let_go(csr);
	return waits;
}

bool tool_csr_disable(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg)
{
	return tool_csr_is_enabled(csr) && disable(csr, NULL, fn, arg);
}

void tool_csr_suspend(struct tool_csr *csr, const char *why)
{
	if (!tool_csr_is_enabled(csr))
		return;
	log_info("csr", "suspended csr=%s tool=%u: %s", csr->token.s,
		 csr->session ? csr->session->number : 0, why);
	csr->c->stats.suspended++;
	disable(csr, why, NULL, NULL);
}

static bool has_name(const struct omis_value *list, const char *name)
{
	for (size_t i = 0; i < list->list.n; i++)
		if (!strcmp(omis_value_text(&list->list.v[i], NULL), name))
			return true;
	return false;
}

static bool waits_for_events(const struct tool_csr *csr, const struct omis_value *names)
{
	const struct omis_call *event = csr->request->event;

	if (strcmp(event->name, "thread_writes_events"))
		return false;
	for (size_t i = 0; i < names->list.n; i++) {
		const char *name = omis_value_text(&names->list.v[i], NULL);

		if (!strcmp(name, "all") || has_name(&event->param[1], name))
			return true;
	}
	return false;
}

static bool may_switch_off(const struct session *s, const struct tool_csr *csr)
{
	return s->right >= OMIS_MANIPULATE || str_eq(s->principal, csr->session->principal);
}

unsigned tool_csrs_events_off(struct tool_csrs *c, const struct session *s,
			      const struct omis_value *names, unsigned *stay)
{
	struct smap_iter i = { 0 };
	unsigned n = 0;

	*stay = 0;
	while (smap_next(&c->by_token, &i)) {
		struct tool_csr *csr = i.value;

		if (!tool_csr_is_enabled(csr) || !waits_for_events(csr, names))
			continue;
		if (!may_switch_off(s, csr)) {
			++*stay;
			continue;
		}
		disable(csr, "\"switched off by omig_events_off\"", NULL, NULL);
		n++;
	}
	return n;
}

bool tool_csr_delete(struct tool_csrs *c, struct tool_csr *csr, csr_on_fn fn, void *arg)
{
	bool waits;

	if (is_deleted(csr))
		return false;
	smap_del(&c->by_token, csr->token.s);
	smap_del(&csr->session->csrs, csr->token.s);
	csr->keepers++;
	switch_off(csr, CSR_DELETE);
	waits = part(csr, fn, arg);
	tool_csr_let_go(csr);
	return waits;
}

void tool_csr_fire_ended(struct tool_csr *csr)
{
	csr->firings--;
	tool_csr_report_disabled(csr, false);
	tool_csr_let_go(csr);
}

/* Frees deleted csrs of the session for which branches have not yet answered. */
static void drop_partings(struct tool_csrs *c, const struct session *s)
{
	list_each_safe (i, &c->partings.all) {
		struct tool_csr *csr = list_entry(i, struct tool_csr, parting.in_all);

		if (csr->session == s && is_deleted(csr))
			tool_csr_free(csr);
	}
}

/*
 * Nothing frees a csr inside switch_off(): no firing holds it, and no request of the tool waits for
 * it. A branch that is disconnected for a full queue is removed later, from a job of the loop: see
 * link_fail().
 */
void tool_csrs_drop(struct tool_csrs *c, struct session *s)
{
	struct smap_iter i = { 0 };

	locks_cancel(c->conf.locks, &s->runs);
	while (smap_next(&s->csrs, &i)) {
		struct tool_csr *csr = i.value;

		assert(!csr->keepers);
		csr->session = NULL;
		switch_off(csr, CSR_DELETE);
		assert(!csr->keepers);
		smap_del(&c->by_token, csr->token.s);
		smap_del(&s->csrs, csr->token.s);
		tool_csr_free(csr);
	}
	drop_partings(c, s);
}

static void follow_one(struct tool_csr *csr)
{
	int rc;

	if (!tool_csr_is_enabled(csr) || tool_csr_is_of_user_event(csr))
		return;
	rc = tool_csr_arm(csr);
	if (rc)
		tool_csr_suspend(csr, rc == -ERR_LIMIT ? "\"too many objects\""
						       : "\"no memory to follow its objects\"");
	else
		standing_check(csr->standing, false);
}

void tool_csrs_follow(struct tool_csrs *c, struct session *s)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->csrs, &i))
		follow_one(i.value);
}

void tool_csrs_event_gone(struct tool_csrs *c, struct session *s)
{
	struct smap_iter i = { 0 };
	struct token hit[TOOL_CSRS_MAX];
	size_t n = 0;

	while (smap_next(&s->csrs, &i)) {
		struct tool_csr *csr = i.value;

		if (tool_csr_is_enabled(csr) && tool_csr_is_of_user_event(csr))
			hit[n++] = csr->token;
	}
	/* The waiters of a csr run inside and may delete another csr. */
	for (size_t k = 0; k < n; k++) {
		struct tool_csr *csr = tool_csr_find(s, hit[k].s);

		if (!csr || !tool_csr_is_enabled(csr))
			continue;
		if (tool_csr_is_hopeless(csr))
			disable(csr, "\"its objects no longer exist\"", NULL, NULL);
		else if (!tool_csr_arm(csr))
			standing_check(csr->standing, false);
	}
}

static void on_follow(void *arg)
{
	struct tool_csrs *c = arg;
	struct smap_iter i = { 0 };

	while (smap_next(&c->by_token, &i))
		follow_one(i.value);
}

void tool_csrs_follow_soon(struct tool_csrs *c)
{
	if (c->by_token.n && !loop_timer_is_armed(c->follow))
		loop_timer_arm(c->follow, CSR_FOLLOW_NS);
}
