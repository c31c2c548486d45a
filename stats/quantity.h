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
	QUANTITY_ON_FILE, /* the same, and each value is a line of a file */
	QUANTITY_VALUES, /* all values are kept */
};

/* 2 GiB; for more use a file, or statistics */
#define QUANTITY_VALUES_MAX ((size_t)1 << 28)
#define QUANTITY_NO_TIME INT64_MIN

/* What it is made from. Texts are copied. Zeros but for the name: statistics only, nothing dropped,
 * never stops. */
struct quantity_options {
	const char *name, *unit; /* unit: NULL for none */
	enum quantity_kind kind;
	const char *path; /* QUANTITY_ON_FILE */
	uint64_t drop_count; /* the first values are not counted: initial transient */
	nsec_t drop_before; /* nor what has a time before this; of quantity_add_at() */
	struct stop stop;
};

struct quantity;

/* ERR_SYS: the file; ERR_EXISTS: it is there already; ERR_NOMEM. */
int quantity_open(const struct quantity_options *w, struct quantity **out, struct err *e);
/* What is not in the file yet is written; use quantity_flush() to know. */
void quantity_free(struct quantity *q);

/*
 * The next value, and when it came: a quantity has times when its first value has one. 0 also for
 * one that is dropped. ERR_INVALID: it is not finite, and counted as such; ERR_LIMIT, ERR_NOMEM,
 * ERR_SYS: it is not in the quantity (the file may have it).
 */
int quantity_add(struct quantity *q, double v);
int quantity_add_at(struct quantity *q, nsec_t time, double v);

/*
 * Leaves values out afterwards, and recomputes; they count as dropped. ERR_INVALID: they are not
 * kept. ERR_NOMEM. O(n), quantity_trim() O(n log n).
 */
int quantity_drop_ends(struct quantity *q, size_t first, size_t last);
int quantity_trim(struct quantity *q, size_t least,
		  size_t greatest); /* outliers: that many of them */
/* Outliers: what lies more than `fence` times q3 - q1 outside of the quartiles q1 and q3 (Tukey
 * 1977: 1.5, or 3). */
int quantity_trim_beyond(struct quantity *q, double fence);
/*
 * The initial transient, found by MSER-5 (stats/series.h). ERR_NOTFOUND: they have not settled;
 * nothing is dropped then.
 */
int quantity_drop_transient(struct quantity *q, struct err *e);

/* All that was added is in the file; else ERR_SYS. 0 for the other kinds. Blocks until the kernel
 * has it. */
int quantity_flush(struct quantity *q, struct err *e);

/*
 * As if from's values had been added after q's. ERR_INVALID: q has to have values, which from does
 * not keep in memory; ERR_LIMIT, ERR_NOMEM, ERR_SYS: some of them were added.
 */
int quantity_merge(struct quantity *q, const struct quantity *from, struct err *e);

/* The stop rule holds. Cheap. */
bool quantity_is_done(const struct quantity *q);

/* The interval of independent values; for dependent ones use that of batches. */
struct interval quantity_interval(const struct quantity *q, double level);
struct interval quantity_interval_of_batches(const struct quantity *q, double level);
enum dependence quantity_dependence(const struct quantity *q);

/*
 * 0 <= p <= 1; the median is at 0.5. With all values kept it is exact: the linear interpolation
 * between the values around place p * (n - 1). Else it is within *error (may be NULL). NaN without
 * values, or without memory. O(n log n) once after values were added, when they are kept.
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
/* In the order in which they came; NULL and 0 when they are not kept. Valid until the next
 * change. */
const double *quantity_values(const struct quantity *q, size_t *n);
uint64_t quantity_dropped(const struct quantity *q); /* as a transient, or as outliers */
uint64_t quantity_not_finite(const struct quantity *q);

#endif
