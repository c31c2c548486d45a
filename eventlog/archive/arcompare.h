/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares an archive with another one, the baseline: the changes, and their significance. For each
 * type of events its rate; for each NAME.start with a NAME.end the time between them, within a
 * stream and a key.
 */
#ifndef EVENTLOG_ARCHIVE_ARCOMPARE_H
#define EVENTLOG_ARCHIVE_ARCOMPARE_H

#include "eventlog/archive/archive.h"
#include "eventlog/archive/arstat.h"

enum archange_what { ARCHANGE_RATE, ARCHANGE_DURATION };

/* Ordered by importance to the reader. */
enum archange_verdict {
	ARCHANGE_MORE, /* surely more events a second, or longer times */
	ARCHANGE_LESS,
	ARCHANGE_NEW, /* the baseline has none, and that is not by chance */
	ARCHANGE_GONE,
	ARCHANGE_UNSURE, /* the samples decide neither */
	ARCHANGE_FEW, /* too few for a test */
	ARCHANGE_SAME, /* surely less than `least` away */
};

#define ARCHANGE_IS_SURE(v) ((v) <= ARCHANGE_GONE)

struct archange {
	char *name; /* owned */
	enum archange_what what;
	uint64_t n[2]; /* events, or pairs: now, baseline */
	double value[2]; /* events a second; median in seconds */
	struct arratio ratio; /* of the values, with the level requested */
	double p; /* corrected for all tests (Holm); NaN: too few values */
	enum archange_verdict verdict;
};

struct arcompare_options {
	double least; /* 0.05: changes below 5 % are ignored */
	double level; /* 0.99: at most one false alarm in a hundred comparisons of archives */
};

#define ARCOMPARE_WINDOWS 32 /* parts of each archive's time whose counts are compared */
#define ARCOMPARE_SAMPLES_MAX 200000 /* durations of a type; of more, that many are drawn */

/* Compares `now` with `base`. */
struct arcompared {
	const struct archive *now, *base;
};

/* The caller frees *out with arcompare_free(). Sorted by verdict and name. */
int arcompare_run(const struct arcompared *of, const struct arcompare_options *w,
		  struct archange **out, size_t *n, struct err *e);
void arcompare_free(struct archange *c, size_t n);

#endif
