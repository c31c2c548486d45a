/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/welch.h"

#include "stats/student.h"

#include <math.h>

static struct welch_difference judge(double value, double error, double df, double bias,
				     double level)
{
	struct welch_difference d = { .value = value, .half = bias };
	double off = fmax(0, fabs(value) - bias);

	if (error > 0) {
		d.half += student_two_sided(level, df) * error;
		d.p = 2 * student_tail(off / error, df);
	} else {
		d.p = off > 0 ? 0 : 1;
	}
	d.is_sure = fabs(value) > d.half;
	return d;
}

struct welch_difference welch_compare(const struct welch_mean *a, const struct welch_mean *b,
				      double bias, double level)
{
	double va = a->error * a->error, vb = b->error * b->error,
	       df = (va + vb) * (va + vb) / (va * va / a->df + vb * vb / b->df);

	return judge(b->mean - a->mean, sqrt(va + vb), df, bias, level);
}

struct welch_difference welch_paired(const struct welch_mean *difference, double level)
{
	return judge(difference->mean, difference->error, difference->df, 0, level);
}
