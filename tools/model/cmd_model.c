/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/model/cmd_model.h"

#include "common/base/str.h"
#include "tools/model/estimate_show.h"
#include "tools/model/experiment.h"
#include "tools/model/solve_show.h"
#include "tools/term/say.h"

#include <stdio.h>
#include <string.h>

struct model_options {
	struct experiment_options experiment;
	struct estimate_options estimate;
	struct solve_options solve;
	uint64_t services, periods, replications, cut;
	unsigned method, count, credit;
	double level;
	bool json, csv;
};

static const char verbs[] = "estimate solve what-if experiment";

static const char details[] =
	"`estimate FILE.csv` estimates how much of a resource, such as CPU time, one call of each "
	"service of a process needs. FILE has a line for each period: the busy time of the process, "
	"and how often each service began and completed. `solve FILE.lqn` shows throughput, response and bottleneck of a layered model. `what-if` repeats that for other numbers of clients or threads. `experiment table1` and `experiment "
	"table2` repeat the simulations of Rolia and Vetland (1995), and compare their results "
	"with the printed figures.";

static int set_law(void *into, const char *text, struct err *e)
{
	return law_parse(text, into, e);
}

static int set_service(void *into, const char *text, struct err *e)
{
	struct experiment_options *w = into;

	w->has_law = true;
	return law_parse(text, &w->base.server.service, e);
}

static int run_experiment(const struct opt_spec *spec, struct model_options *w, int argc,
			  char **argv)
{
	struct experiment_options *x = &w->experiment;

	if (argc != 1 || (!str_eq(argv[0], "table1") && !str_eq(argv[0], "table2")))
		return cmd_usage(spec, "experiment: table1 or table2");
	if (x->is_fit && str_eq(argv[0], "table1"))
		return cmd_usage(spec, "--fit is for table2");
	x->has_services = w->services > 0;
	if (w->services)
		x->base.server.services = (unsigned)w->services;
	x->has_replications = w->replications > 0;
	if (w->replications)
		x->base.replications = (unsigned)w->replications;
	x->base.server.periods = (unsigned)w->periods;
	x->base.cut = (unsigned)w->cut;
	x->base.server.count = (enum server_count)w->count;
	x->base.server.credit = (enum server_credit)w->credit;
	x->base.method =
		w->method < ESTIMATE_METHODS ? (enum estimate_method)w->method : ESTIMATE_OLS;
	x->base.level = w->level;
	x->json = w->json;
	x->csv = w->csv;
	return experiment_show(x, argv[0]);
}

static int run_estimate(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	if (argc != 1)
		return cmd_usage(spec, "estimate: one file, or - for the standard input");
	w->estimate.method = (enum estimate_method)w->method;
	w->estimate.level = w->level;
	w->estimate.json = w->json;
	w->estimate.csv = w->csv;
	return estimate_show(&w->estimate, argv[0]);
}

static int run_solve(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	bool is_sweep = str_eq(argv[0], "what-if");

	if (argc != 2)
		return cmd_usage(spec, "%s: one file, or - for the standard input", argv[0]);
	if (is_sweep && !w->solve.vary.task[0])
		return cmd_usage(spec, "what-if: --vary TASK=FROM..TO");
	if (!is_sweep && (w->solve.vary.task[0] || w->solve.until > 0))
		return cmd_usage(spec, "--vary and --until are for what-if");
	if (w->solve.until < 0)
		return cmd_usage(spec, "--until: a time above 0");
	w->solve.json = w->json;
	w->solve.csv = w->csv;
	return is_sweep ? what_if_show(&w->solve, argv[1]) : solve_show(&w->solve, argv[1]);
}

static int dispatch(const struct opt_spec *spec, struct model_options *w, int argc, char **argv)
{
	if (w->json && w->csv)
		return cmd_usage(spec, "--json or --csv, not both");
	if (!(w->level >= 0.5 && w->level <= 0.9999))
		return cmd_usage(spec, "--level: a number from 0.5 to 0.9999");
	if (argc && str_eq(argv[0], "experiment"))
		return run_experiment(spec, w, argc - 1, argv + 1);
	if (argc && str_eq(argv[0], "estimate"))
		return run_estimate(spec, w, argc - 1, argv + 1);
	if (argc && (str_eq(argv[0], "solve") || str_eq(argv[0], "what-if")))
		return run_solve(spec, w, argc, argv);
	return cmd_usage_verb(spec, argc ? argv[0] : NULL);
}

/* long: one row for each option */
int cmd_model(int argc, char **argv)
{
	struct model_options w = {
		.periods = server_basic.periods, .cut = 1, .method = ESTIMATE_METHODS, .level = 0.9
	};
	struct experiment_options *x = &w.experiment;
	struct server *s = &x->base.server;
	const struct opt table[] = {
		OPTION("method", 0, "ols|nnls|half|gls|constant|elapsed",
		       "estimate: the method (default: the best that the columns permit); "
		       "experiment: default ols",
		       OPT_CHOICE, &w.method),
		OPTION_CALL("vary", 0, "TASK=FROM..TO[:STEP]",
			    "what-if: the clients or threads of a task", &w.solve.vary,
			    vary_option),
		OPTION("until", 0, "TIME",
		       "what-if: end where the response of the clients is longer", OPT_DOUBLE,
		       &w.solve.until),
		OPTION("compare", 0, NULL, "estimate: the demands of all methods side by side",
		       OPT_FLAG, &w.estimate.compare),
		OPTION("level", 0, "P", "of the intervals of demands (default 0.9)", OPT_DOUBLE,
		       &w.level),
		OPTION_RANGE("services", 0, "N", "experiment: services (default 3, 5 and 10)",
			     OPT_U64, &w.services, 1, SERVER_SERVICES_MAX),
		OPTION_CALL("service", 0, "LAW",
			    "experiment: distribution of service times: constant, exponential, "
			    "erlang(K), normal(CV), lognormal(CV), hyperexponential(CV)",
			    x, set_service),
		OPTION("mean", 0, "TIME", "experiment: of the first service (default 3)",
		       OPT_DOUBLE, &s->mean),
		OPTION("growth", 0, "F", "experiment: mean of each next service (default 1.8)",
		       OPT_DOUBLE, &s->mean_growth),
		OPTION("utilisation", 0, "U", "experiment: of the server (default 0.75)",
		       OPT_DOUBLE, &s->utilisation),
		OPTION("rate-growth", 0, "F",
		       "experiment: rate of arrival of each next service (default 0.6)", OPT_DOUBLE,
		       &s->rate_growth),
		OPTION_CALL("arrival", 0, "LAW",
			    "experiment: distribution of times between arrivals (default "
			    "exponential)",
			    &s->arrival, set_law),
		OPTION("period", 0, "TIME", "experiment: length of a period (default 10000)",
		       OPT_DOUBLE, &s->period),
		OPTION_RANGE("periods", 0, "N", "experiment: periods (default 50)", OPT_U64,
			     &w.periods, 1, SERVER_PERIODS_MAX),
		OPTION_RANGE("cut", 0, "N",
			     "experiment: measure each period as N equal ones (default 1)", OPT_U64,
			     &w.cut, 1, STUDY_CUT_MAX),
		OPTION_RANGE("replications", 0, "N",
			     "experiment: of each cell (default 100); table1: experiments (default "
			     "20)",
			     OPT_U64, &w.replications, 2, STUDY_REPLICATIONS_MAX),
		OPTION("count", 0, "begin|arrival|end",
		       "experiment: the moment at which a request counts (default begin)",
		       OPT_CHOICE, &w.count),
		OPTION("credit", 0, "use|end|begin",
		       "experiment: the period of busy time: its own, or that of the end or begin "
		       "of the request (default use)",
		       OPT_CHOICE, &w.credit),
		OPTION("fit", 0, NULL,
		       "experiment: compare the printed table2 with all settings that the text "
		       "leaves open",
		       OPT_FLAG, &x->is_fit),
		OPTION_RANGE("seed", 0, "N", "experiment: of the random numbers (default 1)",
			     OPT_U64, &x->base.seed, 0, INT64_MAX),
		OPTION("output", 'o', "FILE",
		       "experiment: as named .svg, .csv or .json (replaced only when complete)",
		       OPT_STR, &x->output),
		OPTION("csv", 0, NULL, "write CSV", OPT_FLAG, &w.csv),
		OPTION("json", 'j', NULL, "write JSON", OPT_FLAG, &w.json),
		{ 0 },
	};
	const struct opt_spec spec = {
		.program = "omig model",
		.verbs = verbs,
		.usage =
			"estimate [OPTION...] FILE.csv|solve FILE.lqn|what-if --vary TASK=FROM..TO FILE.lqn|experiment [OPTION...] table1|table2",
		.summary = "estimates demands of services, and solves models of systems",
		.details = details,
		.table = table,
	};
	int first, status;

	experiment_init(x);
	status = cmd_parse(&spec, argc, argv, &first);
	return status < 0 ? dispatch(&spec, &w, argc - first, argv + first) : status;
}
