/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A quantity: measured or simulated values of one kind, added one by one, and their statistics. It
 * has NekoStat's three kinds. All have, in constant memory:
 *
 * - the mean and higher moments
 * - an interval of the mean
 * - the serial correlation
 * - a stop rule
 * - quantiles within a bound
 *
 * If all values are stored, quantiles are exact and the statistics of stats/series.h are available.
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

/* 2 GiB; for more values use a file, or statistics only */
#define QUANTITY_VALUES_MAX ((size_t)1 << 28)
#define QUANTITY_NO_TIME INT64_MIN

/*
 * Options of a quantity; texts are copied. All zeros except the name: statistics only, no dropped
 * values, no stop condition.
 */
struct quantity_options {
	const char *name, *unit; /* unit: NULL for none */
	enum quantity_kind kind;
	const char *path; /* QUANTITY_ON_FILE */
	uint64_t drop_count; /* number of first values that are not counted, as initial transient */
	nsec_t drop_before; /* values before this time are dropped; for quantity_add_at() */
	struct stop stop;
};

/* Fails with ERR_SYS for an error of the file, ERR_EXISTS if it exists already, ERR_NOMEM. */
int quantity_open(const struct quantity_options *w, struct quantity **out, struct err *e);
/* Writes the remaining values to the file, and ignores errors: quantity_flush() reports them. */
void quantity_free(struct quantity *q);

/*
 * Adds like quantity_add(), with a time. A quantity has times if its first value has one. Fails
 * with ERR_INVALID if v is not finite. After ERR_LIMIT, ERR_NOMEM and ERR_SYS v is not in the
 * quantity, but may be in the file.
 */
int quantity_add_at(struct quantity *q, nsec_t time, double v);

void quantity_set_stop(struct quantity *q, const struct stop *s);

/*
 * Writes all values to the file; fails with ERR_SYS. Returns 0 for the other kinds. Blocks until
 * the kernel has the values.
 */
int quantity_flush(struct quantity *q, struct err *e);

/*
 * Merges as if from's values had been added after q's. Fails with ERR_INVALID if q stores values
 * and `from` does not. After ERR_LIMIT, ERR_NOMEM and ERR_SYS some values were added.
 */
int quantity_merge(struct quantity *q, const struct quantity *from, struct err *e);

/* Returns the interval for independent values; interval_of_batches() is for dependent ones. */
struct interval quantity_interval(const struct quantity *q, double level);
struct interval quantity_interval_of_batches(const struct quantity *q, double level);
enum dependence quantity_dependence(const struct quantity *q);

/* Borrowed pointers are valid until the quantity changes. */
enum quantity_kind quantity_kind(const struct quantity *q);
const struct moments *quantity_moments(const struct quantity *q);
const struct batches *quantity_batches(const struct quantity *q);
const struct sketch *quantity_sketch(const struct quantity *q);
const struct stop *quantity_stop(const struct quantity *q);
uint64_t quantity_not_finite(const struct quantity *q);

#endif
