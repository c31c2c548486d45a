/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NIST's Statistical Reference Datasets, univariate: values that were measured or made, and what
 * NIST certifies of them (https://www.itl.nist.gov/div898/strd/univ/homepage.html).
 */
#ifndef TESTS_UNIT_STATS_STRD_H
#define TESTS_UNIT_STATS_STRD_H

#include <stddef.h>

#define STRD_SETS 9
#define STRD_VALUES_MAX 5000

struct strd {
	const char *name;
	double mean, deviation, serial; /* certified */
	size_t n;
	/*
	 * Relative errors permitted for a double. Values with a decimal fraction are not exact in a
	 * double, which matters after many leading digits.
	 */
	double mean_off, deviation_off, serial_off;
	double value[STRD_VALUES_MAX];
};

/* i < STRD_SETS. */
void strd_get(unsigned i, struct strd *out);

#endif
