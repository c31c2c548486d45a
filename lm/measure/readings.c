/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/measure/readings.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/timebase.h"
#include "common/loop/loop.h"
#include "common/ring/calls.h"
#include "lm/measure/readings_internal.h"
#include "lm/proc/hooks.h"
#include "tree/flowlook.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

nsec_t readings_now(const struct readings *r)
{
	return timebase_at(r->conf.timebase, loop_now(r->conf.loop));
}

double readings_clock_error(const struct readings *r)
{
	nsec_t e = timebase_error(r->conf.timebase, loop_now(r->conf.loop));

	return e == TIMEBASE_UNKNOWN_NS ? INFINITY : (double)e * 1e-9;
}

struct reading *readings_find(const struct readings *r, uint32_t measurement)
{
	list_each (i, &r->all)
		if (list_entry(i, struct reading, link)->id == measurement)
			return list_entry(i, struct reading, link);
	return NULL;
}

struct input_moment reading_moment(struct reading *g)
{
	const struct readings_conf *conf = &g->owner->conf;

	return (struct input_moment){ .ticks = conf->ticks,
				      .sampler = g->owner->sampler,
				      .host = conf->host,
				      .now = readings_now(g->owner),
				      .clock_error = readings_clock_error(g->owner),
				      .start = g->start };
}

/* --- hooks */

void reading_unwish(struct reading *g, struct proc *p)
{
	if (hooks_unwish(p, HOOKS_FLOW(g->id)))
		hooks_apply(p, HOOKS_ALL);
}

int reading_wish(struct reading *g, struct proc *p)
{
	uint32_t *bits = calloc(call_count, sizeof(*bits));
	bool had = hooks_unwish(p, HOOKS_FLOW(g->id));
	int rc = bits ? 0 : -ERR_NOMEM;

	for (size_t i = 0; i < g->ninput && bits; i++)
		if (g->input[i].proc == p)
			input_add_hooks(&g->input[i], bits);
	for (unsigned i = 0; i < call_count && !rc; i++) {
		if (!bits[i])
			continue;
		rc = hooks_wish(p, HOOKS_FLOW(g->id), (int)i, bits[i], 0);
		had = true;
	}
	free(bits);
	if (had)
		hooks_apply(p, HOOKS_ALL);
	return rc;
}

/* --- processes */

/* It has begun to run after the measurement had: all that it ever did belongs to it. */
static bool is_newer(const struct reading *g, const struct proc *p)
{
	return p->seg && timebase_at(g->owner->conf.timebase, p->own.start_ns) > g->start;
}

/* "7@1600000000000000000 " stands before all keys of the measurement. */
static void base_prefix(const struct reading *g, char *out, size_t size)
{
	snprintf(out, size, "%u@%lld ", (unsigned)g->id, (long long)g->start);
}

/* False: it has none that could be kept. */
static bool base_key(const struct reading *g, const struct input *in, char key[BASES_KEY_BYTES])
{
	const char *object = in->proc ? in->proc->token.s : procs_node_token(g->owner->conf.procs);
	size_t n;

	if (!in->has_base || !input_has_base(in) || (!in->proc && in->from != INPUT_NODE))
		return false;
	base_prefix(g, key, BASES_KEY_BYTES);
	n = strlen(key);
	return input_base_key(in, object, key + n, BASES_KEY_BYTES - n);
}

static void keep_base(struct reading *g, const struct input *in)
{
	char key[BASES_KEY_BYTES];

	if (base_key(g, in, key))
		bases_put(g->owner->bases, key,
			  &(struct base){ in->base, in->base_open, in->is_cut });
}

/* What an lm before us had begun to count goes on from there. */
static void resume(struct reading *g, struct input *in)
{
	char key[BASES_KEY_BYTES];
	struct base left;

	if (!base_key(g, in, key) || !bases_take(g->owner->bases, key, &left))
		return;
	in->base = left.value;
	in->base_open = left.open;
	in->before = in->before_open = 0;
	/*
	 * That is all when the rank has gone on to count. What an aggregate over the events of a
	 * probe had gathered is gone all the same.
	 */
	in->is_cut =
		input_is_vt(in) ||
		(in->hooks && (left.is_cut || (hooks_kept(in->proc) & in->hooks) != in->hooks));
}

static void begin_input(struct reading *g, struct input *in)
{
	const struct input_moment m = reading_moment(g);

	in->is_cut = in->proc && in->hooks & hooks_kept(in->proc);
	input_begin(in, &m, in->proc && !in->is_cut && is_newer(g, in->proc));
	resume(g, in);
	keep_base(g, in);
}

void reading_attach(struct reading *g, struct input *in)
{
	const struct flow_source *s = in->source;
	const char *token = s->process[0] ? s->process : s->object;

	if (in->proc || (!input_is_vt(in) && (in->from == INPUT_TIME || in->from == INPUT_NODE)))
		return;
	in->proc = procs_find(g->owner->conf.procs, token, strlen(token));
	if (in->proc && !in->proc->held)
		in->proc = NULL;
}

/* Times that were compared were of another mainsm: a process may be older than it seemed, or
 * newer. */
void reading_judge_again(struct reading *g)
{
	unsigned roots = g->owner->conf.timebase->roots;

	if (g->roots == roots)
		return;
	g->roots = roots;
	for (size_t i = 0; i < g->ninput; i++) {
		struct input *in = &g->input[i];

		if (in->proc && !in->is_cut && input_judge_again(in, is_newer(g, in->proc)))
			keep_base(g, in);
	}
}

void reading_begin(struct reading *g)
{
	g->has_begun = true;
	g->roots = g->owner->conf.timebase->roots;
	sampler_begin(g->owner->sampler);
	for (size_t i = 0; i < g->ninput; i++)
		if (!g->input[i].has_base && !g->input[i].is_closed)
			begin_input(g, &g->input[i]);
	readings_watch(g->owner); /* with what they began at */
	reading_announce(g);
}

/* What its old segment had told last goes on after exec; of a process that had none until now all
 * begins. */
static void begin_with_segment(struct reading *g, struct input *in, bool was_without)
{
	if (!was_without) {
		input_renew(in);
		keep_base(g, in);
	} else if (g->has_begun && !in->has_base) {
		begin_input(g, in);
	}
}

/* It is here, was held before it had a segment, or has called exec. */
static void on_segment(struct reading *g, struct proc *p, bool is_renewed)
{
	bool any = false;

	for (size_t i = 0; i < g->ninput; i++) {
		struct input *in = &g->input[i];
		bool was_without = in->proc == p && !in->is_closed;

		if (in->proc && in->proc != p)
			continue;
		reading_attach(g, in);
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
	if (any && reading_wish(g, p))
		log_warn("lm", "out of memory, a process is not measured m=%u pid=%d", g->id,
			 (int)p->pid);
}

static void on_leaving(struct reading *g, const struct proc *p, bool has_ended)
{
	const struct input_moment m = reading_moment(g);

	for (size_t i = 0; i < g->ninput; i++)
		if (g->input[i].proc == p) {
			input_close(&g->input[i], &m, has_ended);
			g->owner->is_changed = true;
		}
}

static void on_proc(void *arg, struct proc *p, enum proc_event what)
{
	struct readings *r = arg;

	r->is_changed = false;
	list_each (i, &r->all) {
		struct reading *g = list_entry(i, struct reading, link);

		if (what == PROC_BORN || what == PROC_RENEWED)
			on_segment(g, p, what == PROC_RENEWED);
		else if (what == PROC_ENDING || what == PROC_DETACHING)
			on_leaving(g, p, what == PROC_ENDING);
	}
	if (r->is_changed)
		readings_watch(r);
}

/* --- life */

static void on_restated(void *arg)
{
	struct readings *r = arg;

	list_each_safe (i, &r->all) {
		struct reading *g = list_entry(i, struct reading, link);

		if (!g->is_stale)
			continue;
		log_info("lm", "a measurement is given up: the parent does not know it m=%u",
			 g->id);
		reading_free(g);
	}
}

struct readings *readings_new(const struct readings_conf *c)
{
	struct readings *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->conf = *c;
	list_init(&r->all);
	list_init(&r->watches);
	r->sampler = sampler_new(c->host);
	r->bases = bases_open(&(struct bases_conf){ c->loop, c->bases, procs_boot_id(c->procs),
						    READINGS_RESTATE_NS });
	r->restate = loop_timer_new(c->loop, on_restated, r);
	r->listener = (struct procs_listener){ .on_proc = on_proc, .arg = r };
	procs_listen(c->procs, &r->listener);
	if (r->sampler && r->restate && r->bases)
		return r;
	readings_free(r);
	return NULL;
}

void reading_free(struct reading *g)
{
	struct readings *r = g->owner;
	char prefix[BASES_KEY_BYTES];

	if (!list_is_empty(&g->link)) {
		base_prefix(g, prefix, sizeof(prefix));
		if (r->bases)
			bases_drop(r->bases, prefix);
		list_del(&g->link);
		r->n--;
		flow_remove(r->engine, g->id);
		readings_watch(r);
		list_each (i, procs_all(r->conf.procs))
			reading_unwish(g, list_entry(i, struct proc, link));
	}
	for (size_t i = 0; i < g->ninput; i++)
		input_done(&g->input[i]);
	free(g->input);
	flow_graph_free(g->graph);
	flowbox_free(g->box);
	loop_timer_free(g->timer);
	free(g);
}

void readings_free(struct readings *r)
{
	if (!r)
		return;
	if (r->bases)
		bases_cut(r->bases);
	bases_close(r->bases);
	r->bases = NULL;
	list_each_safe (i, &r->all)
		reading_free(list_entry(i, struct reading, link));
	readings_unwatch(r);
	procs_unlisten(&r->listener);
	loop_timer_free(r->restate);
	sampler_free(r->sampler);
	flow_free(r->engine);
	free(r);
}

void readings_end(struct readings *r, uint32_t measurement)
{
	struct reading *g = readings_find(r, measurement);

	if (g)
		reading_free(g);
}

void readings_tool_gone(struct readings *r, uint32_t tool)
{
	list_each_safe (i, &r->all) {
		struct reading *g = list_entry(i, struct reading, link);

		if (g->tool == tool)
			reading_free(g);
	}
}

void readings_link(struct readings *r, bool is_up)
{
	loop_timer_cancel(r->restate);
	list_each (i, &r->all)
		list_entry(i, struct reading, link)->is_stale = true;
	if (is_up && r->n)
		loop_timer_arm(r->restate, READINGS_RESTATE_NS);
}

int readings_look(const struct readings *r, uint32_t measurement, struct omis_writer *w)
{
	const struct reading *g = readings_find(r, measurement);
	struct flowbox_counts sent;

	if (!g)
		return -ERR_NOTFOUND;
	sent = flowbox_counts(g->box);
	for (uint32_t i = 0; i < g->graph->nnode; i++)
		flowlook_node(r->engine, g->id, i, g->graph->node[i].kind, w);
	flowlook_way("up", sent.frames, sent.bytes, w);
	return 0;
}

void readings_stats(const struct readings *r, struct readings_stats *out)
{
	struct flow_size s = { 0 };

	if (r->engine)
		s = flow_size(r->engine);
	*out = (struct readings_stats){ r->n, s.nodes, s.state_bytes, r->reads };
}
