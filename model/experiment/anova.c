/* SPDX-License-Identifier: Apache-2.0 */
#include "model/experiment/anova.h"

static double mean_of(const double *y, size_t r)
{
	double sum = 0;

	for (size_t i = 0; i < r; i++)
		sum += y[i];
	return sum / (double)r;
}

/* +1 or -1: the product of the levels of the factors in `set`. */
static int sign(unsigned run, unsigned set)
{
	return __builtin_popcount(~run & set) % 2 ? -1 : 1;
}

void anova_of(const double *y, unsigned k, size_t r, struct anova *out)
{
	unsigned runs = 1U << k;
	double all = (double)runs * (double)r;

	*out = (struct anova){ .k = k };
	for (size_t i = 0; i < runs * r; i++) {
		double off = y[i] - mean_of(y + i / r * r, r);

		out->squares += y[i] * y[i];
		out->error += off * off;
	}
	for (unsigned set = 0; set < runs; set++) {
		double q = 0;

		for (unsigned run = 0; run < runs; run++)
			q += sign(run, set) * mean_of(y + run * r, r);
		q /= runs;
		out->effect[set] = all * q * q;
	}
	out->of_mean = out->effect[0];
	out->total = out->squares - out->of_mean;
}

double anova_interactions(const struct anova *a)
{
	double sum = 0;

	for (unsigned set = 1; set < 1U << a->k; set++)
		if (__builtin_popcount(set) > 1)
			sum += a->effect[set];
	return sum;
}
