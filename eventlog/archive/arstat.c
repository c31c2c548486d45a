/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arstat.h"

#include "common/base/array.h"
#include "common/base/err.h"
#include "stats/moments.h"
#include "stats/student.h"

#include <math.h>
#include <stdlib.h>

/*
 * Ranks the merged samples. Returns the sum of the ranks of a. *ties: the sum of t^3 - t over
 * groups of t equal values.
 */
static double rank_sum(const double *a, size_t na, const double *b, size_t nb, double *ties)
{
	double sum = 0;
	size_t i = 0, k = 0;

	*ties = 0;
	while (i < na || k < nb) {
		double v = k == nb || (i < na && a[i] <= b[k]) ? a[i] : b[k];
		size_t before = i + k, mine = i, all;

		while (i < na && a[i] == v)
			i++;
		while (k < nb && b[k] == v)
			k++;
		all = i + k - before;
		sum += (double)(i - mine) * ((double)before + ((double)all + 1) / 2);
		*ties += (double)all * ((double)all * (double)all - 1);
	}
	return sum;
}

double arstat_ranks(double *a, size_t na, double *b, size_t nb, double *above)
{
	double x = (double)na, y = (double)nb, n = x + y, ties, u, variance, distance;

	*above = NAN;
	if (!na || !nb)
		return NAN;
	qsort(a, na, sizeof(*a), array_order_double);
	qsort(b, nb, sizeof(*b), array_order_double);
	u = rank_sum(a, na, b, nb, &ties) - x * (x + 1) / 2;
	*above = u / (x * y);
	if (na < ARSTAT_LEAST || nb < ARSTAT_LEAST)
		return NAN;
	variance = x * y / 12 * (n + 1 - ties / (n * (n - 1)));
	distance = fabs(u - x * y / 2) - 0.5;
	if (variance <= 0) /* all values are equal */
		return 1;
	return distance <= 0 ? 1 : erfc(distance / sqrt(variance) / sqrt(2));
}

static double median(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Returns the standard error of the logarithm of the median of sorted values. */
static double error_of_median(const double *v, size_t n)
{
	static const double z = 2.5758293035489004; /* normal quantile for 99 % */
	size_t c = (size_t)fmax(0, ((double)n + 1) / 2 - z * sqrt((double)n / 4) - 1);

	return (log(v[n - 1 - c]) - log(v[c])) / (2 * z);
}

struct arratio arstat_medians(const double *a, size_t na, const double *b, size_t nb, double level)
{
	struct arratio r = { NAN, NAN, NAN };
	double half;

	if (!na || !nb)
		return r;
	r.value = median(a, na) / median(b, nb);
	if (na < ARSTAT_LEAST || nb < ARSTAT_LEAST || a[0] <= 0 || b[0] <= 0)
		return r;
	half = normal_two_sided(level) * hypot(error_of_median(a, na), error_of_median(b, nb));
	r.low = r.value * exp(-half);
	r.high = r.value * exp(half);
	return r;
}

static struct moments moments_of(const double *v, size_t n)
{
	struct moments m = { 0 };

	for (size_t i = 0; i < n; i++)
		moments_add(&m, v[i]);
	return m;
}

/* Returns the degrees of freedom (Welch and Satterthwaite). */
static double freedom(double va, double na, double vb, double nb)
{
	return (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
}

double arstat_means(struct arsample a, struct arsample b, double level, struct arratio *out)
{
	struct moments ma = moments_of(a.v, a.n), mb = moments_of(b.v, b.n);
	double x = moments_mean(&ma), y = moments_mean(&mb), va, vb, df, half;

	*out = (struct arratio){ x / y, NAN, NAN };
	if (a.n < ARSTAT_LEAST || b.n < ARSTAT_LEAST)
		return NAN;
	va = moments_variance(&ma) / (double)a.n;
	vb = moments_variance(&mb) / (double)b.n;
	if (va + vb <= 0) { /* no value differs from another one of its sample */
		out->low = out->high = out->value;
		return x == y ? 1 : 0;
	}
	df = freedom(va, (double)a.n, vb, (double)b.n);
	half = student_two_sided(level, df) * sqrt(va / (x * x) + vb / (y * y));
	out->low = out->value * exp(-half);
	out->high = out->value * exp(half);
	return 2 * student_tail(fabs(x - y) / sqrt(va + vb), df);
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	return array_order_double(&((const struct ranked *)a)->p, &((const struct ranked *)b)->p);
}

int arstat_holm(double *p, size_t n)
{
	struct ranked *r = malloc((n + 1) * sizeof(*r));
	size_t k = 0;
	double least = 0;

	if (!r)
		return -ERR_NOMEM;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			r[k++] = (struct ranked){ p[i], i };
	qsort(r, k, sizeof(*r), by_p);
	for (size_t i = 0; i < k; i++) {
		least = fmax(least, fmin(1, r[i].p * (double)(k - i)));
		p[r[i].at] = least;
	}
	free(r);
	return 0;
}
