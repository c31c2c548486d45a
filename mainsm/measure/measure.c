/* SPDX-License-Identifier: Apache-2.0 */
/* The life of measurements: created, started, followed, stopped, deleted. */
#include "mainsm/measure/measure.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "mainsm/directory/numbers.h"
#include "mainsm/measure/measure_internal.h"
#include "mainsm/registry/registry.h"
#include "pmsl/check/builtin.h"

#include <stdlib.h>

static void on_follow(void *arg);

struct measures *measures_new(const struct measures_conf *conf)
{
	struct measures *ms = calloc(1, sizeof(*ms));

	if (!ms)
		return NULL;
	ms->conf = *conf;
	ms->on_result = measure_on_result;
	ms->on_batch = measure_on_batch;
	smap_init(&ms->by_token);
	map_init(&ms->by_number);
	list_init(&ms->ready);
	ms->is_round_over = true;
	ms->follow = loop_timer_new(conf->loop, on_follow, ms);
	if (ms->follow)
		return ms;
	free(ms);
	return NULL;
}

void measures_free(struct measures *ms)
{
	if (!ms)
		return;
	smap_done(&ms->by_token);
	map_done(&ms->by_number);
	measures_drop_ready(ms);
	flow_batch_room_done(&ms->room);
	loop_timer_free(ms->follow);
	free(ms);
}

void measures_stats(const struct measures *ms, struct measures_stats *out)
{
	*out = ms->stats;
	out->defined = ms->by_token.n;
}

struct measure *measure_find(const struct session *s, const char *token)
{
	return smap_find(&s->measures, token);
}

struct measure *measures_find(const struct measures *ms, const char *token)
{
	return smap_find(&ms->by_token, token);
}

/* --- making and ending */

static void measure_free(struct measure *m)
{
	if (!m)
		return;
	measure_drop_waiters(m);
	measure_plan_free(m->plan);
	pmsl_free(m->pmsl);
	asked_done(&m->asked);
	while (m->ntrouble)
		free(m->trouble[--m->ntrouble].text);
	free(m->trouble);
	standing_free(m->standing);
	measure_values_clear(m);
	free(m->value);
	free(m->counted);
	read_clock_done(&m->reads);
	free(m);
}

static struct measure *measure_new(struct measures *ms, struct session *s)
{
	struct measure *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->ms = ms;
	m->session = s;
	list_init(&m->waiters);
	m->number = (uint32_t)numbers_mint(ms->conf.numbers, NUMBER_DFG);
	token_print_number(&m->token, TOKEN_MEASUREMENT, m->number);
	m->standing = measure_standing_new(m);
	if (!measure_reads_init(m) && m->standing)
		return m;
	measure_free(m);
	return NULL;
}

/* Compiles the text with those texts of the user that it uses. */
static int compile_text(struct measure *m, const char *text, struct pmsl_diags *d)
{
	const struct pmsl_source s = { m->asked.name, text, strlen(text) };
	struct pmsl_library l = { NULL, 0 };
	int rc = m->ms->conf.registry
			 ? registry_library(m->ms->conf.registry, m->session->principal, text, &l)
			 : 0;

	if (!rc)
		rc = pmsl_compile_with(&l, &s, d, &m->pmsl);
	free(l.v);
	return rc;
}

/* Finds the text of a metric that is not built in: its user may have added it. */
static const char *find_text(struct measure *m, const char *text)
{
	struct registry_found found;
	char *name;

	if (text[0] || !m->ms->conf.registry || pmsl_builtin_find(m->asked.metric) >= 0 ||
	    !registry_find(m->ms->conf.registry, m->session->principal, m->asked.metric, &found))
		return text;
	name = str_dup(found.name);
	if (!name)
		return text;
	free(m->asked.name);
	m->asked.name = name;
	m->asked.is_builtin = false;
	return found.text;
}

static int compile(struct measure *m, const char *text, struct buf *why)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct buf made = BUF_INIT(4096);
	const char *source = find_text(m, text);
	bool builtin = m->asked.is_builtin;
	int rc = builtin ? measure_builtin(m, &made, why) : 0;

	if (!rc) {
		rc = compile_text(m, builtin ? buf_str(&made) : source, &d);
		if (rc && rc != -ERR_NOMEM)
			buf_puts(why, "the metrics that it uses have errors, or are too many");
		rc = rc && rc != -ERR_NOMEM ? -ERR_INVALID : rc;
	}
	buf_done(&made);
	if (rc)
		return rc;
	m->metric = pmsl_metric(m->pmsl, builtin ? "Measured" : m->asked.metric, &d);
	if (m->metric)
		return 0;
	measure_plan_explain(m->pmsl, &d, why);
	return -ERR_INVALID;
}

static int publish(struct measure *m)
{
	struct measures *ms = m->ms;

	if (!smap_put(&ms->by_token, m->token.s, m, NULL) &&
	    !map_put(&ms->by_number, m->number, m, NULL) &&
	    !smap_put(&m->session->measures, m->token.s, m, NULL))
		return 0;
	smap_del(&ms->by_token, m->token.s);
	map_del(&ms->by_number, m->number);
	return -ERR_NOMEM;
}

static void withdraw(struct measure *m)
{
	smap_del(&m->ms->by_token, m->token.s);
	map_del(&m->ms->by_number, m->number);
	smap_del(&m->session->measures, m->token.s);
}

/* True if none of the metric's objects exists yet. */
static bool is_waiting(const struct measure *m, const struct measure_world *w)
{
	const struct pmsl_decl *d = asked_first(m->metric);

	return m->asked.objects.is_all && !w->count[d ? d->type.kind : PMSL_T_SITE];
}

/* Plans for the objects that exist now. Returns 1 if there is nothing to measure yet. */
static int plan(struct measure *m, struct buf *why)
{
	struct measure_world *w = measure_world_new(m->session, m->plan ? m->plan->world : NULL);
	struct measure_plan *made = NULL;
	struct err e = { 0 };
	int got = w ? 0 : -ERR_NOMEM;

	if (!got && is_waiting(m, w))
		got = 1;
	if (!got) {
		m->tried = w->hash;
		got = measure_plan_make(m, &w, &made, why);
		m->ms->stats.plans++;
		m->ms->stats.refused_plans += made == NULL;
	}
	if (!got)
		got = measure_use(m, &made, &e);
	if (!got)
		m->ncounted = 0;
	if (got < 0 && e.text[0])
		buf_puts(why, e.text);
	measure_plan_free(made);
	measure_world_free(w);
	return got;
}

/*
 * Checks the stop rule, even without a process: after a refusal the tool evaluates the rule
 * itself.
 */
static int check_until(const struct measure *m, struct buf *why)
{
	const struct bind_options wanted = asked_options(&m->asked);
	int rc = m->asked.until ? pmsl_can_stop(m->metric, &wanted) : 0;

	if (rc == -ERR_UNSUPPORTED) {
		buf_puts(
			why,
			"until is of what returns MEAN, STDEV, VARIANCE, SKEWNESS, KURTOSIS or CI over virtual times "
			"since the start, one for each output");
		rc = -ERR_INVALID;
	}
	return rc;
}

static int create(struct measure *m, const struct measure_request *wanted, struct buf *why)
{
	int got = asked_init(&m->asked, wanted, why);

	if (!got)
		got = asked_objects_init(&m->asked.objects, m->session, wanted->objects, why);
	if (!got)
		got = compile(m, wanted->text, why);
	if (!got)
		got = check_until(m, why);
	if (!got)
		got = plan(m, why);
	return got < 0 ? got : publish(m);
}

int measure_create(struct measures *ms, struct session *s, const struct measure_request *wanted,
		   const char **token, struct buf *why)
{
	struct measure *m;
	int rc;

	if (s->measures.n >= MEASURES_PER_TOOL_MAX) {
		buf_printf(why, "a tool may have %d measurements", MEASURES_PER_TOOL_MAX);
		return -ERR_LIMIT;
	}
	m = measure_new(ms, s);
	rc = m ? create(m, wanted, why) : -ERR_NOMEM;
	if (rc) {
		measure_free(m);
		return rc;
	}
	*token = m->token.s;
	return 0;
}

/* --- running */

int measure_start(struct measure *m, void (*on_loaded)(void *arg), void *arg)
{
	struct buf why = BUF_INIT(4096);
	int rc, got;

	if (measure_runs(m))
		return -ERR_INVALID;
	rc = measure_wait(m, &(struct measure_waiter){ .on_loaded = on_loaded, .arg = arg });
	if (rc)
		return rc;
	measure_step(m, MEASURE_START);
	m->ms->stats.running++;
	read_clock_start(&m->reads, measure_now(m->ms), m->asked.every, 0);
	m->ncounted = 0;
	m->has_enough = false;
	measure_drop_troubles(m, STAGE_NOWHERE);
	got = plan(m, &why);
	if (got < 0)
		measure_add_fault(m, buf_str(&why));
	buf_done(&why);
	/* An older plan, or none yet: a new plan follows. */
	if (got)
		measure_route(m, NULL);
	standing_check(m->standing, false);
	read_clock_tick(&m->reads);
	return 0;
}

void measure_delete(struct measure *m)
{
	withdraw(m);
	measure_stop(m);
	measure_free(m);
}

void measures_drop(struct measures *ms, struct session *s)
{
	struct smap_iter i = { 0 };

	while (smap_next(&s->measures, &i))
		measure_delete(i.value);
}

/* A refused change has no effect. */
int measure_change(struct measure *m, const struct omis_value *objects, bool add, struct buf *why)
{
	struct asked_objects before;
	int got = asked_objects_copy(&m->asked.objects, &before);

	if (got)
		return got;
	got = asked_objects_change(&m->asked.objects, m->session, objects, add, why);
	if (!got)
		got = plan(m, why);
	if (got < 0) {
		asked_objects_done(&m->asked.objects);
		m->asked.objects = before;
		return got;
	}
	asked_objects_done(&before);
	return 0;
}

/* --- new and ended objects */

static bool has_changed(const struct measure *m)
{
	struct measure_world *w = measure_world_new(m->session, m->plan ? m->plan->world : NULL);
	bool has = w && w->hash != m->tried;

	measure_world_free(w);
	return has;
}

/* Returns true if the measurement was planned again, which takes some time. */
static bool follow(struct measure *m)
{
	struct buf why = BUF_INIT(4096);
	bool is_new = measure_runs(m) && has_changed(m);
	struct err e = { 0 };

	m->followed = m->ms->round;
	if (is_new) {
		measure_drop_troubles(m, STAGE_NOWHERE);
		if (plan(m, &why) < 0)
			measure_add_fault(m, buf_str(&why));
	}
	if (measure_route(m, &e))
		measure_add_fault(m, e.text);
	buf_done(&why);
	return is_new;
}

/*
 * Handles measurements up to the first one that is planned again, so that other work is not
 * delayed. Returns true if some are left.
 */
static bool follow_some(struct measures *ms)
{
	struct map_iter i = { 0 };

	while (map_next(&ms->by_number, &i)) {
		struct measure *m = i.value;

		if (m->followed != ms->round && follow(m))
			return true;
	}
	return false;
}

static void arm_follow(struct measures *ms, nsec_t at_least)
{
	nsec_t rest = ms->follow_next - loop_now(ms->conf.loop);

	loop_timer_arm(ms->follow, rest > at_least ? rest : at_least);
}

static void on_follow(void *arg)
{
	struct measures *ms = arg;
	nsec_t begun = loop_now(ms->conf.loop);
	nsec_t now;

	ms->round += ms->is_round_over;
	ms->is_round_over = !follow_some(ms);
	now = loop_now(ms->conf.loop);
	ms->follow_next = now + MEASURE_REST * (now - begun);
	if (!ms->is_round_over || ms->has_more_changed)
		arm_follow(ms, ms->is_round_over ? MEASURE_FOLLOW_NS : 0);
	ms->has_more_changed &= !ms->is_round_over;
}

void measures_follow_soon(struct measures *ms)
{
	if (!ms->stats.running)
		return;
	/* measurements that were handled in this round lack the change */
	ms->has_more_changed |= !ms->is_round_over;
	if (!loop_timer_is_armed(ms->follow))
		arm_follow(ms, MEASURE_FOLLOW_NS);
}

void measures_branch_lost(struct measures *ms, uint32_t branch)
{
	struct map_iter i = { 0 };

	while (map_next(&ms->by_number, &i))
		measure_lose_branch(i.value, branch);
	measures_follow_soon(ms);
}
