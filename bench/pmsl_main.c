/* SPDX-License-Identifier: Apache-2.0 */
/* The metric language: from text to the pieces of a graph. */
#include "bench/bench.h"
#include "common/base/array.h"
#include "common/omis/text/arena.h"
#include "pmsl/pmsl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 400
#define ROUNDS_LARGE 20

/* Forty lines: three metrics, the second of which uses the first, the third the second. */
static const char text[] = "// How long an iteration takes.\n"
			   "Iteration_time(Process p, VirtualTime vt)\n"
			   ": Unit(\"s\") {\n"
			   "	PROBE iteration_end(Process, VirtualTime);\n"
			   "	RETURN Time(NOW) AT iteration_end(p, vt)\n"
			   "	     - Time(NOW) AT iteration_end(p, vt-1);\n"
			   "}\n"
			   "\n"
			   "// Which part of it goes into communication.\n"
			   "Comm_delay(Process p, VirtualTime vt)\n"
			   ": Unit(\"%\") {\n"
			   "	PROBE iteration_end(Process, VirtualTime);\n"
			   "	Value time = Iteration_time(p, vt);\n"
			   "	Value now =\n"
			   "		  (Send_delay(p, [START,NOW])\n"
			   "		+ Receive_delay(p, [START,NOW])\n"
			   "		+ Wait_delay(p, [START,NOW])\n"
			   "		+ Barrier_delay(p, [START,NOW]))\n"
			   "			AT iteration_end(p, vt);\n"
			   "	Value before =\n"
			   "		  (Send_delay(p, [START,NOW])\n"
			   "		+ Receive_delay(p, [START,NOW])\n"
			   "		+ Wait_delay(p, [START,NOW])\n"
			   "		+ Barrier_delay(p, [START,NOW]))\n"
			   "			AT iteration_end(p, vt-1);\n"
			   "	RETURN (now - before) / time * 100;\n"
			   "}\n"
			   "\n"
			   "// The worst of it, over processes and iterations.\n"
			   "Worst(Process[] procs, TimeInterval t)\n"
			   ": Unit(\"%\") {\n"
			   "	Process p;\n"
			   "	VirtualTime vt;\n"
			   "	Value[] each;\n"
			   "	each[vt] = MAX(Comm_delay(p, vt)\n"
			   "		WHERE p IN procs\n"
			   "		AND p.rank >= 0);\n"
			   "	RETURN MAX(each[vt]\n"
			   "		WHERE each[vt].time IN t);\n"
			   "}\n";

/* The calls of each process with each partner of a list, which has all processes. */
static const char by_partner[] = "Sent(Process p, Process[] partners, TimeInterval t) {\n"
				 "	RETURN Send_delay(p, partners, t);\n"
				 "}\n";

/* The same, with one output for each process. */
static const char of_each[] = "Calls(Process p, TimeInterval t) { RETURN Send_delay(p, t); }\n";

static struct world make_world(struct arena *a, unsigned nodes, unsigned procs_each)
{
	struct buf layout = BUF_INIT(1 << 20);
	struct err e = { 0 };
	struct world w = { NULL, 0 };

	for (unsigned n = 0; n < nodes; n++) {
		buf_printf(&layout, "%snode%u=",
			   n == 0	    ? "one:"
			   : n == nodes / 2 ? "/two:"
					    : ";",
			   n);
		for (unsigned p = 0; p < procs_each; p++)
			buf_printf(&layout, "%sp_%u", p ? "," : "", n * procs_each + p);
	}
	if (world_from_layout(buf_str(&layout), a, &w, &e))
		bench_fail("%s", e.text);
	buf_done(&layout);
	return w;
}

struct asked {
	const char *name, *text, *metric;
	enum bind_by by;
	unsigned nodes, procs_each, rounds;
};

/* Milliseconds from text to pieces. */
static double compile(const struct world *w, const struct asked *q)
{
	static const struct bind_arg args[PMSL_PARAMS_MAX];
	const struct bind_options options = { .arg = args, .since = FLOW_SINCE_LAST, .by = q->by };
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	int64_t begin = bench_now();
	struct pmsl *p = NULL;
	struct pmsl_plan plan;
	double took;

	if (pmsl_compile("bench", q->text, strlen(q->text), &d, &p) || d.nerror ||
	    pmsl_plan(&(struct pmsl_demand){ .text = p,
					     .metric = pmsl_metric(p, q->metric, &d),
					     .world = w,
					     .options = &options,
					     .measurement = 1 },
		      &d, &plan))
		bench_fail("%s", d.n ? d.v[0].text : "out of memory");
	took = (double)(bench_now() - begin) / 1e6;
	pmsl_plan_done(&plan);
	pmsl_free(p);
	return took;
}

static void bench_compile(const struct asked *q)
{
	struct arena *a = arena_new(16 << 20);
	struct bench_series s = { 0 };
	struct world w;

	if (!a)
		bench_fail("out of memory");
	w = make_world(a, q->nodes, q->procs_each);
	for (unsigned i = 0; i < q->rounds; i++)
		bench_add(&s, compile(&w, q));
	bench_print(q->name, "ms", &s, NULL);
	bench_done(&s);
	arena_free(a);
}

int main(void)
{
	static const struct asked all[] = {
		{ "pmsl.compile.ms", text, "Worst", BIND_BY_NOTHING, 4, 2, ROUNDS },
		{ "pmsl.compile_1000_procs.ms", text, "Worst", BIND_BY_NOTHING, 64, 16,
		  ROUNDS_LARGE },
		{ "pmsl.compile_2000_procs.ms", text, "Worst", BIND_BY_NOTHING, 125, 16,
		  ROUNDS_LARGE },
		{ "pmsl.each_of_2000_procs.ms", of_each, "Calls", BIND_BY_PROCESS, 125, 16,
		  ROUNDS_LARGE },
		{ "pmsl.partners_1000_procs.ms", by_partner, "Sent", BIND_BY_NOTHING, 64, 16,
		  ROUNDS_LARGE },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		bench_compile(&all[i]);
	return 0;
}
