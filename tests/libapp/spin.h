/* SPDX-License-Identifier: Apache-2.0 */
/* Work of the test programs: seconds of the monotonic clock, spent on a processor. */
#ifndef TESTS_LIBAPP_SPIN_H
#define TESTS_LIBAPP_SPIN_H

#include <time.h>

static inline double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double compute(double seconds)
{
	double end = now() + seconds, sum = 0;

	for (int i = 1; now() < end; i++)
		sum += 1.0 / i;
	return sum;
}

#endif
