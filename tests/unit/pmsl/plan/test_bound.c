/* SPDX-License-Identifier: Apache-2.0 */
/* Equal nodes of a graph, the places of nodes, and the objects that nodes are about. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/plan/bound.h"
#include "tests/suite.h"

#include <string.h>

static struct arena *arena;
static struct world world;
static struct bound bound;

static void set_up(void)
{
	arena = arena_new(1 << 20);
	ck_assert_int_eq(world_from_layout("s:a=p_1,p_2;b=p_3/t:c=p_4", arena, &world, NULL), 0);
	ck_assert_int_eq(bound_init(&bound, &world), 0);
}

static void clean_up(void)
{
	bound_done(&bound);
	arena_free(arena);
}

static uint32_t at(const char *name)
{
	return world_find(&world, name);
}

static struct place node_place(const char *name)
{
	return (struct place){ PLACE_NODE, at(name) };
}

static struct place site_place(const char *name)
{
	return (struct place){ PLACE_SITE, at(name) };
}

static const struct place top = { PLACE_TOP, 0 }, anywhere = { PLACE_ANYWHERE, 0 };

/* --- layouts and objects */

TEST(a_layout_gives_sites_their_nodes_and_processes)
{
	ck_assert_uint_eq(world.n, 9);
	ck_assert_str_eq(world.v[at("p_3")].token, "p_3");
	ck_assert_int_eq(world.v[at("p_1")].rank, 0);
	ck_assert_int_eq(world.v[at("p_4")].rank, 3);
	ck_assert_int_eq(world.v[at("b")].rank, -1);
	ck_assert_str_eq(world.v[at("b")].token, "n_5");
	ck_assert_str_eq(world.v[at("t")].token, "s_7");
	ck_assert_uint_eq(at("n_5"), at("b"));
	ck_assert_uint_eq(at("s_7"), at("t"));
	ck_assert_uint_eq(at("nobody"), WORLD_NONE);
	ck_assert_uint_eq(world_node(&world, at("p_3")), at("b"));
	ck_assert_uint_eq(world_node(&world, at("b")), at("b"));
	ck_assert_uint_eq(world_node(&world, at("s")), WORLD_NONE);
	ck_assert_uint_eq(world_site(&world, at("p_4")), at("t"));
	ck_assert_uint_eq(world_site(&world, at("s")), at("s"));
	ck_assert(world_is_in(&world, at("p_1"), at("a")));
	ck_assert(world_is_in(&world, at("p_1"), at("s")));
	ck_assert(world_is_in(&world, at("p_1"), at("p_1")));
	ck_assert(!world_is_in(&world, at("p_1"), at("b")));
	ck_assert(!world_is_in(&world, at("p_1"), at("t")));
	ck_assert(!world_is_in(&world, at("a"), at("p_1")));
}

TEST(an_invalid_layout_is_refused_with_the_place)
{
	static const struct {
		const char *text, *words;
	} bad[] = {
		{ "", "expected a name at ''" },
		{ "s", "expected ':' at ''" },
		{ "s:a", "expected '=' at ''" },
		{ "s:a=", "expected the token of a process (p_1) at ''" },
		{ "s:a=n_1", "expected the token of a process (p_1) at 'n_1'" },
		{ "s:a=p_1,", "expected the token of a process (p_1) at ''" },
		{ "s:a=p_1;", "expected a name at ''" },
		{ "s:a=p_1/", "expected a name at ''" },
		{ "s:a=p_1 ", "expected ',', ';' or '/' at ' '" },
		{ "s:=p_1", "expected a name at '=p_1'" },
		{ ":a=p_1", "expected a name at ':a=p_1'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct world w = { 0 };
		struct err e = { 0 };

		ck_assert_int_eq(world_from_layout(bad[i].text, arena, &w, &e), -ERR_PARSE);
		ck_assert_msg(strstr(e.text, bad[i].words), "'%s': %s", bad[i].text, e.text);
		ck_assert_ptr_null(w.v);
	}
}

/* --- places */

TEST(places_are_below_one_another)
{
	const struct place a = node_place("a"), b = node_place("b"), c = node_place("c");
	const struct place s = site_place("s"), t = site_place("t");

	ck_assert(place_equal(a, a) && place_equal(top, top) && place_equal(anywhere, anywhere));
	ck_assert(place_equal(top, (struct place){ PLACE_TOP, 7 }));
	ck_assert(!place_equal(a, b) && !place_equal(s, t) && !place_equal(a, top));
	ck_assert(!place_equal(s, (struct place){ PLACE_NODE, s.object }));
	ck_assert(place_is_below(&world, a, s) && place_is_below(&world, c, t));
	ck_assert(place_is_below(&world, a, top) && place_is_below(&world, s, top));
	ck_assert(!place_is_below(&world, c, s) && !place_is_below(&world, s, a));
	ck_assert(!place_is_below(&world, s, t) && !place_is_below(&world, s, s));
	ck_assert(!place_is_below(&world, top, top) && !place_is_below(&world, anywhere, top));
	ck_assert(!place_is_below(&world, a, b));
	ck_assert(place_equal(place_step_down(&world, a, top), s));
	ck_assert(place_equal(place_step_down(&world, a, s), a));
	ck_assert(place_equal(place_step_down(&world, s, top), s));
	ck_assert(place_equal(place_of(&world, at("p_2")), a));
	ck_assert(place_equal(place_of(&world, at("b")), b));
	ck_assert(place_equal(place_of(&world, at("t")), t));
}

/* A host without a site sends to the top. */
TEST(an_object_without_a_container_is_at_the_top)
{
	static struct world_object v[] = {
		{ .kind = PMSL_T_NODE, .token = "n_1", .rank = -1, .parent = WORLD_NONE },
		{ .kind = PMSL_T_PROCESS, .token = "p_1", .parent = 0 },
		{ .kind = PMSL_T_PROCESS, .token = "p_2", .parent = WORLD_NONE },
	};
	const struct world w = { v, ARRAY_LEN(v) };
	const struct place node = { PLACE_NODE, 0 };

	ck_assert(place_equal(place_of(&w, 1), node));
	ck_assert(place_equal(place_of(&w, 2), top));
	ck_assert(place_equal(place_step_down(&w, node, top), node));
	ck_assert(place_is_below(&w, node, top));
}

static uint32_t put(const struct flow_node *n, const struct place *where)
{
	uint32_t id = UINT32_MAX;

	ck_assert_int_eq(bound_put(&bound, n, where, &id), 0);
	ck_assert_uint_lt(id, bound.n);
	return id;
}

static uint32_t put_input(const char *object, const char *probe)
{
	const struct flow_node n = {
		.kind = FLOW_INPUT,
		.source = { .metric = "Send_count", .object = object, .probe = probe }
	};
	const struct place where = place_of(&world, at(object));

	return put(&n, &where);
}

static const struct bound_node *made(const struct flow_node *n)
{
	uint32_t id = put(n, NULL);

	return bound.node[id];
}

static struct place placed(enum flow_kind kind, uint32_t x, uint32_t y)
{
	const uint32_t in[] = { x, y };

	return made(&(struct flow_node){ .kind = kind, .in = in, .nin = 2 })->place;
}

TEST(a_node_is_at_the_nearest_place_that_its_inputs_can_reach)
{
	const uint32_t p1 = put_input("p_1", NULL), p2 = put_input("p_2", NULL);
	const uint32_t p3 = put_input("p_3", NULL), p4 = put_input("p_4", NULL);
	const uint32_t one = put(&(struct flow_node){ .kind = FLOW_CONST, .constant = 1 }, NULL);

	ck_assert(place_equal(bound.node[one]->place, anywhere));
	ck_assert(place_equal(placed(FLOW_OP, p1, p2), node_place("a")));
	ck_assert(place_equal(placed(FLOW_OP, p1, p3), site_place("s")));
	ck_assert(place_equal(placed(FLOW_OP, p1, p4), top));
	ck_assert(place_equal(placed(FLOW_OP, one, p3), node_place("b")));
	ck_assert(place_equal(placed(FLOW_OP, p3, one), node_place("b")));
	ck_assert(place_equal(placed(FLOW_RESULT, p3, one), top));
	bound.is_central = true;
	ck_assert(place_equal(placed(FLOW_SET, p1, p2), top));
	ck_assert(place_equal(placed(FLOW_DELTA, p1, p2), node_place("a")));
	ck_assert(place_equal(bound.node[p1]->place, node_place("a")));
}

/* --- output of a node */

TEST(a_node_has_its_result_and_number_of_contributors)
{
	const uint32_t in[] = { put_input("p_1", NULL), put_input("p_2", NULL) };
	const uint32_t vt[] = { put_input("p_1", "e") };
	const struct flow_fold part = { .agg = AGG_MAX, .partial_out = true };
	const struct flow_node *n;
	uint32_t set, agg;

	ck_assert_int_eq(bound.node[in[0]]->n.domain, FLOW_READ);
	ck_assert_int_eq(bound.node[vt[0]]->n.domain, FLOW_VT);
	ck_assert_uint_eq(bound.node[in[0]]->n.behind, 1);
	n = &made(&(struct flow_node){ .kind = FLOW_OP, .in = in, .nin = 2 })->n;
	ck_assert_uint_eq(n->behind, 1);
	ck_assert(!n->partial);
	set = put(&(struct flow_node){ .kind = FLOW_SET, .in = in, .nin = 2, .fold = part }, NULL);
	n = &bound.node[set]->n;
	ck_assert_uint_eq(n->behind, 2);
	ck_assert(n->partial && n->gives.agg == AGG_MAX && n->domain == FLOW_READ);
	n = &made(&(struct flow_node){ .kind = FLOW_RESULT, .in = &set, .nin = 1 })->n;
	ck_assert(n->partial && n->gives.agg == AGG_MAX && n->behind == 2);
	n = &made(&(struct flow_node){ .kind = FLOW_SHIFT, .shift = 1, .in = vt, .nin = 1 })->n;
	ck_assert(!n->partial && n->domain == FLOW_VT && n->behind == 1);
	n = &made(&(struct flow_node){ .kind = FLOW_SHIFT, .shift = 1, .in = &set, .nin = 1 })->n;
	ck_assert(n->partial && n->gives.agg == AGG_MAX && n->behind == 2);
	n = &made(&(struct flow_node){ .kind = FLOW_LINK_OUT, .in = &set, .nin = 1 })->n;
	ck_assert(!n->partial); /* depends on its input */
	agg = put(&(struct flow_node){ .kind = FLOW_VT_AGG, .in = vt, .nin = 1 }, NULL);
	ck_assert(bound.node[agg]->n.domain == FLOW_READ && !bound.node[agg]->n.partial);
}

TEST(nodes_without_a_result_are_removed)
{
	const uint32_t in[] = { put_input("p_1", NULL), put_input("p_2", NULL) };
	const uint32_t sum = put(&(struct flow_node){ .kind = FLOW_OP, .in = in, .nin = 1 }, NULL);
	const uint32_t idle = put(&(struct flow_node){ .kind = FLOW_OP, .in = in, .nin = 2 }, NULL);
	const uint32_t result =
		put(&(struct flow_node){ .kind = FLOW_RESULT, .in = &sum, .nin = 1 }, NULL);

	bound_mark(&bound);
	ck_assert(bound.node[result]->is_live && bound.node[sum]->is_live);
	ck_assert(bound.node[in[0]]->is_live);
	ck_assert(!bound.node[in[1]]->is_live && !bound.node[idle]->is_live);
}

/* --- nodes that are alike */

static const struct choice_word vt_itself[] = { { CHOICE_VT, 0, 0 } };

/* Each differs from the first one of its kind. */
TEST(only_nodes_with_equal_members_are_one)
{
	static const char *const loop[] = { "loop", "main" }, *const other[] = { "loop", "x" };
	const uint32_t in[] = { put_input("p_1", NULL), put_input("p_2", NULL) };
	const uint32_t swapped[] = { in[1], in[0] };
	const struct flow_source s = { .metric = "m", .object = "p_3", .probe = "e" };
	const struct flow_node nodes[] = {
		{ .kind = FLOW_CONST, .constant = 1 },
		{ .kind = FLOW_CONST, .constant = 2 },
		{ .kind = FLOW_CONST, .constant = -0.0 },
		{ .kind = FLOW_CONST, .constant = 0.0 },
		{ .kind = FLOW_INPUT, .source = s },
#define INPUT(...)                                                                           \
	{                                                                                    \
		.kind = FLOW_INPUT, .source = {.metric = "m", .object = "p_3", __VA_ARGS__ } \
	}
		INPUT(.probe = "f"),
		INPUT(.probe = "e", .process = "p_3"),
		INPUT(.probe = "e", .kind = FLOW_SOURCE_EVENT),
		INPUT(.probe = "e", .parameter = 1),
		INPUT(.probe = "e", .from_start = true),
		INPUT(.probe = "e", .partners = { loop, 1 }),
		INPUT(.probe = "e", .regions = { loop, 1 }),
		INPUT(.probe = "e", .regions = { loop, 2 }),
		INPUT(.probe = "e", .regions = { other, 2 }),
		{ .kind = FLOW_INPUT, .source = { .metric = "n", .object = "p_3", .probe = "e" } },
		{ .kind = FLOW_INPUT, .source = { .metric = "m", .object = "p_4", .probe = "e" } },
#define OF_TWO(k, ...) { .kind = k, .in = in, .nin = 2, __VA_ARGS__ }
		OF_TWO(FLOW_OP, .op = FLOW_OP_ADD),
		OF_TWO(FLOW_OP, .op = FLOW_OP_SUB),
		{ .kind = FLOW_OP, .op = FLOW_OP_ADD, .in = swapped, .nin = 2 },
		{ .kind = FLOW_OP, .op = FLOW_OP_ADD, .in = in, .nin = 1 },
		OF_TWO(FLOW_SET, .fold = { .agg = AGG_MAX }),
		OF_TWO(FLOW_SET, .fold = { .agg = AGG_MIN }),
		OF_TWO(FLOW_SET, .fold = { .agg = AGG_MAX, .partial_out = true }),
		OF_TWO(FLOW_SET, .fold = { .agg = AGG_MAX, .since = FLOW_SINCE_LAST }),
		OF_TWO(FLOW_SET, .fold = { .agg = AGG_MAX, .q = 0.5 }),
		OF_TWO(FLOW_PAIR, .fold = { .agg = AGG_MAX }),
		OF_TWO(FLOW_VT_AGG, .fold = { .agg = AGG_MAX }),
		OF_TWO(FLOW_SHIFT, .shift = 1),
		OF_TWO(FLOW_SHIFT, .shift = 2),
		OF_TWO(FLOW_CHOICE, .choice = { vt_itself, 1 }),
		OF_TWO(FLOW_DELTA, .per_second = false),
		OF_TWO(FLOW_DELTA, .per_second = true),
		OF_TWO(FLOW_RATE, .since = FLOW_SINCE_START),
		OF_TWO(FLOW_RATE, .since = FLOW_SINCE_LAST),
		OF_TWO(FLOW_STOP, .stop = { AGG_MEAN, 0.5, "n > 9" }),
		OF_TWO(FLOW_STOP, .stop = { AGG_SUM, 0.5, "n > 9" }),
		OF_TWO(FLOW_STOP, .stop = { AGG_MEAN, 0.6, "n > 9" }),
		OF_TWO(FLOW_STOP, .stop = { AGG_MEAN, 0.5, "n > 8" }),
		OF_TWO(FLOW_RESULT, .output = 0),
		OF_TWO(FLOW_RESULT, .output = 1),
	};
	const struct place where = node_place("b");
	uint32_t id[ARRAY_LEN(nodes)];
	size_t before = bound.n;

	for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
		id[i] = put(&nodes[i], &where);
	ck_assert_uint_eq(bound.n - before, ARRAY_LEN(nodes));
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
		struct flow_node again = nodes[i];

		again.line = 7; /* the place in the text does not matter */
		ck_assert_uint_eq(put(&again, &where), id[i]);
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(id[i] != id[k], "%zu is %zu", i, k);
	}
	ck_assert_uint_eq(bound.n - before, ARRAY_LEN(nodes));
}

TEST(only_equal_choices_share_a_node)
{
	static const struct choice_word words[] = { { CHOICE_VT, 0, 0 }, { CHOICE_VT, 0, 1 } };
	const uint32_t in[] = { put_input("p_1", NULL) };
	uint32_t id[3];

	for (size_t i = 0; i < 3; i++)
		id[i] = put(&(struct flow_node){ .kind = FLOW_CHOICE,
						 .in = in,
						 .nin = 1,
						 .choice = { words + i / 2, i < 2 ? i + 1 : 1 } },
			    NULL);
	ck_assert(id[0] != id[1] && id[1] != id[2] && id[0] != id[2]);
	ck_assert_uint_eq(put(&(struct flow_node){ .kind = FLOW_CHOICE,
						   .in = in,
						   .nin = 1,
						   .choice = { words, 2 } },
			      NULL),
			  id[1]);
}

SUITE_WITH("bound", set_up, clean_up)
