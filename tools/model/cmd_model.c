/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/cmd_model.h"

#include "common/base/str.h"
#include "tools/model/estimate_show.h"
#include "tools/model/experiment.h"
#include "tools/model/model_file.h"
#include "tools/model/observe.h"
#include "tools/model/solve_show.h"
#include "tools/term/say.h"

#include <stdio.h>
#include <string.h>

struct model_options {
	struct experiment_options experiment;
	struct estimate_options estimate;
	struct solve_options solve;
	struct observe_options observe;
	uint64_t seed;
	unsigned method;
	double level; /* 0: the usual one */
	bool json, csv;
};

#define LEVEL_DEMANDS 0.9
#define LEVEL_SIMULATED 0.95

static const char verbs[] = "observe estimate solve simulate what-if convert experiment";

static const char details[] =
	"`observe` counts the services of running processes, which are regions between probes or "
	"functions, and shows their demands after each period. "
	"`estimate FILE.csv` estimates how much of a resource, such as CPU time, one call of each "
	"service of a process needs. FILE has a line for each period: the busy time of the process, "
	"and how often each service began and completed. `solve FILE.lqn` shows throughput, "
	"response and bottleneck of a layered model. `simulate` does so by simulation, with "
	"intervals. `what-if` repeats `solve` for other numbers of clients or threads. `convert` "
	"writes the model as .lqn or .lqnx. "
	"`experiment table1` and `experiment "
	"table2` repeat the simulations of Rolia and Vetland (1995), and compare their results "
	"with the printed figures.";

static int run_experiment(const struct opt_spec *spec, struct model_options *w, int argc,
			  char **argv)
{
	struct experiment_options *x = &w->experiment;

	if (argc != 1 || (!str_eq(argv[0], "table1") && !str_eq(argv[0], "table2")))
		return cmd_usage(spec, "experiment: table1 or table2");
	if (x->is_fit && str_eq(argv[0], "table1"))
		return cmd_usage(spec, "--fit is for table2");
	x->has_services = x->services > 0;
	if (x->services)
		x->base.server.services = (unsigned)x->services;
	x->has_replications = x->replications > 0;
	if (x->replications)
		x->base.replications = (unsigned)x->replications;
	x->base.server.periods = (unsigned)x->periods;
	x->base.cut = (unsigned)x->cut;
	x->base.server.count = (enum server_count)x->count;
	x->base.server.credit = (enum server_credit)x->credit;
	x->base.method =
		w->method < ESTIMATE_METHODS ? (enum estimate_method)w->method : ESTIMATE_OLS;
	x->base.level = w->level > 0 ? w->level : LEVEL_DEMANDS;
	x->base.seed = w->seed;
	x->json = w->json;
	x->csv = w->csv;
	return experiment_show(x, argv[0]);
}

static int run_estimate(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	if (argc != 1)
		return cmd_usage(spec, "estimate: one file, or - for the standard input");
	w->estimate.method = (enum estimate_method)w->method;
	w->estimate.level = w->level > 0 ? w->level : LEVEL_DEMANDS;
	w->estimate.json = w->json;
	w->estimate.csv = w->csv;
	return estimate_show(&w->estimate, argv[0]);
}

static int run_observe(const struct opt_spec *spec, struct model_options *w, int argc)
{
	struct observe_options *o = &w->observe;

	if (argc)
		return cmd_usage(spec, "observe: no operand; --region names services");
	if (w->csv)
		return cmd_usage(spec, "observe: -o writes CSV");
	o->estimate.method = (enum estimate_method)w->method;
	o->estimate.level = w->level > 0 ? w->level : LEVEL_DEMANDS;
	o->output = w->experiment.output;
	return observe_show(o);
}

static int check_solve(const struct opt_spec *spec, struct model_options *w, const char *verb)
{
	struct solve_options *o = &w->solve;
	const char *until = o->simulate.until;

	if (str_eq(verb, "what-if")) {
		if (!o->vary.task[0])
			return cmd_usage(spec, "what-if: --vary TASK=FROM..TO");
		if (until && (str_to_double(until, 0, 1e15, &o->until) || !(o->until > 0)))
			return cmd_usage(spec, "--until: a time above 0");
	} else if (o->vary.task[0]) {
		return cmd_usage(spec, "--vary is for what-if");
	}
	if (o->is_checked && !str_eq(verb, "solve"))
		return cmd_usage(spec, "--check is for solve");
	if (until && str_eq(verb, "solve") && !o->is_checked)
		return cmd_usage(spec, "--until is for what-if, simulate, and solve --check");
	return CMD_OK;
}

static int check_scale(const struct opt_spec *spec, const struct demands_options *d)
{
	if (d->scale && (!d->nfile || !(d->scale > 0)))
		return cmd_usage(spec, "--scale: a number above 0, with --demands");
	return CMD_OK;
}

static int run_solve(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	struct simulate_request *s = &w->solve.simulate;
	int status;

	if (argc != 2)
		return cmd_usage(spec, "%s: one file, or - for the standard input", argv[0]);
	status = check_solve(spec, w, argv[0]);
	if (status == CMD_OK)
		status = check_scale(spec, &s->demands);
	if (status != CMD_OK)
		return status;
	s->seed = w->seed;
	s->level = w->solve.level = w->level > 0 ? w->level : LEVEL_SIMULATED;
	s->json = w->solve.json = w->json;
	s->csv = w->solve.csv = w->csv;
	if (str_eq(argv[0], "simulate"))
		return simulate_show(s, argv[1]);
	return str_eq(argv[0], "what-if") ? what_if_show(&w->solve, argv[1])
					  : solve_show(&w->solve, argv[1]);
}

static int run_convert(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	const struct demands_options *d = &w->solve.simulate.demands;
	int status = check_scale(spec, d);

	if (status == CMD_OK && argc != 1)
		return cmd_usage(spec, "convert: one file, or - for the standard input");
	if (status == CMD_OK && (w->json || w->csv))
		return cmd_usage(spec, "convert: -o FILE.lqn or -o FILE.lqnx");
	return status == CMD_OK ? model_convert(argv[0], d, w->experiment.output) : status;
}

static int dispatch(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	if (w->json && w->csv)
		return cmd_usage(spec, "--json or --csv, not both");
	if (w->level && !(w->level >= 0.5 && w->level <= 0.9999))
		return cmd_usage(spec, "--level: a number from 0.5 to 0.9999");
	if (argc && str_eq(argv[0], "experiment"))
		return run_experiment(spec, w, argc - 1, argv + 1);
	if (argc && str_eq(argv[0], "observe"))
		return run_observe(spec, w, argc - 1);
	if (argc && str_eq(argv[0], "estimate"))
		return run_estimate(spec, w, argc - 1, argv + 1);
	if (argc && str_eq(argv[0], "convert"))
		return run_convert(spec, w, argc - 1, argv + 1);
	if (argc &&
	    (str_eq(argv[0], "solve") || str_eq(argv[0], "simulate") || str_eq(argv[0], "what-if")))
		return run_solve(spec, w, argc, argv);
	return cmd_usage_verb(spec, argc ? argv[0] : NULL);
}

int cmd_model(int argc, char **argv)
{
	struct model_options w = { .method = ESTIMATE_METHODS,
				   .observe = { .common = CMD_COMMON_INIT,
						.every_ns = NSEC_PER_SEC } };
	const struct opt table[] = {
		OBSERVE_OPTIONS(&w.observe),
		ESTIMATE_OPTIONS(&w.estimate, &w.method),
		SOLVE_OPTIONS(&w.solve),
		EXPERIMENT_OPTIONS(&w.experiment),
		OPTION("level", 0, "P",
		       "of the intervals: of demands (default 0.9), of results (default 0.95)",
		       OPT_DOUBLE, &w.level),
		OPTION_RANGE("seed", 0, "N",
			     "experiment, simulate: of the random numbers (default 1)", OPT_U64,
			     &w.seed, 0, INT64_MAX),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &w.csv),
		CMD_OPTIONS(&w.observe.common),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig model",
		.verbs = verbs,
		.usage =
			"observe [--region NAME] [-o FILE.csv]|estimate [OPTION...] FILE.csv|solve [--check] FILE.lqn|simulate "
			"FILE.lqn|what-if --vary TASK=FROM..TO FILE.lqn|convert [-o FILE.lqnx] FILE|experiment [OPTION...] "
			"table1|table2",
		.summary = "estimates demands of services, and solves models of systems",
		.details = details,
		.table = table,
	};
	int first, status;

	experiment_init(&w.experiment);
	w.seed = w.experiment.base.seed;
	status = cmd_parse(&spec, argc, argv, &first);
	w.json = w.observe.common.json;
	return status < 0 ? dispatch(&spec, &w, argc - first, argv + first) : status;
}
