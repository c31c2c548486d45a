/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether two samples differ, and by how much. Values are assumed to be independent; ties are
 * permitted. If a test cannot decide, its p is NaN. Only files of this room include it.
 */
#ifndef EVENTLOG_ARCHIVE_ARSTAT_H
#define EVENTLOG_ARCHIVE_ARSTAT_H

#include <stddef.h>

/* a / b, and its interval at the requested level. NaN: unknown. */
struct arratio {
	double value, low, high;
};

/* values per sample: with fewer values the normal approximation is invalid */
#define ARSTAT_LEAST 8

/*
 * Wilcoxon, Mann and Whitney: the two-sided probability that samples of one distribution differ
 * that much in rank. It uses the normal approximation, with corrections for ties and continuity.
 * *above: how often a value of a exceeds one of b; a tie counts half. Sorts both. O(n log n).
 */
double arstat_ranks(double *a, size_t na, double *b, size_t nb, double *above);

/*
 * Returns median of a over median of b, of sorted positive samples. The standard error of the
 * logarithm is from the order statistics around each median (McKean and Schrader).
 */
struct arratio arstat_medians(const double *a, size_t na, const double *b, size_t nb, double level);

struct arsample {
	const double *v;
	size_t n;
};

/* Welch's test of equal means, without equal variances. Also computes the ratio of the means. */
double arstat_means(struct arsample a, struct arsample b, double level, struct arratio *out);

/* Replaces each p by its corrected value for all tests (Holm). NaN values stay and do not count. */
int arstat_holm(double *p, size_t n);

#endif
