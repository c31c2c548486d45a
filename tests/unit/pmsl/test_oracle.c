/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random metrics over random logs, by the pieces of their graphs. Each node and site and the top
 * has an engine. The result equals that of a walk over the text with the whole log. The walk knows
 * nothing of graphs, of pieces or of partial aggregates.
 */
#include "common/flow/engine/flow.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"
#include "tests/unit/pmsl/metrics.h"

#include <math.h>

#define PROGRAMS 1000

static struct rng rng;
static const struct world *world;
static struct walk_log story;

static unsigned roll(unsigned n)
{
	return (unsigned)rng_below(&rng, n);
}

/* --- the pieces, each in a separate engine */

#define PIECES_MAX 8

struct tree {
	struct pmsl_plan *plan;
	struct flow *engine[PIECES_MAX];
	unsigned at; /* the piece that is read */
	double result;
	bool has_result, is_enough;
};

static void on_result(void *arg, const struct flow_result *r)
{
	struct tree *t = arg;

	t->result = r->t.value;
	t->is_enough = r->is_enough;
	t->has_result = true;
}

static unsigned above(const struct tree *t, unsigned i)
{
	struct place at = t->plan->pieces.v[i].place;

	for (unsigned k = 0; at.kind == PLACE_NODE && k < t->plan->pieces.n; k++)
		if (t->plan->pieces.v[k].place.kind == PLACE_SITE &&
		    t->plan->pieces.v[k].place.object == world_site(world, at.object))
			return k;
	return 0;
}

static void on_batch(void *arg, const struct flow_batch *b)
{
	struct tree *t = arg;
	struct err e = { 0 };

	ck_assert_msg(flow_take(t->engine[above(t, t->at)], b, &e) == 0, "%s", e.text);
}

static void start(struct tree *t)
{
	const struct flow_limits limits = { 4, 4096, 64 << 20 };
	const struct flow_out out = { on_result, on_batch, t };
	struct err e = { 0 };

	ck_assert_uint_le(t->plan->pieces.n, PIECES_MAX);
	for (unsigned i = 0; i < t->plan->pieces.n; i++) {
		t->engine[i] = flow_new(&limits, &out);
		ck_assert_msg(flow_load(t->engine[i], t->plan->pieces.v[i].graph, 0, &e) == 0, "%s",
			      e.text);
	}
}

static void push_one(struct tree *t, unsigned i, uint32_t input, struct flow_token token)
{
	flow_push(t->engine[i], input, &token);
}

/* The events in the piece up to read r, input by input; virtual times come in any order. */
static void push_events(struct tree *t, unsigned i, uint32_t node, const struct flow_source *s,
			unsigned r)
{
	uint32_t input = flow_input(t->engine[i], 1, node);
	unsigned p = metrics_rank(s->process), vt, first = roll(WALK_VTS), step = roll(2) ? 1 : 5;

	for (unsigned k = 0; k < WALK_VTS; k++) {
		const struct walk_event *e;

		/* 1 and 5 have no factor with WALK_VTS: each occurs. */
		vt = 1 + (first + k * step) % WALK_VTS;
		e = &story.event[p][vt];
		if (e->time > walk_read_time(r - 1) && e->time <= walk_read_time(r))
			push_one(t, i, input,
				 flow_token_make(vt, metrics_value(&story, s, p, vt), 0, e->time));
	}
}

static void push(struct tree *t, unsigned i, unsigned r)
{
	const struct flow_graph *g = t->plan->pieces.v[i].graph;

	for (uint32_t k = 0; k < g->nnode; k++) {
		const struct flow_source *s = &g->node[k].source;

		if (g->node[k].kind != FLOW_INPUT)
			continue;
		if (*s->probe) {
			push_events(t, i, k, s, r);
		} else {
			push_one(t, i, flow_input(t->engine[i], 1, k),
				 flow_token_make(r, story.sent_at_read[metrics_rank(s->object)][r],
						 0, walk_read_time(r)));
		}
	}
}

/* Reads all pieces from the nodes to the top: lower pieces are later in the list. */
static void read_all(struct tree *t, unsigned r)
{
	struct err e = { 0 };

	t->has_result = false;
	for (unsigned i = 0; i < t->plan->pieces.n; i++)
		push(t, i, r);
	for (unsigned i = (unsigned)t->plan->pieces.n; i-- > 0;)
		if (t->plan->pieces.v[i].place.kind == PLACE_NODE) {
			t->at = i;
			ck_assert_msg(flow_read(t->engine[i], 1, r, walk_read_time(r), &e) == 0,
				      "%s", e.text);
		}
	for (unsigned i = (unsigned)t->plan->pieces.n; i-- > 0;)
		if (t->plan->pieces.v[i].place.kind != PLACE_NODE) {
			t->at = i;
			ck_assert_msg(flow_read(t->engine[i], 1, r, walk_read_time(r), &e) == 0,
				      "%s", e.text);
		}
}

static bool is_close(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1);
}

/* The number of values that the rule requests, if there is a rule. */
static unsigned enough;

static void compare(const char *source, struct pmsl_plan *plan, const struct bind_options *options,
		    bool only_end)
{
	struct tree t = { .plan = plan };
	struct walk w = { .g = plan->dag, .log = &story, .since = options->since, .rank = -1 };

	start(&t);
	for (unsigned r = 1; r <= WALK_READS; r++) {
		double wanted;

		read_all(&t, r);
		w.read = r;
		wanted = walk_metric(&w);
		if (only_end && r < WALK_READS)
			continue;
		ck_assert_msg(is_close(wanted, t.has_result ? t.result : NAN),
			      "%s\nread %u: %.17g, not %.17g (since %d, central %d)", source, r,
			      t.has_result ? t.result : NAN, wanted, options->since,
			      options->is_central);
		ck_assert_msg(t.is_enough == (options->until && walk_count(&w) >= enough),
			      "%s\nread %u: %u values, enough are %u: %d", source, r,
			      walk_count(&w), enough, t.is_enough);
	}
	for (unsigned i = 0; i < plan->pieces.n; i++)
		flow_free(t.engine[i]);
}

static unsigned nstopping; /* programs with a rule */

static void try_one(struct buf *source)
{
	static const struct bind_arg args[PMSL_PARAMS_MAX] = {
		[1] = { .is_given = true, .vt = walk_list, .nvt = WALK_RANGES }
	};
	struct bind_options options = { .arg = args, .is_central = roll(3) == 0 };
	char rule[40];
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;
	struct pmsl_plan plan;
	struct metrics_shape shape;
	bool only_end;

	buf_clear(source);
	shape = metrics_say(&rng, source);
	/*
	 * A graph for MAX of MAX exchanges the folds: it may count the value of one process before
	 * those of the others.
	 */
	only_end = shape.kind == METRICS_OF_VT;
	options.since = !only_end && roll(2) ? FLOW_SINCE_LAST : FLOW_SINCE_START;
	metrics_log(&rng, &story);
	ck_assert_int_eq(pmsl_compile("t", buf_str(source), source->n, &d, &p), 0);
	ck_assert_msg(!d.nerror, "%s\n%s", buf_str(source), d.v[0].text);
	if (pmsl_can_stop(pmsl_metric(p, "M", &d), &options) == 0) {
		enough = 1 + roll(WALK_PROCS * WALK_VTS);
		snprintf(rule, sizeof(rule), "n >= %u", enough);
		options.until = rule;
		nstopping++;
	}
	ck_assert_msg(pmsl_plan(&(struct pmsl_demand){ .text = p,
						       .metric = pmsl_metric(p, "M", &d),
						       .world = world,
						       .options = &options,
						       .measurement = 1 },
				&d, &plan) == 0,
		      "%s\n%s", buf_str(source), d.v[0].text);
	compare(buf_str(source), &plan, &options, only_end);
	pmsl_plan_done(&plan);
	pmsl_free(p);
}

TEST(pieces_give_what_a_walk_over_the_text_gives)
{
	struct buf source = BUF_INIT(1 << 16);

	rng_init(&rng, suite_seed(20261122));
	world = metrics_world();
	for (unsigned i = 0; i < PROGRAMS; i++)
		try_one(&source);
	buf_done(&source);
	ck_assert_uint_gt(nstopping, PROGRAMS / 20);
}

SUITE("oracle")
