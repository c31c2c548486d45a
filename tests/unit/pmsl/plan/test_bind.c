/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a metric's graph: chosen objects, constants, and refusals. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/omis/text/arena.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

#define LAYOUT "s:a=p_1,p_2;b=p_3/t:c=p_4"

static struct pmsl *text;
static struct pmsl_plan plan;
static struct world world;
static struct world_object objects[32];
static struct arena *arena;
static struct pmsl_diags diags;
static struct bind_arg args[PMSL_PARAMS_MAX];
static struct bind_options options;

static void forget(void)
{
	pmsl_plan_done(&plan);
	pmsl_free(text);
	text = NULL;
	diags = PMSL_DIAGS_INIT;
}

static void set_up(void)
{
	struct err e = { 0 };

	arena = arena_new(1 << 20);
	ck_assert_msg(world_from_layout(LAYOUT, arena, &world, &e) == 0, "%s", e.text);
	ck_assert_uint_le(world.n, ARRAY_LEN(objects));
	memcpy(objects, world.v, world.n * sizeof(objects[0]));
	world.v = objects;
	diags = PMSL_DIAGS_INIT;
	memset(args, 0, sizeof(args));
	options = (struct bind_options){ .arg = args };
}

static void clean_up(void)
{
	forget();
	arena_free(arena);
}

static int plan_of(const char *source)
{
	forget();
	ck_assert_msg(pmsl_compile("t", source, strlen(source), &diags, &text) == 0 &&
			      !diags.nerror,
		      "%s: %s", source, diags.n ? diags.v[0].text : "");
	return pmsl_plan(&(struct pmsl_demand){ .text = text,
						.metric = pmsl_metric(text, "M", &diags),
						.world = &world,
						.options = &options,
						.measurement = 1 },
			 &diags, &plan);
}

static void is_planned(const char *source)
{
	int rc = plan_of(source);

	ck_assert_msg(!rc, "%s: %d %s", source, rc, diags.n ? diags.v[0].text : "");
}

static void is_refused(const char *source, int code, const char *words)
{
	int rc = plan_of(source);

	ck_assert_msg(rc == code, "%s: %d", source, rc);
	ck_assert_uint_ge(diags.n, 1);
	ck_assert_msg(strstr(diags.v[diags.n - 1].text, words), "%s: %s", source,
		      diags.v[diags.n - 1].text);
}

/* --- which objects: "p_1 p_2", in the order of the graph */

static const char *inputs(void)
{
	static char list[256];
	size_t at = 0;

	list[0] = 0;
	for (size_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *n = &plan.bound.node[i]->n;

		if (n->kind == FLOW_INPUT)
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? " " : "",
					       n->source.object);
	}
	return list;
}

#define SUM_OF_ALL "M(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }"
#define LOADS "M(Node[] ns) { Node n; RETURN MEAN(Node_load(n, NOW) WHERE n IN ns); }"

static uint32_t at(const char *name)
{
	uint32_t i = world_find(&world, name);

	ck_assert_uint_ne(i, WORLD_NONE);
	return i;
}

/* Names in lists of up to three; NULL: none are given. */
static void choose(const char *const *in, const char *const *out)
{
	static uint32_t with[3], without[3];

	args[0] = (struct bind_arg){ .is_given = in != NULL, .object = with, .without = without };
	for (; in && *in; in++)
		with[args[0].nobject++] = at(*in);
	for (; out && *out; out++)
		without[args[0].nwithout++] = at(*out);
}

#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(excluded_objects_are_not_measured)
{
	static const struct {
		const char *in[4], *out[4], *left;
		bool is_all;
	} cases[] = {
		{ .is_all = true, .left = "p_1 p_2 p_3 p_4" },
		{ .is_all = true, .out = { "p_1" }, .left = "p_2 p_3 p_4" },
		{ .is_all = true, .out = { "a" }, .left = "p_3 p_4" },
		{ .is_all = true, .out = { "s" }, .left = "p_4" },
		{ .in = { "s" }, .out = { "b" }, .left = "p_1 p_2" },
		/* The nearest name is used, in any order. */
		{ .in = { "p_2", "t" }, .out = { "a" }, .left = "p_2 p_4" },
		{ .in = { "s", "p_3" }, .out = { "b", "p_1" }, .left = "p_2 p_3" },
		{ .in = { "p_3", "p_3", "b" }, .left = "p_3" },
		/* other hosts are not part of it */
		{ .in = { "a" }, .out = { "t" }, .left = "p_1 p_2" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		choose(cases[i].is_all ? NULL : cases[i].in, cases[i].out);
		is_planned(SUM_OF_ALL);
		ck_assert_msg(str_eq(inputs(), cases[i].left), "%zu: %s", i, inputs());
	}
}

TEST(nothing_that_is_left_is_an_error_with_its_reason)
{
	choose(NULL, NAMES("s", "t"));
	is_refused(SUM_OF_ALL, -ERR_INVALID, "nothing would be left to measure");
	choose(NAMES("p_1"), NAMES("p_1"));
	is_refused(SUM_OF_ALL, -ERR_INVALID, "nothing would be left to measure");
	choose(NAMES("a"), NULL);
	for (size_t i = 0; i < world.n; i++)
		objects[i].is_alone = objects[i].kind == PMSL_T_PROCESS;
	is_refused(SUM_OF_ALL, -ERR_INVALID, "there is no Process that makes MPI calls");
	is_planned(
		"M(Process[] ps, TimeInterval t) { Process p; RETURN SUM(CPU_usage(p, NOW) WHERE "
		"p IN ps); }");
	ck_assert_str_eq(inputs(), "p_1 p_2");
}

/* Also as parts of a node, but for those that are named. */
TEST(a_process_without_mpi_is_measured_when_it_is_named)
{
	objects[at("p_1")].is_alone = true;
	choose(NAMES("a"), NULL);
	is_planned(SUM_OF_ALL);
	ck_assert_str_eq(inputs(), "p_2");
	choose(NAMES("p_1"), NULL);
	is_planned(SUM_OF_ALL);
	ck_assert_str_eq(inputs(), "p_1");
	choose(NULL, NULL);
	is_planned("M(Node[] ns, TimeInterval t) { Node n; RETURN SUM(Send_volume(n, t) WHERE n IN "
		   "ns); }");
	ck_assert_str_eq(inputs(), "p_2 p_3 p_4");
}

TEST(objects_of_another_kind_are_refused)
{
	choose(NAMES("p_1"), NULL);
	is_refused(LOADS, -ERR_INVALID, "ns of M is a Node: p_1 is none");
	choose(NULL, NAMES("p_1"));
	is_refused(LOADS, -ERR_INVALID, "ns of M is a Node: p_1 is none");
	choose(NAMES("s"), NULL);
	is_planned(LOADS);
	ck_assert_str_eq(inputs(), "n_2 n_5");
	choose(NAMES("s"), NULL);
	((uint32_t *)args[0].object)[0] = (uint32_t)world.n;
	is_refused(LOADS, -ERR_INVALID, "ns of M is a Node: one is none");
	choose(NAMES("s"), NULL);
	args[0].nobject = 0;
	is_refused(LOADS, -ERR_INVALID, "there is no Node to measure");
}

TEST(an_object_outside_of_nodes_has_no_node)
{
	objects[at("p_2")].parent = WORLD_NONE;
	is_refused("M(Process[] ps) { Process p; RETURN COUNT(p WHERE p IN ps AND p.node == "
		   "p.node); }",
		   -ERR_INVALID, "p_2 lies in no node");
	is_refused("M(Process[] ps) { Process p; RETURN COUNT(p WHERE p IN ps AND p.site == "
		   "p.site); }",
		   -ERR_INVALID, "p_2 lies in no site");
	choose(NULL, NAMES("p_2"));
	is_planned("M(Process[] ps, TimeInterval t) { Process p, q = UNIQUE(p WHERE p.rank == 0); "
		   "RETURN SUM(Send_count(p, t) WHERE p IN ps AND p.node == q.node); }");
	ck_assert_str_eq(inputs(), "p_1");
}

/* --- constants: a constant is not a node of the graph */

static double constant_of(const char *expression)
{
	char source[512];
	double v = NAN;
	unsigned n = 0;

	snprintf(source, sizeof(source),
		 "M(Process[] ps, Value x) { Process p; Node k; RETURN %s; }", expression);
	args[1] = (struct bind_arg){ .is_given = true, .value = 7 };
	is_planned(source);
	for (size_t i = 0; i < plan.bound.n; i++)
		if (plan.bound.node[i]->is_live) {
			const struct flow_node *node = &plan.bound.node[i]->n;

			ck_assert_msg(node->kind == FLOW_CONST || node->kind == FLOW_RESULT,
				      "%s: %u", expression, node->kind);
			v = node->kind == FLOW_CONST ? node->constant : v;
			n += node->kind == FLOW_CONST;
		}
	ck_assert_uint_eq(n, 1);
	return v;
}

/* Ranks are 0 to 3. */
TEST(constant_expressions_are_evaluated_when_planned)
{
	static const struct {
		const char *expression;
		double value;
	} cases[] = {
		{ "SUM(p.rank WHERE p IN ps)", 6 },
		{ "PROD(p.rank + 1 WHERE p IN ps)", 24 },
		{ "MIN(p.rank WHERE p IN ps)", 0 },
		{ "MAX(p.rank WHERE p IN ps)", 3 },
		{ "MEAN(p.rank WHERE p IN ps)", 1.5 },
		{ "VARIANCE(p.rank WHERE p IN ps)", 5.0 / 3 },
		{ "COUNT(p WHERE p IN ps)", 4 },
		{ "COUNT(p WHERE p.rank > 9)", 0 },
		{ "SUM(p.rank WHERE p.rank > 9)", 0 },
		{ "PROD(p.rank WHERE p.rank > 9)", 1 },
		{ "COUNT(p WHERE p.rank > 0 OR p.rank == 0)", 4 },
		{ "COUNT(p WHERE NOT p.rank == 0)", 3 },
		{ "COUNT(p WHERE NOT (p IN ps))", 0 },
		{ "COUNT(k WHERE k == k)", 3 },
		{ "COUNT(k WHERE k != k)", 0 },
		{ "SUM(1, x, 2)", 10 },
		{ "MIN(4, x, 9)", 4 },
		{ "MAX(4, x, 6)", 7 },
		{ "PROD(2, x, 3)", 42 },
		{ "MEAN(2, x, 9)", 6 },
		{ "COUNT(4, x, 9)", 3 },
		{ "-x % 4 + 2 * x / 7", -1 },
		{ "x - 2 - 1", 4 },
		{ "IF(x == 7, 3, 4)", 3 },
		{ "IF(x != 7, 3, 4)", 4 },
		{ "IF(x >= 7 AND x <= 7, 3, 4)", 3 },
		{ "IF(x < 7 OR x > 7, 3, 4)", 4 },
		{ "sqrt(x + 2)", 3 },
		{ "pow(x, 2)", 49 },
		{ "abs(0 - x)", 7 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ck_assert_msg(fabs(constant_of(cases[i].expression) - cases[i].value) < 1e-12,
			      "%s: %g", cases[i].expression, constant_of(cases[i].expression));
}

/* A side that decides makes the other one unnecessary, on either side. */
TEST(decided_side_of_a_condition_removes_reads_of_the_other)
{
	static const struct {
		const char *where, *left;
	} cases[] = {
		{ "p.rank == 0 AND Send_count(p, t) > 1", "p_1" },
		{ "Send_count(p, t) > 1 AND p.rank == 0", "p_1" },
		{ "p.rank == 0 OR Send_count(p, t) > 1", "p_2 p_3 p_4" },
		{ "Send_count(p, t) > 1 OR p.rank == 0", "p_2 p_3 p_4" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char source[256];
		unsigned wheres = 0, lives = 0;

		snprintf(
			source, sizeof(source),
			"M(Process[] ps, TimeInterval t) { Process p; RETURN SUM(Node_load(p.node, "
			"NOW) WHERE p IN ps AND (%s)); }",
			cases[i].where);
		is_planned(source);
		for (size_t k = 0; k < plan.bound.n; k++) {
			const struct bound_node *v = plan.bound.node[k];

			wheres += v->is_live && v->n.kind == FLOW_OP && v->n.op == FLOW_OP_WHERE;
			lives += v->is_live && v->n.kind == FLOW_INPUT &&
				 str_eq(v->n.source.metric, "Send_count");
			if (v->is_live && v->n.kind == FLOW_INPUT &&
			    str_eq(v->n.source.metric, "Send_count"))
				ck_assert_ptr_nonnull(strstr(cases[i].left, v->n.source.object));
		}
		ck_assert_uint_eq(wheres, (strlen(cases[i].left) + 1) / 4);
		ck_assert_uint_eq(lives, wheres);
	}
}

/* The time of an event is a value like any other. */
TEST(the_time_of_an_event_is_a_value)
{
	unsigned n = 0;

	is_planned(
		"M(Process[] ps, TimeInterval t) { PROBE e(Process, VirtualTime, Value r); Process "
		"p; VirtualTime vt; Value[][] x; x[p][vt] = r AT e(p, vt); RETURN "
		"MAX(x[p][vt].time WHERE p IN ps AND x[p][vt].time IN t); }");
	for (size_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *node = &plan.bound.node[i]->n;

		if (node->kind != FLOW_OP || node->op != FLOW_OP_TIME)
			continue;
		ck_assert(plan.bound.node[i]->is_live);
		ck_assert_int_eq(plan.bound.node[node->in[0]]->n.source.kind,
				 FLOW_SOURCE_PARAMETER);
		n++;
	}
	ck_assert_uint_eq(n, 4); /* of each process */
}

/* --- refusals */

/* Returns the only region of the only metric's source. */
static const char *region_of(const char *metric)
{
	const struct flow_names *found = NULL;

	for (uint32_t i = 0; i < plan.bound.n; i++) {
		const struct flow_node *n = &plan.bound.node[i]->n;

		if (n->kind == FLOW_INPUT && str_eq(n->source.metric, metric))
			found = &n->source.regions;
	}
	ck_assert(found && found->n == 1);
	return found->v[0];
}

TEST(a_region_may_be_written_in_the_text)
{
	is_planned("M(Process p, TimeInterval t) { RETURN Send_count(p, \"solve\", t); }");
	ck_assert_str_eq(region_of("Send_count"), "solve");
	is_planned("M(Node n) { RETURN Plugin_node_value(n, \"disk_reads\", NOW); }");
	ck_assert_str_eq(region_of("Plugin_node_value"), "disk_reads");
	is_refused("M(Node n) { RETURN Plugin_node_value(n, \"Disk\", NOW); }", -ERR_INVALID,
		   "is of one metric of a plug-in");
	is_refused("M(Process p, TimeInterval t) { RETURN Send_count(p, \"a b\", t); }",
		   -ERR_INVALID, "a region is BEGIN..END");
}

/* Gives the processes tokens that a monitor makes. */
static void name_processes(void)
{
	static const char *const tokens[] = { "p_1_000001", "p_1_000002", "p_2_000001",
					      "p_3_000001" };
	size_t n = 0;

	for (size_t i = 0; i < world.n; i++)
		if (objects[i].kind == PMSL_T_PROCESS)
			objects[i].token = tokens[n++];
}

TEST(each_value_has_the_object_that_the_fold_runs_over)
{
	static const char *const folds[] = { "WHO_MAX(", "WHO_MIN(", "TOP(2, " };
	char source[160];

	name_processes();
	for (size_t i = 0; i < ARRAY_LEN(folds); i++) {
		unsigned whos = 0, ends = 0;

		snprintf(
			source, sizeof(source),
			"M(Process[] ps, TimeInterval t) { Process p; RETURN %sSend_count(p, t) * 2 "
			"WHERE p IN ps); }",
			folds[i]);
		is_planned(source);
		for (size_t k = 0; k < plan.pieces.n; k++) {
			const struct flow_graph *g = plan.pieces.v[k].graph;

			for (size_t j = 0; j < g->nnode; j++) {
				if (g->node[j].kind == FLOW_WHO) {
					whos++;
					ck_assert_int_eq(g->node[g->node[j].in[0]].kind, FLOW_OP);
				}
				ends += g->node[j].kind == FLOW_RESULT;
				if (g->node[j].kind == FLOW_RESULT)
					ck_assert(g->node[j].partial &&
						  agg_kind_is_of_objects(g->node[j].gives.agg));
			}
		}
		ck_assert_uint_eq(whos, 4);
		ck_assert_uint_eq(ends, 1);
	}
}

TEST(nonsense_is_refused_with_the_reason)
{
	static const struct {
		const char *source, *words;
		int rc;
	} cases[] = {
		{ "M(Process[] ps) { Process p; RETURN HISTOGRAM(p.rank WHERE p IN ps); }",
		  "a histogram of a value that never changes", -ERR_INVALID },
		{ "M(Process[] ps) { Process p; RETURN WHO_MAX(p.rank WHERE p IN ps); }",
		  "WHO_MAX of a value that never changes", -ERR_INVALID },
		{ "M(Process[] ps, TimeInterval t) { Process p; RETURN MEAN(IF(p.rank == 0, 1, "
		  "Send_count(p, t)) WHERE p IN ps); }",
		  "the value never changes for some objects, but does for others",
		  -ERR_UNSUPPORTED },
		{ "M(Process[] ps, TimeInterval t) { Process p, q = UNIQUE(p WHERE Send_count(p, t) "
		  "> 1); RETURN Send_count(q, t); }",
		  "which object is the one changes while it is measured", -ERR_UNSUPPORTED },
		{ "M(Process[] ps) { Process p; RETURN MIN(p.rank WHERE p.rank > 9); }",
		  "MIN has no values: no object is chosen", -ERR_INVALID },
		{ "M(Process[] ps, Value v, TimeInterval t) { RETURN v * Send_count(ps, t); }",
		  "v of M has no value", -ERR_INVALID },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_refused(cases[i].source, cases[i].rc, cases[i].words);
}

TEST(only_numbers_of_reads_are_divided_by_time)
{
	options.per_second = true;
	is_refused("M(Process[] ps, TimeInterval t) { Process p; RETURN HISTOGRAM(Send_count(p, t) "
		   "WHERE p IN ps); }",
		   -ERR_INVALID, "only a number for each read is divided by time");
	is_refused(
		"M(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime, Value r); RETURN r "
		"AT e(p, vt); }",
		-ERR_INVALID, "only a number for each read is divided by time");
	is_planned(SUM_OF_ALL);
	ck_assert_msg(isfinite(constant_of("2 * x")), "a constant stays as it is");
}

TEST(objects_are_split_by_what_lies_above_them)
{
	static const enum bind_by by[] = { BIND_BY_PROCESS, BIND_BY_NODE, BIND_BY_SITE };
	static const size_t outputs[] = { 4, 3, 2 };

	for (size_t i = 0; i < ARRAY_LEN(by); i++) {
		options.by = by[i];
		is_planned(SUM_OF_ALL);
		ck_assert_uint_eq(plan.outputs.n, outputs[i]);
		for (size_t k = 0; k < plan.outputs.n; k++)
			ck_assert_uint_eq(plan.outputs.v[k].partner, WORLD_NONE);
	}
	options.by = BIND_BY_PROCESS;
	is_refused(LOADS, -ERR_INVALID, "M has no objects to split it by so");
	options.by = BIND_BY_NODE;
	is_planned(LOADS);
	ck_assert_uint_eq(plan.outputs.n, 3);
	choose(NAMES("b"), NULL);
	is_planned(LOADS);
	ck_assert_uint_eq(plan.outputs.n, 1);
	ck_assert_uint_eq(plan.outputs.v[0].object, at("b"));
	is_refused("M(Value v) { RETURN v + Time(NOW) - v; }", -ERR_INVALID, "");
}

TEST(partners_and_regions_need_a_parameter_to_split_by)
{
	options.each = BIND_EACH_REGION;
	is_refused(SUM_OF_ALL, -ERR_INVALID, "M has no regions to split it by");
	options.each = BIND_EACH_PARTNER;
	is_refused(SUM_OF_ALL, -ERR_INVALID, "M has no partners to split it by");
	is_planned(
		"M(Process[] ps, Process[] q, TimeInterval t) { RETURN Send_volume(ps, q, t); }");
	ck_assert_uint_eq(plan.outputs.n, 4);
	for (size_t i = 0; i < plan.outputs.n; i++)
		ck_assert_int_eq(world.v[plan.outputs.v[i].partner].rank, i);
}

SUITE_WITH("bind", set_up, clean_up)
