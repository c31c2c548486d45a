/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/flow/engine/flow.h"
#include "common/flow/engine/partial.h"
#include "common/flow/graph/graph_limits.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/one_world.h"
#include "tests/unit/common/flow/graph/made.h"

/* nodes 0, 1: begin and end of p_0; 2: end - begin; 3: output 0 */
static struct flow_graph *difference(uint32_t m)
{
	struct flow_graph *g = flow_graph_new(m);
	uint32_t begin = made_event(g, 0, "begin"), end = made_event(g, 0, "end");

	made_result(g, 0, made_op(g, FLOW_OP_SUB, end, begin));
	return g;
}

TEST(pair_matches_tokens_with_equal_keys)
{
	world_load(&w, difference(1));
	world_push(&w, 1, 1, (struct world_value){ 7, 70, START + 5 });
	world_push(&w, 1, 1, (struct world_value){ 8, 80, START + 6 });
	world_push(&w, 1, 0, (struct world_value){ 8, 8, START + 2 });
	ck_assert_uint_eq(w.n, 1);
	token_is(world_last(&w, 1, 0), 72, 1, 1, 0);
	ck_assert_int_eq(w.r[0].t.key, 8);
	ck_assert_int_eq(w.r[0].t.time, START + 4);
	ck_assert_int_eq(w.r[0].t.oldest, START + 2);
	ck_assert_int_eq(w.r[0].t.newest, START + 6);
	ck_assert_uint_eq(w.r[0].t.requester, 1);
	world_push(&w, 1, 0, (struct world_value){ 7, 7, START + 1 });
	token_is(world_last(&w, 1, 0), 63, 1, 1, 0);
}

TEST(a_lost_token_costs_its_key_and_no_other)
{
	world_load(&w, difference(1));
	for (int64_t key = 0; key < 1000; key++) {
		if (key != 500)
			world_push(&w, 1, 0, (struct world_value){ key, (double)key, START + key });
		world_push(&w, 1, 1, (struct world_value){ key, 3.0 * (double)key, START + key });
	}
	ck_assert_uint_eq(w.n, 999);
	for (size_t i = 0; i < w.n; i++)
		ck_assert(w.r[i].t.value == 2 * (double)w.r[i].t.key);
	ck_assert_uint_eq(world_counts(&w, 1, 2).unmatched, 1);
	world_push(&w, 1, 1, (struct world_value){ 1000, 1, START });
	world_push(&w, 1, 1, (struct world_value){ 1000, 1, START });
	world_push(&w, 1, 1, (struct world_value){ 999, 1, START });
	world_push(&w, 1, 1, (struct world_value){ 3, 1, START });
	ck_assert_uint_eq(world_counts(&w, 1, 2).doubles, 1);
	ck_assert_uint_eq(world_counts(&w, 1, 2).late, 2);
}

/* Differences of one event to its previous one: nodes 0 event, 1 shift, 2 sub, 3 result. */
TEST(a_shifted_key_meets_the_next_one)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t time = made_event(g, 0, "iteration_end"),
		 before = made_node(g, (struct flow_node){ .kind = FLOW_SHIFT, .shift = 1 }, 1,
				    time);

	made_result(g, 0, made_op(g, FLOW_OP_SUB, time, before));
	world_load(&w, g);
	for (int64_t vt = 1; vt <= 5; vt++)
		world_push(&w, 1, 0, (struct world_value){ vt, (double)(vt * vt), START + vt });
	ck_assert_uint_eq(w.n, 4);
	for (size_t i = 0; i < w.n; i++)
		ck_assert(w.r[i].t.value == 2 * (double)w.r[i].t.key - 1);
	world_push(&w, 1, 0, (struct world_value){ INT64_MAX, 1, START });
	ck_assert_uint_eq(world_counts(&w, 1, 1).overflow, 1);
}

static bool is_even(int64_t key)
{
	return key % 2 == 0;
}

/*
 * Random keys and values: each even one is output, with the increase since the previous event.
 * Nodes 0 event, 1 delta, 2 choice, 3 result.
 */
TEST(a_difference_is_to_the_event_before_whatever_its_key)
{
	static const struct choice_word even[] = { { CHOICE_VT, 0, 0 },
						   { CHOICE_NUMBER, 0, 2 },
						   { CHOICE_OP, FLOW_OP_MOD, 0 },
						   { CHOICE_OP, FLOW_OP_NOT, 0 } };
	struct flow_graph *g = flow_graph_new(1);
	uint32_t at = made_event(g, 0, "iteration_end");
	struct rng rng;
	double before = 0;
	int64_t vt = 0;
	size_t n = 0;

	rng_init(&rng, suite_seed(20261127));
	at = made_node(g, (struct flow_node){ .kind = FLOW_DELTA }, 1, at);
	at = made_node(g, (struct flow_node){ .kind = FLOW_CHOICE, .choice = { even, 4 } }, 1, at);
	made_result(g, 0, at);
	world_load(&w, g);
	for (unsigned i = 0; i < 200; i++) {
		double v = before + (double)rng_below(&rng, 100);

		vt += 1 + (int64_t)rng_below(&rng, 4);
		world_push(&w, 1, 0, (struct world_value){ vt, v, START + i });
		n += is_even(vt);
		ck_assert_uint_eq(w.n, n);
		ck_assert(!is_even(vt) ||
			  (w.r[n - 1].t.key == vt && w.r[n - 1].t.value == v - before));
		before = v;
	}
	ck_assert_uint_eq(world_counts(&w, 1, 2).in, 200);
	ck_assert_uint_eq(world_counts(&w, 1, 2).out, n);
}

/* nodes 0 .. n - 1: events of processes; n: the set; n + 1: output 0 */
static struct flow_graph *set_over(uint32_t m, unsigned processes, enum agg_kind agg)
{
	struct flow_graph *g = flow_graph_new(m);
	uint32_t in[64];

	for (unsigned p = 0; p < processes; p++)
		in[p] = made_event(g, p, "loop");
	made_result(g, 0, made_set(g, agg, false, in, processes));
	return g;
}

TEST(a_set_fires_with_its_inputs_so_far_when_its_key_is_evicted)
{
	world_load(&w, set_over(1, 3, AGG_SUM));
	world_push(&w, 1, 0, (struct world_value){ 1, 10, START });
	world_push(&w, 1, 1, (struct world_value){ 1, 20, START });
	for (int64_t key = 2; key < 2 + FLOW_WINDOW_SET; key++)
		for (uint32_t p = 0; p < 3; p++)
			world_push(&w, 1, p, (struct world_value){ key, 1, START });
	ck_assert_uint_eq(w.n, FLOW_WINDOW_SET + 1);
	ck_assert_int_eq(w.r[FLOW_WINDOW_SET - 1].t.key, 1);
	token_is(&w.r[FLOW_WINDOW_SET - 1].t, 30, 2, 3, FLOW_PARTIAL);
	token_is(world_last(&w, 1, 0), 3, 3, 3, 0);
	ck_assert_uint_eq(world_counts(&w, 1, 3).incomplete, 1);
}

TEST(a_closed_input_is_not_awaited_but_counted)
{
	world_load(&w, set_over(1, 3, AGG_MAX));
	world_push(&w, 1, 0, (struct world_value){ 1, 10, START });
	world_push(&w, 1, 1, (struct world_value){ 1, 20, START });
	flow_close(w.f, flow_input(w.f, 1, 2));
	ck_assert_int_eq(flow_announce(w.f, 1, START + SECOND), 0);
	ck_assert_uint_eq(w.n, 1);
	token_is(&w.r[0].t, 20, 2, 3, FLOW_PARTIAL);
	world_push(&w, 1, 0, (struct world_value){ 2, 5, START });
	world_push(&w, 1, 2, (struct world_value){ 2, 99, START });
	world_push(&w, 1, 1, (struct world_value){ 2, 4, START });
	token_is(&w.r[1].t, 5, 2, 3, FLOW_PARTIAL);
	flow_open(w.f, flow_input(w.f, 1, 2));
	world_push(&w, 1, 0, (struct world_value){ 3, 5, START });
	world_push(&w, 1, 1, (struct world_value){ 3, 4, START });
	ck_assert_uint_eq(w.n, 2);
	world_push(&w, 1, 2, (struct world_value){ 3, 6, START });
	token_is(&w.r[2].t, 6, 3, 3, 0);
}

TEST(an_input_that_reopens_before_a_token_was_never_closed)
{
	world_load(&w, set_over(1, 3, AGG_MAX));
	world_push(&w, 1, 0, (struct world_value){ 1, 10, START });
	world_push(&w, 1, 1, (struct world_value){ 1, 20, START });
	for (uint32_t i = 0; i < 3; i++)
		flow_close(w.f, flow_input(w.f, 1, i));
	for (uint32_t i = 0; i < 3; i++)
		flow_open(w.f, flow_input(w.f, 1, i));
	ck_assert_int_eq(flow_announce(w.f, 1, START + SECOND), 0);
	ck_assert_uint_eq(w.n, 0);
	world_push(&w, 1, 2, (struct world_value){ 1, 30, START });
	ck_assert_uint_eq(w.n, 1);
	token_is(&w.r[0].t, 30, 3, 3, 0);
}

TEST(a_missing_value_has_a_reason_and_affects_no_set)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2], a = made_event(g, 0, "a"), b = made_event(g, 1, "a"),
			one = made_const(g, 1);

	in[0] = made_op(g, FLOW_OP_DIV, one, a);
	in[1] = made_op(g, FLOW_OP_DIV, one, b);
	made_result(g, 0, in[0]);
	made_result(g, 1, made_set(g, AGG_SUM, false, in, 2));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 0, START });
	token_is(world_last(&w, 1, 0), NAN, 1, 1, FLOW_DIV0);
	world_push(&w, 1, 1, (struct world_value){ 1, 4, START });
	token_is(world_last(&w, 1, 1), 0.25, 1, 2, FLOW_DIV0 | FLOW_PARTIAL);
}

TEST(where_excludes_values_without_loss_of_coverage)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[3], limit = made_const(g, 10);

	for (unsigned p = 0; p < 3; p++) {
		uint32_t v = made_event(g, p, "a");

		in[p] = made_op(g, FLOW_OP_WHERE, v, made_op(g, FLOW_OP_LT, v, limit));
	}
	made_result(g, 0, made_set(g, AGG_MEAN, false, in, 3));
	world_load(&w, g);
	world_push(&w, 1, 1, (struct world_value){ 1, 4, START });
	world_push(&w, 1, 4, (struct world_value){ 1, 40, START });
	world_push(&w, 1, 7, (struct world_value){ 1, 6, START });
	token_is(world_last(&w, 1, 0), 5, 3, 3, 0);
	for (uint32_t p = 0; p < 3; p++)
		world_push(&w, 1, 1 + 3 * p, (struct world_value){ 2, 40, START });
	token_is(world_last(&w, 1, 0), NAN, 3, 3, FLOW_MISSING);
}

/* node 0: event; 1, 2: sums since last and since start, outputs 0 and 1 */
static struct flow_graph *totals(uint32_t m)
{
	struct flow_graph *g = flow_graph_new(m);
	uint32_t a = made_event(g, 0, "a"),
		 last = made_vt_agg(g, AGG_SUM, false, FLOW_SINCE_LAST, a),
		 all = made_vt_agg(g, AGG_SUM, false, FLOW_SINCE_START, a);

	made_result(g, 0, last);
	made_result(g, 1, all);
	return g;
}

TEST(an_interval_has_the_tokens_of_its_time)
{
	world_load(&w, totals(1));
	flow_announce(w.f, 1, START + SECOND);
	world_push(&w, 1, 0,
		   (struct world_value){ 0, 1000, START }); /* the start is not included */
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + 1 });
	world_push(&w, 1, 0, (struct world_value){ 2, 2, START + SECOND });
	world_push(&w, 1, 0, (struct world_value){ 3, 4, START + SECOND + 1 });
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 0), 3, 1, 1, 0);
	token_is(world_last(&w, 1, 1), 3, 1, 1, 0);
	ck_assert_uint_eq(world_counts(&w, 1, 1).early, 1);
	world_push(&w, 1, 0, (struct world_value){ 5, 8, START + SECOND / 2 }); /* late */
	world_read(&w, 1, 2);
	token_is(world_last(&w, 1, 0), 12, 1, 1, FLOW_LATE);
	token_is(world_last(&w, 1, 1), 15, 1, 1, FLOW_LATE);
	world_read(&w, 1, 3);
	token_is(world_last(&w, 1, 0), 0, 1, 1, 0);
	token_is(world_last(&w, 1, 1), 15, 1, 1, 0);
	flow_close(w.f, flow_input(w.f, 1, 0));
	world_read(&w, 1, 4);
	/* no message has reported an absence */
	token_is(world_last(&w, 1, 0), NAN, 0, 1, FLOW_PARTIAL | FLOW_MISSING);
	token_is(world_last(&w, 1, 1), 15, 0, 1, FLOW_PARTIAL);
	flow_end(w.f, flow_input(w.f, 1, 0)); /* then nothing is missing */
	world_read(&w, 1, 5);
	token_is(world_last(&w, 1, 0), 0, 1, 1, 0);
	token_is(world_last(&w, 1, 1), 15, 1, 1, 0);
}

/* A difference over a read: its mean time is before the read, its data are not. */
TEST(a_value_from_both_sides_of_a_read_is_not_late)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t a = made_event(g, 0, "a"),
		 before = made_node(g, (struct flow_node){ .kind = FLOW_SHIFT, .shift = 1 }, 1, a),
		 step = made_op(g, FLOW_OP_SUB, a, before);

	made_result(g, 0, made_vt_agg(g, AGG_COUNT, false, FLOW_SINCE_LAST, step));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + SECOND - 2 });
	world_read(&w, 1, 1);
	world_push(&w, 1, 0, (struct world_value){ 2, 2, START + SECOND + 1 });
	world_read(&w, 1, 2);
	token_is(world_last(&w, 1, 0), 1, 1, 1, 0);
}

TEST(a_read_is_after_the_one_before)
{
	world_load(&w, totals(1));
	world_read(&w, 1, 3);
	ck_assert_int_eq(flow_read(w.f, 1, 3, START + 9 * SECOND, NULL), -ERR_INVALID);
	ck_assert_int_eq(flow_read(w.f, 1, 4, START + 3 * SECOND, NULL), -ERR_INVALID);
	ck_assert_int_eq(flow_read(w.f, 2, 4, START + 4 * SECOND, NULL), -ERR_NOTFOUND);
	ck_assert_int_eq(flow_last_read(w.f, 1), 3);
	ck_assert_int_eq(flow_last_read(w.f, 2), -1);
}

/* One at 1 s, three at 5 s: their mean is at 4 s, and their data are of both. */
TEST(nodes_count_tokens_in_and_out_per_read)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2] = { made_metric(g, 0, "Send_volume"), made_metric(g, 1, "Send_volume") },
		 set = made_set(g, AGG_SUM, false, in, 2);

	made_result(g, 0, set);
	world_load(&w, g);
	for (int64_t read = 1; read <= 3; read++) {
		world_push(&w, 1, 0, (struct world_value){ read, 1, START + read * SECOND });
		world_push(&w, 1, 1, (struct world_value){ read, 2, START + read * SECOND });
		world_read(&w, 1, read);
	}
	ck_assert_uint_eq(world_counts(&w, 1, in[0]).in, 3);
	ck_assert_uint_eq(world_counts(&w, 1, in[0]).out, 3);
	ck_assert_uint_eq(world_counts(&w, 1, set).in, 6);
	ck_assert_uint_eq(world_counts(&w, 1, set).out, 3);
	ck_assert_uint_eq(world_counts(&w, 1, set + 1).in, 3);
	ck_assert_uint_eq(world_counts(&w, 1, set + 1).out, 3);
}

TEST(the_time_of_a_set_is_the_mean_of_its_contributors)
{
	struct flow_token one = flow_token_make(1, 10, 0, NSEC_PER_SEC),
			  three = flow_token_make(1, 20, 0, 5 * NSEC_PER_SEC), t;
	struct flow_partial p;

	partial_init(&p, AGG_SUM, NULL);
	three.k = three.n = 3;
	partial_fold(&p, &one, NULL, PARTIAL_OVER_SET);
	partial_fold(&p, &three, NULL, PARTIAL_OVER_SET);
	t = partial_finish(&p, 0, false);
	token_is(&t, 30, 4, 4, 0);
	ck_assert_int_eq(t.time, 4 * NSEC_PER_SEC);
	ck_assert_int_eq(t.oldest, NSEC_PER_SEC);
	ck_assert_int_eq(t.newest, 5 * NSEC_PER_SEC);
}

TEST(bounds_and_coverage_go_through_a_read)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2] = { made_metric(g, 0, "M"), made_metric(g, 1, "M") };
	uint32_t sum = made_set(g, AGG_SUM, false, in, 2), c = made_const(g, -2);
	struct flow_token t = flow_token_make(1, 10, 0.5, START + SECOND);

	made_result(g, 0, made_op(g, FLOW_OP_MUL, sum, c));
	made_result(g, 1, c);
	world_load(&w, g);
	flow_push(w.f, flow_input(w.f, 1, 0), &t);
	t.error = 0.25;
	flow_push(w.f, flow_input(w.f, 1, 1), &t);
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 0), -40, 2, 2, 0);
	ck_assert(world_last(&w, 1, 0)->error == 1.5);
	token_is(world_last(&w, 1, 1), -2, 0, 0, 0);
	t.key = 2;
	t.flags = FLOW_STALE;
	flow_push(w.f, flow_input(w.f, 1, 0), &t);
	world_read(&w, 1, 2);
	token_is(world_last(&w, 1, 0), -20, 1, 2, FLOW_PARTIAL | FLOW_STALE | FLOW_MISSING);
}

TEST(two_measurements_share_nodes_and_each_has_its_results)
{
	struct flow_size one, two;

	world_load(&w, difference(1));
	one = flow_size(w.f);
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START });
	world_load(&w, difference(2));
	two = flow_size(w.f);
	ck_assert_uint_eq(two.nodes, one.nodes + 1); /* its result */
	ck_assert_uint_eq(flow_input(w.f, 1, 0), flow_input(w.f, 2, 0));
	world_push(&w, 2, 1, (struct world_value){ 1, 5, START });
	ck_assert_uint_eq(w.n, 2);
	token_is(world_last(&w, 1, 0), 4, 1, 1, 0);
	token_is(world_last(&w, 2, 0), 4, 1, 1, 0);
	flow_remove(w.f, 1);
	ck_assert_uint_eq(flow_input(w.f, 1, 0), FLOW_NO_INPUT);
	world_push(&w, 2, 0, (struct world_value){ 2, 1, START });
	world_push(&w, 2, 1, (struct world_value){ 2, 9, START });
	ck_assert_uint_eq(w.n, 3);
	token_is(world_last(&w, 2, 0), 8, 1, 1, 0);
	flow_remove(w.f, 2);
	ck_assert_uint_eq(flow_size(w.f).nodes, 0);
	ck_assert_uint_eq(flow_size(w.f).state_bytes, 0);
	ck_assert_uint_eq(flow_size(w.f).measurements, 0);
	ck_assert_uint_eq(flow_size(w.f).table_bytes, 0); /* it stores nothing for another one */
	world_load(&w, difference(1));
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START });
	world_push(&w, 1, 1, (struct world_value){ 1, 5, START });
	token_is(world_last(&w, 1, 0), 4, 1, 1, 0);
}

TEST(a_count_from_the_start_is_shared_by_those_of_that_start)
{
	struct flow_graph *a = flow_graph_new(1), *b = flow_graph_new(2), *c = flow_graph_new(3);
	struct flow_graph *g[3] = { a, b, c };
	struct flow_source s = { .kind = FLOW_SOURCE_METRIC,
				 .metric = "Send_volume",
				 .object = "p_1",
				 .probe = "x",
				 .process = "p_1",
				 .from_start = true };

	for (int i = 0; i < 3; i++) {
		made_result(
			g[i], 0,
			made_node(g[i], (struct flow_node){ .kind = FLOW_INPUT, .source = s }, 0));
		ck_assert_int_eq(flow_load(w.f, g[i], START + (i == 2), NULL), 0);
		flow_graph_free(g[i]);
	}
	ck_assert_uint_eq(flow_input(w.f, 1, 0), flow_input(w.f, 2, 0));
	ck_assert_uint_ne(flow_input(w.f, 1, 0), flow_input(w.f, 3, 0));
}

TEST(reads_of_one_measurement_are_not_those_of_another)
{
	world_load(&w, totals(1));
	world_load(&w, totals(2));
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + 1 });
	world_read(&w, 1, 1);
	world_push(&w, 1, 0, (struct world_value){ 2, 2, START + SECOND + 1 });
	world_read(&w, 1, 2);
	world_read(&w, 2, 2);
	token_is(world_last(&w, 1, 0), 2, 1, 1, 0);
	token_is(world_last(&w, 2, 0), 3, 1, 1, 0);
}

TEST(a_measurement_that_is_loaded_again_keeps_what_stays_the_same)
{
	struct flow_graph *g;

	world_load(&w, totals(1));
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + 1 });
	world_read(&w, 1, 1);
	g = totals(1);
	made_result(g, 7, made_vt_agg(g, AGG_COUNT, false, FLOW_SINCE_START, 0));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 2, 2, START + SECOND + 1 });
	world_read(&w, 1, 2);
	token_is(world_last(&w, 1, 0), 2, 1, 1, 0);
	token_is(world_last(&w, 1, 1), 3, 1, 1, 0);
	token_is(world_last(&w, 1, 7), 1, 1, 1, 0);
	world_load(&w, totals(1));
	ck_assert_uint_eq(flow_size(w.f).nodes, 5);
	world_read(&w, 1, 3);
	token_is(world_last(&w, 1, 1), 3, 1, 1, 0);
}

TEST(a_refused_graph_leaves_the_old_one_running)
{
	struct flow_graph *bad = flow_graph_new(1);
	struct err e = { 0 };
	struct flow_size before;

	world_load(&w, totals(1));
	before = flow_size(w.f);
	made_event(bad, 0, "a");
	ck_assert_int_eq(flow_load(w.f, bad, START, &e), -ERR_INVALID);
	flow_graph_free(bad);
	ck_assert_uint_eq(flow_size(w.f).nodes, before.nodes);
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + 1 });
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 1), 1, 1, 1, 0);
}

TEST(limits_of_the_engine_are_kept)
{
	struct flow_limits limits = { 2, 7, 64 << 10 };
	struct flow_out out = { 0 };
	struct flow *f = flow_new(&limits, &out);
	struct flow_graph *g = totals(1), *h = difference(2), *i = difference(3);
	struct err e = { 0 };

	ck_assert_int_eq(flow_load(f, g, START, &e), 0);
	ck_assert_int_eq(flow_load(f, h, START, &e), -ERR_LIMIT); /* nodes */
	flow_remove(f, 1);
	ck_assert_int_eq(flow_load(f, h, START, &e), 0);
	limits.nodes_max = 100;
	limits.state_max_bytes = flow_size(f).state_bytes;
	flow_free(f);
	f = flow_new(&limits, &out);
	ck_assert_int_eq(flow_load(f, h, START, &e), 0);
	ck_assert_int_eq(flow_load(f, g, START, &e), -ERR_LIMIT); /* bytes */
	ck_assert_uint_eq(flow_size(f).state_bytes, limits.state_max_bytes);
	ck_assert_int_eq(flow_load(f, i, START, &e), 0); /* shares all of it */
	flow_graph_free(i);
	i = difference(4);
	ck_assert_int_eq(flow_load(f, i, START, &e), -ERR_LIMIT); /* measurements */
	flow_free(f);
	flow_graph_free(g);
	flow_graph_free(h);
	flow_graph_free(i);
}

static void some_loops(int64_t from, int64_t to)
{
	for (int64_t key = from; key < to; key++)
		for (uint32_t p = 0; p < 8; p++)
			if ((key + p) % 7)
				world_push(&w, 1, p,
					   (struct world_value){ key, (double)(key * p),
								 START + key + 1 });
}

TEST(tokens_flow_without_allocating)
{
	struct flow_graph *g = set_over(1, 8, AGG_QUANTILE);

	made_result(g, 1, made_vt_agg(g, AGG_STDEV, false, FLOW_SINCE_LAST, 8));
	world_load(&w, g);
	some_loops(0, 100); /* Check allocates at the first of its assertions */
	world_read(&w, 1, 1);
	alloc_sweep_arm(0);
	some_loops(100, 500);
	world_read(&w, 1, 2);
	ck_assert_uint_eq(alloc_sweep_count(), 0);
	ck_assert_uint_gt(w.n, 400);
}

TEST(without_memory_the_old_graph_runs_on)
{
	struct flow_graph *g = set_over(2, 4, AGG_HISTOGRAM - 1);

	world_load(&w, totals(1));
	ALLOC_SWEEP (k) {
		int rc = flow_load(w.f, g, START, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert_uint_eq(flow_size(w.f).measurements, rc ? 1 : 2);
		ck_assert_uint_eq(flow_size(w.f).nodes, rc ? 5 : 11);
		flow_remove(w.f, 2);
	}
	flow_graph_free(g);
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + 1 });
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 1), 1, 1, 1, 0);
}

/* The count of the verifier is not less than the use of the engine. */
TEST(state_is_within_what_the_verifier_counts)
{
	static const enum agg_kind kinds[] = { AGG_SUM, AGG_PROD, AGG_QUANTILE, AGG_KURTOSIS };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct flow_graph *g = set_over(1, 63, kinds[i]);
		struct flow_size before = flow_size(w.f);

		made_result(g, 1, made_vt_agg(g, kinds[i], false, FLOW_SINCE_LAST, 63));
		made_result(g, 2, made_op(g, FLOW_OP_ADD, 63, 1));
		made_result(
			g, 3,
			made_link_in(g, (struct flow_link){ .name = "v",
							    .domain = FLOW_VT,
							    .partial = true,
							    .fold = { .agg = kinds[i],
								      .since = FLOW_SINCE_LAST },
							    .behind = 2 }));
		made_result(
			g, 4,
			made_link_in(g, (struct flow_link){ .name = "r",
							    .domain = FLOW_READ,
							    .partial = true,
							    .fold = { .agg = kinds[i],
								      .since = FLOW_SINCE_LAST },
							    .behind = 2 }));
		ck_assert_int_eq(flow_load(w.f, g, START, NULL), 0);
		ck_assert_uint_le(flow_size(w.f).state_bytes - before.state_bytes,
				  flow_graph_state_bytes(g));
		flow_remove(w.f, 1);
		flow_graph_free(g);
	}
}

/* The aggregate of such a way does not matter: one with sketches has none here. */
TEST(a_way_of_plain_values_may_name_any_aggregate)
{
	const struct flow_token t = flow_token_make(1, 42, 0, START + 1);
	struct flow_batch b = {
		.measurement = 1, .link = "r", .read = 1, .domain = FLOW_READ, .n = 1, .t = &t
	};

	for (int agg = 0; agg < AGG_NKINDS; agg++) {
		struct flow_graph *g = flow_graph_new(1);

		made_result(
			g, 0,
			made_link_in(g, (struct flow_link){ .name = "r",
							    .domain = FLOW_READ,
							    .fold = { .agg = (enum agg_kind)agg,
								      .since = FLOW_SINCE_LAST },
							    .behind = 1 }));
		world_load(&w, g);
		ck_assert_int_eq(flow_take(w.f, &b, NULL), 0);
		world_read(&w, 1, 1);
		ck_assert_double_eq(world_last(&w, 1, 0)->value, 42);
		flow_remove(w.f, 1);
	}
}

SUITE_WITH("flow", set_up, clean_up)
