/* SPDX-License-Identifier: Apache-2.0 */
/* omig model estimate: demands of services from a file of periods. */
#ifndef TOOLS_MODEL_ESTIMATE_SHOW_H
#define TOOLS_MODEL_ESTIMATE_SHOW_H

#include "model/estimate/estimate.h"

struct estimate_options {
	enum estimate_method method; /* ESTIMATE_METHODS: the best that the columns permit */
	double level;
	bool compare; /* all methods */
	bool json, csv;
};

/* method: an unsigned, the place of the word; ESTIMATE_METHODS without the option */
#define ESTIMATE_OPTIONS(w, method)                                                             \
	OPTION("method", 0, "ols|nnls|half|gls|constant|elapsed",                               \
	       "estimate: the method (default: the best that the columns permit); "             \
	       "experiment: default ols",                                                       \
	       OPT_CHOICE, method),                                                             \
		OPTION("compare", 0, NULL, "estimate: the demands of all methods side by side", \
		       OPT_FLAG, &(w)->compare)

/* path: "-" is the standard input. Returns an exit status. */
int estimate_show(const struct estimate_options *w, const char *path);

#endif
