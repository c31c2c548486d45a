/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/measure/measurements.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "tree/flowlook.h"
#include "common/time/timebase.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "lm/proc/hooks.h"
#include "lm/measure/measurements_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct measurement *measurements_find(const struct measurements *r, uint32_t measurement)
{
	list_each (i, &r->all)
		if (list_entry(i, struct measurement, link)->id == measurement)
			return list_entry(i, struct measurement, link);
	return NULL;
}

struct input_moment measurement_moment(struct measurement *g)
{
	const struct measurements_conf *conf = &g->owner->conf;

	return (struct input_moment){ .ticks = conf->ticks,
				      .sampler = g->owner->sampler,
				      .host = conf->host,
				      .procs = conf->procs,
				      .now = measurements_now(g->owner),
				      .clock_error = measurements_clock_error(g->owner),
				      .start = g->start };
}

/* --- hooks */

static void measurement_drop_interests(struct measurement *g, struct proc *p)
{
	if (hooks_drop_interests(p, HOOKS_FLOW(g->id)))
		hooks_apply(p, HOOKS_ALL);
}

int measurement_add_interest(struct measurement *g, struct proc *p)
{
	uint32_t *bits = calloc(call_count, sizeof(*bits));
	bool had = hooks_drop_interests(p, HOOKS_FLOW(g->id));
	int rc = bits ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < g->ninput && bits; i++)
		if (g->input[i].proc == p)
			input_add_hooks(&g->input[i], bits);
	for (unsigned i = 0; i < call_count && !rc; i++) {
		if (!bits[i])
			continue;
		rc = hooks_add_interest(p, HOOKS_FLOW(g->id), (int)i, bits[i], 0);
		had = true;
	}
	free(bits);
	if (had)
		hooks_apply(p, HOOKS_ALL);
	return rc;
}

/* --- processes */

static bool knows_time(const struct measurements *r)
{
	return timebase_error(r->conf.timebase, loop_now(r->conf.loop)) != TIMEBASE_UNKNOWN_NS;
}

/* True: the process began after the measurement, so that its whole past counts. Unknown before the
 * first sample of mainsm's time, since this clock may be wrong. */
static bool is_newer(const struct measurement *g, const struct proc *p)
{
	return p->seg && g->knows_time &&
	       timebase_at(g->owner->conf.timebase, p->own.start_ns) > g->start;
}

/* "7@1600000000000000000 " precedes all keys of the measurement. */
static void base_prefix(const struct measurement *g, char *out, size_t size)
{
	snprintf(out, size, "%u@%lld ", (unsigned)g->id, (long long)g->start);
}

/* Returns false if the input has no baseline that can be stored. */
static bool base_key(const struct measurement *g, const struct input *in,
		     char key[BASELINES_KEY_BYTES])
{
	const char *object = in->proc ? in->proc->token.s : procs_node_token(g->owner->conf.procs);
	size_t n;

	if (!in->has_base || !input_has_base(in) || (!in->proc && in->from != INPUT_NODE))
		return false;
	base_prefix(g, key, BASELINES_KEY_BYTES);
	n = strlen(key);
	return input_base_key(in, object, key + n, BASELINES_KEY_BYTES - n);
}

/* Stores the baseline of an input; a plain difference needs none. */
static void keep_base(struct measurement *g, const struct input *in)
{
	char key[BASELINES_KEY_BYTES];

	if ((in->source->from_start || in->is_new) && base_key(g, in, key))
		baselines_put(g->owner->baselines, key,
			      &(struct base){ in->base, in->base_open, in->is_cut });
}

/* Continues the counts that an earlier lm has begun. */
static void resume(struct measurement *g, struct input *in)
{
	char key[BASELINES_KEY_BYTES];
	struct base left;

	if (!base_key(g, in, key) || !baselines_take(g->owner->baselines, key, &left))
		return;
	if (!in->source->from_start) {
		input_go_on(in);
		return;
	}
	in->base = left.value;
	in->base_open = left.open;
	in->base_parts = (struct input_parts){ .open = left.open };
	in->before = in->before_open = 0;
	/*
	 * Complete if the rank has continued to count. Values that an aggregate over the events of
	 * a probe had collected are lost in any case.
	 */
	in->is_cut =
		input_is_vt(in) ||
		(in->hooks && (left.is_cut || (hooks_kept(in->proc) & in->hooks) != in->hooks));
}

static void begin_input(struct measurement *g, struct input *in)
{
	const struct input_moment m = measurement_moment(g);

	in->is_cut = in->proc && in->hooks & hooks_kept(in->proc);
	input_begin(in, &m, in->proc && !in->is_cut && is_newer(g, in->proc));
	resume(g, in);
	keep_base(g, in);
}

void measurement_attach_input(struct measurement *g, struct input *in)
{
	const struct flow_source *s = in->source;
	const char *token = s->process[0] ? s->process : s->object;

	if (in->proc || (!input_is_vt(in) && (in->from == INPUT_TIME || in->from == INPUT_NODE)))
		return;
	in->proc = procs_find(g->owner->conf.procs, token, strlen(token));
	if (in->proc && !in->proc->held)
		in->proc = NULL;
}

bool measurement_has_other_time(const struct measurement *g)
{
	return g->roots != g->owner->conf.timebase->roots || g->knows_time != knows_time(g->owner);
}

static void note_time(struct measurement *g)
{
	g->roots = g->owner->conf.timebase->roots;
	g->knows_time = knows_time(g->owner);
}

/* Decides again which processes began after the measurement. The clock has changed: another mainsm
 * gives the time, or the time was not known before. */
void measurement_judge_again(struct measurement *g)
{
	bool any = false;

	if (!measurement_has_other_time(g))
		return;
	note_time(g);
	for (size_t i = 0; i < g->ninput; i++) {
		struct input *in = &g->input[i];

		if (!in->proc || in->is_cut || !input_judge_again(in, is_newer(g, in->proc)))
			continue;
		keep_base(g, in);
		any |= input_is_vt(in);
	}
	if (any)
		measurements_watch(g->owner); /* including their start */
}

void measurement_begin_late(struct measurement *g, struct input *in)
{
	if (g->has_begun && !in->has_base && !in->is_closed && plugged_is_new(in))
		begin_input(g, in);
}

void measurement_begin_inputs(struct measurement *g)
{
	g->has_begun = true;
	note_time(g);
	sampler_begin(g->owner->sampler);
	for (size_t i = 0; i < g->ninput; i++)
		if (!g->input[i].has_base && !g->input[i].is_closed)
			begin_input(g, &g->input[i]);
	measurements_watch(g->owner); /* including their start */
}

/*
 * After exec, values continue from the last ones of the old segment. Without an earlier segment,
 * they begin now.
 */
static void begin_with_segment(struct measurement *g, struct input *in, bool was_without)
{
	if (!was_without) {
		input_renew(in);
		keep_base(g, in);
	} else if (g->has_begun && !in->has_base) {
		begin_input(g, in);
	}
}

/* Handles a segment of a process that is new, had none before, or has called exec. */
static void on_segment(struct measurement *g, struct proc *p, bool is_renewed)
{
	bool any = false;

	for (size_t i = 0; i < g->ninput; i++) {
		struct input *in = &g->input[i];
		bool was_without = in->proc == p && !in->is_closed;

		if (in->proc && in->proc != p)
			continue;
		measurement_attach_input(g, in);
		if (in->proc != p)
			continue;
		any = true;
		input_attach(in, g->owner->conf.ticks);
		if (is_renewed)
			begin_with_segment(g, in, was_without);
		else if (g->has_begun)
			begin_input(g, in);
	}
	g->owner->is_changed |= any;
	if (any && measurement_add_interest(g, p))
		log_warn("lm", "out of memory, a process is not measured m=%u pid=%d", g->id,
			 (int)p->pid);
}

static void on_leaving(struct measurement *g, const struct proc *p, bool has_ended)
{
	const struct input_moment m = measurement_moment(g);

	for (size_t i = 0; i < g->ninput; i++)
		if (g->input[i].proc == p) {
			input_close(&g->input[i], &m, has_ended);
			g->owner->is_changed = true;
		}
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct measurements *r = arg;

	r->is_changed = false;
	list_each (i, &r->all) {
		struct measurement *g = list_entry(i, struct measurement, link);

		if (what == PROC_BORN || what == PROC_RENEWED)
			on_segment(g, p, what == PROC_RENEWED);
		else if (what == PROC_ENDING || what == PROC_DETACHING)
			on_leaving(g, p, what == PROC_ENDING);
	}
	if (r->is_changed)
		measurements_watch(r);
}

/* --- life */

static void on_restated(void *arg)
{
	struct measurements *r = arg;

	list_each_safe (i, &r->all) {
		struct measurement *g = list_entry(i, struct measurement, link);

		if (!g->is_stale)
			continue;
		log_info("lm", "a measurement is given up: the parent does not know it m=%u",
			 g->id);
		measurement_free(g);
	}
}

struct measurements *measurements_new(const struct measurements_conf *c)
{
	struct measurements *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->conf = *c;
	list_init(&r->all);
	list_init(&r->watches);
	r->sampler = sampler_new(c->host);
	r->baselines = baselines_open(&(struct baselines_conf){ .loop = c->loop,
								.path = c->baselines,
								.disk = c->disk,
								.boot = procs_boot_id(c->procs),
								.keep = MEASUREMENTS_RESTATE_NS });
	r->restate = loop_timer_new(c->loop, on_restated, r);
	r->listener = (struct procs_listener){ .on_proc = on_proc, .arg = r };
	procs_listen(c->procs, &r->listener);
	if (r->sampler && r->restate && r->baselines)
		return r;
	measurements_free(r);
	return NULL;
}

void measurement_free(struct measurement *g)
{
	struct measurements *r = g->owner;
	char prefix[BASELINES_KEY_BYTES];

	if (!list_is_empty(&g->link)) {
		base_prefix(g, prefix, sizeof(prefix));
		if (r->baselines)
			baselines_drop(r->baselines, prefix);
		list_del(&g->link);
		r->n--;
		flow_remove(r->engine, g->id);
		measurements_watch(r);
		list_each (i, procs_all(r->conf.procs))
			measurement_drop_interests(g, list_entry(i, struct proc, link));
	}
	for (size_t i = 0; i < g->ninput; i++)
		input_done(&g->input[i]);
	free(g->input);
	flow_graph_free(g->graph);
	flowbox_free(g->box);
	loop_timer_free(g->timer);
	free(g);
}

void measurements_free(struct measurements *r)
{
	if (!r)
		return;
	if (r->baselines)
		baselines_cut(r->baselines);
	baselines_close(r->baselines);
	r->baselines = NULL;
	list_each_safe (i, &r->all)
		measurement_free(list_entry(i, struct measurement, link));
	measurements_unwatch(r);
	procs_unlisten(&r->listener);
	loop_timer_free(r->restate);
	sampler_free(r->sampler);
	flow_free(r->engine);
	free(r);
}

void measurements_end(struct measurements *r, uint32_t measurement)
{
	struct measurement *g = measurements_find(r, measurement);

	if (g)
		measurement_free(g);
}

void measurements_tool_gone(struct measurements *r, uint32_t tool)
{
	list_each_safe (i, &r->all) {
		struct measurement *g = list_entry(i, struct measurement, link);

		if (g->tool == tool)
			measurement_free(g);
	}
}

void measurements_link(struct measurements *r, bool is_up)
{
	loop_timer_cancel(r->restate);
	list_each (i, &r->all)
		list_entry(i, struct measurement, link)->is_stale = true;
	if (is_up && r->n)
		loop_timer_arm(r->restate, MEASUREMENTS_RESTATE_NS);
}

int measurements_write(const struct measurements *r, uint32_t measurement, struct omis_writer *w)
{
	const struct measurement *g = measurements_find(r, measurement);
	struct flowbox_counts sent;

	if (!g)
		return -ERR_NOTFOUND;
	sent = flowbox_counts(g->box);
	for (uint32_t i = 0; i < g->graph->nnode; i++)
		flowlook_node(r->engine, g->id, i, g->graph->node[i].kind, w);
	flowlook_way("up", sent.frames, sent.bytes, w);
	return 0;
}

void measurements_stats(const struct measurements *r, struct measurements_stats *out)
{
	struct flow_size s = { 0 };

	if (r->engine)
		s = flow_size(r->engine);
	*out = (struct measurements_stats){ r->n, s.nodes, s.state_bytes, r->reads };
}

/*
 * Inputs that this host does not have get no tokens: the collector of their events must not count
 * that as none.
 */
void measurement_place_inputs(struct measurement *g)
{
	struct flow *engine = g->owner->engine;
	size_t at = 0;

	for (uint32_t i = 0; i < g->graph->nnode; i++) {
		const struct flow_node *n = &g->graph->node[i];
		uint32_t place;

		if (n->kind != FLOW_INPUT)
			continue;
		place = flow_input(engine, g->id, i);
		if (at < g->ninput && g->input[at].source == &n->source)
			g->input[at++].place = place;
		else
			flow_close(engine, place);
	}
}

/* Drops earlier values, which are of reads at another time and in no current read. */
int measurement_load_again(struct measurement *g, struct err *e)
{
	int rc;

	flow_remove(g->owner->engine, g->id);
	rc = flow_load(g->owner->engine, g->graph, g->start, e);
	if (rc)
		return rc;
	measurement_place_inputs(g);
	for (size_t i = 0; i < g->ninput; i++)
		g->input[i].is_given = false;
	return 0;
}
