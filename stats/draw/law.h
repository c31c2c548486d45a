/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shape of a distribution of positive values: what is left of it when its mean is 1. A value of
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
	LAW_HYPEREXPONENTIAL, /* of two branches with balanced means, cv > 1 */
};

#define LAW_STAGES_MAX 1000 /* the cv is then 0.03, and a draw costs 10 us */
#define LAW_CV_MAX 100 /* means of less spread are unusable already */
#define LAW_NORMAL_CV_MAX 1 /* beyond it a sixth of all draws would be refused */

struct law {
	enum law_kind kind;
	double cv; /* of the shape, before values <= 0 are drawn again */
	unsigned stages; /* of LAW_ERLANG */
};

/* ERR_PARSE for an unknown word, ERR_INVALID for a number out of range; the remedy is in the text.
 */
int law_parse(const char *text, struct law *out, struct err *e);

/* Prints a text that reads back as l. */
void law_print(const struct law *l, struct buf *out);

double law_draw(const struct law *l, struct rng *r);

#endif
