/* SPDX-License-Identifier: Apache-2.0 */
#include "why/eprocess.h"

#include "common/base/array.h"

#include <assert.h>
#include <math.h>

double log_add(double a, double b)
{
	double high = fmax(a, b), low = fmin(a, b);

	return high == -INFINITY ? high : high + log1p(exp(low - high));
}

/* The part of the capital that begins to bet at value t, from 1. */
static double log_weight(uint64_t t)
{
	double d = (double)t;

	return t == 1 ? log(EPROCESS_FIRST) : log((1 - EPROCESS_FIRST) / (d * (d - 1)));
}

/* Multiplies the capital of each of n bets by its factor. */
static void bet(struct eprocess *p, const double *log_factor, size_t n)
{
	double sum = -INFINITY;

	p->n++;
	for (size_t i = 0; i < n; i++) {
		double before = p->n == 1 ? -INFINITY : p->log_m[i];

		p->log_m[i] = log_add(before, log_weight(p->n)) + log_factor[i];
		sum = log_add(sum, p->log_m[i]);
	}
	/* The capital that does not bet yet. */
	p->log_e = log_add(sum - log((double)n), log((1 - EPROCESS_FIRST) / (double)p->n));
	p->log_sup = fmax(p->log_sup, p->log_e);
}

void eprocess_add_share(struct eprocess *p, double x, double theta)
{
	double log_factor[EPROCESS_BETS];

	assert(theta > 0 && theta < 1);
	if (isnan(x))
		return;
	x = fmin(fmax(x, 0), 1);
	for (size_t i = 0; i < EPROCESS_BETS; i++)
		log_factor[i] = log1p(fmin(ldexp(0.5, (int)i), 0.9 / theta) * (x - theta));
	bet(p, log_factor, EPROCESS_BETS);
}

void eprocess_add_event(struct eprocess *p, int has_occurred, double chance)
{
	static const double probability[] = { 0.25, 0.5, 0.75, 0.95 };
	double log_factor[ARRAY_LEN(probability)];
	size_t n = 0;

	assert(chance > 0 && chance < 1);
	for (size_t i = 0; i < ARRAY_LEN(probability); i++) {
		double q = probability[i];

		if (q <= chance)
			continue;
		log_factor[n++] = has_occurred ? log(q / chance) : log((1 - q) / (1 - chance));
	}
	if (!n)
		log_factor[n++] = has_occurred ? log((1 + chance) / 2 / chance) : -M_LN2;
	bet(p, log_factor, n);
}

double eprocess_p(double log_e)
{
	return isnan(log_e) ? NAN : exp(-fmax(log_e, 0));
}

void holm(const double *p, size_t n, double alpha, unsigned char *is_rejected)
{
	size_t left = 0;

	assert(n <= HOLM_MAX);
	for (size_t i = 0; i < n; i++) {
		is_rejected[i] = 0;
		left += !isnan(p[i]);
	}
	while (left) {
		size_t best = n;

		for (size_t i = 0; i < n; i++)
			if (!is_rejected[i] && !isnan(p[i]) && (best == n || p[i] < p[best]))
				best = i;
		if (p[best] > alpha / (double)left)
			return;
		is_rejected[best] = 1;
		left--;
	}
}
