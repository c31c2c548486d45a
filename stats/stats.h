/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities for handlers of <omig/neko.h>: values, added one by one, with their statistics. A
 * quantity has one of three kinds, as in NekoStat (Falai, Bondavalli and Di Giandomenico, 2004,
 * 3.1). QUANTITY_STATISTICS is QuantityOnlyStat, QUANTITY_ON_FILE is QuantityDataOnFile, and
 * QUANTITY_VALUES is Quantity. docs/stats.md has the formulas and their sources.
 *
 * neko_quantity() makes one; the run owns it. One thread uses a quantity at a time, and no signal
 * handler. Statistics that are undefined, such as the mean of no values, are NaN. Functions of type
 * int return 0, or a number below 0 after a failure, which leaves the quantity unchanged.
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
	QUANTITY_STATISTICS, /* constant memory, about 8 KiB */
	QUANTITY_ON_FILE, /* as above, and each value is a line of a file */
	QUANTITY_VALUES, /* all values are stored, 8 bytes each */
};

struct quantity;
struct err; /* an error, whose text <omig/neko.h> returns; NULL is accepted */

/* --- values */

/*
 * Adds the next value. Returns 0 also for a dropped value. Fails if the value is not finite (which
 * is counted), without memory, or if the file cannot be written.
 */
int quantity_add(struct quantity *q, double v);

/* Removes all values, for example before another run. Lines in a file remain. */
void quantity_clear(struct quantity *q);

/*
 * Remove values of the kind VALUES and recompute the statistics. quantity_drop_ends() removes the
 * first and last values as transients, quantity_trim() the least and the greatest ones.
 * quantity_trim_beyond() removes values more than `fence` interquartile ranges outside of the
 * quartiles (Tukey 1977: 1.5, or 3).
 */
int quantity_drop_ends(struct quantity *q, size_t first, size_t last);
int quantity_trim(struct quantity *q, size_t least, size_t greatest);
int quantity_trim_beyond(struct quantity *q, double fence);

/* Removes the initial transient that MSER-5 finds. Fails if the values have not settled. */
int quantity_drop_transient(struct quantity *q, struct err *e);

/* --- stop conditions: a quantity has one, the last that was set */

/* Stops after n values. */
void quantity_stop_after(struct quantity *q, uint64_t n);

/*
 * Stops when half the confidence interval of the mean is at most `width` times the mean. `level` is
 * that of the interval, as in (0.95, 0.05). At least 30 values are needed. Fails if the numbers are
 * out of range.
 */
int quantity_stop_on_interval(struct quantity *q, double level, double width, struct err *e);

/* Sets a rule as text, in the form of `stat.stop`: "ci(0.95, printed) < 5% and n >= 100". */
int quantity_stop_on(struct quantity *q, const char *rule, struct err *e);

/* True if the stop condition is fulfilled; false without one. Cheap. */
bool quantity_is_done(const struct quantity *q);

/* --- statistics */

const char *quantity_name(const struct quantity *q);
const char *quantity_unit(const struct quantity *q); /* Returns "" if there is none. */
uint64_t quantity_count(const struct quantity *q);
/* values dropped as a transient or as outliers */
uint64_t quantity_dropped(const struct quantity *q);
double quantity_mean(const struct quantity *q);
double quantity_variance(const struct quantity *q); /* divided by n - 1 */
double quantity_deviation(const struct quantity *q);
double quantity_min(const struct quantity *q);
double quantity_max(const struct quantity *q);
double quantity_skewness(const struct quantity *q);
double quantity_kurtosis(const struct quantity *q); /* 0 for normal values */
/* Returns half the confidence interval of the mean, by Student's t. */
double quantity_half(const struct quantity *q, double level);

/*
 * Returns a quantile, 0 <= p <= 1; the median is at 0.5. It is exact for the kind VALUES, and
 * otherwise within *error, which may be NULL.
 */
double quantity_quantile(struct quantity *q, double p, double *error);

/*
 * Return statistics of pairs of values of two quantities of the kind VALUES. NaN for another kind,
 * or different lengths.
 */
double quantity_covariance(const struct quantity *x, const struct quantity *y);
double quantity_correlation(const struct quantity *x, const struct quantity *y);

/*
 * Returns the values in their order; NULL and n = 0 if they are not stored. Valid until a change.
 */
const double *quantity_values(const struct quantity *q, size_t *n);

/*
 * Writes the statistics to a file, as lines `name   value`: number, mean with its interval,
 * deviation, least, greatest, quantiles. The file is replaced. Blocks until it is written. On
 * failure e has the reason.
 */
int quantity_export(struct quantity *q, const char *path, struct err *e);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
