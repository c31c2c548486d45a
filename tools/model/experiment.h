/* SPDX-License-Identifier: Apache-2.0 */
/* omig model experiment: the tables of Rolia and Vetland 1995, beside their printed figures. */
#ifndef TOOLS_MODEL_EXPERIMENT_H
#define TOOLS_MODEL_EXPERIMENT_H

#include "common/base/buf.h"
#include "common/cli/progress.h"
#include "model/experiment/study.h"

#define EXPERIMENT_MAX_BYTES (16 << 20)

struct experiment_options {
	struct study base; /* factors that the user may set */
	bool has_services, has_law, has_replications; /* the user has set these */
	bool is_fit; /* try all settings */
	bool json, csv;
	const char *output;
	uint64_t services, periods, replications, cut; /* as given */
	unsigned count, credit;
	struct progress progress;
};

int experiment_law(void *into, const char *text, struct err *e); /* into a struct law */
int experiment_service(void *into, const char *text, struct err *e);

/* long: one row for each factor */
#define EXPERIMENT_OPTIONS(w)                                                                   \
	OPTION_RANGE("services", 0, "N", "experiment: services (default 3, 5 and 10)", OPT_U64, \
		     &(w)->services, 1, SERVER_SERVICES_MAX),                                   \
		OPTION_CALL("service", 0, "LAW",                                                \
			    "experiment: distribution of service times: constant, "             \
			    "exponential, erlang(K), normal(CV), lognormal(CV), "               \
			    "hyperexponential(CV)",                                             \
			    w, experiment_service),                                             \
		OPTION("mean", 0, "TIME", "experiment: of the first service (default 3)",       \
		       OPT_DOUBLE, &(w)->base.server.mean),                                     \
		OPTION("growth", 0, "F", "experiment: mean of each next service (default 1.8)", \
		       OPT_DOUBLE, &(w)->base.server.mean_growth),                              \
		OPTION("utilisation", 0, "U", "experiment: of the server (default 0.75)",       \
		       OPT_DOUBLE, &(w)->base.server.utilisation),                              \
		OPTION("rate-growth", 0, "F",                                                   \
		       "experiment: rate of arrival of each next service "                      \
		       "(default 0.6)",                                                         \
		       OPT_DOUBLE, &(w)->base.server.rate_growth),                              \
		OPTION_CALL("arrival", 0, "LAW",                                                \
			    "experiment: distribution of times between arrivals "               \
			    "(default exponential)",                                            \
			    &(w)->base.server.arrival, experiment_law),                         \
		OPTION("period", 0, "TIME", "experiment: length of a period (default 10000)",   \
		       OPT_DOUBLE, &(w)->base.server.period),                                   \
		OPTION_RANGE("periods", 0, "N", "experiment: periods (default 50)", OPT_U64,    \
			     &(w)->periods, 1, SERVER_PERIODS_MAX),                             \
		OPTION_RANGE("cut", 0, "N",                                                     \
			     "experiment: measure each period as N equal ones (default 1)",     \
			     OPT_U64, &(w)->cut, 1, STUDY_CUT_MAX),                             \
		OPTION_RANGE("replications", 0, "N",                                            \
			     "experiment: of each cell (default 100); table1: "                 \
			     "experiments (default 20)",                                        \
			     OPT_U64, &(w)->replications, 2, STUDY_REPLICATIONS_MAX),           \
		OPTION("count", 0, "begin|arrival|end",                                         \
		       "experiment: the moment at which a request counts "                      \
		       "(default begin)",                                                       \
		       OPT_CHOICE, &(w)->count),                                                \
		OPTION("credit", 0, "use|end|begin",                                            \
		       "experiment: the period of busy time: its own, or that of "              \
		       "the end or begin of the request (default use)",                         \
		       OPT_CHOICE, &(w)->credit),                                               \
		OPTION("fit", 0, NULL,                                                          \
		       "experiment: compare the printed table2 with all settings "              \
		       "that the text leaves open",                                             \
		       OPT_FLAG, &(w)->is_fit),                                                 \
		OPTION("output", 'o', "FILE",                                                   \
		       "experiment: as named .svg, .csv or .json; convert: .lqn or .lqnx; "     \
		       "observe: periods as CSV, a file for each of several processes "         \
		       "(replaced only when complete)",                                         \
		       OPT_STR, &(w)->output)

/* Sets the factors of the basic case. */
void experiment_init(struct experiment_options *w);

/* table: "table1" or "table2". Returns an exit status. */
int experiment_show(struct experiment_options *w, const char *table);

/* --- for its parts */

/* Checks s, and runs all its replications; shows progress. Returns an exit status, after a message.
 */
int experiment_run(struct experiment_options *w, const struct study *s, const char *what,
		   struct study_result *out);

/* Writes the factors as members of an open JSON object. */
struct json;
void experiment_factors(const struct study *s, struct json *j);

/* Writes a probability: 0.05, 4e-65, "<1e-99"; "-" for NaN. Returns out. */
#define EXPERIMENT_P_BYTES 16
char *experiment_p(char out[EXPERIMENT_P_BYTES], double p);

/* Writes a comma and a number as a cell of CSV; an empty one for NaN. */
void experiment_csv(struct buf *out, double v);

/* Writes the output as text, CSV, JSON, and to w->output. Returns an exit status. */
struct experiment_form {
	void (*text)(const void *results, struct buf *out);
	void (*csv)(const void *results, struct buf *out);
	void (*json)(const void *results, struct json *j);
	void (*svg)(const void *results, struct buf *out);
	const void *results;
};
int experiment_write(const struct experiment_options *w, const struct experiment_form *f);

int experiment_table1(struct experiment_options *w);
int experiment_table2(struct experiment_options *w);
int experiment_fit(struct experiment_options *w);

#endif
