/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares an archive with another one, the baseline: the changes, and their significance. It
 * compares the rate of each type of events. It also compares the times from NAME.start to NAME.end,
 * within a stream and a key.
 */
#ifndef EVENTLOG_ARCHIVE_ARCOMPARE_H
#define EVENTLOG_ARCHIVE_ARCOMPARE_H

#include "eventlog/archive/archive.h"
#include "eventlog/archive/arstat.h"

enum archange_what { ARCHANGE_RATE, ARCHANGE_DURATION };

/* In the order of importance to the reader. */
enum archange_verdict {
	ARCHANGE_MORE, /* significantly more events per second, or longer times */
	ARCHANGE_LESS,
	ARCHANGE_NEW, /* the baseline has none, which is not by chance */
	ARCHANGE_GONE,
	ARCHANGE_UNSURE, /* neither a change nor its absence is significant */
	ARCHANGE_FEW, /* too few values for a test */
	ARCHANGE_SAME, /* significantly less than `least` away */
};

#define ARCHANGE_IS_SURE(v) ((v) <= ARCHANGE_GONE)

struct archange {
	char *name; /* owned */
	enum archange_what what;
	uint64_t n[2]; /* number of events or pairs: now, baseline */
	double value[2]; /* events per second, or median in seconds */
	struct arratio ratio; /* ratio of the values, with an interval at the requested level */
	double p; /* corrected for all tests (Holm); NaN: too few values */
	enum archange_verdict verdict;
};

struct arcompare_options {
	double least; /* smallest change of interest: 0.05 ignores changes below 5 % */
	double level; /* 0.99 permits one false alarm in a hundred comparisons of archives */
};

#define ARCOMPARE_WINDOWS 32 /* windows of each archive's time whose counts are compared */
#define ARCOMPARE_SAMPLES_MAX 200000 /* durations of a type; of more, a random sample is taken */

/* The archives to compare: `now` with `base`. */
struct arcompared {
	const struct archive *now, *base;
};

/* Compares. The result is sorted by verdict and name, and freed by arcompare_free(). */
int arcompare_run(const struct arcompared *of, const struct arcompare_options *w,
		  struct archange **out, size_t *n, struct err *e);
void arcompare_free(struct archange *c, size_t n);

#endif
