/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quantities of a handler, as the configuration requests them:
 *
 *	stat.stop      = ci(0.95) < 5%  (of those that are awaited; docs/stats.md has the words)
 *	stat.drop      = 100            (values of each quantity left out: the initial transient)
 *	stat.drop_last = 100            (the same for the last values of each run)
 *	stat.trim      = 5, 5           (that many of the least, of the greatest of each run)
 *	stat.fence     = 1.5            (values of each run beyond 1.5 times q3 - q1)
 *	stat.files     = run7.          (each value is a line of run7.NAME; no such file exists yet)
 *
 * Keys such as stat.NAME.stop are for one quantity, which is then awaited.
 *
 * A stop rule applies to all values: drop_last, trim and fence remove values at the end of a run.
 */
#ifndef NEKO_STAT_STATSET_H
#define NEKO_STAT_STATSET_H

#include "neko/core/neko.h"
#include "neko/core/setup.h"
#include "stats/quantity.h"

#define STAT_QUANTITIES_MAX NEKO_ROWS_MAX

#define STATSET_POINTS_MAX 512 /* points of a picture: two to three for each of its columns */

/* A value, and the time of its event. */
struct statset_point {
	nsec_t at;
	double v;
};

/*
 * Values of the first run in order. When it is full, only every second value stays, then every
 * fourth, ...
 */
struct statset_series {
	struct statset_point point[STATSET_POINTS_MAX];
	uint32_t n;
	uint64_t seen, stride; /* every `stride`-th value is stored; 0 before the first value */
};

struct stat_result {
	struct quantity *quantity; /* borrowed */
	double expected; /* value by a closed formula; NaN: none */
	double clock_mean,
		clock_max; /* largest clock error of a value, in seconds; 0 in simulations */
	const struct statset_series *series; /* borrowed */
};

/* Values to remove at the end of a run. */
struct statset_trim {
	uint64_t last, least, greatest;
	double fence; /* 0: no fence */
};

struct statset_line {
	struct quantity *quantity; /* owned: all values */
	/*
	 * owned, NULL if nothing is removed: values of this run, and remaining values of ended runs
	 */
	struct quantity *of_run, *kept;
	struct statset_trim trim;
	bool is_awaited;
	bool is_own; /* the handler adds values to the quantity directly */
	uint64_t seen; /* if is_own: number of values in the series */
	double clock_sum, clock_max; /* in seconds */
};

/* All zeros before it is open. */
struct statset {
	struct statset_line line[STAT_QUANTITIES_MAX];
	struct statset_series *series; /* owned, by quantity */
	uint64_t runs; /* number of runs that have begun */
	nsec_t now; /* time of the event that is being handled */
	struct setup *setup; /* borrowed */
	unsigned n;
	bool is_running;
};

/*
 * rows ends with a NULL name; NULL: none yet. Fails with ERR_LIMIT if there are too many; ERR_PARSE
 * and others have the line in the text.
 */
int statset_open(struct statset *t, const struct neko_row *rows, struct setup *s, struct err *e);
void statset_done(struct statset *t);

/*
 * Adds a quantity to which the handler adds values directly: none are removed at the end of a run.
 * Fails as above, and with ERR_EXISTS if the name is in use.
 */
int statset_add_own(struct statset *t, const struct neko_row *row, enum quantity_kind kind,
		    struct err *e);

/* Adds new values of such quantities to their series. Called after each event. */
void statset_note_own(struct statset *t);

/* Called at the beginning, and at the end of each run. */
void statset_begin(struct statset *t);
void statset_end(struct statset *t);

/* Counts a value that is not finite, without adding it. */
void statset_add(struct statset *t, unsigned row, double v, nsec_t error);

/* True if some quantity is awaited: statset_is_done() may become true. */
bool statset_has_rule(const struct statset *t);

/* True if there is a rule, and all awaited quantities fulfil theirs. */
bool statset_is_done(const struct statset *t);

/* Returns the number of results, at most STAT_QUANTITIES_MAX. */
size_t statset_results(const struct statset *t, struct stat_result *out);

#endif
