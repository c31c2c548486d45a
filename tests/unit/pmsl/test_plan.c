/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs of metrics, and the places of their parts. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/check/builtin.h"
#include "pmsl/pmsl.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define TWO_NODES "s:a=p_1,p_2;b=p_3"
#define TWO_SITES "s:a=p_1,p_2;b=p_3,p_4/t:c=p_5,p_6;d=p_7,p_8"

static struct pmsl *text;
static struct pmsl_plan plan;
static struct world world;
static struct arena *arena;
static struct pmsl_diags diags;
static struct bind_arg args[PMSL_PARAMS_MAX];
static struct bind_options options;

static void forget(void)
{
	pmsl_plan_done(&plan);
	pmsl_free(text);
	arena_free(arena);
	text = NULL;
	arena = NULL;
}

static const char *first_words(void)
{
	return diags.n ? diags.v[0].text : "";
}

static int try_plan(const char *source, const char *metric, const char *layout)
{
	struct err e = { 0 };

	forget();
	diags = PMSL_DIAGS_INIT;
	options.arg = args;
	arena = arena_new(1 << 20);
	ck_assert_msg(world_from_layout(layout, arena, &world, &e) == 0, "%s", e.text);
	ck_assert_int_eq(pmsl_compile("t", source, strlen(source), &diags, &text), 0);
	ck_assert_msg(!diags.nerror, "%s", first_words());
	return pmsl_plan(&(struct pmsl_demand){ .text = text,
						.metric = pmsl_metric(text, metric, &diags),
						.world = &world,
						.options = &options,
						.measurement = 1 },
			 &diags, &plan);
}

static void plan_text(const char *source, const char *metric, const char *layout)
{
	int rc = try_plan(source, metric, layout);

	ck_assert_msg(!rc, "%d: %s", rc, first_words());
}

static void plan_file(const char *file, const char *metric, const char *layout)
{
	struct buf source = BUF_INIT(1 << 20);
	char path[256];

	snprintf(path, sizeof(path), "examples/metrics/%s.pmsl", file);
	ck_assert_int_eq(file_read(path, 1 << 20, 0, &source, NULL), 0);
	plan_text(buf_str(&source), metric, layout);
	buf_done(&source);
}

/* --- counting */

static unsigned in_dag(const struct dag *g, enum dag_kind kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < g->n; i++)
		n += g->node[i].kind == kind;
	return n;
}

static unsigned in_graph(enum flow_kind kind)
{
	unsigned n = 0;

	for (size_t i = 0; i < plan.bound.n; i++)
		n += plan.bound.node[i]->is_live && plan.bound.node[i]->n.kind == kind;
	return n;
}

static const struct flow_graph *piece(const char *where)
{
	for (size_t i = 0; i < plan.pieces.n; i++) {
		struct place at = plan.pieces.v[i].place;

		if (at.kind == PLACE_TOP ? !*where : str_eq(world.v[at.object].name, where))
			return plan.pieces.v[i].graph;
	}
	ck_abort_msg("no piece '%s'", where);
}

static const char *link_of(const char *where)
{
	const struct flow_graph *g = piece(where);

	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].kind == FLOW_LINK_OUT)
			return g->node[i].link.name;
	ck_abort_msg("nothing leaves '%s'", where);
}

static unsigned in_piece(const char *where, enum flow_kind kind)
{
	const struct flow_graph *g = piece(where);
	unsigned n = 0;

	for (size_t i = 0; i < g->nnode; i++)
		n += g->node[i].kind == kind;
	return n;
}

/* The only node of that kind in a piece. */
static const struct flow_node *the(const char *where, enum flow_kind kind)
{
	const struct flow_graph *g = piece(where);
	size_t i;

	ck_assert_uint_eq(in_piece(where, kind), 1);
	for (i = 0; g->node[i].kind != kind; i++)
		;
	return &g->node[i];
}

static void expect_kinds(const char *where, const char *wanted)
{
	struct buf b = BUF_INIT(4096);

	for (unsigned k = 0; k < FLOW_NKINDS; k++)
		if (in_piece(where, (enum flow_kind)k))
			buf_printf(&b, "%s%u %s", b.n ? ", " : "",
				   in_piece(where, (enum flow_kind)k),
				   flow_kind_name((enum flow_kind)k));
	ck_assert_msg(str_eq(buf_str(&b), wanted), "'%s': %s, not %s", where, buf_str(&b), wanted);
	buf_done(&b);
}

static struct dag *template(const char *metric, bool shared)
{
	struct dag *g = NULL;

	ck_assert_int_eq(dag_build(pmsl_metric(text, metric, &diags), shared, &diags, &g), 0);
	return g;
}

/* --- the figures of the paper */

TEST(the_load_imbalance_has_the_template_of_figures_6_8_and_6_9)
{
	struct dag *g;

	plan_file("load_imbalance", "Load_imbalance_at_barrier", TWO_NODES);
	g = template("Load_imbalance_at_barrier", false);
	/* As in the text: the barrier time is below MAX and below MIN. */
	ck_assert_uint_eq(in_dag(g, DAG_METRIC), 6);
	ck_assert_uint_eq(in_dag(g, DAG_AT), 6);
	ck_assert_uint_eq(in_dag(g, DAG_PROBE), 6);
	ck_assert_uint_eq(in_dag(g, DAG_FOLD), 4); /* MAX, MIN, and UNIQUE for both probes */
	ck_assert_int_eq(g->node[g->root].op, PMSL_DIV);
	dag_free(g);
	g = template("Load_imbalance_at_barrier", true);
	/* One Time, one Barrier_delay, each at two probes; one barrier time for MAX and MIN. */
	ck_assert_uint_eq(in_dag(g, DAG_METRIC), 2);
	ck_assert_uint_eq(in_dag(g, DAG_AT), 4);
	ck_assert_uint_eq(in_dag(g, DAG_PROBE), 4);
	ck_assert_uint_eq(in_dag(g, DAG_FOLD), 3);
	ck_assert_uint_eq(in_dag(g, DAG_OP), 5); /* -, -, -, /, and p.rank == 0 */
	dag_free(g);
}

TEST(of_three_processes_it_is_that_of_figures_6_10_and_6_13)
{
	plan_file("load_imbalance", "Load_imbalance_at_barrier", "s:a=p_1,p_2,p_3");
	/* Of each process the delay at both probes, of rank 0 the time; differences, MAX, MIN. */
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 3 * 2 + 2);
	ck_assert_uint_eq(in_graph(FLOW_OP), 3 + 1 + 1 + 1);
	ck_assert_uint_eq(in_graph(FLOW_SET), 2);
	ck_assert_uint_eq(in_graph(FLOW_RESULT), 1);
	/* All of it in the node: one link up, and one on. */
	expect_kinds("a", "8 input, 6 op, 2 set, 1 link_out");
	expect_kinds("s", "1 link_in, 1 link_out");
	expect_kinds("", "1 link_in, 1 result");
	ck_assert_int_eq(the("", FLOW_RESULT)->domain, FLOW_VT);
}

TEST(over_two_nodes_the_sets_are_cut)
{
	plan_file("load_imbalance", "Load_imbalance_at_barrier", TWO_NODES);
	/* The parts of MAX and MIN, and the loop's time of rank 0, go up from its node. */
	expect_kinds("a", "6 input, 3 op, 2 set, 3 link_out");
	expect_kinds("b", "2 input, 1 op, 2 set, 2 link_out");
	expect_kinds("s", "2 op, 2 set, 5 link_in, 1 link_out");
	expect_kinds("", "1 link_in, 1 result");
}

TEST(a_loop_counter_is_that_of_figure_7_2)
{
	plan_file("loop_counter", "Loop_Counter", "s:a=p_1,p_2,p_3");
	expect_kinds("a", "3 input, 1 set, 3 vt_agg, 1 link_out");
	ck_assert_int_eq(the("a", FLOW_SET)->fold.agg, AGG_SUM);
	ck_assert_int_eq(the("", FLOW_RESULT)->domain, FLOW_READ);
	ck_assert_uint_eq(the("", FLOW_RESULT)->behind, 3);
	options.by = BIND_BY_PROCESS;
	plan_file("loop_counter", "Loop_Counter", "s:a=p_1,p_2,p_3");
	ck_assert_uint_eq(plan.outputs.n, 3);
	expect_kinds("a", "3 input, 3 vt_agg, 3 link_out");
	options.by = BIND_BY_NOTHING;
}

TEST(a_mean_iteration_time_is_that_of_figure_7_7)
{
	plan_file("iteration_time", "Mean_iteration_time", "s:a=p_1");
	/* VT_SUM and VT_COUNT take one difference, by the host's clock, whose second part is the
	 * first, shifted. */
	expect_kinds("a", "1 input, 2 op, 2 vt_agg, 1 shift, 1 link_out");
	ck_assert(the("a", FLOW_INPUT)->source.kind == FLOW_SOURCE_TIME &&
		  !the("a", FLOW_INPUT)->source.from_start);
	ck_assert_int_eq(the("a", FLOW_SHIFT)->shift, 1);
}

TEST(a_maximum_over_two_nodes_is_that_of_figure_7_10)
{
	plan_file("comm_delay", "Max_comm_delay_per_loop_execution", "s:a=p_1;b=p_2");
	/* The other way round each process keeps its own, whatever the rate of events. */
	ck_assert_uint_eq(in_graph(FLOW_VT_AGG), 2);
	ck_assert_uint_eq(in_graph(FLOW_SET), 1);
	ck_assert_uint_eq(in_graph(FLOW_SHIFT), 4);
	expect_kinds("a", "1 const, 3 input, 5 op, 1 vt_agg, 2 shift, 1 link_out");
	expect_kinds("b", "1 const, 3 input, 5 op, 1 vt_agg, 2 shift, 1 link_out");
	expect_kinds("s", "1 set, 2 link_in, 1 link_out");
	ck_assert(the("a", FLOW_VT_AGG)->fold.partial_out);
	ck_assert(the("", FLOW_LINK_IN)->link.domain == FLOW_READ);
}

TEST(volumes_of_an_interaction_add_up_in_each_node)
{
	plan_file("send_volume", "Send_volume_for_interaction", TWO_SITES);
	expect_kinds("a", "4 input, 2 op, 1 set, 2 vt_agg, 1 link_out");
	expect_kinds("s", "1 set, 2 link_in, 1 link_out");
	expect_kinds("", "1 set, 2 link_in, 1 result");
	ck_assert_uint_eq(the("", FLOW_RESULT)->behind, 8);
	plan_file("send_volume", "Send_volume_for_interaction_vt", TWO_SITES);
	expect_kinds("a", "4 input, 2 op, 1 set, 1 link_out");
	ck_assert_int_eq(the("", FLOW_RESULT)->domain, FLOW_VT);
}

/* --- the rest of the rules */

TEST(equivalent_metrics_have_the_same_placement)
{
	/* One MAX over both, and MAX of MAX. */
	plan_text("M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); "
		  "Process p; VirtualTime vt;"
		  "Value[][] x; x[p][vt] = r AT e(p, vt); RETURN MAX(x[p][vt] WHERE p IN ps AND "
		  "x[p][vt].time IN t); }",
		  "M", TWO_SITES);
	expect_kinds("a", "2 input, 1 set, 2 vt_agg, 1 link_out");
	expect_kinds("s", "1 set, 2 link_in, 1 link_out");
	expect_kinds("", "1 set, 2 link_in, 1 result");
}

TEST(mean_of_max_is_evaluated_in_the_order_written)
{
	plan_text("M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); "
		  "Process p; VirtualTime vt;"
		  "Value[] x; x[vt] = MAX(r AT e(p, vt) WHERE p IN ps); RETURN MEAN(x[vt] WHERE "
		  "x[vt].time IN t); }",
		  "M", TWO_SITES);
	expect_kinds("a", "2 input, 1 set, 1 link_out");
	expect_kinds("", "1 set, 1 vt_agg, 2 link_in, 1 result");
	ck_assert(the("a", FLOW_SET)->fold.partial_out);
}

TEST(one_value_of_each_node_travels_as_it_is)
{
	plan_text("M(Node[] ns) { Node n; RETURN MEAN(Node_load(n, NOW) WHERE n IN ns); }", "M",
		  "s:a=p_1;b=p_2/t:c=p_3");
	expect_kinds("a", "1 input, 1 link_out");
	expect_kinds("s", "1 set, 2 link_in, 1 link_out");
	expect_kinds("t", "1 set, 1 link_in, 1 link_out");
	expect_kinds("", "1 set, 2 link_in, 1 result");
	plan_text("M(Node[] ns) { Node n; RETURN MEAN(Node_load(n, NOW) WHERE n IN ns); }", "M",
		  "s:a=p_1/t:c=p_3");
	expect_kinds("s", "1 link_in, 1 link_out");
	ck_assert(!the("", FLOW_SET)->in[0] || !the("s", FLOW_LINK_IN)->partial);
}

TEST(attributes_and_membership_are_worked_out)
{
	plan_text("M(Process[] ps, TimeInterval t) { Process p; RETURN SUM(Send_volume(p, t) WHERE "
		  "p IN ps AND"
		  " (p.rank % 2 == 1 OR NOT p.node == p.node) AND p.rank < 6); }",
		  "M", TWO_SITES);
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 3);
	ck_assert_uint_eq(in_graph(FLOW_OP), 0);
	plan_text("M(Process[] ps, TimeInterval t) { Process p; RETURN Send_volume(ps, t) / "
		  "COUNT(p WHERE p IN ps); }",
		  "M", TWO_SITES);
	ck_assert_uint_eq(in_graph(FLOW_CONST), 1);
	ck_assert(the("", FLOW_CONST)->constant == 8);
}

TEST(a_condition_on_values_is_sent_with_them)
{
	plan_text("M(Process[] ps, TimeInterval t) { Process p; RETURN COUNT(p WHERE p IN ps AND "
		  "Send_count(p, t) > 9); }",
		  "M", "s:a=p_1,p_2");
	expect_kinds("a", "2 const, 2 input, 4 op, 1 set, 1 link_out");
}

TEST(since_the_last_read_is_a_difference_at_the_source)
{
	options.since = FLOW_SINCE_LAST;
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M",
		  "s:a=p_1,p_2");
	expect_kinds("a", "2 input, 1 set, 2 delta, 1 link_out");
	options.per_second = true;
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M",
		  "s:a=p_1,p_2");
	ck_assert_uint_eq(in_graph(FLOW_RATE), 1);
	options = (struct bind_options){ .arg = args };
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M",
		  "s:a=p_1,p_2");
	ck_assert_uint_eq(in_graph(FLOW_DELTA), 0);
}

TEST(a_list_for_one_object_is_added_up_or_averaged)
{
	plan_text("M(Process p, TimeInterval t) { RETURN Send_volume(p, t); }", "M", TWO_NODES);
	ck_assert_int_eq(the("s", FLOW_SET)->fold.agg, AGG_SUM);
	plan_text("M(Process p, TimeInterval t) { RETURN Send_volume(p, t) / Send_count(p, t); }",
		  "M", TWO_NODES);
	ck_assert_int_eq(the("s", FLOW_SET)->fold.agg, AGG_MEAN);
	options.has_agg = true;
	options.agg = AGG_MIN;
	plan_text("M(Process p, TimeInterval t) { RETURN Send_volume(p, t); }", "M", TWO_NODES);
	ck_assert_int_eq(the("s", FLOW_SET)->fold.agg, AGG_MIN);
	options.has_agg = false;
	/* Two parameters: each with each. */
	plan_text("M(Process p, Process q, TimeInterval t) { RETURN Send_volume(p, q, t); }", "M",
		  TWO_NODES);
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 9);
}

TEST(outputs_are_distinguished_by_what_was_requested)
{
	options.by = BIND_BY_NODE;
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M", TWO_SITES);
	ck_assert_uint_eq(plan.outputs.n, 4);
	ck_assert_str_eq(world.v[plan.outputs.v[1].object].name, "b");
	options.by = BIND_BY_SITE;
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M", TWO_SITES);
	ck_assert_uint_eq(plan.outputs.n, 2);
	expect_kinds("", "2 link_in, 2 result");
	options.by = BIND_BY_PROCESS;
	ck_assert_int_eq(try_plan("M(Node[] ns) { RETURN Node_load(ns, NOW); }", "M", TWO_NODES),
			 -ERR_INVALID);
	options.by = BIND_BY_NOTHING;
}

TEST(a_node_or_site_means_its_processes)
{
	uint32_t objects[] = { 0, 2 };

	args[0] = (struct bind_arg){ .is_given = true, .object = objects, .nobject = 2 };
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M", TWO_NODES);
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 3);
	objects[0] = 1;
	plan_text("M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }", "M", TWO_NODES);
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 2);
	args[0] = (struct bind_arg){ 0 };
}

TEST(evaluated_centrally_only_sources_are_below)
{
	options.is_central = true;
	plan_file("comm_delay", "Max_comm_delay_per_loop_execution", "s:a=p_1,p_2;b=p_3");
	expect_kinds("a", "6 input, 6 link_out");
	ck_assert_uint_eq(in_piece("", FLOW_LINK_IN), 9);
	ck_assert_uint_eq(in_piece("", FLOW_VT_AGG), 1);
	options.is_central = false;
}

/* A batch in transit while the objects change must not be mistaken for another. */
TEST(a_link_is_named_by_what_it_carries)
{
	static const char sum[] = "M(Process[] l, TimeInterval t) { Process p; Value[] x; "
				  "x[p] = Send_count(p, t); RETURN SUM(x[p] WHERE p IN l); }";
	char a[32], b[32];

	plan_text(sum, "M", TWO_NODES);
	str_copy(a, sizeof(a), link_of("a"));
	str_copy(b, sizeof(b), link_of("b"));
	ck_assert_str_ne(a, b);
	plan_text(sum, "M", "s:a=p_1,p_2;b=p_3,p_4");
	ck_assert_str_eq(link_of("a"), a);
	ck_assert_str_ne(link_of("b"), b);
	plan_text(sum, "M", TWO_SITES);
	str_copy(a, sizeof(a), link_of("s"));
	str_copy(b, sizeof(b), link_of("t"));
	plan_text(sum, "M", TWO_SITES ",p_9");
	ck_assert_str_eq(link_of("s"), a);
	ck_assert_str_ne(link_of("t"), b);
}

TEST(unplannable_metric_is_reported)
{
	ck_assert_int_eq(try_plan("M(Process[] ps) { Process p; RETURN MAX(p.rank WHERE p IN ps "
				  "AND p.rank > 99); }",
				  "M", TWO_NODES),
			 -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(first_words(), "MAX has no values"));
	ck_assert_int_eq(
		try_plan("S(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }"
			 "M(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime); Process q;"
			 "Process r = UNIQUE(q WHERE q.rank == 1); RETURN S(r, [START,NOW]) AT "
			 "e(r, vt); }",
			 "M", TWO_NODES),
		0);
	ck_assert_int_eq(try_plan("S(TimeInterval t) { RETURN Send_volume(t); }"
				  "M(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime); "
				  "RETURN S([START,NOW]) AT e(p, vt); }",
				  "M", TWO_NODES),
			 -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(first_words(), "says nothing about it"));
}

TEST(metrics_that_fan_out_stay_small)
{
	struct buf b = BUF_INIT(1 << 16);
	unsigned i;

	buf_puts(&b, "M0(Process p, TimeInterval t) { RETURN Send_volume(p, t); }\n");
	for (i = 1; i < 60; i++)
		buf_printf(&b, "M%u(Process p, TimeInterval t) { RETURN M%u(p, t) + M%u(p, t); }\n",
			   i, i - 1, i - 1);
	plan_text(buf_str(&b), "M59", "s:a=p_1");
	ck_assert_uint_eq(in_graph(FLOW_OP), 59);
	for (; i < 400; i++)
		buf_printf(&b, "M%u(Process p, TimeInterval t) { RETURN M%u(p, t) + M%u(p, t); }\n",
			   i, i - 1, i - 1);
	ck_assert_int_ne(try_plan(buf_str(&b), "M399", "s:a=p_1"), 0);
	ck_assert_uint_ge(diags.nerror, 1);
	buf_done(&b);
}

/* The smallest window of a link that ends in the piece of the site. */
static uint32_t link_window_at_site(unsigned hosts)
{
	struct buf layout = BUF_INIT(1 << 16);
	const struct flow_graph *g;
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < hosts; i++)
		buf_printf(&layout, "%sh%u=p_%u_a,p_%u_b", i ? ";" : "s:", i, i + 1, i + 1);
	plan_file("load_imbalance", "Load_imbalance_at_barrier", buf_str(&layout));
	buf_done(&layout);
	ck_assert_int_eq(plan.pieces.v[1].place.kind, PLACE_SITE);
	g = plan.pieces.v[1].graph;
	for (size_t i = 0; i < g->nnode; i++)
		if (g->node[i].kind == FLOW_LINK_IN && flow_node_window(&g->node[i]) < least)
			least = flow_node_window(&g->node[i]);
	return least;
}

TEST(many_hosts_share_the_room_of_their_site)
{
	ck_assert_uint_eq(link_window_at_site(40), 1024);
	ck_assert_uint_eq(link_window_at_site(64), 512);
	ck_assert_uint_eq(link_window_at_site(256), 128);
}

TEST(a_variable_that_runs_inside_itself_is_two)
{
	plan_text("M(Process[] ps, TimeInterval t) { Process p, q; Value[] y;"
		  "y[q] = MAX(Send_volume(p, q, t) WHERE p IN ps AND p != q);"
		  "RETURN SUM(y[p] WHERE p IN ps); }",
		  "M", "s:a=p_1,p_2,p_3");
	ck_assert_uint_eq(in_graph(FLOW_INPUT), 6);
	ck_assert_uint_eq(in_graph(FLOW_SET), 4);
}

TEST(every_built_in_metric_can_be_measured)
{
	struct buf b = BUF_INIT(1 << 12);
	const struct pmsl_builtin_use by_partners = { .by_partners = true };
	const struct pmsl_builtin_use by_regions = { .by_regions = true };
	struct pmsl_builtin m;

	for (unsigned i = 0; i < pmsl_builtin_ids(); i++) {
		if (!pmsl_builtin_get(i, &m))
			continue;
		if (m.is_of_region || m.is_of_plugin) {
			ck_assert_ptr_nonnull(pmsl_builtin_refusal(&m, &by_partners));
			ck_assert_ptr_null(pmsl_builtin_refusal(&m, &by_regions));
			continue;
		}
		buf_clear(&b);
		ck_assert_int_eq(pmsl_builtin_source(m.name,
						     !pmsl_builtin_refusal(&m, &by_partners), false,
						     &b),
				 0);
		plan_text(buf_str(&b), "Measured", TWO_NODES);
	}
	buf_done(&b);
}

static int compile_and_plan(const char *source, struct pmsl_diags *d)
{
	struct pmsl *p = NULL;
	struct pmsl_plan made;
	int rc = pmsl_compile("t", source, strlen(source), d, &p);

	if (rc)
		return rc;
	rc = pmsl_plan(&(struct pmsl_demand){ .text = p,
					      .metric = pmsl_metric(p, "M", d),
					      .world = &world,
					      .options = &options,
					      .measurement = 1 },
		       d, &made);
	if (!rc)
		pmsl_plan_done(&made);
	pmsl_free(p);
	return rc;
}

TEST(without_memory_it_reports_that_and_leaves_nothing)
{
	static const char source[] =
		"N(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime, Value r);"
		"RETURN r AT e(p, vt) - r AT e(p, vt-1); }"
		"M(Process[] ps, TimeInterval t) { Process p; VirtualTime vt; Value[] x;"
		"x[vt] = MAX(N(p, vt) WHERE p IN ps AND N(p, vt) > 1);"
		"RETURN MAX(x[vt] WHERE x[vt].time IN t); }";

	plan_text(source, "M", TWO_SITES);
	ALLOC_SWEEP (k) {
		struct pmsl_diags d = PMSL_DIAGS_INIT;
		int rc = compile_and_plan(source, &d);

		alloc_sweep_pause();
		ck_assert_msg(!rc || rc == -ERR_NOMEM, "allocation %zu: %d, %s", k, rc,
			      d.n ? d.v[0].text : "");
	}
}

SUITE_WITH("plan", NULL, forget)
