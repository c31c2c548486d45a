/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generalised least squares. The response of a period is that of the requests that began in it, but
 * for the ends. The request in service at its end still needs some time, which counts later. At its
 * begin it is the other way round. A request of service c in service still needs a s_c on average,
 * a = (1 + cv^2) / 2. So the row of a period is
 *
 *	row j = N_j - a e_c(j) + a e_c(j - 1)
 *
 * The covariance has two parts. The variance of service times is on its diagonal. That of the time
 * still needed is on the diagonal for both ends, and negative beside it. The covariance is
 * tridiagonal, so that rows are made independent one by one. The cv, one for all services, is that
 * of the greatest likelihood. With elapsed times the response is that of the completed requests.
 */
#include "common/base/array.h"
#include "model/estimate/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CV_MAX 4.0
#define CV_STEPS 24 /* of a golden section: the cv to 4 digits */
#define ROUNDS 4 /* demands and cv by turns; they change in the fifth digit then */
#define FLOOR 1e-10 /* variance, relative to the squared mean response: of rounding */

struct ends {
	const struct periods *p;
	const struct estimate_columns *c;
	const int *in; /* column in service at the begin, and at the end of each period; -1 */
	size_t first; /* period */
	double cv, floor;
	double x[LEAST_COLUMNS_MAX];
};

/* The variance of what a request in service still needs, for a mean of 1 and a gamma shape. */
static double rest_variance(double cv)
{
	double v = cv * cv;

	return (1 + v) * (1 + 2 * v) / 3 - (1 + v) * (1 + v) / 4;
}

static double end_variance(const struct ends *g, size_t i)
{
	double x = g->in[i] >= 0 ? g->x[g->in[i]] : 0;

	return g->p->elapsed ? 0 : rest_variance(g->cv) * x * x;
}

static double response_of(const struct ends *g, size_t i)
{
	const struct periods *p = g->p;

	if (!p->elapsed)
		return p->response[i];
	return p->response[i] - p->elapsed[i] + (i ? p->elapsed[i - 1] : 0);
}

/* Makes row i, and returns the variance of its service times. */
static double make_row(const struct ends *g, size_t i, double *row)
{
	const struct periods *p = g->p;
	const double *count = (p->elapsed ? p->completed : p->begun) + i * p->k;
	double a = (1 + g->cv * g->cv) / 2, sum = 0;

	for (size_t j = 0; j < g->c->k; j++) {
		row[j] = count[g->c->which[j]];
		sum += row[j] * g->x[j] * g->x[j];
	}
	if (!p->elapsed && g->in[i] >= 0)
		row[g->in[i]] += a;
	if (!p->elapsed && g->in[i + 1] >= 0)
		row[g->in[i + 1]] -= a;
	return g->cv * g->cv * sum;
}

/* Fills l with independent rows, by the Cholesky factor of the covariance. Returns the logarithm of
 * the determinant of the covariance. */
static double whiten(const struct ends *g, struct least *l)
{
	double row[LEAST_WIDE], last[LEAST_WIDE] = { 0 }, above = 0, determinant = 0;
	size_t k = g->c->k;

	least_init(l, k);
	for (size_t i = g->first; i < g->p->n; i++) {
		double own = make_row(g, i, row), before = end_variance(g, i), diagonal;
		double share = above > 0 ? -before / above : 0;

		row[k] = response_of(g, i);
		diagonal = own + before + end_variance(g, i + 1) + g->floor - share * share;
		diagonal = sqrt(fmax(diagonal, g->floor));
		for (size_t j = 0; j <= k; j++)
			row[j] = (row[j] - share * last[j]) / diagonal;
		least_add(l, row, row[k]);
		memcpy(last, row, sizeof(row));
		determinant += 2 * log(diagonal);
		above = diagonal;
	}
	return determinant;
}

/* Minus twice the logarithm of the likelihood, without constants. */
static double unlikeliness(struct ends *g, double cv)
{
	struct least l;
	double determinant;

	g->cv = cv;
	determinant = whiten(g, &l);
	return determinant + least_squares(&l);
}

/* A golden section on the square root of cv, so that small ones are found too. */
static double likeliest(struct ends *g)
{
	const double gold = (sqrt(5) - 1) / 2;
	double a = 0, b = sqrt(CV_MAX), u = b - gold * (b - a), v = a + gold * (b - a);
	double at_u = unlikeliness(g, u * u), at_v = unlikeliness(g, v * v);

	for (unsigned i = 0; i < CV_STEPS; i++)
		if (at_u < at_v) {
			b = v;
			v = u;
			at_v = at_u;
			u = b - gold * (b - a);
			at_u = unlikeliness(g, u * u);
		} else {
			a = u;
			u = v;
			at_u = at_v;
			v = a + gold * (b - a);
			at_v = unlikeliness(g, v * v);
		}
	return at_u < at_v ? u * u : v * v;
}

static double squared_mean(const struct periods *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->response[i] * p->response[i];
	return sum / (double)p->n;
}

static int iterate(struct ends *g, struct least *l, struct err *e)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		g->cv = likeliest(g);
		whiten(g, l);
		if (least_solve(l, g->x))
			return err_set(e, ERR_INVALID, "the services cannot be separated");
	}
	return 0;
}

/* Makes columns of services; one that takes no part cannot be in service. */
static void to_columns(const struct estimate_columns *c, int *in, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int at = -1;

		for (size_t j = 0; in[i] >= 0 && j < c->k; j++)
			if (c->which[j] == (size_t)in[i])
				at = (int)j;
		in[i] = at;
	}
}

static int with_ends(const struct periods *p, const struct estimate_columns *c, int *in,
		     struct ends *g, struct err *e)
{
	int rc = periods_in_service(p, in, e);

	if (rc)
		return rc;
	to_columns(c, in, p->n + 1);
	g->in = in;
	/* the elapsed time of the first request is unknown */
	g->first = p->elapsed && in[0] >= 0;
	g->floor = FLOOR * squared_mean(p);
	return 0;
}

int estimate_generalised(const struct periods *p, const struct estimate_columns *c, double *x,
			 struct estimate *out, struct err *e)
{
	struct periods seen = *p;
	struct ends g = { .p = &seen, .c = c };
	int *in = calloc(p->n + 1, sizeof(*in));
	struct least l;
	int rc;

	if (!in)
		return err_nomem(e);
	if (out->method == ESTIMATE_GLS)
		seen.elapsed = NULL;
	memcpy(g.x, x, c->k * sizeof(*x));
	rc = with_ends(&seen, c, in, &g, e);
	if (!rc)
		rc = iterate(&g, &l, e);
	if (!rc) {
		out->cv = g.cv;
		out->n = p->n - g.first;
		out->df = (double)out->n - (double)c->k;
		estimate_take(&l, c, g.x, out->df > 0 ? least_squares(&l) / out->df : NAN, out);
	}
	free(in);
	return rc;
}
