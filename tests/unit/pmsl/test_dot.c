/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawings: the shape, the text and the edges of each kind of node, and the cluster of each place.
 */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/dot.h"
#include "tests/suite.h"

#include <string.h>

static struct buf drawing;

static void set_up(void)
{
	buf_init(&drawing, 1 << 16);
}

static void clean_up(void)
{
	buf_done(&drawing);
}

static void is_drawn(const char *want)
{
	ck_assert_msg(!strcmp(buf_str(&drawing), want), "%s\nnot\n%s", buf_str(&drawing), want);
	buf_clear(&drawing);
}

TEST(a_title_is_escaped)
{
	dot_begin(&drawing, "a\"b\\c\nd");
	dot_end(&drawing);
	is_drawn("digraph \"a\\\"b\\\\c d\" {\n"
		 "\tgraph [fontname=\"Helvetica\", rankdir=TB];\n"
		 "\tnode [fontname=\"Helvetica\", fontsize=11, shape=box];\n"
		 "\tedge [dir=back];\n"
		 "}\n");
}

/* --- templates */

static struct pmsl_diags diags;
static enum dag_kind root_is = DAG_KINDS; /* another kind: its node is made the root */

static void draw_template(const char *source, bool shared)
{
	struct pmsl *text;
	struct dag *g;
	const struct pmsl_metric *m;

	diags = PMSL_DIAGS_INIT;
	ck_assert_int_eq(pmsl_compile("t", source, strlen(source), &diags, &text), 0);
	m = pmsl_metric(text, "M", &diags);
	ck_assert_msg(m != NULL, "%s: %s", source, diags.v[0].text);
	ck_assert_int_eq(dag_build(m, shared, &diags, &g), 0);
	for (uint32_t i = 0; i < g->n; i++)
		if (g->node[i].kind == root_is)
			g->root = i;
	dot_template(&drawing, g, "id", "a \"title\"");
	dag_free(g);
	pmsl_free(text);
}

TEST(a_template_has_a_node_for_each_part)
{
	static const char source[] = "M(Process[] ps, TimeInterval t) { Process p; "
				     "RETURN SUM(Send_count(p, t) WHERE p IN ps) / 2; }";

	draw_template(source, true);
	is_drawn("\tsubgraph \"cluster_id\" {\n"
		 "\tlabel=\"a \\\"title\\\"\";\n"
		 "\t\tid_0 [shape=plaintext, label=\"ps\"];\n"
		 "\t\tid_1 [shape=plaintext, label=\"interval\"];\n"
		 "\t\tid_2 [shape=plaintext, label=\"p\"];\n"
		 "\t\tid_3 [shape=ellipse, label=\"Send_count\"];\n"
		 "\t\tid_3 -> id_2;\n"
		 "\t\tid_3 -> id_1;\n"
		 "\t\tid_4 [shape=plaintext, label=\"IN\"];\n"
		 "\t\tid_4 -> id_2;\n"
		 "\t\tid_4 -> id_0;\n"
		 "\t\tid_5 [shape=box, label=\"SUM p\"];\n"
		 "\t\tid_5 -> id_3;\n"
		 "\t\tid_5 -> id_4;\n"
		 "\t\tid_6 [shape=plaintext, label=\"2\"];\n"
		 "\t\tid_7 [shape=box, label=\"/\"];\n"
		 "\t\tid_7 -> id_5;\n"
		 "\t\tid_7 -> id_6;\n"
		 "\t}\n");
}

TEST(each_kind_of_a_part_has_its_shape)
{
	static const char of_a_probe[] =
		"M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); "
		"Process p; VirtualTime vt; Value[][] x; x[p][vt] = r AT e(p, vt); "
		"RETURN SUM(x[p][vt] WHERE p IN ps AND x[p][vt].time IN t); }";
	static const struct {
		const char *source, *node;
	} known[] = {
		{ "M(Process q, TimeInterval t) { RETURN Send_count(q, t); }",
		  "[shape=ellipse, label=\"Send_count\"]" },
		{ of_a_probe, "[shape=hexagon, label=\"e\"]" },
		{ of_a_probe, "[shape=ellipse, label=\"e\"]" },
		{ of_a_probe, "[shape=box, label=\"AT\"]" },
		{ "M(Process q, TimeInterval t) { RETURN abs(Send_count(q, t)); }",
		  "[shape=box, label=\"abs\"]" },
		{ "M(Process q, TimeInterval t) { RETURN MAX(Send_count(q, t), 5); }",
		  "[shape=box, label=\"MAX\"]" },
		{ "M(Process q, TimeInterval t) { RETURN Send_count(q, t) + 1; }",
		  "[shape=box, label=\"+\"]" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		draw_template(known[i].source, true);
		ck_assert_msg(strstr(buf_str(&drawing), known[i].node), "%s: %s", known[i].node,
			      buf_str(&drawing));
		buf_clear(&drawing);
	}
}

static unsigned count_of(const char *words)
{
	unsigned n = 0;

	for (const char *p = buf_str(&drawing); (p = strstr(p, words)) != NULL; p++)
		n++;
	return n;
}

TEST(common_parts_are_drawn_once_when_they_are_shared)
{
	static const char source[] =
		"M(Process q, TimeInterval t) { RETURN Send_count(q, t) * Send_count(q, t); }";

	draw_template(source, false);
	ck_assert_uint_eq(count_of("Send_count"), 2);
	buf_clear(&drawing);
	draw_template(source, true);
	ck_assert_uint_eq(count_of("Send_count"), 1);
}

TEST(nodes_that_the_root_does_not_need_are_not_drawn)
{
	static const char source[] =
		"M(Process q, TimeInterval t) { RETURN Send_count(q, t) * 2 + 1; }";

	draw_template(source, true);
	ck_assert_uint_eq(count_of("->"), 6);
	buf_clear(&drawing);
	root_is = DAG_METRIC;
	draw_template(source, true);
	root_is = DAG_KINDS;
	ck_assert_uint_eq(count_of("shape="), 3);
	ck_assert_uint_eq(count_of("->"), 2);
	ck_assert_uint_eq(count_of("[shape=ellipse, label=\"Send_count\"]"), 1);
}

/* --- nodes of a dataflow graph */

static const struct {
	struct flow_node node;
	const char *drawn;
} kinds[] = {
	{ { .kind = FLOW_CONST, .constant = 2.5 }, "plaintext, label=\"2.5\"" },
	{ { .kind = FLOW_INPUT,
	    .source = { .kind = FLOW_SOURCE_METRIC, .metric = "Send_\"count\"", .object = "p_1" } },
	  "ellipse, label=\"Send_\\\"count\\\"\\np_1\"" },
	{ { .kind = FLOW_INPUT,
	    .source = { .kind = FLOW_SOURCE_METRIC, .metric = "m", .object = "", .probe = "" } },
	  "ellipse, label=\"m\"" },
	{ { .kind = FLOW_INPUT,
	    .source = { .kind = FLOW_SOURCE_PARAMETER,
			.parameter = 3,
			.probe = "e",
			.process = "p_2" } },
	  "ellipse, label=\"parameter 3\\nAT e of p_2\"" },
	{ { .kind = FLOW_INPUT, .source = { .kind = FLOW_SOURCE_TIME } },
	  "ellipse, label=\"Time\"" },
	{ { .kind = FLOW_INPUT, .source = { .kind = FLOW_SOURCE_EVENT } }, "ellipse, label=\"1\"" },
	{ { .kind = FLOW_OP, .op = FLOW_OP_SUB }, "box, label=\"-\"" },
	{ { .kind = FLOW_SET, .fold = { .agg = AGG_MAX } }, "box, label=\"MAX\"" },
	{ { .kind = FLOW_SET, .fold = { .agg = AGG_SUM, .partial_out = true } },
	  "box, label=\"SUM (part)\"" },
	{ { .kind = FLOW_SET, .fold = { .agg = AGG_QUANTILE, .q = 0.25 } },
	  "box, label=\"QUANTILE 0.25\"" },
	{ { .kind = FLOW_VT_AGG, .fold = { .agg = AGG_SUM, .since = FLOW_SINCE_LAST } },
	  "box, label=\"VT_SUM\\nsince last\"" },
	{ { .kind = FLOW_VT_AGG, .fold = { .agg = AGG_SUM, .since = FLOW_SINCE_START } },
	  "box, label=\"VT_SUM\\nsince start\"" },
	{ { .kind = FLOW_PAIR, .fold = { .agg = AGG_CORRELATION } },
	  "box, label=\"pair for CORRELATION\"" },
	{ { .kind = FLOW_CHOICE, .choice = { &(struct choice_word){ CHOICE_VT, 0, 0 }, 1 } },
	  "box, label=\"choice of vt\"" },
	{ { .kind = FLOW_SHIFT, .shift = -4 }, "box, label=\"shift vt by -4\"" },
	{ { .kind = FLOW_LINK_IN, .link = { .name = "up" } }, "cds, label=\"from up\"" },
	{ { .kind = FLOW_LINK_OUT, .link = { .name = "up" } }, "cds, label=\"to up\"" },
	{ { .kind = FLOW_RESULT, .output = 2 }, "doubleoctagon, label=\"result 2\"" },
	{ { .kind = FLOW_STOP, .stop = { .agg = AGG_MEAN, .until = "a\"b" } },
	  "box, label=\"MEAN until a\\\"b\"" },
	{ { .kind = FLOW_DELTA }, "box, label=\"delta\"" },
	{ { .kind = FLOW_RATE }, "box, label=\"rate\"" },
};

TEST(each_kind_of_node_has_its_shape_and_label)
{
	struct bound_node node[ARRAY_LEN(kinds)] = { 0 }, *list[ARRAY_LEN(kinds)];
	struct bound bound = { .node = list, .n = ARRAY_LEN(kinds) };
	char line[120];

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		node[i].n = kinds[i].node;
		node[i].is_live = true;
		list[i] = &node[i];
	}
	dot_bound(&drawing, &bound);
	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++) {
		snprintf(line, sizeof(line), "\t\tgraph_%u [shape=%s];\n", i, kinds[i].drawn);
		ck_assert_msg(strstr(buf_str(&drawing), line), "%s: %s", line, buf_str(&drawing));
	}
}

TEST(nodes_that_no_output_needs_are_not_drawn)
{
	static const uint32_t in[] = { 0, 2 };
	struct bound_node node[] = {
		{ .n = { .kind = FLOW_CONST, .constant = 1 }, .is_live = true },
		{ .n = { .kind = FLOW_CONST, .constant = 2 } },
		{ .n = { .kind = FLOW_CONST, .constant = 3 }, .is_live = true },
		{ .n = { .kind = FLOW_OP, .op = FLOW_OP_ADD, .in = in, .nin = 2 },
		  .is_live = true },
	};
	struct bound_node *list[] = { &node[0], &node[1], &node[2], &node[3] };

	dot_bound(&drawing, &(struct bound){ .node = list, .n = ARRAY_LEN(list) });
	is_drawn("\tsubgraph \"cluster_graph\" {\n"
		 "\tlabel=\"graph\";\n"
		 "\t\tgraph_0 [shape=plaintext, label=\"1\"];\n"
		 "\t\tgraph_2 [shape=plaintext, label=\"3\"];\n"
		 "\t\tgraph_3 [shape=box, label=\"+\"];\n"
		 "\t\tgraph_3 -> graph_0;\n"
		 "\t\tgraph_3 -> graph_2;\n"
		 "\t}\n");
}

/* --- pieces */

static struct flow_graph *sending(const char *name)
{
	static const uint32_t in[] = { 0 };
	struct flow_graph *g = flow_graph_new(1);
	const struct flow_node one = { .kind = FLOW_CONST, .constant = 1 }, out = {
		.kind = FLOW_LINK_OUT, .link = { .name = name }, .in = in, .nin = 1
	};

	ck_assert_int_eq(flow_graph_add(g, &one, NULL), 0);
	ck_assert_int_eq(flow_graph_add(g, &out, NULL), 1);
	return g;
}

static struct flow_graph *receiving(const char *a, const char *b)
{
	struct flow_graph *g = flow_graph_new(1);
	const struct flow_node in[] = { { .kind = FLOW_LINK_IN, .link = { .name = a } },
					{ .kind = FLOW_LINK_IN, .link = { .name = b } } };

	ck_assert_int_eq(flow_graph_add(g, &in[0], NULL), 0);
	ck_assert_int_eq(flow_graph_add(g, &in[1], NULL), 1);
	return g;
}

/* Two sites, one of which has a piece; a node of each; and a node whose site is unknown. */
static const struct world_object objects[] = {
	{ .kind = PMSL_T_SITE, .token = "s_1", .name = "north", .parent = WORLD_NONE },
	{ .kind = PMSL_T_SITE, .token = "s_2", .parent = WORLD_NONE },
	{ .kind = PMSL_T_NODE, .token = "n_1", .name = "a\"b", .parent = 0 },
	{ .kind = PMSL_T_NODE, .token = "n_2", .parent = 1 },
	{ .kind = PMSL_T_NODE, .token = "n_3", .parent = WORLD_NONE },
};

TEST(a_site_holds_its_nodes_and_links_are_dashed)
{
	struct world world = { objects, ARRAY_LEN(objects) };
	struct piece v[] = {
		{ { PLACE_TOP, WORLD_NONE }, receiving("x", "y") },
		{ { PLACE_SITE, 0 }, sending("x") },
		{ { PLACE_SITE, 1 }, sending("other") },
		{ { PLACE_NODE, 2 }, sending("y") },
		{ { PLACE_NODE, 4 }, flow_graph_new(1) },
	};
	struct pieces pieces = { .v = v, .n = ARRAY_LEN(v) };

	dot_pieces(&drawing, &pieces, &world);
	is_drawn("\tsubgraph \"cluster_piece0\" {\n"
		 "\tlabel=\"top\";\n"
		 "\t\tpiece0_0 [shape=cds, label=\"from x\"];\n"
		 "\t\tpiece0_1 [shape=cds, label=\"from y\"];\n"
		 "\t}\n"
		 "\tsubgraph \"cluster_piece1\" {\n"
		 "\tlabel=\"north\";\n"
		 "\t\tpiece1_0 [shape=plaintext, label=\"1\"];\n"
		 "\t\tpiece1_1 [shape=cds, label=\"to x\"];\n"
		 "\t\tpiece1_1 -> piece1_0;\n"
		 "\tsubgraph \"cluster_piece3\" {\n"
		 "\tlabel=\"a\\\"b\";\n"
		 "\t\tpiece3_0 [shape=plaintext, label=\"1\"];\n"
		 "\t\tpiece3_1 [shape=cds, label=\"to y\"];\n"
		 "\t\tpiece3_1 -> piece3_0;\n"
		 "\t}\n"
		 "\t}\n"
		 "\tsubgraph \"cluster_piece2\" {\n"
		 "\tlabel=\"s_2\";\n"
		 "\t\tpiece2_0 [shape=plaintext, label=\"1\"];\n"
		 "\t\tpiece2_1 [shape=cds, label=\"to other\"];\n"
		 "\t\tpiece2_1 -> piece2_0;\n"
		 "\t}\n"
		 "\tsubgraph \"cluster_piece4\" {\n"
		 "\tlabel=\"n_3\";\n"
		 "\t}\n"
		 "\tpiece0_0 -> piece1_1 [style=dashed, label=\"x\"];\n"
		 "\tpiece0_1 -> piece3_1 [style=dashed, label=\"y\"];\n");
	for (unsigned i = 0; i < ARRAY_LEN(v); i++)
		flow_graph_free(v[i].graph);
}

/* --- metrics by their names */

TEST(a_metric_that_is_not_there_has_a_hint)
{
	static const char source[] = "Mean_load(TimeInterval t) { RETURN 1; } "
				     "Bad(TimeInterval t) { RETURN none; } "
				     "Least(TimeInterval t) { RETURN 2; }";
	struct pmsl *text;
	const struct pmsl_diag *first;

	diags = PMSL_DIAGS_INIT;
	pmsl_compile("t", source, strlen(source), &diags, &text);
	diags = PMSL_DIAGS_INIT;
	ck_assert_ptr_nonnull(pmsl_metric(text, "Mean_load", &diags));
	ck_assert_uint_eq(diags.n, 0);
	ck_assert_ptr_null(pmsl_metric(text, "Mean_laod", &diags));
	first = &diags.v[0];
	ck_assert_str_eq(first->text, "there is no metric Mean_laod in it");
	ck_assert_str_eq(first->hint, "did you mean Mean_load?");
	diags = PMSL_DIAGS_INIT;
	ck_assert_ptr_null(pmsl_metric(text, "Bad", &diags));
	ck_assert_str_eq(diags.v[0].text, "Bad has errors");
	ck_assert_str_eq(diags.v[0].hint, "");
	diags = PMSL_DIAGS_INIT;
	ck_assert_ptr_null(pmsl_metric(text, "Zzzzzzzzzz", &diags));
	ck_assert_str_eq(diags.v[0].hint, "");
	pmsl_free(text);
	pmsl_free(NULL);
}

TEST(a_built_in_metric_has_a_text)
{
	static const struct {
		const char *name;
		bool has_partners, has_regions;
		const char *text;
	} known[] = {
		{ "Send_volume", false, false,
		  "Measured(Process object, TimeInterval t) { RETURN Send_volume(object, t); }" },
		{ "Send_volume", true, false,
		  "Measured(Process object, Process[] partners, TimeInterval t) "
		  "{ RETURN Send_volume(object, partners, t); }" },
		{ "Send_volume", false, true,
		  "Measured(Process object, Region[] regions, TimeInterval t) "
		  "{ RETURN Send_volume(object, regions, t); }" },
		{ "Node_load", false, false,
		  "Measured(Node object) { RETURN Node_load(object, NOW); }" },
		{ "CPU_usage", false, false,
		  "Measured(Process object) { RETURN CPU_usage(object, NOW); }" },
		{ "Time", false, false, "Measured() { RETURN Time(NOW); }" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
		ck_assert_int_eq(pmsl_builtin_source(known[i].name, known[i].has_partners,
						     known[i].has_regions, &drawing),
				 0);
		is_drawn(known[i].text);
	}
	ck_assert_int_eq(pmsl_builtin_source("None", false, false, &drawing), -ERR_NOTFOUND);
	ck_assert_int_eq(pmsl_builtin_source("CPU_usage", true, false, &drawing), -ERR_UNSUPPORTED);
	ck_assert_uint_eq(drawing.n, 0);
}

SUITE_WITH("dot", set_up, clean_up)
