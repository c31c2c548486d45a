/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quantity: values of one thing that was measured or simulated, one by one, and their statistics.
 * It has NekoStat's three kinds. All have, in constant memory:
 *
 * - the mean and higher moments
 * - an interval of the mean
 * - the serial correlation
 * - a stop rule
 * - quantiles within a bound
 *
 * With all values kept quantiles are exact, and what needs the values works: see stats/series.h.
 */
#ifndef STATS_QUANTITY_H
#define STATS_QUANTITY_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "stats/sketch.h"
#include "stats/batches.h"
#include "stats/interval.h"
#include "stats/moments.h"
#include "stats/stop.h"

#include <stddef.h>

enum quantity_kind {
	QUANTITY_STATISTICS, /* constant memory, some 8 KiB */
	QUANTITY_ON_FILE, /* as above, and each value is a line of a file */
	QUANTITY_VALUES, /* all values are kept */
};

/* 2 GiB; for more use a file, or statistics */
#define QUANTITY_VALUES_MAX ((size_t)1 << 28)
#define QUANTITY_NO_TIME INT64_MIN

/*
 * Options of a quantity. Texts are copied. Zeros except the name: statistics only, nothing dropped,
 * never stops.
 */
struct quantity_options {
	const char *name, *unit; /* unit: NULL for none */
	enum quantity_kind kind;
	const char *path; /* QUANTITY_ON_FILE */
	uint64_t drop_count; /* the first values are not counted: initial transient */
	nsec_t drop_before; /* values before this time are dropped; for quantity_add_at() */
	struct stop stop;
};

struct quantity;

/* ERR_SYS: the file; ERR_EXISTS: it exists already; ERR_NOMEM. */
int quantity_open(const struct quantity_options *w, struct quantity **out, struct err *e);
/* Writes the rest to the file; use quantity_flush() to detect errors. */
void quantity_free(struct quantity *q);

/*
 * Adds the next value, and its time: a quantity has times if its first value has one. Returns 0
 * also for a dropped value. ERR_INVALID: it is not finite, and counted as such; ERR_LIMIT,
 * ERR_NOMEM, ERR_SYS: it is not in the quantity (the file may have it).
 */
int quantity_add(struct quantity *q, double v);
int quantity_add_at(struct quantity *q, nsec_t time, double v);

/*
 * Removes values afterwards, and recomputes; they count as dropped. ERR_INVALID: values are not
 * stored. ERR_NOMEM. O(n), quantity_trim() O(n log n).
 */
int quantity_drop_ends(struct quantity *q, size_t first, size_t last);
int quantity_trim(struct quantity *q, size_t least,
		  size_t greatest); /* outliers: that many of them */
/*
 * Removes outliers: values more than `fence` times q3 - q1 outside of the quartiles q1 and q3
 * (Tukey 1977: 1.5, or 3).
 */
int quantity_trim_beyond(struct quantity *q, double fence);
/*
 * Removes the initial transient, found by MSER-5 (stats/series.h). ERR_NOTFOUND: the values have
 * not settled; nothing is dropped then.
 */
int quantity_drop_transient(struct quantity *q, struct err *e);

/*
 * Writes all values to the file; else ERR_SYS. 0 for the other kinds. Blocks until the kernel has
 * them.
 */
int quantity_flush(struct quantity *q, struct err *e);

/*
 * Merges as if from's values had been added after q's. ERR_INVALID: q stores values, which from
 * does not have in memory; ERR_LIMIT, ERR_NOMEM, ERR_SYS: some of them were added.
 */
int quantity_merge(struct quantity *q, const struct quantity *from, struct err *e);

/* True if the stop rule is fulfilled. Cheap. */
bool quantity_is_done(const struct quantity *q);

/* Returns the interval for independent values; for dependent ones use that of batches. */
struct interval quantity_interval(const struct quantity *q, double level);
struct interval quantity_interval_of_batches(const struct quantity *q, double level);
enum dependence quantity_dependence(const struct quantity *q);

/*
 * Returns a quantile, 0 <= p <= 1; the median is at 0.5. If all values are stored it is exact: the
 * linear interpolation between the values around position p * (n - 1). Else it is within *error
 * (may be NULL). NaN without values, or without memory. O(n log n) once after values were added, if
 * they are stored.
 */
double quantity_quantile(struct quantity *q, double p, double *error);

/* Borrowed. */
const char *quantity_name(const struct quantity *q);
const char *quantity_unit(const struct quantity *q); /* "" for none */
enum quantity_kind quantity_kind(const struct quantity *q);
const struct moments *quantity_moments(const struct quantity *q);
const struct batches *quantity_batches(const struct quantity *q);
const struct sketch *quantity_sketch(const struct quantity *q);
const struct stop *quantity_stop(const struct quantity *q);
/*
 * Returns the values in the order of arrival; NULL and 0 if they are not stored. Valid until the
 * next change.
 */
const double *quantity_values(const struct quantity *q, size_t *n);
uint64_t quantity_dropped(const struct quantity *q); /* as a transient, or as outliers */
uint64_t quantity_not_finite(const struct quantity *q);

#endif
