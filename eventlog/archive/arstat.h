/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How sure it is that two samples differ, and by how much. Samples are taken as independent values;
 * ties are allowed. Where a test has nothing to say its p is NaN. For the room itself.
 */
#ifndef EVENTLOG_ARCHIVE_ARSTAT_H
#define EVENTLOG_ARCHIVE_ARSTAT_H

#include <stddef.h>

/* a / b, and where it lies with the level requested. NaN: not known. */
struct arratio {
	double value, low, high;
};

#define ARSTAT_LEAST 8 /* values a sample: with fewer the normal approximation is none */

/*
 * Wilcoxon, Mann and Whitney: the two-sided probability that samples of one distribution differ
 * that much in rank. It uses the normal approximation, with corrections for ties and continuity.
 * *above: how often a value of a is above one of b; a tie counts half. The call sorts both.
 * O(n log n).
 */
double arstat_ranks(double *a, size_t na, double *b, size_t nb, double *above);

/*
 * Median of a over median of b, of sorted positive samples: the logarithm's standard error is from
 * the order statistics around each median (McKean and Schrader).
 */
struct arratio arstat_medians(const double *a, size_t na, const double *b, size_t nb, double level);

struct arsample {
	const double *v;
	size_t n;
};

/* Welch's test of equal means, variances not assumed equal; and the ratio of the means. */
double arstat_means(struct arsample a, struct arsample b, double level, struct arratio *out);

/* Holm: each p becomes what it is worth beside the others. NaN stay and do not count. */
int arstat_holm(double *p, size_t n);

#endif
