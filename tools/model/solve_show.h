/* SPDX-License-Identifier: Apache-2.0 */
/* omig model solve and what-if: a layered model at its load, and at others. */
#ifndef TOOLS_MODEL_SOLVE_SHOW_H
#define TOOLS_MODEL_SOLVE_SHOW_H

#include "common/base/err.h"
#include "model/layered/layered.h"
#include "tools/model/demands.h"
#include "tools/model/simulate_show.h"

struct vary {
	char task[LAYERED_NAME_BYTES]; /* whose threads change; "" for none */
	unsigned from, to, step;
};

struct solve_options {
	struct vary vary;
	double until; /* a response time; 0: none */
	bool is_checked; /* by simulation */
	struct simulate_request simulate;
	double level; /* of intervals that follow from those of demands */
	bool json, csv;
};

#define SOLVE_OPTIONS(s)                                                                           \
	OPTION_CALL("vary", 0, "TASK=FROM..TO[:STEP]",                                             \
		    "what-if: the clients or threads of a task", &(s)->vary, vary_option),         \
		OPTION("until", 0, "TIME|RULE",                                                    \
		       "what-if: end where the response of the clients is longer; simulate: "      \
		       "the stop rule (default ci(0.95, batches) < 1%)",                           \
		       OPT_STR, &(s)->simulate.until),                                             \
		OPTION("check", 0, NULL, "solve: simulate too, and show the difference", OPT_FLAG, \
		       &(s)->is_checked),                                                          \
		SIMULATE_REQUEST_OPTIONS(&(s)->simulate)

#define VARY_POINTS_MAX 10000

/* "client=1..500:10" as an option; into is a struct vary. ERR_INVALID. */
int vary_option(void *into, const char *text, struct err *e);

/* path: "-" is the standard input. Return an exit status. */
int solve_show(const struct solve_options *w, const char *path);
int what_if_show(const struct solve_options *w, const char *path);

#endif
