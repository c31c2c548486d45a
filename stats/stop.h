/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that decide whether there are enough values: conditions on their number and on the width of
 * the confidence interval, joined by `and` and `or` (`and` binds closer):
 *
 *	n >= 1000
 *	ci(0.95) < 5%
 *	ci(0.95, batches) < 0.01 and n >= 500 or n >= 100000
 *
 * With a percent sign the half-width is compared with that share of the mean, otherwise with the
 * number itself. Options follow the level in the brackets: `batches` for dependent values, `min N`,
 * and one of three readings of a percentage b:
 *
 *	law-kelton   half <= |mean| b / (1 + b)     (the default)
 *	printed      half <=  mean  b / (1 - b)
 *	plain        half <= |mean| b
 *
 * The NekoStat report prints the formula `printed`, and its text describes `plain`. The book that
 * it cites, Law and Kelton, has `law-kelton`: the computed mean is within b of the *true* mean with
 * that confidence. This reading is the strictest and implies the other two (docs/stats.md).
 */
#ifndef STATS_STOP_H
#define STATS_STOP_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "stats/batches.h"

#define STOP_TERMS_MAX 8 /* a usual rule has two or three */
/*
 * intervals of fewer values are unreliable: at a cv of 0.2, every twentieth run would stop below it
 */
#define STOP_COUNT_MIN 30

enum stop_kind { STOP_ON_COUNT, STOP_ON_INTERVAL };
enum stop_reading { STOP_LAW_KELTON, STOP_PRINTED, STOP_PLAIN };

struct stop_term {
	enum stop_kind kind;
	bool is_alternative; /* preceded by `or` */
	uint64_t count; /* for STOP_ON_COUNT */
	double level, width; /* for STOP_ON_INTERVAL; width: 0.05 for 5 % */
	bool is_relative, by_batches;
	enum stop_reading reading;
	uint64_t count_min; /* the term is false below this number of values */
	double z; /* normal quantile of the level, for a quick test */
};

/* All zeros: a rule that is never reached. */
struct stop {
	unsigned n;
	struct stop_term term[STOP_TERMS_MAX];
};

/*
 * Makes the paper's condition setStopConditionInterval(0.95, 0.05), with the reading law-kelton and
 * STOP_COUNT_MIN. The caller may change both in s->term[0]. Fails with ERR_INVALID unless level is
 * in STUDENT_LEVEL_MIN..MAX and 0 < width < 1.
 */
int stop_on_interval(struct stop *s, double level, double width, struct err *e);

/* Fails with ERR_PARSE and the column in the text, ERR_INVALID, ERR_LIMIT. */
int stop_parse(const char *text, struct stop *out, struct err *e);

/* Prints a text that stop_parse() reads back as s; nothing for a rule that is never reached. */
void stop_print(const struct stop *s, struct buf *out);

/* True if some term examines the interval. */
bool stop_has_interval(const struct stop *s);

/* True if some term uses the means of batches, which only a sequence of values has. */
bool stop_has_batches(const struct stop *s);

/*
 * Cheap enough for each value: Student's t is computed only if the test by the normal quantile
 * passes.
 */
bool stop_is_reached(const struct stop *s, const struct moments *m, const struct batches *b);

#endif
