/* SPDX-License-Identifier: Apache-2.0 */
/* Values with their objects: the same result for every order of values and merges. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/flow/graph/agg.h"
#include "common/flow/graph/graph.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/graph/made.h"

#include <math.h>
#include <string.h>

#define VALUES 60
#define PARTS 5

static const enum agg_kind kinds[] = { AGG_WHO_MAX, AGG_WHO_MIN, AGG_TOP };

static uint64_t process(unsigned i)
{
	struct token t;

	return who_pack(token_print_process(&t, 1 + i % 3, i / 3));
}

TEST(an_object_has_its_token_again)
{
	static const char *const tokens[] = { "s_1", "n_3", "n_4294967295", "p_3_ev8wva",
					      "p_4294967295_000000" };
	static const char *const others[] = { "", "p_1", "t_3_ev8wva", "c_1", "s_4294967296", "x" };
	struct token t;
	uint64_t last = WHO_NONE;

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		uint64_t packed = who_pack(tokens[i]);

		ck_assert(who_is_object(packed) && packed > last);
		ck_assert_str_eq(who_token(&t, packed), tokens[i]);
		last = packed;
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ck_assert_msg(who_pack(others[i]) == WHO_NONE, "%s", others[i]);
	ck_assert_str_eq(who_token(&t, WHO_NONE), "");
	ck_assert(!who_is_object(WHO_NONE));
	ck_assert(!who_is_object(who_pack("n_3") + 1));
}

struct part {
	struct agg a;
	union agg_room room;
};

static void some(struct who *v, size_t n, struct rng *r)
{
	for (size_t i = 0; i < n; i++)
		v[i] = (struct who){ rng_below(r, 12) ? (double)rng_below(r, 6) : INFINITY,
				     (double)rng_below(r, 2), process((unsigned)rng_below(r, 9)) };
}

/* Splits the values at random and merges the parts in a random order. */
static void fold(struct part *out, enum agg_kind kind, const struct who *v, struct rng *r)
{
	struct part part[PARTS];
	size_t left = PARTS;

	for (size_t k = 0; k < PARTS; k++)
		agg_init(&part[k].a, kind, &part[k].room);
	for (size_t i = 0; i < VALUES; i++)
		agg_add_who(&part[rng_below(r, PARTS)].a, &v[i]);
	agg_init(&out->a, kind, &out->room);
	while (left) {
		size_t from = rng_below(r, left);

		ck_assert(agg_is_sane(&part[from].a));
		if (left > 1 && rng_below(r, 2)) {
			size_t into = (from + 1) % left;

			agg_merge(&part[into].a, &part[from].a);
		} else {
			agg_merge(&out->a, &part[from].a);
		}
		left--;
		agg_copy(&part[from].a, &part[left].a);
	}
	ck_assert(agg_is_sane(&out->a));
}

static int by_order(const void *a, const void *b)
{
	return who_is_before(a, b, false) ? -1 : who_is_before(b, a, false);
}

TEST(no_order_of_values_and_merges_changes_the_result)
{
	struct who v[VALUES], least;
	struct part got;
	struct rng r;
	double error;
	uint32_t n;

	rng_init(&r, suite_seed(61));
	for (int round = 0; round < 3000; round++) {
		enum agg_kind kind = kinds[round % 3];
		const struct who *of;

		some(v, VALUES, &r);
		fold(&got, kind, v, &r);
		qsort(v, VALUES, sizeof(v[0]), by_order);
		least = v[0];
		for (size_t i = 1; i < VALUES; i++)
			if (who_is_before(&v[i], &least, true))
				least = v[i];
		of = agg_whos(&got.a, 7, &n);
		ck_assert_uint_eq(n, kind == AGG_TOP ? 7 : 1);
		for (uint32_t i = 0; i < n; i++) {
			const struct who *want = kind == AGG_WHO_MIN ? &least : &v[i];

			ck_assert(of[i].value == want->value && of[i].object == want->object &&
				  of[i].error == want->error);
		}
		ck_assert(agg_value(&got.a, 7, &error) == of[0].value && error == 1);
		ck_assert_uint_eq(agg_count(&got.a), VALUES);
	}
}

TEST(without_a_value_there_is_no_object)
{
	struct part a, b;
	uint32_t n;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		agg_init(&a.a, kinds[k], &a.room);
		agg_init(&b.a, kinds[k], &b.room);
		agg_add_who(&b.a, &(struct who){ NAN, 0, process(0) });
		agg_merge(&a.a, &b.a);
		agg_whos(&a.a, 3, &n);
		ck_assert_uint_eq(n, 0);
		ck_assert(isnan(agg_value(&a.a, 3, &(double){ 0 })));
	}
}

TEST(a_list_of_a_peer_is_checked)
{
	struct part good, bad;

	agg_init(&good.a, AGG_TOP, &good.room);
	for (unsigned i = 0; i < 20; i++)
		agg_add_who(&good.a, &(struct who){ i, 0, process(i) });
	ck_assert_uint_eq(good.room.top.n, WHO_TOP_MAX);
	for (int how = 0; how < 6; how++) {
		agg_init(&bad.a, AGG_TOP, &bad.room);
		agg_copy(&bad.a, &good.a);
		ck_assert(agg_is_sane(&bad.a));
		if (how == 0)
			bad.room.top.of[3].value = NAN;
		else if (how == 1)
			bad.room.top.of[3].error = -1;
		else if (how == 2)
			bad.room.top.of[3].object = WHO_NONE;
		else if (how == 3)
			bad.room.top.of[3].value = 100; /* not in order */
		else if (how == 4)
			bad.room.top.n--;
		else
			bad.a.pinf = 1;
		ck_assert_msg(!agg_is_sane(&bad.a), "%d", how);
	}
	agg_init(&bad.a, AGG_WHO_MIN, NULL);
	agg_add_who(&bad.a, &(struct who){ 1, 0, process(1) });
	ck_assert(agg_is_sane(&bad.a));
	bad.a.who.object = 5;
	ck_assert(!agg_is_sane(&bad.a));
}

/* --- in a graph */

static uint32_t made_who(struct flow_graph *g, enum agg_kind kind, const char *object, uint32_t in)
{
	return made_node(
		g,
		(struct flow_node){ .kind = FLOW_WHO,
				    .who = { { .agg = kind, .partial_out = true }, object } },
		1, in);
}

static uint32_t made_whose(struct flow_graph *g, struct flow_fold fold, const uint32_t *in,
			   size_t n)
{
	int at = flow_graph_add(
		g, &(struct flow_node){ .kind = FLOW_SET, .in = in, .nin = n, .fold = fold }, NULL);

	ck_assert_int_ge(at, 0);
	return (uint32_t)at;
}

TEST(a_graph_of_objects_is_read_as_written)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in[2] = { made_metric(g, 0, "Send_volume"), made_metric(g, 1, "Send_volume") };

	in[0] = made_who(g, AGG_TOP, "p_1_000000", in[0]);
	in[1] = made_who(g, AGG_TOP, "p_1_000001", in[1]);
	made_result(g, 0,
		    made_whose(g, (struct flow_fold){ AGG_TOP, 3, true, FLOW_SINCE_START }, in, 2));
	made_is_read_as_written(g);
}

static void expect_refused(struct flow_graph *g, const char *words)
{
	struct err e = { 0 };

	ck_assert_int_eq(flow_graph_verify(g, &e), -ERR_INVALID);
	ck_assert_msg(strstr(e.text, words), "'%s', not '%s'", e.text, words);
	flow_graph_free(g);
}

TEST(invalid_nodes_of_objects_are_refused)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t in = made_metric(g, 0, "Send_volume");

	made_result(g, 0, made_set(g, AGG_WHO_MAX, true, &in, 1));
	expect_refused(g, "a WHO_MAX of values without objects");
	g = flow_graph_new(1);
	in = made_who(g, AGG_WHO_MAX, "p_1_000000", made_metric(g, 0, "Send_volume"));
	made_result(g, 0, made_set(g, AGG_WHO_MAX, false, &in, 1));
	expect_refused(g, "partial_out is due");
	g = flow_graph_new(1);
	in = made_who(g, AGG_WHO_MAX, "p_1_000000", made_metric(g, 0, "Send_volume"));
	made_result(g, 0, made_set(g, AGG_WHO_MIN, true, &in, 1));
	expect_refused(g, "is a partial WHO_MAX");
	g = flow_graph_new(1);
	made_result(g, 0, made_who(g, AGG_MAX, "p_1_000000", made_metric(g, 0, "Send_volume")));
	expect_refused(g, "is not of objects");
	g = flow_graph_new(1);
	made_result(g, 0, made_who(g, AGG_WHO_MAX, "c_1", made_metric(g, 0, "Send_volume")));
	expect_refused(g, "is not a process, node or site");
	g = flow_graph_new(1);
	made_result(g, 0, made_who(g, AGG_WHO_MAX, "n_1", made_const(g, 3)));
	expect_refused(g, "its input is a constant");
	for (int k = 0; k < 2; k++) {
		g = flow_graph_new(1);
		in = made_who(g, AGG_TOP, "n_1", made_metric(g, 0, "Send_volume"));
		made_result(g, 0,
			    made_whose(g,
				       (struct flow_fold){ AGG_TOP, k ? WHO_TOP_MAX + 1 : 0, true,
							   FLOW_SINCE_START },
				       &in, 1));
		expect_refused(g, "not of 1 to 16");
	}
}

SUITE("who")
