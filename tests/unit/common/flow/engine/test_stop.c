/* SPDX-License-Identifier: Apache-2.0 */
/* Stops in a graph: when the values of an aggregate are enough. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "stats/quantity.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/one_world.h"
#include "tests/unit/common/flow/graph/made.h"

#include <math.h>
#include <string.h>

#define PROCESSES 4

static uint32_t made_stop(struct flow_graph *g, enum agg_kind agg, double q, const char *until,
			  uint32_t in)
{
	return made_node(g,
			 (struct flow_node){ .kind = FLOW_STOP,
					     .stop = { .agg = agg, .q = q, .until = until } },
			 1, in);
}

/* The events of all processes since the start: nodes 0 to 3 are their inputs. */
static uint32_t parts_of_all(struct flow_graph *g, enum agg_kind kind, bool partial_out)
{
	uint32_t in[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_event(g, p, "loop");
	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_vt_agg(g, kind, true, FLOW_SINCE_START, in[p]);
	return made_set(g, kind, partial_out, in, PROCESSES);
}

static struct flow_graph *stopping(enum agg_kind kind, enum agg_kind agg, double q,
				   const char *until)
{
	struct flow_graph *g = flow_graph_new(1);

	made_result(g, 0, made_stop(g, agg, q, until, parts_of_all(g, kind, true)));
	return g;
}

static const struct flow_result *last(void)
{
	ck_assert_uint_gt(w.n, 0);
	return &w.r[w.n - 1];
}

TEST(one_value_in_each_part_is_no_fault_of_the_whole)
{
	struct flow_graph *g = flow_graph_new(1);

	made_result(g, 0, parts_of_all(g, AGG_VARIANCE, false));
	world_load(&w, g);
	for (uint32_t p = 0; p < PROCESSES; p++)
		world_push(&w, 1, p, (struct world_value){ 1, p, START + 1 });
	world_read(&w, 1, 1);
	ck_assert_double_eq_tol(world_last(&w, 1, 0)->value, 5.0 / 3, 1e-15);
	ck_assert_uint_eq(world_last(&w, 1, 0)->flags, 0);
}

TEST(a_number_of_values_is_that_of_all_processes_since_the_start)
{
	world_load(&w, stopping(AGG_VARIANCE, AGG_MEAN, 0, "n >= 10"));
	for (int64_t read = 1; read <= 3; read++) {
		for (uint32_t p = 0; p < PROCESSES; p++)
			world_push(&w, 1, p,
				   (struct world_value){ read, p + (double)read,
							 START + (read - 1) * SECOND + 1 });
		world_read(&w, 1, read);
		ck_assert_double_eq(last()->t.value, 2.5 + (double)(read - 1) / 2);
		ck_assert_int_eq(last()->is_enough, read == 3);
		ck_assert_uint_eq(last()->t.flags, 0);
	}
}

/* The result of a tool that gets each value: the same rule on a quantity of all. */
TEST(an_interval_is_narrow_when_that_of_all_values_is)
{
	static const char rule[] = "ci(0.95) < 5% and n >= 50";
	struct quantity_options wish = { .name = "all" };
	struct quantity *q;
	struct rng r;
	int64_t read = 0;

	rng_init(&r, suite_seed(21));
	ck_assert_int_eq(stop_parse(rule, &wish.stop, NULL), 0);
	ck_assert_int_eq(quantity_open(&wish, &q, NULL), 0);
	world_load(&w, stopping(AGG_KURTOSIS, AGG_CI, 0.95, rule));
	do {
		read++;
		for (uint32_t p = 0; p < PROCESSES; p++)
			for (int64_t k = 0; k < 1 + p * 2; k++) {
				double v = 1 + rng_double(&r);

				world_push(&w, 1, p,
					   (struct world_value){ read * 100 + k, v,
								 START + (read - 1) * SECOND + 1 });
				ck_assert_int_eq(quantity_add(q, v), 0);
			}
		world_read(&w, 1, read);
		ck_assert_int_eq(last()->is_enough, quantity_is_done(q));
		ck_assert_double_eq_tol(last()->t.value, quantity_interval(q, 0.95).half, 1e-12);
	} while (!last()->is_enough && read < 100);
	ck_assert_int_gt(read, 1);
	ck_assert_int_lt(read, 100);
	quantity_free(q);
}

TEST(no_value_or_an_infinite_one_stops_nothing)
{
	world_load(&w, stopping(AGG_VARIANCE, AGG_MEAN, 0, "n >= 1"));
	world_read(&w, 1, 1);
	ck_assert(isnan(last()->t.value) && last()->t.flags & FLOW_MISSING);
	ck_assert(!last()->is_enough);
	world_push(&w, 1, 0, (struct world_value){ 1, 1, START + SECOND + 1 });
	world_push(&w, 1, 0, (struct world_value){ 2, INFINITY, START + SECOND + 2 });
	world_read(&w, 1, 2);
	ck_assert(last()->t.value == INFINITY && !last()->is_enough);
}

/* With a sketch, interpreting it as moments would read an address. */
TEST(whoever_else_reads_a_stop_has_its_value_and_not_its_values)
{
	static const enum agg_kind reader[] = { AGG_MAX, AGG_SUM, AGG_VARIANCE, AGG_QUANTILE };
	struct flow_graph *g = flow_graph_new(1);
	uint32_t stop = made_stop(g, AGG_MEAN, 0, "n >= 1", parts_of_all(g, AGG_VARIANCE, true));

	for (uint32_t i = 0; i < ARRAY_LEN(reader); i++)
		made_result(g, i, made_set(g, reader[i], false, &stop, 1));
	world_load(&w, g);
	for (uint32_t p = 0; p < PROCESSES; p++)
		world_push(&w, 1, p, (struct world_value){ 1, p, START + 1 });
	world_read(&w, 1, 1);
	ck_assert_double_eq(world_last(&w, 1, 0)->value, 1.5);
	ck_assert_double_eq(world_last(&w, 1, 1)->value, 1.5);
	ck_assert_uint_eq(world_last(&w, 1, 2)->flags, FLOW_NAN); /* of one value */
	ck_assert_double_eq_tol(world_last(&w, 1, 3)->value, 1.5, 1.5 / 64);
}

TEST(stop_node_with_wrong_aggregate_or_rule_is_refused)
{
	static const struct {
		enum agg_kind kind, agg;
		double q;
		const char *until, *words;
	} bad[] = {
		{ AGG_MEAN, AGG_MEAN, 0, "n >= 1", "has not the moments" },
		{ AGG_VARIANCE, AGG_SKEWNESS, 0, "n >= 1", "has not the moments" },
		{ AGG_VARIANCE, AGG_MAX, 0, "n >= 1", "has not the moments" },
		{ AGG_VARIANCE, AGG_CI, 2, "n >= 1", "a level of 2" },
		{ AGG_VARIANCE, AGG_MEAN, 0, "n > 1", "is not a rule" },
		{ AGG_VARIANCE, AGG_MEAN, 0, "ci(0.95, batches) < 5%", "they have no batches" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct flow_graph *g = stopping(bad[i].kind, bad[i].agg, bad[i].q, bad[i].until);
		struct err e = { 0 };

		ck_assert_int_eq(flow_graph_verify(g, &e), -ERR_INVALID);
		ck_assert_msg(strstr(e.text, bad[i].words), "%zu: %s", i, e.text);
		flow_graph_free(g);
	}
}

TEST(a_stop_is_read_as_it_was_written)
{
	made_is_read_as_written(stopping(AGG_SKEWNESS, AGG_CI, 0.9, "ci(0.99) < 0.5 or n >= 7"));
}

SUITE_WITH("stop", set_up, clean_up)
