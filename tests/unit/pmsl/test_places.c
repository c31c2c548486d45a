/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a text: the message, the hint, and the place, which is between `` here. */
#include "common/base/str.h"
#include "common/base/array.h"
#include "pmsl/check/check.h"
#include "pmsl/text/parse.h"
#include "tests/suite.h"

#include <string.h>

struct bad {
	const char *text, *words, *hint; /* of the first error */
	size_t n; /* errors and warnings */
};

/* Bodies of a metric that has some names already. */
static const struct bad bodies[] = {
	{ "RETURN `Send_volum(q, t)`;", "there is no metric or function Send_volum",
	  "did you mean Send_volume?", 1 },
	{ "RETURN `MPI_Sned_delay(q, t)`;", "there is no metric or function MPI_Sned_delay",
	  "did you mean MPI_Send_delay?", 1 },
	{ "RETURN Send_volume(`proc`, t);", "proc is not declared", "did you mean procs?", 1 },
	{ "`xx`[p] = 1; RETURN 1;", "xx is not declared", "did you mean x?", 1 },
	{ "x[`pp`] = 1; RETURN 1;", "pp is not a free variable", "did you mean p?", 1 },
	{ "RETURN `1 AT f(q, vt)`;", "there is no probe f",
	  "declare it: PROBE f(Process, VirtualTime);", 1 },
	{ "RETURN `1 AT Time_of(q, vt)`;", "there is no probe Time_of",
	  "Time_of is a metric; AT names the probe at which the value is taken", 1 },
	{ "RETURN `Max(q)`;", "there is no metric or function Max", "did you mean MAX?", 1 },
	{ "RETURN `Send_volume(p, t)`;", "p is free here: nothing says which one is meant",
	  "index the left side, x[p] = ..., or run over it, SUM(... WHERE p ...)", 1 },
	{ "Value v = `Send_volume(p, t)`; RETURN v;",
	  "p is free here: nothing says which one is meant",
	  "index the left side, x[p] = ..., or run over it, SUM(... WHERE p ...)", 2 },
	{ "x[p] = `1 AT e(p, vt)`; RETURN MAX(x[p]);",
	  "vt is free here: nothing says which one is meant",
	  "index the left side, x[vt] = ..., or run over it, SUM(... WHERE vt ...)", 1 },
	{ "x[p] = 1; `x`[p] = 2; RETURN SUM(x[p]);", "x is set a second time", "", 1 },
	{ "RETURN SUM(`x[p]`);", "x is used before it is set", "", 1 },
	{ "TimeInterval u; RETURN Send_volume(q, `u`);", "u is used before it is set", "", 1 },
	{ "Value v; RETURN `v`;", "v is used before it is set", "", 1 },
	{ "Process[] l; RETURN COUNT(p WHERE p IN `l`);", "l is used before it is set", "", 1 },
	{ "`z`[p] = 1; RETURN 1;", "z has 2 dimensions, and is set with 1",
	  "declare it with a [] for each index: Value[] z;", 1 },
	{ "x[p] = Send_volume(p, t); RETURN SUM(`x`);", "x was set with more indices", "", 1 },
	{ "x[p] = Send_volume(p, t); RETURN SUM(x[`vt`]);", "expected a Process, found VirtualTime",
	  "", 2 },
	{ "Value `procs`; RETURN 1;", "procs is declared twice", "", 1 },
	{ "RETURN `SUM(1 WHERE q IN procs)`;", "SUM has no variable to run over",
	  "declare one and use it: Process p; ... SUM(x(p) WHERE p IN procs)", 1 },
	{ "RETURN `MAX[p](Send_volume(q, t))`;", "a variable of MAX is not used in it", "", 1 },
	{ "TimeInterval u = `NOW`; RETURN Send_volume(q, u);",
	  "u is a TimeInterval, this is a PointOfTime", "", 1 },
	{ "Value v = `t`; RETURN v;", "v is a Value, this is a TimeInterval", "", 1 },
	{ "z[p][`p`] = 1; RETURN 1;", "p stands twice", "", 1 },
	{ "x[vt] = r AT e(q, vt); z[vt][`vt`] = 1; RETURN SUM(x[vt]);", "vt stands twice", "", 1 },
	{ "x[vt] = (`1 AT e(q, vt)`) AT e(q, vt); RETURN SUM(x[vt]);",
	  "AT inside the left side of AT", "", 1 },
	{ "x[vt] = `Time_of(q, vt)` AT e(q, vt); RETURN SUM(x[vt]);",
	  "this is taken AT a probe already", "", 1 },
	{ "PointOfTime u; RETURN CPU_usage(q, `u`);", "u is used before it is set", "", 1 },
	{ "RETURN Cpu(q, `START`);",
	  "the parameter m of Cpu is the moment of a value: it takes NOW", "", 1 },
	{ "RETURN Send_volume(q, `[START,LAST]`);", "an interval is [START,NOW] or [LAST,NOW]", "",
	  1 },
	{ "RETURN `q.color(t)`;", "there is no metric or function color", "", 1 },
	{ "RETURN MAX(Send_volume(q, t), `q.Send_delay(t)`);", "units do not fit: B, s", "", 1 },
	{ "x[vt] = `Send_volume(q, t)` AT e(q, vt); RETURN SUM(x[vt]);",
	  "this has a value once a read, not at an event",
	  "[START,NOW] has one at any time; take differences of that", 1 },
	{ "x[vt] = 1 AT e(q, `vt+1`); RETURN SUM(x[vt]);", "a later virtual time is not known yet",
	  "begin with the latest one, and take the others from before: vt - 1", 1 },
	{ "x[vt] = 1 AT e(q, `vt*2`); RETURN SUM(x[vt]);",
	  "of a virtual time only a whole number is taken: vt - 1", "", 1 },
	{ "x[vt] = `Time_of(q, vt) + Time(NOW)`; RETURN SUM(x[vt]);",
	  "a value for each virtual time meets one for each read",
	  "take both AT a probe, or aggregate the first over virtual time", 1 },
	{ "RETURN SUM(`Time_of(q, vt) + Time_of(q, vs)`);", "two virtual times are mixed here", "",
	  1 },
	{ "x[vt] = 1 AT e(q, vt); RETURN SUM(x[vt] WHERE `x[vt].time IN t` OR x[vt] > 1);",
	  "times select values only in the WHERE of an operator over virtual time",
	  "SUM(x[vt] WHERE x[vt].time IN t), other conditions joined by AND", 1 },
	{ "x[vt] = Send_volume(`p`, [START,NOW]) AT e(q, vt); RETURN 1;",
	  "an event of one process says nothing about another object",
	  "take the value of each process AT its own event, and aggregate then", 2 },
	{ "x[vt] = `Send_volume([START,NOW])` AT e(q, vt); RETURN 1;",
	  "without an object this covers all of them, not the probe's process",
	  "give the process: Send_volume(p, ...)", 1 },
	{ "RETURN Send_volume(q, `NOW`);",
	  "Send_volume accumulates over time: it takes an interval",
	  "[START,NOW], [LAST,NOW], or a parameter of kind TimeInterval", 1 },
	{ "RETURN CPU_usage(q, `t`);", "CPU_usage has a value at one moment: it takes NOW", "", 1 },
	{ "RETURN Send_volume(q, `[NOW,NOW]`);", "an interval is [START,NOW] or [LAST,NOW]", "",
	  1 },
	{ "x[p] = Send_volume(p, t); RETURN SUM(x[p] WHERE `x[p].time` IN t);",
	  "a Value has no .time",
	  "a Process has .rank .node .site, a Node .site, a value for each virtual time .time", 1 },
	{ "RETURN `Send_volume(q, t) + Send_delay(q, t)`;", "units do not fit: B + s", "", 1 },
	{ "RETURN IF(`Send_volume(q, t) > Send_delay(q, t)`, 1, 2);", "units do not fit: B > s", "",
	  1 },
	{ "RETURN `procs`;", "expected a number, found Process[]", "", 1 },
	{ "RETURN `q` + 1;", "expected a number, found Process", "", 1 },
	{ "RETURN SUM(Send_volume(p, t) WHERE `p`);", "expected a condition, found Process", "",
	  1 },
	{ "RETURN SUM(Send_volume(p, t) WHERE `procs IN p`);", "a Process[] is not IN a Process",
	  "", 1 },
	{ "RETURN Node_load(`q`, NOW);", "Node_load belongs to a node",
	  "p.node is the node of the process p", 1 },
	{ "RETURN `q.color`;", "a Process has no .color",
	  "a Process has .rank .node .site, a Node .site, a value for each virtual time .time", 1 },
	{ "RETURN Time_of(`procs`, vt);",
	  "the parameter p of Time_of is a Process, not a Process[]",
	  "run over it: Process p; MAX(Time_of(p, ...) WHERE p IN procs)", 2 },
	{ "RETURN `Time_of(q)`;", "Time_of takes 2 arguments, not 1", "", 1 },
	{ "RETURN `pow(2)`;", "pow takes 2 arguments", "", 1 },
	{ "RETURN `sqrt(2, 2)`;", "sqrt takes 1 argument", "", 1 },
	{ "RETURN log(`Send_volume(q, t)`);", "log takes a number without a unit", "", 1 },
	{ "RETURN `sqrt(Send_volume(q, t))`;", "the unit of the argument has no root", "", 1 },
	{ "RETURN `PROD(Send_volume(p, t))`;",
	  "a product over n values in B is in (B)^n, which is not a unit: n may change",
	  "divide by a value in B first; PROD(a, b) multiplies units", 1 },
	{ "RETURN QUANTILE(`2`, Send_volume(p, t));", "the share is a number from 0 to 1", "", 1 },
	{ "RETURN CI(`1`, Send_volume(p, t));", "the level is a number below 1: 0.95", "", 1 },
	{ "RETURN `CI(Send_volume(p, t))`;", "CI takes a level and a value: CI(0.95, x[p])", "",
	  1 },
	{ "RETURN `VARIANCE(Send_delay(p, t)) + MEAN(Send_delay(p, t))`;",
	  "units do not fit: s^2 + s", "", 1 },
	{ "RETURN `VARIANCE(Send_delay(procs, t))`;", "VARIANCE has no variable to run over",
	  "of calls there is the sum, not each: declare one and use it, a "
	  "Process, or a VirtualTime AT a probe",
	  1 },
	{ "RETURN `SKEWNESS(1, 2)`;", "SKEWNESS runs over one expression, not over a list", "", 1 },
	{ "RETURN `COVARIANCE(Send_volume(p, t))`;",
	  "COVARIANCE takes two values: COVARIANCE(x[p], y[p])", "", 1 },
	{ "RETURN `CORRELATION(Send_volume(p, t), Send_delay(p, t), 1)`;",
	  "CORRELATION takes two values: CORRELATION(x[p], y[p])", "", 1 },
	{ "RETURN CORRELATION(Send_volume(p, t), `procs`);", "expected a number, found Process[]",
	  "", 1 },
	{ "RETURN `CORRELATION(1, 2)`;", "CORRELATION has no variable to run over",
	  "of calls there is the sum, not each: declare one and use it, a "
	  "Process, or a VirtualTime AT a probe",
	  1 },
	{ "RETURN `COVARIANCE(Send_volume(p, t), Send_delay(p, t)) + 1 * Send_volume(q, t)`;",
	  "units do not fit: s*B + B", "", 1 },
	{ "RETURN 1 + `HISTOGRAM(Send_volume(p, t))`;", "expected a number, found histogram", "",
	  1 },
	{ "RETURN `Barrier_delay(q, procs, t)`;",
	  "Barrier_delay is not split by partners: its calls name none", "", 1 },
	{ "RETURN `MPI_Waitall_count(q, procs, t)`;",
	  "MPI_Waitall_count is not split by partners: its calls name none", "", 1 },
	{ "RETURN `Collective_volume(q, procs, t)`;",
	  "Collective_volume is not split by partners: its calls name none", "", 1 },
	{ "RETURN Send_volume(q, procs, `procs`, t);",
	  "Send_volume takes Process[] objects, Process[] partners, "
	  "Region[] regions, TimeInterval time",
	  "", 1 },
	{ "RETURN SUM[g](Send_volume(g, `q`, t));",
	  "Send_volume takes Process[] objects, Process[] partners, "
	  "Region[] regions, TimeInterval time",
	  "", 1 },
	{ "RETURN SUM[g](Send_volume(q, g, `g`, t));",
	  "Send_volume takes Process[] objects, Process[] partners, "
	  "Region[] regions, TimeInterval time",
	  "", 1 },
	{ "RETURN `Send_volume()`;",
	  "Send_volume takes Process[] objects, Process[] partners, "
	  "Region[] regions, TimeInterval time",
	  "", 1 },
	{ "RETURN Send_volume(`q`);", "Send_volume accumulates over time: it takes an interval",
	  "[START,NOW], [LAST,NOW], or a parameter of kind TimeInterval", 1 },
	{ "RETURN SUM[g](Compute_time(q, `g`, t));",
	  "Compute_time takes Process[] objects, TimeInterval time", "", 1 },
};

static const struct bad texts[] = {
	{ "M(`Proces` p) { RETURN 1; }", "expected a type, found 'Proces'",
	  "types are Process, Node, Site, Region, VirtualTime, TimeInterval, PointOfTime, Value",
	  1 },
	{ "M(Process p) { x = `;` RETURN 1; }", "expected a value, found ';'", "", 1 },
	{ "M(Process p) { Value y `z`; RETURN 1; }", "expected ';', found 'z'", "", 1 },
	{ "M(Process p) { RETURN 1 `}`", "expected ';', found '}'", "", 1 },
	{ "M(Process p) { RETURN (1`;` }", "expected ')', found ';'", "", 1 },
	{ "M(Process p) { RETURN 1; } `/*` no end", "the comment has no end", "", 1 },
	{ "M() { RETURN `12a`bc; }", "a number does not end in a letter", "", 1 },
	{ "M() { RETURN `1e999`; }", "the number is too large, or has too many digits", "", 1 },
	{ "M() : Unit(`\"`m) { RETURN 1; }", "the string has no end on its line", "", 2 },
	{ "M() : Unit(`m`) { RETURN 1; }", "expected a unit in quotes, found 'm'", "", 1 },
	{ "M() : `Time` { RETURN 1; }", "expected Unit(\\\"...\\\"), found 'Time'", "", 1 },
	{ "M() { RETURN 1 `$` 2; }", "these characters have no meaning here", "", 2 },
	{ "M() { RETURN p.`;` }", "expected rank, node, site, time or a metric, found ';'", "", 1 },
	{ "M() { RETURN `p`.color; }", "p is not declared", "", 1 },
	{ "M() { PROBE`;` RETURN 1; }", "expected the name of a probe, found ';'", "", 1 },
	{ "M() { PROBE e`;` RETURN 1; }", "expected '(', found ';'", "", 1 },
	{ "M() { Value `;` RETURN 1; }", "expected '=', found ';'", "", 1 },
	{ "M() { Value[][][][][][`]` v; RETURN 1; }", "more than 4 dimensions", "", 1 },
	{ "M(Process`)` { RETURN 1; }", "expected the name of the parameter, found ')'", "", 1 },
	{ "M() { x[`1`] = 1; RETURN 1; }", "expected the name of a variable, found '1'", "", 1 },
	{ "M() { x[p `=` 1; RETURN 1; }", "expected ']', found '='", "", 1 },
	{ "M() { `1` = 2; RETURN 1; }",
	  "expected a declaration, an assignment or RETURN, found '1'", "", 1 },
	{ "M() { RETURN 1 `=` 2; }", "expected an operator, found '='",
	  "two values are compared by ==", 1 },
	{ "M() { RETURN `;` }", "expected a value, found ';'", "", 1 },
	{ "M() { RETURN SUM`;` }", "expected '(', found ';'", "", 1 },
	{ "M() { RETURN 1 AT `2`; }", "expected the name of a probe, found '2'", "", 1 },
	{ "M()`", "expected '{', but the text ends", "", 1 },
	{ "M`", "expected '(', but the text ends", "", 1 },
	{ "`{` RETURN 1; }", "expected the name of a metric, found '{'", "", 1 },
	{ "M() { RETURN 1; } `}`", "expected the name of a metric, found '}'", "", 1 },
	{ "M() { RETURN 1 < 2 `<` 3; }", "expected ';', found '<'", "", 1 },
	{ "M() { RETURN SUM(1 WHERE`)`; }", "expected a value, found ')'", "", 1 },
	{ "M() { RETURN [1`]`; }", "expected ',', found ']'", "", 1 },
	{ "M() { RETURN [START,`]`; }", "expected a value, found ']'", "", 1 },
	{ "M() { RETURN x[`]`; }", "expected a value, found ']'", "", 1 },
	{ "M() { RETURN f(1,`)`; }", "expected a value, found ')'", "", 1 },
	{ "M() { RETURN SUM(`,`); }", "expected a value, found ','", "", 1 },
	{ "M(Process p,`)` { RETURN 1; }", "expected a type, found ')'",
	  "types are Process, Node, Site, Region, VirtualTime, TimeInterval, PointOfTime, Value",
	  1 },
	{ "M() { Process p = `1`; RETURN 1; }", "p is a Process, this is a Value", "", 1 },
	{ "M() { RETURN NOT`;` }", "expected a value, found ';'", "", 1 },
	{ ""
	  "M() { RETURN `abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij`; }",
	  ""
	  "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij is not declared",
	  "", 1 },
};

#define AROUND_HEAD                                                                      \
	"Time_of(Process p, VirtualTime vt) { PROBE e(Process, VirtualTime); RETURN "    \
	"Time(NOW) AT e(p, vt); }\n"                                                     \
	"Sent(Process[] ps, TimeInterval t) { RETURN Send_volume(ps, t); }\n"            \
	"Cpu(Process p, PointOfTime m) { RETURN CPU_usage(p, m); }\n"                    \
	"M(Process[] procs, Process q, TimeInterval t) { PROBE e(Process, VirtualTime, " \
	"Value r);\n"                                                                    \
	"Process p; VirtualTime vt, vs; Region g; Node n; Value[] x, y; Value[][] z;\n"

static void check(const struct bad *bad, const char *head, const char *tail)
{
	const char *first = strchr(bad->text, '`'), *last = strchr(first + 1, '`');
	size_t at = strlen(head) + (size_t)(first - bad->text);
	size_t len = last ? (size_t)(last - first) - 1 : 1;
	struct pmsl_diags diags = PMSL_DIAGS_INIT;
	struct pmsl_tree *tree = NULL;
	struct pmsl_units units;
	struct buf b = BUF_INIT(4096);
	struct pmsl_source s = { "t.pmsl", NULL, 0 };

	buf_puts(&b, head);
	for (const char *p = bad->text; *p; p++)
		if (*p != '`')
			buf_putc(&b, (uint8_t)*p);
	buf_puts(&b, tail);
	s.text = buf_str(&b);
	s.n = b.n;
	pmsl_units_init(&units);
	ck_assert_int_eq(pmsl_parse(&s, &diags, &tree), 0);
	if (!diags.nerror)
		ck_assert_int_eq(pmsl_check(tree, &units, &diags), 0);
	ck_assert_msg(diags.n == bad->n, "%s: %zu", bad->text, diags.n);
	ck_assert_str_eq(diags.v[0].text, bad->words);
	ck_assert_str_eq(diags.v[0].hint, bad->hint);
	ck_assert_msg(diags.v[0].at == at && diags.v[0].len == len, "%s: %u, %u", bad->text,
		      (unsigned)(diags.v[0].at - strlen(head)), (unsigned)diags.v[0].len);
	pmsl_tree_free(tree);
	buf_done(&b);
}

TEST(each_error_of_a_body_has_its_text_and_place)
{
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		check(&bodies[i], AROUND_HEAD, " }");
}

TEST(each_error_of_a_text_has_its_message_and_place)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		check(&texts[i], "", "");
}

SUITE("pmsl places")
