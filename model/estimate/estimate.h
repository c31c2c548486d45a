/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demands of services, estimated from periods (Rolia and Vetland 1995, section 5): the response of
 * a period is about the sum over services of demand by count, without an intercept. The methods
 * differ in what they make of requests that begin in one period and end in another.
 */
#ifndef MODEL_ESTIMATE_ESTIMATE_H
#define MODEL_ESTIMATE_ESTIMATE_H

#include "model/estimate/periods.h"

enum estimate_method {
	ESTIMATE_OLS, /* least squares on counts at the begin: the paper's */
	ESTIMATE_NNLS, /* the same, no demand below 0 */
	ESTIMATE_HALF, /* least squares on the mean of begun and completed */
	/*
	 * Generalised least squares with the requests at the ends of periods as part of the model:
	 * which service was in service follows from begun and completed. One thread.
	 */
	ESTIMATE_GLS,
	/* Every request of a service takes the same time: a linear programme. One thread. */
	ESTIMATE_CONSTANT,
	/* How long the request at the end has been in service is known, so that no end is left. */
	ESTIMATE_ELAPSED,
	ESTIMATE_METHODS
};

/* Returns the word for options: "ols", "nnls", "half", "gls", "constant", "elapsed". */
const char *estimate_name(enum estimate_method m);

/* Returns what the method assumes, for people: "least squares on counts at the begin". */
const char *estimate_words(enum estimate_method m);

enum estimate_state {
	ESTIMATE_KNOWN,
	ESTIMATE_NEVER_CALLED,
	ESTIMATE_INSEPARABLE, /* it always comes in a fixed ratio with others: see `with` */
};

struct estimate_service {
	enum estimate_state state;
	double demand; /* NaN: unknown, as are the next */
	double low, high; /* of the interval; NaN: none */
	bool is_at_bound; /* held at 0 */
	unsigned group; /* of inseparable services, from 1 */
};

struct estimate {
	enum estimate_method method;
	double level; /* of the intervals; 1: sure bounds (ESTIMATE_CONSTANT) */
	size_t n, k; /* periods used, services estimated */
	double df; /* degrees of freedom */
	double condition; /* of the columns at length 1: above 30 they are hard to separate */
	double deviation; /* of the residual of a period; NaN without a regression, as the next */
	double explained; /* share of the sum of squares of the responses, from 0 to 1 */
	double cv; /* of the service time, as far as the method estimates it; NaN */
	struct estimate_service service[LEAST_COLUMNS_MAX];
};

#define ESTIMATE_CONDITION_HARD 30 /* Belsley, Kuh and Welsch 1980 */
#define ESTIMATE_SPARE_MIN 3 /* periods beyond the services, for an interval of some use */

/*
 * Estimates all services of p. level: of the intervals, 0.9 for 90 %. ERR_INVALID: fewer periods
 * than services, or the assumption of the method does not hold; ERR_UNSUPPORTED: a column that the
 * method needs is missing; ERR_NOMEM.
 */
int estimate(const struct periods *p, enum estimate_method m, double level, struct estimate *out,
	     struct err *e);

/*
 * Estimates by the method that makes most of the counts. Sets *why to the reason. ERR_INVALID: none
 * applies.
 */
int estimate_best(const struct periods *p, double level, struct estimate *out, const char **why,
		  struct err *e);

#endif
