/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a distribution of positive values: the distribution scaled to the mean 1. A value of
 * mean m is m times a draw. In texts: constant, exponential, erlang(K), normal(CV), lognormal(CV),
 * hyperexponential(CV). CV is the coefficient of variation, deviation by mean.
 */
#ifndef STATS_DRAW_LAW_H
#define STATS_DRAW_LAW_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/rng.h"

enum law_kind {
	LAW_CONSTANT,
	LAW_EXPONENTIAL,
	LAW_ERLANG, /* sum of `stages` exponential ones */
	/*
	 * Values <= 0 are drawn again (Rolia and Vetland 1995, footnote 4). For a cv above 0.3 the
	 * mean is then slightly above 1.
	 */
	LAW_NORMAL,
	LAW_LOGNORMAL,
	LAW_HYPEREXPONENTIAL, /* two branches with balanced means, cv > 1 */
};

#define LAW_STAGES_MAX 1000 /* at this number the cv is 0.03, and a draw costs 10 us */
#define LAW_CV_MAX 100 /* a mean is unusable long before this spread */
#define LAW_NORMAL_CV_MAX 1 /* beyond it, a sixth of all draws would be rejected */

struct law {
	enum law_kind kind;
	double cv; /* coefficient of variation of the shape, before values <= 0 are drawn again */
	unsigned stages; /* for LAW_ERLANG */
};

/* ERR_PARSE for an unknown word, ERR_INVALID for a number out of range; the remedy is in the text.
 */
int law_parse(const char *text, struct law *out, struct err *e);

/* Prints a text that law_parse() reads back as l. */
void law_print(const struct law *l, struct buf *out);

double law_draw(const struct law *l, struct rng *r);

#endif
