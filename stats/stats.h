/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities for handlers of <omig/neko.h>: values of one thing, one by one, with their statistics.
 * A quantity has one of three kinds, as in NekoStat (Falai, Bondavalli and Di Giandomenico, 2004,
 * 3.1). QUANTITY_STATISTICS is QuantityOnlyStat, QUANTITY_ON_FILE is QuantityDataOnFile, and
 * QUANTITY_VALUES is Quantity. docs/stats.md has the formulas and their sources.
 *
 * neko_quantity() makes one; the run owns it. One thread uses a quantity at a time, and no signal
 * handler. Statistics that are undefined, such as the mean of no values, are NaN. A function that
 * returns int returns 0, or a number below 0 for a failure; then the quantity is as before.
 */
#ifndef STATS_STATS_H
#define STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

enum quantity_kind {
	QUANTITY_STATISTICS, /* constant memory, some 8 KiB */
	QUANTITY_ON_FILE, /* as above, and each value is a line of a file */
	QUANTITY_VALUES, /* all values are kept, 8 bytes each */
};

struct quantity;
struct err; /* the text of an error: <omig/neko.h>; NULL is accepted */

/* --- values */

/*
 * Adds the next value. Returns 0 also for a dropped value. Not 0: it is not finite (and counted as
 * such), there is no memory, or the file cannot be written.
 */
int quantity_add(struct quantity *q, double v);

/* Removes all values, at the begin of another run for example. A file keeps its lines. */
void quantity_clear(struct quantity *q);

/*
 * Remove values of the kind VALUES afterwards, and recompute: the first and last ones as initial
 * and final transient; that many of the least and of the greatest as outliers; or those that are
 * more than `fence` times the distance of the quartiles outside of them (Tukey 1977: 1.5, or 3).
 */
int quantity_drop_ends(struct quantity *q, size_t first, size_t last);
int quantity_trim(struct quantity *q, size_t least, size_t greatest);
int quantity_trim_beyond(struct quantity *q, double fence);

/* The same for the initial transient that MSER-5 finds. Not 0: the values have not settled. */
int quantity_drop_transient(struct quantity *q, struct err *e);

/* --- stop conditions: of one quantity, the last one set counts */

/* After n values. */
void quantity_stop_after(struct quantity *q, uint64_t n);

/*
 * When half the confidence interval of the mean, of this level, is at most this share of the mean:
 * (0.95, 0.05). At least 30 values. Not 0: the numbers are out of range.
 */
int quantity_stop_on_interval(struct quantity *q, double level, double width, struct err *e);

/* As the text of `stat.stop` says: "ci(0.95, printed) < 5% and n >= 100". */
int quantity_stop_on(struct quantity *q, const char *rule, struct err *e);

/* True if the stop condition is fulfilled; without one always false. Cheap. */
bool quantity_is_done(const struct quantity *q);

/* --- statistics */

const char *quantity_name(const struct quantity *q);
const char *quantity_unit(const struct quantity *q); /* "" for none */
uint64_t quantity_count(const struct quantity *q);
uint64_t quantity_dropped(const struct quantity *q); /* as a transient, or as outliers */
double quantity_mean(const struct quantity *q);
double quantity_variance(const struct quantity *q); /* with n - 1 */
double quantity_deviation(const struct quantity *q);
double quantity_min(const struct quantity *q);
double quantity_max(const struct quantity *q);
double quantity_skewness(const struct quantity *q);
double quantity_kurtosis(const struct quantity *q); /* 0 for normal values */
/* Half the confidence interval of the mean, by Student's t. */
double quantity_half(const struct quantity *q, double level);

/*
 * Returns a quantile, 0 <= p <= 1; the median is at 0.5. Of the kind VALUES it is exact. Else it is
 * within *error, which may be NULL.
 */
double quantity_quantile(struct quantity *q, double p, double *error);

/* Pairs values of two quantities of the kind VALUES. NaN: another kind, or other lengths. */
double quantity_covariance(const struct quantity *x, const struct quantity *y);
double quantity_correlation(const struct quantity *x, const struct quantity *y);

/* Returns the values in their order; NULL and 0 if they are not kept. Valid until a change. */
const double *quantity_values(const struct quantity *q, size_t *n);

/*
 * Writes the statistics to a file, as lines `name   value`: number, mean with its interval,
 * deviation, least, greatest, quantiles. The file is replaced. Blocks for the disk. Not 0: e has
 * the reason.
 */
int quantity_export(struct quantity *q, const char *path, struct err *e);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
