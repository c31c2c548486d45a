/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantities of a handler, as the configuration requests them:
 *
 *	stat.stop   = ci(0.95) < 5%    (of those that are awaited; docs/stats.md has the words)
 *	stat.drop   = 100              (values of each quantity left out: the initial transient)
 *	stat.files  = run7.            (each value is a line of run7.NAME; no such file exists yet)
 */
#ifndef NEKO_STAT_STATSET_H
#define NEKO_STAT_STATSET_H

#include "neko/core/neko.h"
#include "neko/core/setup.h"
#include "stats/quantity.h"

#define STAT_QUANTITIES_MAX NEKO_ROWS_MAX

#define STATSET_POINTS_MAX 512 /* of a picture: two to three for each of its columns */

/* A value, and the time of its event. */
struct statset_point {
	nsec_t at;
	double v;
};

/* Values of the first run in order: all, then every second one, every fourth, ... */
struct statset_series {
	struct statset_point point[STATSET_POINTS_MAX];
	uint32_t n;
	uint64_t seen, stride; /* one of `stride` values is stored; 0 before the first one */
};

struct stat_result {
	struct quantity *quantity; /* borrowed */
	double expected; /* result of a closed formula; NaN for none */
	double clock_mean,
		clock_max; /* largest error of values by clocks, in seconds; 0 in simulations */
	const struct statset_series *series; /* borrowed */
};

/* Zero before it is open. */
struct statset {
	struct quantity *quantity[STAT_QUANTITIES_MAX]; /* owned */
	struct statset_series *series; /* owned, of each */
	uint64_t runs; /* number of begun runs */
	nsec_t now; /* of the event that is handled */
	const struct neko_row *rows; /* borrowed */
	unsigned n;
	bool has_stop;
	double clock_sum[STAT_QUANTITIES_MAX], clock_max[STAT_QUANTITIES_MAX]; /* seconds */
};

/* rows ends with a NULL name. ERR_LIMIT: too many; ERR_PARSE, ... with the line. */
int statset_open(struct statset *t, const struct neko_row *rows, struct setup *s, struct err *e);
void statset_done(struct statset *t);

/* Called at the beginning of each run. */
void statset_begin(struct statset *t);

/* A value that is not finite is only counted. */
void statset_add(struct statset *t, unsigned row, double v, nsec_t error);

/* True if there is a rule, and all awaited quantities fulfil it. */
bool statset_is_done(const struct statset *t);

/* Returns at most STAT_QUANTITIES_MAX. */
size_t statset_results(const struct statset *t, struct stat_result *out);

#endif
