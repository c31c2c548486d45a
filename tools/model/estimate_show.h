/* SPDX-License-Identifier: Apache-2.0 */
/* omig model estimate: demands of services from a file of periods. */
#ifndef TOOLS_MODEL_ESTIMATE_SHOW_H
#define TOOLS_MODEL_ESTIMATE_SHOW_H

#include "common/base/buf.h"
#include "common/json/json.h"
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

struct estimate_shown {
	const struct estimate_options *options;
	const struct periods *periods;
	const char *reason; /* for this method; NULL: the user chose it */
	struct estimate est;
};

/* Estimates by the method of the options, or by the best one. As estimate(). */
int estimate_run(struct estimate_shown *t, struct err *e);

/* Writes the answer, warnings, a table, and the method. */
void estimate_put_text(const struct estimate_shown *t, struct buf *out);
/* Writes an object. */
void estimate_put_json(const struct estimate_shown *t, struct json *j);

/* path: "-" is the standard input. Returns an exit status. */
int estimate_show(const struct estimate_options *w, const char *path);

#endif
