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
#include "stats/stats.h"
#include "stats/batches.h"
#include "stats/interval.h"
#include "stats/moments.h"
#include "stats/stop.h"

#include <stddef.h>

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

/* ERR_SYS: the file; ERR_EXISTS: it exists already; ERR_NOMEM. */
int quantity_open(const struct quantity_options *w, struct quantity **out, struct err *e);
/* Writes the rest to the file; use quantity_flush() to detect errors. */
void quantity_free(struct quantity *q);

/*
 * quantity_add() with a time: a quantity has times if its first value has one. ERR_INVALID: it is
 * not finite; ERR_LIMIT, ERR_NOMEM, ERR_SYS: it is not in the quantity (the file may have it).
 */
int quantity_add_at(struct quantity *q, nsec_t time, double v);

void quantity_set_stop(struct quantity *q, const struct stop *s);

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

/* Returns the interval for independent values; for dependent ones use that of batches. */
struct interval quantity_interval(const struct quantity *q, double level);
struct interval quantity_interval_of_batches(const struct quantity *q, double level);
enum dependence quantity_dependence(const struct quantity *q);

/* Borrowed. */
enum quantity_kind quantity_kind(const struct quantity *q);
const struct moments *quantity_moments(const struct quantity *q);
const struct batches *quantity_batches(const struct quantity *q);
const struct sketch *quantity_sketch(const struct quantity *q);
const struct stop *quantity_stop(const struct quantity *q);
uint64_t quantity_not_finite(const struct quantity *q);

#endif
