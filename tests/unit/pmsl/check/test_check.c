/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "pmsl/check/builtin.h"
#include "pmsl/check/check.h"
#include "pmsl/text/parse.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct pmsl_diags diags;
static struct pmsl_units units;
static struct pmsl_tree *tree;

static size_t errors(const char *text)
{
	const struct pmsl_source s = { "t.pmsl", text, strlen(text) };

	pmsl_tree_free(tree);
	tree = NULL;
	diags = PMSL_DIAGS_INIT;
	pmsl_units_init(&units);
	ck_assert_int_eq(pmsl_parse(&s, &diags, &tree), 0);
	ck_assert_msg(!diags.nerror, "%s: %s", text, diags.v[0].text);
	ck_assert_int_eq(pmsl_check(tree, &units, &diags), 0);
	return diags.nerror;
}

/* The text of a metric M of the usual parameters and names around `body`. */
static const char *around(const char *body)
{
	static char text[4096];

	snprintf(
		text, sizeof(text),
		"Time_of(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime); RETURN "
		"Time(NOW) AT e(p, vt); }\n"
		"Sent(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }\n"
		"Memory_free_of(Node n, PointOfTime m) { RETURN Node_memory_free(n, m); }\n"
		"M(Process[] procs, Process q, TimeInterval t) { PROBE e(Process, VirtualTime, "
		"Value r);\n"
		"Process p; VirtualTime vt, vs; Region g; Node n; Value[] x, y; Value[][] z;\n%s }",
		body);
	return text;
}

static void expect_good(const char *body)
{
	ck_assert_msg(errors(around(body)) == 0, "%s: %s", body, diags.v[0].text);
}

/* Every diagnostic is one line of words and a hint that begins with these. */
static void expect_bad(const char *body, const char *words, const char *hint)
{
	ck_assert_msg(errors(around(body)) >= 1, "%s", body);
	ck_assert_msg(strstr(diags.v[0].text, words), "%s: %s", body, diags.v[0].text);
	ck_assert_msg(strstr(diags.v[0].hint, hint), "%s: hint: %s", body, diags.v[0].hint);
}

TEST(good_metrics_pass)
{
	expect_good("RETURN Send_volume(procs, t) / Send_count(procs, t);");
	expect_good("RETURN Send_volume(procs, q, [LAST,NOW]);");
	expect_good(
		"x[vt] = r AT e(q, vt); RETURN MAX(x[vt] WHERE x[vt].time IN t AND x[vt] > 0);");
	expect_good("RETURN SUM(Send_volume(p, t) WHERE p IN procs AND p.rank != 0 AND p.node == "
		    "q.node);");
	expect_good("z[p][vt] = Time_of(p, vt); RETURN MAX[p][vt](z[p][vt] - z[q][vt-1]);");
	expect_good("RETURN QUANTILE(0.9, Send_delay(p, t) WHERE p IN procs);");
	expect_good("RETURN HISTOGRAM(Send_delay(p, t) WHERE p IN procs);");
	expect_good(
		"RETURN VARIANCE(Send_delay(p, t)) / (MEAN(Send_delay(p, t)) * MEAN(Send_delay(p, t))) - 1;");
	expect_good(
		"RETURN SKEWNESS(Send_delay(p, t)) + kurtosis(Send_delay(p, t) WHERE p IN procs) + 1;");
	expect_good(
		"RETURN COVARIANCE(Send_delay(p, t), Send_volume(p, t)) / (SUM(Send_delay(p, t)) * SUM(Send_volume(p, t))) + 1;");
	expect_good("RETURN CORRELATION(Send_delay(p, t), p.rank WHERE p IN procs) + 1;");
	expect_good(
		"x[vt] = r AT e(q, vt); RETURN correlation(x[vt], x[vt-1] WHERE x[vt].time IN t);");
	expect_good("RETURN CI(0.95, Send_delay(p, t)) / MEAN(Send_delay(p, t)) * 100 ;");
	expect_good("RETURN IF(Send_count(q, t) > 0, Send_delay(q, t) / Send_count(q, t), 0);");
	expect_good("RETURN MAX(Node_load(p.node, NOW) WHERE p IN procs) + sqrt(4);");
	expect_good("RETURN Sent(procs, [START,NOW]) / COUNT(p WHERE p IN procs);");
	expect_good("x[vt] = Sent(q, [START,NOW]) AT e(q, vt); RETURN SUM(x[vt]);");
	expect_good("x[p] = Send_volume(p, t); RETURN x[q];");
	expect_good("Value v = NOW; RETURN v;");
	expect_good("TimeInterval u = t; RETURN Send_volume(q, u);");
	expect_good("x[vt] = Node_load(q.node, NOW) AT e(q, vt); RETURN MEAN(x[vt] WHERE "
		    "x[vt].time IN [LAST,NOW]);");
}

TEST(names_that_are_not_there_are_reported_with_what_is_near)
{
	expect_bad("RETURN Send_volum(q, t);", "no metric or function Send_volum", "Send_volume");
	expect_bad("RETURN MPI_Sned_delay(q, t);", "no metric", "MPI_S");
	expect_bad("RETURN Send_volume(proc, t);", "proc is not declared", "procs");
	expect_bad("xx[p] = 1; RETURN 1;", "xx is not declared", "x?");
	expect_bad("x[pp] = 1; RETURN 1;", "pp is not a free variable", "p?");
	expect_bad("RETURN 1 AT f(q, vt);", "no probe f", "declare it");
	expect_bad("RETURN 1 AT Time_of(q, vt);", "no probe", "is a metric");
	expect_bad("RETURN Max(q);", "no metric", "MAX");
}

TEST(variables_are_bound_and_set_once)
{
	expect_bad("RETURN Send_volume(p, t);", "p is free here", "index the left side");
	expect_bad("Value v = Send_volume(p, t); RETURN v;", "p is free here", "");
	expect_bad("x[p] = 1 AT e(p, vt); RETURN MAX(x[p]);", "vt is free here", "");
	expect_bad("x[p] = 1; x[p] = 2; RETURN SUM(x[p]);", "set a second time", "");
	expect_bad("RETURN SUM(x[p]);", "used before it is set", "");
	expect_bad("TimeInterval u; RETURN Send_volume(q, u);", "used before it is set", "");
	expect_bad("Value v; RETURN v;", "used before it is set", "");
	expect_bad("Process[] l; RETURN COUNT(p WHERE p IN l);", "used before it is set", "");
	expect_bad("z[p] = 1; RETURN 1;", "2 dimensions", "");
	expect_bad("x[p] = Send_volume(p, t); RETURN SUM(x);", "set with more indices", "");
	expect_bad("x[p] = Send_volume(p, t); RETURN SUM(x[vt]);", "expected a Process", "");
	expect_bad("Value procs; RETURN 1;", "declared twice", "");
	expect_bad("RETURN SUM(1 WHERE q IN procs);", "no variable to run over", "declare one");
	expect_bad("RETURN MAX[p](Send_volume(q, t));", "is not used in it", "");
	expect_bad("TimeInterval u = NOW; RETURN Send_volume(q, u);", "u is a", "");
	expect_bad("Value v = t; RETURN v;", "v is a", "");
	expect_bad("z[p][p] = 1; RETURN 1;", "p stands twice", "");
	expect_bad("x[vt] = r AT e(q, vt); z[vt][vt] = 1; RETURN SUM(x[vt]);", "vt stands twice",
		   "");
}

TEST(time_is_kept_apart)
{
	expect_bad("x[vt] = (1 AT e(q, vt)) AT e(q, vt); RETURN SUM(x[vt]);", "AT inside", "");
	expect_bad("x[vt] = Time_of(q, vt) AT e(q, vt); RETURN SUM(x[vt]);",
		   "taken AT a probe already", "");
	expect_bad("x[vt] = Send_volume(q, t) AT e(q, vt); RETURN SUM(x[vt]);", "once a read", "");
	expect_bad("x[vt] = 1 AT e(q, vt+1); RETURN SUM(x[vt]);", "not known yet", "vt - 1");
	expect_bad("x[vt] = 1 AT e(q, vt*2); RETURN SUM(x[vt]);", "whole number", "");
	expect_bad("x[vt] = Time_of(q, vt) + Time(NOW); RETURN SUM(x[vt]);", "for each read",
		   "AT a probe");
	expect_bad("RETURN SUM(Time_of(q, vt) + Time_of(q, vs));", "two virtual times", "");
	expect_bad("x[vt] = 1 AT e(q, vt); RETURN SUM(x[vt] WHERE x[vt].time IN t OR x[vt] > 1);",
		   "only in the WHERE", "AND");
	expect_bad("x[vt] = Send_volume(p, [START,NOW]) AT e(q, vt); RETURN 1;", "another object",
		   "own event");
	expect_bad("x[vt] = Send_volume([START,NOW]) AT e(q, vt); RETURN 1;", "without an object",
		   "");
	expect_bad("RETURN Send_volume(q, NOW);", "takes an interval", "");
	expect_bad("RETURN CPU_usage(q, t);", "takes NOW", "");
	expect_bad("RETURN Send_volume(q, [NOW,NOW]);", "[START,NOW] or [LAST,NOW]", "");
	expect_bad("x[p] = Send_volume(p, t); RETURN SUM(x[p] WHERE x[p].time IN t);",
		   "has no .time", "");
}

TEST(a_metric_may_follow_its_first_argument)
{
	expect_good("RETURN q.Send_volume(t) / q.Send_count([START,NOW]);");
	expect_good("x[vt] = q.Send_volume([LAST,NOW]) AT e(q, vt); RETURN SUM(x[vt]);");
	expect_good("RETURN (procs.Sent(t) / 2).abs() + q.node.Memory_free_of(NOW);");
	expect_bad("RETURN q.node.Sent(t);", "is a Process[], not a Node", "");
}

TEST(a_point_of_time_is_a_parameter)
{
	ck_assert_uint_eq(errors("Usage(Process p, PointOfTime m) { RETURN p.CPU_usage(m); }\n"
				 "At(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime); "
				 "RETURN Usage(p, NOW) AT e(p, vt); }\n"
				 "Now(Process p, PointOfTime m) { RETURN Usage(p, m); }"),
			  0);
	ck_assert_uint_eq(errors("M(Process p, PointOfTime m) { RETURN m; }"), 1);
	ck_assert_uint_eq(errors("M(Process p, PointOfTime m) { RETURN Send_volume(p, [m,NOW]); }"),
			  1);
	ck_assert_uint_eq(errors("M(PointOfTime m, TimeInterval t) { RETURN Time(m); }"), 1);
}

TEST(products_multiply_units)
{
	expect_good("RETURN PROD(Send_volume(q, t), Send_delay(q, t)) / Send_volume(q, t) + "
		    "Send_delay(q, t);");
	expect_bad("RETURN PROD(Send_volume(q, t), Send_delay(q, t)) + Send_volume(q, t);",
		   "units do not fit: s*B + B", "");
	ck_assert_uint_eq(errors("M(Process p, TimeInterval t) : Unit(\"s\") { RETURN "
				 "PROD(Send_volume(p, t), Send_delay(p, t)); }"),
			  1);
	ck_assert_str_eq(diags.v[0].text, "the value is in s*B, not in s");
}

TEST(virtual_times_are_chosen)
{
	static const char *const good[] = {
		"vt > 10",
		"10 <= vt",
		"vt % 10 == 0",
		"(vt - 3) % k == r",
		"vt % 10 + 1 > 3",
		"vt IN [10, 20]",
		"vt IN [k, k + 10]",
		"vt IN vts",
		"NOT vt IN vts AND (vt > 3 OR vt - 1 == 0)",
		"x[vt] > 1 AND x[vt].time IN t AND vt > 3 AND q.rank == 0",
	};
	char text[1000];

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		snprintf(
			text, sizeof(text),
			"M(Process q, VirtualTime[] vts, Value k, Value r, TimeInterval t) { PROBE "
			"e(Process, VirtualTime); VirtualTime vt; Value[] x; x[vt] = Time(NOW) AT "
			"e(q, vt); RETURN SUM(x[vt] WHERE %s); }",
			good[i]);
		ck_assert_msg(!errors(text), "%s: %s", good[i], diags.v[0].text);
	}
	expect_good(
		"z[p][vt] = 1 AT e(p, vt); y[vt] = SUM(z[p][vt] WHERE p IN procs AND vt % 2 == 0); "
		"RETURN SUM(y[vt]);");
}

TEST(invalid_condition_on_virtual_times_is_refused)
{
#define X "x[vt] = Time(NOW) AT e(q, vt); RETURN "
	expect_bad(X "SUM(x[vt] WHERE vt > 10 OR x[vt] > 1);", "joined to other conditions by AND",
		   "SUM(");
	expect_bad(X "SUM(x[vt] WHERE NOT (vt > 10 AND x[vt] > 1));", "by AND", "SUM(");
	expect_bad(X "SUM(IF(vt > 10, x[vt], 0));", "only in the WHERE", "SUM(");
	expect_bad(X "SUM(x[vt] * (vt % 2));", "only in the WHERE", "SUM(");
	expect_bad(X "SUM(x[vt] WHERE vt > x[vt]);", "whole numbers that never change",
		   "a number, or a parameter");
	expect_bad(X "SUM(x[vt] WHERE vt > 1.5);", "virtual times are whole numbers", "");
	expect_bad(X "SUM(x[vt] WHERE vt % 0 == 0);", "division by zero", "");
	expect_bad(X "SUM(x[vt] WHERE vt % 2 * 2 == 0);", "only + - % are taken", "vt % 10");
	expect_bad(X "SUM(x[vt] WHERE vt * 2 == 4);", "only a whole number is taken", "");
	expect_bad(X "SUM(x[vt] WHERE vt IN t);", "is not IN a TimeInterval", "x[vt].time IN t");
	expect_bad(X "SUM(x[vt] WHERE vt IN procs);", "is not IN a Process[]", "[10, 20]");
	expect_bad(X "SUM(x[vt] WHERE vt IN [1, t]);", "whole numbers", "");
	expect_bad(X "SUM(x[vt] WHERE vs > 10);", "two virtual times", "");
	expect_bad("RETURN SUM(Send_volume(p, t) WHERE p IN procs AND vt > 3);",
		   "no value for each virtual time", "");
	expect_bad("x[vt] = SUM(r WHERE vt > 3) AT e(q, vt); RETURN SUM(x[vt]);", "left side of AT",
		   "choose in the WHERE");
	expect_bad("y[n] = Send_volume(q, t); RETURN SUM(y[n] WHERE n > 1);", "", "");
}

TEST(types_and_units_fit)
{
	expect_bad("RETURN Send_volume(q, t) + Send_delay(q, t);", "units do not fit: B + s", "");
	expect_bad("RETURN IF(Send_volume(q, t) > Send_delay(q, t), 1, 2);", "units do not fit",
		   "");
	expect_bad("RETURN procs;", "expected a number, found Process[]", "");
	expect_bad("RETURN q + 1;", "expected a number", "");
	expect_bad("RETURN SUM(Send_volume(p, t) WHERE p);", "expected a condition", "");
	expect_bad("RETURN SUM(Send_volume(p, t) WHERE procs IN p);", "is not IN a", "");
	expect_bad("RETURN Node_load(q, NOW);", "belongs to a node", "p.node");
	expect_bad("RETURN q.color;", "has no .color", "rank");
	expect_bad("RETURN Time_of(procs, vt);", "is a Process, not a Process[]", "run over it");
	expect_bad("RETURN Time_of(q);", "takes 2 arguments, not 1", "");
	expect_bad("RETURN pow(2);", "pow takes 2 arguments", "");
	expect_bad("RETURN sqrt(2, 2);", "sqrt takes 1 argument", "");
	expect_bad("RETURN log(Send_volume(q, t));", "without a unit", "");
	expect_bad("RETURN sqrt(Send_volume(q, t));", "no root", "");
	expect_bad("RETURN PROD(Send_volume(p, t));", "not a unit", "");
	expect_bad("RETURN QUANTILE(2, Send_volume(p, t));", "from 0 to 1", "");
	expect_bad("RETURN CI(1, Send_volume(p, t));", "the level is a number below 1", "");
	expect_bad("RETURN CI(Send_volume(p, t));", "CI takes a level", "");
	expect_bad("RETURN VARIANCE(Send_delay(p, t)) + MEAN(Send_delay(p, t));",
		   "units do not fit: s^2 + s", "");
	expect_bad("RETURN VARIANCE(Send_delay(procs, t));", "VARIANCE has no variable",
		   "of calls there is the sum, not each");
	expect_bad("RETURN SKEWNESS(1, 2);", "not over a list", "");
	expect_bad("RETURN COVARIANCE(Send_volume(p, t));",
		   "COVARIANCE takes two values: COVARIANCE(x[p], y[p])", "");
	expect_bad("RETURN CORRELATION(Send_volume(p, t), Send_delay(p, t), 1);",
		   "CORRELATION takes two values", "");
	expect_bad("RETURN CORRELATION(Send_volume(p, t), procs);",
		   "expected a number, found Process[]", "");
	expect_bad("RETURN CORRELATION(1, 2);", "CORRELATION has no variable",
		   "there is the sum, not each");
	expect_bad(
		"RETURN COVARIANCE(Send_volume(p, t), Send_delay(p, t)) + 1 * Send_volume(q, t);",
		"units do not fit: s*B + B", "");
	expect_bad("RETURN 1 + HISTOGRAM(Send_volume(p, t));", "expected a number, found histogram",
		   "");
	expect_bad("RETURN 1 + WHO_MAX(Send_volume(p, t));",
		   "expected a number, found value with its object", "");
	expect_bad("Value x = WHO_MIN(Send_volume(p, t)); RETURN 1;",
		   "x is a Value, this is a value with its object", "");
	expect_bad("RETURN TOP(0, Send_volume(p, t));", "a whole number from 1 to 16", "");
	expect_bad("RETURN TOP(17, Send_volume(p, t));", "a whole number from 1 to 16", "");
	expect_bad("RETURN TOP(1.5, Send_volume(p, t));", "a whole number from 1 to 16", "");
	expect_bad("RETURN TOP(Send_volume(p, t));", "TOP takes a number and a value", "");
	expect_bad("RETURN WHO_MAX(Send_volume(q, t));", "WHO_MAX has no variable", "");
	expect_bad("RETURN WHO_MAX(Send_volume(p, t), 2);", "not over a list", "");
	ck_assert_uint_eq(
		errors("M(Process[] ps, TimeInterval t) : Unit(\"B\") { Process p; RETURN "
		       "top(16, Send_volume(p, t) WHERE p IN ps); }"),
		0);
	ck_assert_uint_eq(
		errors("M(TimeInterval t) { Node n; RETURN who_max(Node_load(n, NOW)); }"), 0);
	ck_assert_uint_eq(
		errors("M(Process p, TimeInterval t) : Unit(\"s\") { RETURN Send_volume(p, t); }"),
		1);
	ck_assert_uint_eq(errors("M(Process p, TimeInterval t) : Unit(\"B/s\") { RETURN "
				 "Send_volume(p, t) / Send_delay(p, t); }"),
			  0);
	ck_assert_uint_eq(errors("M(Process p, TimeInterval t) : Unit(\"apples\") { RETURN 3; }"),
			  0);
}

TEST(metrics_use_those_above_them)
{
	ck_assert_uint_eq(errors("M(TimeInterval t) { RETURN M(t); }"), 1);
	ck_assert_str_eq(diags.v[0].text, "M uses itself");
	ck_assert_uint_eq(
		errors("M(TimeInterval t) { RETURN N(t); } N(TimeInterval t) { RETURN 1; }"), 1);
	ck_assert_str_eq(diags.v[0].text, "N is defined below");
	ck_assert_uint_eq(errors("M() { RETURN 1; } M() { RETURN 1; }"), 1);
	ck_assert_uint_eq(errors("Send_volume() { RETURN 1; }"), 1);
	ck_assert_uint_eq(errors("M() { Value v; }"), 1);
	ck_assert_uint_eq(errors("M() { RETURN 1; RETURN 2; }"), 1);
	ck_assert_uint_eq(errors("M(TimeInterval t, VirtualTime v) { RETURN 1; }"), 1);
}

TEST(unused_names_cause_warnings)
{
	ck_assert_uint_eq(errors("M(Process p) { PROBE e(Process, VirtualTime); Value v = 1; "
				 "RETURN 1 / 0; }"),
			  0);
	ck_assert_uint_eq(diags.n, 4);
	ck_assert(diags.v[0].is_warning);
}

static void expect_file_good(const char *name)
{
	struct buf text = BUF_INIT(1 << 20);
	char path[256];

	snprintf(path, sizeof(path), "examples/metrics/%s.pmsl", name);
	ck_assert_int_eq(file_read(path, 1 << 20, 0, &text, NULL), 0);
	ck_assert_msg(errors(buf_str(&text)) == 0 && !diags.n, "%s: %s", path, diags.v[0].text);
	buf_done(&text);
}

TEST(the_examples_are_good)
{
	expect_file_good("loop_counter");
	expect_file_good("iteration_time");
	expect_file_good("spread");
	expect_file_good("comm_delay");
	expect_file_good("load_imbalance");
	expect_file_good("send_volume");
}

TEST(each_built_in_metric_is_found_by_its_name)
{
	struct pmsl_builtin b;
	struct pmsl_unit u;
	unsigned n = 0;

	pmsl_units_init(&units);
	for (unsigned i = 0; i < pmsl_builtin_ids(); i++) {
		if (!pmsl_builtin_get(i, &b))
			continue;
		n++;
		ck_assert_int_eq(pmsl_builtin_find(b.name), (int)i);
		ck_assert_uint_gt(strlen(b.text), 5);
		pmsl_units_init(&units);
		ck_assert_int_eq(pmsl_unit_parse(&units, b.unit, &u), 0);
	}
	ck_assert_uint_gt(n, 300);
	ck_assert_int_eq(pmsl_builtin_find("MPI_Send_nothing"), -1);
	ck_assert_int_eq(pmsl_builtin_find("Barrier_volume"), -1);
	ck_assert(pmsl_builtin_get((unsigned)pmsl_builtin_find("Send_volume"), &b));
	ck_assert(b.counts_out && !b.counts_in);
}

TEST(partners_are_of_calls_that_name_one)
{
	expect_good("RETURN SUM(Send_volume(p, procs, t) WHERE p IN procs);");
	expect_good("RETURN MPI_Startall_count(q, procs, t);");
	expect_bad("RETURN Barrier_delay(q, procs, t);",
		   "Barrier_delay is not split by partners: its calls name none", "");
	expect_good("RETURN MPI_Waitall_delay(q, procs, t);");
	expect_good("RETURN Wait_delay(q, procs, t);");
	expect_bad("RETURN Wait_count(q, procs, t);", "its calls name none", "");
	expect_bad("RETURN MPI_Request_free_delay(q, procs, t);", "its calls name none", "");
	expect_bad("RETURN Collective_volume(q, procs, t);", "its calls name none", "");
}

TEST(arguments_of_built_in_metrics_have_their_number_and_order)
{
	static const char takes[] =
		"takes Process[] objects, Process[] partners, Region[] regions, TimeInterval time";

	expect_good("RETURN SUM[g](Send_volume(q, g, t));");
	expect_bad("RETURN Send_volume(q, procs, procs, t);", takes, "");
	expect_bad("RETURN SUM[g](Send_volume(g, q, t));", takes, "");
	expect_bad("RETURN SUM[g](Send_volume(q, g, g, t));", takes, "");
	expect_bad("RETURN Send_volume();", takes, "");
	expect_bad("RETURN Send_volume(q);", "it takes an interval", "");
	expect_bad("RETURN SUM[g](Compute_time(q, g, t));",
		   "takes Process[] objects, TimeInterval time", "");
}

SUITE("check")
