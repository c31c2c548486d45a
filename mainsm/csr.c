/* SPDX-License-Identifier: Apache-2.0 */
/* The life of conditional requests: defined, enabled, disabled, deleted. */
#include "mainsm/csr.h"

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/omis/catalogue.h"
#include "mainsm/csr_internal.h"
#include "mainsm/numbers.h"

#include <stdlib.h>

static void on_follow(void *arg);

struct csrs *csrs_new(const struct csrs_conf *conf)
{
	struct csrs *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->conf = *conf;
	smap_init(&c->by_token);
	c->follow = loop_timer_new(conf->loop, on_follow, c);
	if (c->follow)
		return c;
	free(c);
	return NULL;
}

void csrs_free(struct csrs *c)
{
	if (!c)
		return;
	smap_done(&c->by_token);
	loop_timer_free(c->follow);
	free(c);
}

void csrs_stats(const struct csrs *c, struct csrs_stats *out)
{
	*out = c->stats;
	out->defined = c->by_token.n;
}

bool csr_is_of_user_event(const struct csr *csr)
{
	return csr->request->event->service->where == OMIS_AT_TOP;
}

static void csr_free(struct csr *csr)
{
	if (!csr)
		return;
	list_each_safe(i, &csr->waiters)
		free(list_entry(i, struct csr_waiter, in_waiters));
	while (csr->nslot)
		csr_slot_drop(csr, &csr->slot[csr->nslot - 1], false);
	free(csr->slot);
	smap_done(&csr->objects);
	reply_free(csr->news);
	loop_timer_free(csr->timer);
	filters_free(csr->filters);
	omis_request_free(csr->request);
	free(csr);
}

static void on_arm_timeout(void *arg)
{
	csr_check_armed(arg, true);
}

static struct csr *csr_new(struct csrs *c, struct session *s, uint64_t id)
{
	struct csr *csr = calloc(1, sizeof(*csr));

	if (!csr)
		return NULL;
	csr->c = c;
	csr->session = s;
	csr->id = id;
	list_init(&csr->waiters);
	smap_init(&csr->objects);
	token_print_number(&csr->token, TOKEN_CSR, numbers_mint(c->conf.numbers, NUMBER_CSR));
	csr->timer = loop_timer_new(c->conf.loop, on_arm_timeout, csr);
	if (csr->timer)
		return csr;
	csr_free(csr);
	return NULL;
}

static int deny(const struct omis_service *s, struct err *e)
{
	return err_set(e, ERR_DENIED, "%s needs the right %s", s->name, omis_right_name(s->right));
}

static int allowed(const struct session *s, const struct omis_request *r, struct err *e)
{
	if (s->csrs.n >= TOOL_CSRS_MAX)
		return err_set(e, ERR_LIMIT, "a tool may have %d conditional requests", TOOL_CSRS_MAX);
	if (r->naction > CSR_ACTIONS_MAX)
		return err_set(e, ERR_LIMIT, "a conditional request may have %d actions", CSR_ACTIONS_MAX);
	for (size_t i = 0; i < r->naction; i++)
		if (!route_may(s->right, r->action[i].service))
			return deny(r->action[i].service, e);
	return route_may(s->right, r->event->service) ? 0 : deny(r->event->service, e);
}

int csr_define(struct csrs *c, struct session *s, struct omis_request **request, uint64_t id, const char **out,
	       struct err *e)
{
	struct filters *filters = NULL;
	int rc = allowed(s, *request, e);
	struct csr *csr;

	if (!rc)
		rc = filters_new(*request, &filters, e);
	if (rc)
		return rc;
	csr = csr_new(c, s, id);
	if (!csr || smap_put(&c->by_token, csr->token.s, csr, NULL) ||
	    smap_put(&s->csrs, csr->token.s, csr, NULL)) {
		if (csr)
			smap_del(&c->by_token, csr->token.s);
		csr_free(csr);
		filters_free(filters);
		return err_nomem(e);
	}
	csr->request = *request;
	csr->filters = filters;
	*request = NULL;
	*out = csr->token.s;
	return 0;
}

struct csr *csr_find(const struct session *s, const char *token)
{
	return smap_find(&s->csrs, token);
}

void csr_tell(struct csr *csr, unsigned kind, const char *objects, const char *why, struct reply *more)
{
	struct reply *r = reply_new();

	if (!r || !csr->session) {
		reply_free(r);
		return;
	}
	r->id = csr->id;
	r->kind = kind;
	if (!reply_set_csr(r, csr->token.s) && !reply_add(r, 0, objects, kind, why ? why : csr->token.s) &&
	    (!more || !reply_append(r, more)))
		session_reply(csr->session, r);
	reply_free(r);
}

/* Whoever waits goes on inside, and may delete it: a caller that needs it afterwards keeps it. */
static void switch_off(struct csr *csr)
{
	csr->c->stats.enabled -= csr->is_enabled;
	csr->is_enabled = false;
	reply_free(csr->news);
	csr->news = NULL;
	csr_disarm(csr);
	csr_check_armed(csr, true);
}

int csr_enable(struct csrs *c, struct csr *csr, void (*on_armed)(void *arg), void *arg)
{
	struct csr_waiter *w = calloc(1, sizeof(*w));
	bool was = csr->is_enabled;
	int rc;

	if (!w)
		return -ERR_NOMEM;
	csr->is_enabled = true;
	c->stats.enabled += !was;
	rc = csr_arm(csr);
	if (rc) {
		free(w);
		if (!was)
			switch_off(csr);
		return rc;
	}
	w->fn = on_armed;
	w->arg = arg;
	list_push_back(&csr->waiters, &w->in_waiters);
	csr_check_armed(csr, false);
	return 0;
}

void csr_forget_waiter(struct csr *csr, void *arg)
{
	list_each_safe(i, &csr->waiters) {
		struct csr_waiter *w = list_entry(i, struct csr_waiter, in_waiters);

		if (w->arg == arg) {
			list_del(i);
			free(w);
		}
	}
}

static void bury(struct csr *csr)
{
	csr_tell(csr, STATUS_CSR_DELETED, NULL, NULL, NULL);
	csr_free(csr);
}

static void let_go(struct csr *csr)
{
	csr->keepers--;
	if (csr->keepers == 0 && csr->is_deleted)
		bury(csr);
}

static void disable(struct csr *csr, const char *why)
{
	csr->keepers++;
	switch_off(csr);
	csr_tell(csr, STATUS_CSR_DISABLED, NULL, why, NULL);
	let_go(csr);
}

void csr_disable(struct csrs *c, struct csr *csr)
{
	if (csr->is_enabled)
		disable(csr, NULL);
}

void csr_suspend(struct csr *csr, const char *why)
{
	if (!csr->is_enabled)
		return;
	log_info("csr", "suspended csr=%s tool=%u: %s", csr->token.s, csr->session ? csr->session->number : 0,
		 why);
	csr->c->stats.suspended++;
	disable(csr, why);
}

static bool has_name(const struct omis_value *list, const char *name)
{
	for (size_t i = 0; i < list->list.n; i++)
		if (!strcmp(omis_value_text(&list->list.v[i], NULL), name))
			return true;
	return false;
}

static bool waits_for_events(const struct csr *csr, const struct omis_value *names)
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

unsigned csrs_events_off(struct csrs *c, const struct omis_value *names)
{
	struct smap_iter i = { 0 };
	unsigned n = 0;

	while (smap_next(&c->by_token, &i)) {
		struct csr *csr = i.value;

		if (!csr->is_enabled || !waits_for_events(csr, names))
			continue;
		disable(csr, "\"switched off by omig_events_off\"");
		n++;
	}
	return n;
}

void csr_delete(struct csrs *c, struct csr *csr)
{
	if (csr->is_deleted)
		return;
	csr->is_deleted = true;
	smap_del(&c->by_token, csr->token.s);
	smap_del(&csr->session->csrs, csr->token.s);
	csr->keepers++;
	switch_off(csr);
	let_go(csr);
}

void csr_fire_ended(struct csr *csr)
{
	let_go(csr);
}

void csrs_drop(struct csrs *c, struct session *s)
{
	struct smap_iter i = {0};

	while (smap_next(&s->csrs, &i)) {
		struct csr *csr = i.value;

		csr->session = NULL;
		switch_off(csr);
		smap_del(&c->by_token, csr->token.s);
		smap_del(&s->csrs, csr->token.s);
		csr_free(csr);
	}
}

static void follow_one(struct csr *csr)
{
	int rc;

	if (!csr->is_enabled || csr_is_of_user_event(csr))
		return;
	rc = csr_arm(csr);
	if (rc)
		csr_suspend(csr, rc == -ERR_LIMIT ? "\"too many objects\""
						  : "\"no memory to follow its objects\"");
	else
		csr_check_armed(csr, false);
}

void csrs_follow(struct csrs *c, struct session *s)
{
	struct smap_iter i = {0};

	while (smap_next(&s->csrs, &i))
		follow_one(i.value);
}

static void on_follow(void *arg)
{
	struct csrs *c = arg;
	struct smap_iter i = {0};

	while (smap_next(&c->by_token, &i))
		follow_one(i.value);
}

void csrs_follow_soon(struct csrs *c)
{
	if (c->by_token.n && !loop_timer_is_armed(c->follow))
		loop_timer_arm(c->follow, CSR_FOLLOW_NS);
}
