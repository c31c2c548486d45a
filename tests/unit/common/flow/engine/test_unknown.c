/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates of members without a report: no number, and a flag where it is due. */
#include "tests/suite.h"
#include "common/base/array.h"
#include "tests/unit/common/flow/engine/one_world.h"
#include "tests/unit/common/flow/graph/made.h"

#include <math.h>

static const enum agg_kind kinds[] = {
	AGG_COUNT, AGG_SUM, AGG_PROD, AGG_MIN, AGG_MEAN, AGG_VARIANCE
};
#define KINDS ARRAY_LEN(kinds)

static void has(uint32_t output, double value, uint32_t k, uint32_t flags)
{
	const struct flow_token *t = world_last(&w, 1, output);
	char text[FLOW_FLAGS_TEXT_BYTES];

	ck_assert_msg(isnan(value) ? isnan(t->value) : t->value == value,
		      "output %u: %.17g, not %.17g", (unsigned)output, t->value, value);
	ck_assert_uint_eq(t->k, k);
	ck_assert_uint_eq(t->n, 2);
	ck_assert_msg(t->flags == flags, "output %u: %s", (unsigned)output,
		      flow_flags_print(text, t->flags));
}

/* Outputs: each aggregate of nodes 0 and 1, in one step, or as parts of one node each. */
static struct flow_graph *aggregates(bool in_parts)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2] = { made_metric(g, 0, "Send_count"), made_metric(g, 1, "Send_count") },
		 part[2];

	for (uint32_t i = 0; i < KINDS; i++) {
		for (int k = 0; k < 2 && in_parts; k++)
			part[k] = made_set(g, kinds[i], true, &in[k], 1);
		made_result(g, i, made_set(g, kinds[i], false, in_parts ? part : in, 2));
	}
	return g;
}

static void of_all(double value, uint32_t k, uint32_t flags)
{
	for (uint32_t i = 0; i < KINDS; i++)
		has(i, value, k, flags);
}

TEST(an_aggregate_of_silent_members_has_no_value)
{
	for (int in_parts = 0; in_parts < 2; in_parts++) {
		world_load(&w, aggregates(in_parts));
		world_read(&w, 1, 1);
		of_all(NAN, 0, FLOW_MISSING | FLOW_PARTIAL);
		world_push(&w, 1, 1, (struct world_value){ 2, 5, START + 1 });
		world_read(&w, 1, 2);
		has(0, 1, 1, FLOW_MISSING | FLOW_PARTIAL);
		has(1, 5, 1, FLOW_MISSING | FLOW_PARTIAL);
		has(2, 5, 1, FLOW_MISSING | FLOW_PARTIAL);
		clean_up();
		set_up();
	}
}

/*
 * An aggregate of the events of two processes since the last read; each process has its own
 * part.
 */
static struct flow_graph *of_events(enum agg_kind kind)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t part[2];

	for (unsigned p = 0; p < 2; p++)
		part[p] = made_vt_agg(g, kind, true, FLOW_SINCE_LAST, made_event(g, p, "e"));
	made_result(g, 0, made_set(g, kind, false, part, 2));
	return g;
}

/* One of many may have had nothing to report in an interval: the set is complete. */
TEST(a_part_without_values_takes_nothing_from_the_whole)
{
	static const enum agg_kind some[] = { AGG_SKEWNESS, AGG_KURTOSIS, AGG_MEAN, AGG_MAX,
					      AGG_CI };
	static const double values[] = { 1, 2, 4 };

	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		world_load(&w, of_events(some[i]));
		for (int k = 0; k < 3; k++)
			world_push(&w, 1, 0,
				   (struct world_value){ k + 1, values[k], START + k + 1 });
		world_read(&w, 1, 1);
		ck_assert(!isnan(world_last(&w, 1, 0)->value));
		ck_assert_uint_eq(world_last(&w, 1, 0)->flags, 0);
		ck_assert_uint_eq(world_last(&w, 1, 0)->k, 2);
		world_read(&w, 1, 2);
		has(0, NAN, 2, FLOW_MISSING); /* of nothing at all */
		clean_up();
		set_up();
	}
}

TEST(a_sum_that_overflows_is_reported)
{
	world_load(&w, aggregates(true));
	world_push(&w, 1, 0, (struct world_value){ 1, 1.7e308, START + 1 });
	world_push(&w, 1, 1, (struct world_value){ 1, 1.7e308, START + 1 });
	world_read(&w, 1, 1);
	has(0, 2, 2, 0);
	has(1, INFINITY, 2, FLOW_NAN);
	has(2, INFINITY, 2, FLOW_NAN);
	has(3, 1.7e308, 2, 0);
}

/* A constant needs no contributor, so it is never flagged as missing. */
TEST(a_constant_has_its_value_without_contributors)
{
	struct flow_graph *g = flow_graph_new(1);

	made_result(g, 0, made_const(g, 7));
	world_load(&w, g);
	world_read(&w, 1, 1);
	ck_assert(world_last(&w, 1, 0)->value == 7);
	ck_assert_uint_eq(world_last(&w, 1, 0)->k, 0);
	ck_assert_uint_eq(world_last(&w, 1, 0)->n, 0);
	ck_assert_uint_eq(world_last(&w, 1, 0)->flags, 0);
}

SUITE_WITH("unknown", set_up, clean_up)
