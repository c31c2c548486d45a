/* SPDX-License-Identifier: Apache-2.0 */
/* The end of an interval: inputs are read, the graph runs, one frame is sent to the parent. */
#include "common/base/log.h"
#include "common/loop/loop.h"
#include "lm/instrument/probe.h"
#include "lm/measure/measurements_internal.h"

/* Returns the read whose interval ended last; 0: the first one is in progress. */
static int64_t read_at(const struct measurement *g, nsec_t now)
{
	return now <= g->start ? 0 : (now - g->start) / g->every;
}

static nsec_t end_of(const struct measurement *g, int64_t read)
{
	return g->start + read * g->every;
}

/* Rings are read at any time: data of the next interval are kept separate. */
static void announce(struct measurement *g)
{
	int64_t last = flow_last_read(g->owner->engine, g->id);

	if (g->every)
		flow_announce(g->owner->engine, g->id, end_of(g, last + 1));
}

static nsec_t now_of(void *arg)
{
	return measurements_now(arg);
}

void measurement_ask_plugins(struct measurement *g, int64_t read)
{
	const struct plugged_from from = { g->owner->conf.plugins, now_of, g->owner };

	for (size_t i = 0; i < g->ninput; i++) {
		measurement_begin_late(g, &g->input[i]);
		plugged_ask(&g->input[i], &from);
	}
	g->asked = read;
}

void measurement_begin_reads(struct measurement *g)
{
	measurement_begin_inputs(g);
	measurement_ask_plugins(g, 0);
	announce(g);
}

static bool has_plugins(const struct measurement *g)
{
	for (size_t i = 0; i < g->ninput; i++)
		if (g->input[i].plugged)
			return true;
	return false;
}

static nsec_t lead(const struct measurement *g)
{
	return g->every / 2 < MEASUREMENTS_LEAD_NS ? g->every / 2 : MEASUREMENTS_LEAD_NS;
}

/* The time at which the plug-ins are asked for that read; after it has come, that of the read. */
static nsec_t wake_for(const struct measurement *g, int64_t read)
{
	return end_of(g, read) - (g->asked < read && has_plugins(g) ? lead(g) : 0);
}

void measurement_arm(struct measurement *g)
{
	nsec_t now = measurements_now(g->owner), next = g->start;
	int64_t last = flow_last_read(g->owner->engine, g->id), read;

	if (g->has_begun) {
		if (!g->every)
			return;
		read = read_at(g, now);
		next = wake_for(g, (read > last ? read : last) + 1);
		if (read > last)
			next = now;
	}
	next = next < now + MEASUREMENTS_LOOK_NS ? next : now + MEASUREMENTS_LOOK_NS;
	loop_timer_arm(g->timer, next > now ? next - now : 0);
}

static void push(struct measurement *g, struct input *in, const struct flow_token *t)
{
	if (t->k)
		flow_push(g->owner->engine, in->place, t);
}

static int run(struct measurement *g, int64_t read, nsec_t t)
{
	struct err e = { 0 };
	int rc = flow_read(g->owner->engine, g->id, read, t, &e);

	if (rc)
		log_debug("lm", "m=%u: %s", g->id, e.text);
	return rc;
}

void measurement_skip(struct measurement *g, int64_t read, nsec_t t)
{
	for (size_t i = 0; i < g->ninput; i++) {
		const struct flow_token zero = flow_token_make(read, 0, 0, t);

		if (!input_is_vt(&g->input[i]) && g->input[i].from != INPUT_TIME &&
		    g->input[i].metric.is_total)
			push(g, &g->input[i], &zero);
	}
	run(g, read, t);
}

static void measurement_take(struct measurement *g, int64_t read, nsec_t t)
{
	struct measurements *r = g->owner;
	struct input_moment m;

	measurement_judge_again(g);
	if (!list_is_empty(&r->watches))
		probes_drain(r->conf.probes);
	sampler_begin(r->sampler);
	m = measurement_moment(g);
	for (size_t i = 0; i < g->ninput; i++) {
		struct flow_token token;

		if (input_is_vt(&g->input[i]))
			continue;
		measurement_begin_late(g, &g->input[i]);
		token = input_read(&g->input[i], &m, read);
		push(g, &g->input[i], &token);
	}
	flowbox_begin(g->box, (uint64_t)read, t, procs_node_token(r->conf.procs));
	r->current = g;
	if (!run(g, read, t))
		flowbox_end(g->box);
	r->current = NULL;
	announce(g);
	r->reads++;
	if (!g->is_stale)
		flowbox_flush(g->box);
}

/*
 * Restarts a measurement whose reads had another time than mainsm's: the parents ignore them. Out
 * of memory ends it.
 */
static bool start_over(struct measurement *g, nsec_t now)
{
	int64_t read = read_at(g, now);
	struct err e = { 0 };

	log_info("lm", "the time is another one, reads begin again m=%u", g->id);
	if (measurement_load_again(g, &e)) {
		log_warn("lm", "a measurement is given up m=%u: %s", g->id, e.text);
		measurement_free(g);
		return false;
	}
	measurement_judge_again(g);
	if (read)
		measurement_skip(g, read, end_of(g, read));
	measurements_watch(g->owner);
	announce(g);
	return true;
}

/* True if the reads are so far ahead that the parent ignores them, and would do so for long. */
static bool is_ahead(const struct measurement *g, nsec_t now)
{
	int64_t last = flow_last_read(g->owner->engine, g->id);

	return g->every && g->has_begun && end_of(g, last - 1) > now + MEASUREMENTS_AHEAD_NS;
}

void measurement_on_timer(void *arg)
{
	struct measurement *g = arg;
	nsec_t now = measurements_now(g->owner);
	int64_t read;

	if (measurement_has_other_time(g) && is_ahead(g, now) && !start_over(g, now))
		return;
	if (!g->has_begun && now >= g->start)
		measurement_begin_reads(g);
	read = g->every && g->has_begun ? read_at(g, now) : 0;
	if (read > flow_last_read(g->owner->engine, g->id))
		measurement_take(g, read, end_of(g, read));
	read = g->every && g->has_begun ? read_at(g, now) + 1 : 0;
	if (read > g->asked && now >= wake_for(g, read))
		measurement_ask_plugins(g, read);
	measurement_arm(g);
}

void measurements_read(struct measurements *r, const struct msg_flow_read *m)
{
	struct measurement *g = measurements_find(r, m->measurement);

	if (!g || g->every || m->read > INT64_MAX / 2 || m->time_ns <= g->start ||
	    (int64_t)m->read <= flow_last_read(r->engine, g->id))
		return;
	if (!g->has_begun)
		measurement_begin_reads(g);
	measurement_take(g, (int64_t)m->read, m->time_ns);
	measurement_ask_plugins(g, (int64_t)m->read + 1);
}

/* --- output of the engine */

void measurements_on_batch(void *arg, const struct flow_batch *b)
{
	const struct measurements *r = arg;

	if (r->current)
		flowbox_add(r->current->box, b);
}

/* A host has no outputs: the links carry the results of its pieces to the parent. */
void measurements_on_result(void *arg, const struct flow_result *result)
{
	(void)arg;
	(void)result;
}
