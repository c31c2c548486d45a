/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"

#include <stdio.h>
#include <string.h>

static nsec_t read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (nsec_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

nsec_t clock_mono(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

nsec_t clock_wall(void)
{
	return read_clock(CLOCK_REALTIME);
}

char *clock_format_rfc3339(char *out, nsec_t wall, int digits)
{
	time_t sec = wall / NSEC_PER_SEC;
	long frac = wall % NSEC_PER_SEC;
	char point[12] = "";
	struct tm tm;
	size_t n;

	if (frac < 0) { /* before 1970 the remainder is negative: round down */
		sec--;
		frac += NSEC_PER_SEC;
	}
	gmtime_r(&sec, &tm);
	n = strftime(out, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	if (digits > 0) {
		snprintf(point, sizeof(point), ".%09ld", frac);
		point[digits < 9 ? digits + 1 : 10] = '\0';
	}
	snprintf(out + n, CLOCK_TEXT_BYTES - n, "%sZ", point);
	return out;
}
