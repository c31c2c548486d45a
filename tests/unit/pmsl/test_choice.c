/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of virtual times: their nodes are at the sources, with the words of the text. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <string.h>

#define TWO_NODES "s:a=p_1,p_2;b=p_3"

static struct pmsl *text;
static struct pmsl_plan plan;
static struct world world;
static struct arena *arena;
static struct pmsl_diags diags;
static struct bind_arg args[PMSL_PARAMS_MAX];
static const struct bind_options options = { .arg = args };

static void forget(void)
{
	pmsl_plan_done(&plan);
	pmsl_free(text);
	arena_free(arena);
	text = NULL;
	arena = NULL;
}

static int try_plan(const char *source, const char *metric, const char *layout)
{
	struct err e = { 0 };

	forget();
	diags = PMSL_DIAGS_INIT;
	arena = arena_new(1 << 20);
	ck_assert_msg(world_from_layout(layout, arena, &world, &e) == 0, "%s", e.text);
	ck_assert_int_eq(pmsl_compile("t", source, strlen(source), &diags, &text), 0);
	ck_assert_msg(!diags.nerror, "%s", diags.v[0].text);
	return pmsl_plan(&(struct pmsl_demand){ .text = text,
						.metric = pmsl_metric(text, metric, &diags),
						.world = &world,
						.options = &options,
						.measurement = 1 },
			 &diags, &plan);
}

static void plan_text(const char *source, const char *metric, const char *layout)
{
	ck_assert_int_eq(try_plan(source, metric, layout), 0);
}

/* The piece that is evaluated at the object. */
static const struct flow_graph *piece(const char *place)
{
	for (size_t i = 0; i < plan.pieces.n; i++)
		if (plan.pieces.v[i].place.kind != PLACE_TOP &&
		    str_eq(world.v[plan.pieces.v[i].place.object].name, place))
			return plan.pieces.v[i].graph;
	ck_abort_msg("nothing at %s", place);
}

static const struct flow_node *the(const char *place, enum flow_kind kind)
{
	const struct flow_graph *g = piece(place);

	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].kind == kind)
			return &g->node[i];
	ck_abort_msg("no %s at %s", flow_kind_name(kind), place);
}

static void expect_kinds(const char *place, const char *expected)
{
	const struct flow_graph *g = piece(place);
	struct buf b = BUF_INIT(1000);

	for (int kind = 0; kind < FLOW_NKINDS; kind++) {
		unsigned n = 0;

		for (size_t i = 0; i < g->nnode; i++)
			n += (int)g->node[i].kind == kind;
		if (n)
			buf_printf(&b, "%s%u %s", b.n ? ", " : "", n,
				   flow_kind_name((enum flow_kind)kind));
	}
	ck_assert_str_eq(buf_str(&b), expected);
	buf_done(&b);
}

#define CHOOSING(value, where)                                                            \
	"M(Process[] ps, VirtualTime[] vts, Value k, TimeInterval t) { PROBE e(Process, " \
	"VirtualTime, Value r); Process p; VirtualTime vt; Value[][] x; Value[] y; "      \
	"x[p][vt] = " value                                                               \
	"; y[vt] = MEAN(x[p][vt] WHERE p IN ps); RETURN SUM(y[vt] WHERE " where "); }"

static const struct bind_range times[] = { { 10, 10 }, { 20, 30 } };

static void expect_choice(const char *place, const char *words)
{
	struct buf b = BUF_INIT(1000);

	choice_print(&the(place, FLOW_CHOICE)->choice, &b);
	ck_assert_str_eq(buf_str(&b), words);
	buf_done(&b);
}

TEST(choice_is_evaluated_at_the_source)
{
	args[1] = (struct bind_arg){ .is_given = true, .vt = times, .nvt = ARRAY_LEN(times) };
	args[2] = (struct bind_arg){ .is_given = true, .value = 3 };
	/* The choice is above the mean in the text, and the mean is of processes of all nodes. */
	plan_text(CHOOSING("r AT e(p, vt)", "vt > 10"), "M", TWO_NODES);
	expect_kinds("a", "2 input, 1 set, 1 link_out, 2 choice");
	expect_kinds("b", "1 input, 1 set, 1 link_out, 1 choice");
	expect_choice("b", "vt > 10");
	plan_text(CHOOSING("r AT e(p, vt) - r AT e(p, vt - 1)", "vt % k == 0"), "M", TWO_NODES);
	expect_kinds("b", "1 input, 1 op, 1 set, 1 shift, 1 link_out, 2 choice");
	plan_text(CHOOSING("r AT e(p, vt)", "vt IN vts AND NOT vt == 25"), "M", TWO_NODES);
	expect_choice("b", "((vt == 10) or ((vt >= 20) and (vt <= 30))) and (not (vt == 25))");
	memset(args, 0, sizeof(args));
}

TEST(numbers_that_choose_are_whole_and_lists_are_not_empty)
{
	int rc = try_plan(CHOOSING("r AT e(p, vt)", "vt IN vts"), "M", TWO_NODES);

	ck_assert_int_eq(rc, -ERR_INVALID);
	ck_assert_str_eq(diags.v[diags.n - 1].text, "vts of M has no virtual times");
	args[1] = (struct bind_arg){ .is_given = true, .vt = times, .nvt = ARRAY_LEN(times) };
	args[2] = (struct bind_arg){ .is_given = true, .value = 2.5 };
	rc = try_plan(CHOOSING("r AT e(p, vt)", "vt > k"), "M", TWO_NODES);
	ck_assert_int_eq(rc, -ERR_INVALID);
	ck_assert_str_eq(diags.v[diags.n - 1].text, "2.5 is not a whole number: virtual times are");
	memset(args, 0, sizeof(args));
}

TEST(values_by_virtual_time_are_of_those_that_are_wanted)
{
	args[1] = (struct bind_arg){ .is_given = true, .vt = times, .nvt = 1 };
	plan_text(
		"M(Process[] ps, VirtualTime vt) { PROBE e(Process, VirtualTime, Value r); Process "
		"p; RETURN MAX(r AT e(p, vt) WHERE p IN ps); }",
		"M", TWO_NODES);
	expect_kinds("b", "1 input, 1 set, 1 link_out, 1 choice");
	expect_choice("b", "vt == 10");
	memset(args, 0, sizeof(args));
}

SUITE_WITH("choice", forget, forget)
