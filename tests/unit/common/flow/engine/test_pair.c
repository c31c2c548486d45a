/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of values: their covariance and correlation, merged in any way, and of a stop what depends
 * on the one before. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "stats/series.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/made.h"
#include "tests/unit/common/flow/graph/values.h"
#include "tests/unit/common/flow/engine/one_world.h"

#include <math.h>
#include <string.h>

#define PROCESSES 3
#define PAIRS_MAX 600

static const enum agg_kind kinds[] = { AGG_COVARIANCE, AGG_CORRELATION };

struct sample {
	double x[PAIRS_MAX], y[PAIRS_MAX];
	size_t n;
};

static void some_pairs(struct sample *s, struct rng *r)
{
	double offset = (double)rng_below(r, 1000), together = 2 * rng_double(r) - 1;

	s->n = 3 + rng_below(r, PAIRS_MAX - 3);
	for (size_t i = 0; i < s->n; i++) {
		s->x[i] = offset + 10 * rng_double(r);
		s->y[i] = together * s->x[i] + rng_double(r);
	}
}

static double direct(const struct sample *s, enum agg_kind kind)
{
	return kind == AGG_COVARIANCE ? series_covariance(s->x, s->y, s->n)
				      : series_correlation(s->x, s->y, s->n);
}

#define PARTS 5

/*
 * Adds each pair to a random part, with values shifted within their bounds. Then merges the parts
 * in order.
 */
static struct agg merged(const struct sample *s, enum agg_kind kind, double x_error, double y_error,
			 struct rng *r)
{
	struct agg part[PARTS], all;
	size_t first = rng_below(r, PARTS);

	agg_init(&all, kind, NULL);
	for (size_t k = 0; k < PARTS; k++)
		agg_init(&part[k], kind, NULL);
	for (size_t i = 0; i < s->n; i++)
		agg_add_pair(&part[rng_below(r, PARTS)],
			     s->x[i] + x_error * (2 * rng_double(r) - 1), x_error,
			     s->y[i] + y_error * (2 * rng_double(r) - 1), y_error);
	for (size_t k = 0; k < PARTS; k++) {
		values_send(&part[(first + k) % PARTS]);
		agg_merge(&all, &part[(first + k) % PARTS]);
	}
	return all;
}

TEST(pairs_merged_in_any_order_equal_those_of_all_values)
{
	static struct sample s;
	struct rng r;
	double error;

	rng_init(&r, suite_seed(41));
	for (int round = 0; round < 300; round++) {
		enum agg_kind kind = kinds[(size_t)round % ARRAY_LEN(kinds)];
		struct agg a;
		double want;

		some_pairs(&s, &r);
		a = merged(&s, kind, 0, 0, &r);
		want = direct(&s, kind);
		near(agg_value(&a, 0, &error), want, 1e-11 * fabs(want) + 1e-12);
		ck_assert(error == 0 && agg_count(&a) == s.n);
	}
}

TEST(the_truth_is_within_the_bound)
{
	static struct sample s;
	struct rng r;

	rng_init(&r, suite_seed(42));
	for (int round = 0; round < 400; round++) {
		enum agg_kind kind = kinds[(size_t)round % ARRAY_LEN(kinds)];
		double error, got, truth, x_error = rng_double(&r), y_error = 0.1 * rng_double(&r);
		struct agg a;

		some_pairs(&s, &r);
		truth = direct(&s, kind);
		a = merged(&s, kind, x_error, y_error, &r);
		got = agg_value(&a, 0, &error);
		near(got, truth, error);
		ck_assert(error > 0);
		if (kind == AGG_CORRELATION && isfinite(error))
			ck_assert(error <= 2);
	}
}

TEST(infinite_ones_and_such_that_never_change_have_no_correlation)
{
	struct agg a;
	double error;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		agg_init(&a, kinds[k], NULL);
		agg_add_pair(&a, NAN, 0, 1, 0);
		ck_assert(!agg_count(&a) && isnan(agg_value(&a, 0, &error)));
		agg_add_pair(&a, 5, 0, 1, 0);
		agg_add_pair(&a, 5, 0, 2, 0);
		near(agg_value(&a, 0, &error), kinds[k] == AGG_COVARIANCE ? 0 : NAN, 0);
		agg_add_pair(&a, 1, 0, -INFINITY, 0);
		ck_assert_uint_eq(a.ninf, 1);
		ck_assert(isnan(agg_value(&a, 0, &error)));
	}
	agg_init(&a, AGG_CORRELATION, NULL);
	for (int i = 0; i < 10; i++)
		agg_add_pair(&a, i, 100, i, 0); /* they may all be the same */
	ck_assert(agg_value(&a, 0, &error) > 0.99 && error == INFINITY);
}

TEST(pairs_that_no_values_have_are_not_sane)
{
	struct agg a, good;

	agg_init(&good, AGG_CORRELATION, NULL);
	agg_add_pair(&good, 1, 0, 4, 0);
	agg_add_pair(&good, 2, 0, 3, 0);
	ck_assert(agg_is_sane(&good));
	a = good;
	a.pairs.of.xx.hi = -1;
	ck_assert(!agg_is_sane(&a));
	a = good;
	a.pairs.of.yy.hi = -1;
	ck_assert(!agg_is_sane(&a));
	a = good;
	a.pairs.of.xy.lo = NAN;
	ck_assert(!agg_is_sane(&a));
	a = good;
	a.pairs.error = -1;
	ck_assert(!agg_is_sane(&a));
}

/* --- in a graph */

static uint32_t made_pair(struct flow_graph *g, enum agg_kind kind, uint32_t x, uint32_t y)
{
	return made_node(g,
			 (struct flow_node){ .kind = FLOW_PAIR,
					     .fold = { .agg = kind, .partial_out = true } },
			 2, x, y);
}

/*
 * Two values of each event of each process: nodes 2 p and 2 p + 1. Events count if the second is
 * less than 900.
 */
static struct flow_graph *over_events(enum agg_kind kind, enum flow_since since)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2 * PROCESSES], part[PROCESSES], limit;

	for (unsigned p = 0; p < PROCESSES; p++) {
		in[2 * p] = made_event(g, p, "loop");
		in[2 * p + 1] = made_event(g, p, "other");
	}
	limit = made_const(g, 900);
	for (unsigned p = 0; p < PROCESSES; p++) {
		uint32_t is_less = made_op(g, FLOW_OP_LT, in[2 * p + 1], limit);
		uint32_t x = made_op(g, FLOW_OP_WHERE, in[2 * p], is_less);

		part[p] = made_vt_agg(g, kind, true, since, made_pair(g, kind, x, in[2 * p + 1]));
	}
	made_result(g, 0, made_set(g, kind, false, part, PROCESSES));
	return g;
}

static void push_all(const struct sample *s, size_t from, size_t to, nsec_t time)
{
	for (size_t i = from; i < to; i++) {
		uint32_t p = (uint32_t)(i % PROCESSES);

		world_push(&w, 1, 2 * p, (struct world_value){ (int64_t)i, s->x[i], time });
		world_push(&w, 1, 2 * p + 1, (struct world_value){ (int64_t)i, s->y[i], time });
	}
}

TEST(events_of_all_processes_have_one_correlation)
{
	static struct sample s;
	struct rng r;

	rng_init(&r, suite_seed(43));
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		double want;

		some_pairs(&s, &r);
		want = direct(&s, kinds[k]);
		world_load(&w, over_events(kinds[k], FLOW_SINCE_START));
		push_all(&s, 0, s.n / 2, START + 1);
		world_push(&w, 1, 0, (struct world_value){ 5000, 1e6, START + 2 });
		world_push(&w, 1, 1, (struct world_value){ 5000, 901, START + 2 }); /* left out */
		world_push(&w, 1, 0,
			   (struct world_value){ 5001, 1e6,
						 START + 2 }); /* its partner never arrives */
		world_read(&w, 1, 1);
		push_all(&s, s.n / 2, s.n, START + SECOND + 1);
		world_read(&w, 1, 2);
		near(world_last(&w, 1, 0)->value, want, 1e-11 * fabs(want) + 1e-12);
		ck_assert_uint_eq(world_last(&w, 1, 0)->flags, 0);
		ck_assert_uint_eq(world_last(&w, 1, 0)->k, PROCESSES);
		flow_remove(w.f, 1);
	}
}

TEST(processes_of_one_read_are_pairs_too)
{
	struct flow_graph *g = flow_graph_new(1);
	double x[PROCESSES] = { 1, 2, 4 }, y[PROCESSES] = { 3, 1, 2 };
	uint32_t in[2 * PROCESSES], part[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++) {
		in[2 * p] = made_metric(g, p, "Send_volume");
		in[2 * p + 1] = made_metric(g, p, "Send_count");
	}
	for (unsigned p = 0; p < PROCESSES; p++)
		part[p] = made_pair(g, AGG_COVARIANCE, in[2 * p], in[2 * p + 1]);
	made_result(g, 0, made_set(g, AGG_COVARIANCE, false, part, PROCESSES));
	world_load(&w, g);
	for (int64_t read = 1; read <= 2; read++) {
		for (uint32_t p = 0; p < PROCESSES; p++) {
			world_push(&w, 1, 2 * p, (struct world_value){ read, x[p], START + read });
			if (read == 1 || p < 2)
				world_push(&w, 1, 2 * p + 1,
					   (struct world_value){ read, y[p], START + read });
		}
		world_read(&w, 1, read);
		near(world_last(&w, 1, 0)->value, series_covariance(x, y, read == 1 ? 3 : 2),
		     1e-14);
		ck_assert_uint_eq(world_last(&w, 1, 0)->k, read == 1 ? 3 : 2);
		ck_assert_uint_eq(world_last(&w, 1, 0)->n, 3);
	}
	ck_assert(world_last(&w, 1, 0)->flags & FLOW_PARTIAL &&
		  world_last(&w, 1, 0)->flags & FLOW_MISSING);
}

TEST(state_of_pairs_is_within_what_the_verifier_counts)
{
	struct flow_graph *g = over_events(AGG_CORRELATION, FLOW_SINCE_LAST);
	struct flow_size before = flow_size(w.f);
	uint32_t in = made_link_in(
		g, (struct flow_link){ .name = "v",
				       .domain = FLOW_VT,
				       .partial = true,
				       .fold = { .agg = AGG_COVARIANCE, .since = FLOW_SINCE_LAST },
				       .behind = 2 });

	made_result(g, 1, made_vt_agg(g, AGG_COVARIANCE, false, FLOW_SINCE_LAST, in));
	ck_assert_int_eq(flow_load(w.f, g, START, NULL), 0);
	ck_assert_uint_le(flow_size(w.f).state_bytes - before.state_bytes,
			  flow_graph_state_bytes(g));
	flow_graph_free(g);
}

TEST(without_memory_there_is_no_pair)
{
	struct flow_graph *g = over_events(AGG_CORRELATION, FLOW_SINCE_LAST);

	ck_assert_int_eq(flow_graph_verify(g, NULL), 0);
	ALLOC_SWEEP (k) {
		int rc = flow_load(w.f, g, START, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert_uint_eq(flow_size(w.f).measurements, rc ? 0 : 1);
		flow_remove(w.f, 1);
	}
	flow_graph_free(g);
}

TEST(the_counters_show_waiting_pairs)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t pair =
		made_pair(g, AGG_COVARIANCE, made_event(g, 0, "loop"), made_event(g, 0, "other"));
	struct flow_look look;

	made_result(g, 0, made_vt_agg(g, AGG_COVARIANCE, false, FLOW_SINCE_LAST, pair));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 5, START + 1 });
	world_push(&w, 1, 0, (struct world_value){ 2, 6, START + 2 });
	world_push(&w, 1, 1, (struct world_value){ 1, 7, START + 3 });
	ck_assert_int_eq(flow_look(w.f, 1, pair, &look), 0);
	ck_assert_uint_eq(look.open, 1);
}

static void expect_refused(struct flow_graph *g, const char *words)
{
	struct err e = { 0 };

	ck_assert_int_eq(flow_graph_verify(g, &e), -ERR_INVALID);
	ck_assert_msg(strstr(e.text, words), "'%s', not '%s'", e.text, words);
	flow_graph_free(g);
}

TEST(an_invalid_pair_is_refused)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t a = made_event(g, 0, "loop"), b = made_event(g, 1, "loop");

	made_result(g, 0,
		    made_vt_agg(g, AGG_COVARIANCE, false, FLOW_SINCE_LAST,
				made_op(g, FLOW_OP_ADD, a, b)));
	expect_refused(g, "values that are not pairs");
	g = flow_graph_new(1);
	a = made_event(g, 0, "loop");
	made_result(g, 0,
		    made_vt_agg(g, AGG_SUM, true, FLOW_SINCE_LAST, made_pair(g, AGG_SUM, a, a)));
	expect_refused(g, "is not of pairs");
	g = flow_graph_new(1);
	a = made_event(g, 0, "loop");
	made_result(g, 0,
		    made_vt_agg(g, AGG_COVARIANCE, false, FLOW_SINCE_LAST,
				made_pair(g, AGG_CORRELATION, a, a)));
	expect_refused(g, "is a partial CORRELATION");
	g = flow_graph_new(1);
	a = made_event(g, 0, "loop");
	a = made_pair(g, AGG_CORRELATION, a, a);
	made_result(g, 0, made_pair(g, AGG_CORRELATION, a, a));
	expect_refused(g, "input 0 is a partial aggregate");
	g = flow_graph_new(1);
	a = made_event(g, 0, "loop");
	made_result(g, 0, made_pair(g, AGG_CORRELATION, a, made_metric(g, 0, "Send_volume")));
	expect_refused(g, "domain read, not vt");
	g = flow_graph_new(1);
	a = made_event(g, 0, "loop");
	made_result(g, 0,
		    made_node(g,
			      (struct flow_node){ .kind = FLOW_PAIR,
						  .fold = { .agg = AGG_CORRELATION } },
			      1, a));
	expect_refused(g, "a pair of 1 inputs");
}

/* --- a stop with its neighbours */

static uint32_t made_stop(struct flow_graph *g, uint32_t values, uint32_t neighbours)
{
	return made_node(g,
			 (struct flow_node){ .kind = FLOW_STOP,
					     .stop = { .agg = AGG_MEAN, .until = "n >= 200" } },
			 2, values, neighbours);
}

/* Nodes 0 .. PROCESSES - 1 are the inputs. */
static struct flow_graph *stopping(enum agg_kind second)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[PROCESSES], values[PROCESSES], neighbours[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_event(g, p, "loop");
	for (unsigned p = 0; p < PROCESSES; p++) {
		uint32_t before = made_node(g, (struct flow_node){ .kind = FLOW_SHIFT, .shift = 1 },
					    1, in[p]);

		values[p] = made_vt_agg(g, AGG_VARIANCE, true, FLOW_SINCE_START, in[p]);
		neighbours[p] = made_vt_agg(g, second, true, FLOW_SINCE_START,
					    made_pair(g, second, in[p], before));
	}
	made_result(g, 0,
		    made_stop(g, made_set(g, AGG_VARIANCE, true, values, PROCESSES),
			      made_set(g, second, true, neighbours, PROCESSES)));
	return g;
}

/* Each value contains this fraction of the previous one. */
static void push_walks(double depends, struct rng *r)
{
	double v[PROCESSES] = { 0 };

	for (int64_t i = 0; i < 100; i++)
		for (uint32_t p = 0; p < PROCESSES; p++) {
			v[p] = depends * v[p] + rng_double(r);
			world_push(
				&w, 1, p,
				(struct world_value){ i, v[p] + 10 * p, START + SECOND + 1 + i });
		}
}

TEST(a_stop_node_reports_dependent_values)
{
	const struct flow_result *last;
	struct rng r;

	rng_init(&r, 7); /* fixed: one seed in a hundred shows dependence by chance */
	world_load(&w, stopping(AGG_CORRELATION));
	world_read(&w, 1, 1);
	ck_assert_int_eq(w.r[w.n - 1].dependence, DEPENDENCE_NONE);
	push_walks(0.9, &r);
	world_read(&w, 1, 2);
	last = &w.r[w.n - 1];
	ck_assert(last->is_enough && last->t.flags == 0);
	ck_assert_int_eq(last->dependence, DEPENDENCE_NEIGHBOURS);
}

TEST(a_second_input_of_a_stop_gives_the_serial_correlation)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t a;

	expect_refused(stopping(AGG_COVARIANCE), "second input is not a partial CORRELATION");
	a = made_event(g, 0, "loop");
	made_result(g, 0,
		    made_stop(g, made_vt_agg(g, AGG_VARIANCE, true, FLOW_SINCE_START, a),
			      made_pair(g, AGG_CORRELATION, a, a)));
	expect_refused(g, "domain vt, not read");
}

TEST(pairs_are_read_as_they_were_written)
{
	made_is_read_as_written(stopping(AGG_CORRELATION));
}

SUITE_WITH("pair", set_up, clean_up)
