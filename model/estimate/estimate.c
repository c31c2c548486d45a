/* SPDX-License-Identifier: Apache-2.0 */
#include "model/estimate/estimate.h"

#include "model/algebra/nonnegative.h"
#include "model/estimate/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SINGULAR 1e-9 /* of columns of length 1: counts are whole, so smaller is rounding */
#define LOADING 0.05 /* a column takes part in a direction from here */

static const struct {
	const char *name, *words;
} methods[ESTIMATE_METHODS] = {
	[ESTIMATE_OLS] = { "ols", "least squares on counts at the begin" },
	[ESTIMATE_NNLS] = { "nnls", "least squares on counts at the begin, no demand below 0" },
	[ESTIMATE_HALF] = { "half", "least squares on the mean of begun and completed" },
	[ESTIMATE_GLS] = { "gls", "generalised least squares with a model of the ends of periods" },
	[ESTIMATE_CONSTANT] = { "constant", "a linear programme for constant service times" },
	[ESTIMATE_ELAPSED] = { "elapsed", "generalised least squares with known ends of periods" },
};

const char *estimate_name(enum estimate_method m)
{
	return methods[m].name;
}

const char *estimate_words(enum estimate_method m)
{
	return methods[m].words;
}

/* --- services that can be estimated */

static void find_called(const struct periods *p, struct estimate_columns *c, struct estimate *out)
{
	c->k = 0;
	for (size_t s = 0; s < p->k; s++) {
		double sum = 0;

		for (size_t i = 0; i < p->n; i++)
			sum += p->begun[i * p->k + s] +
			       (p->completed ? p->completed[i * p->k + s] : 0);
		out->service[s] = (struct estimate_service){
			.state = sum > 0 ? ESTIMATE_KNOWN : ESTIMATE_NEVER_CALLED,
			.demand = NAN,
			.low = NAN,
			.high = NAN,
		};
		if (sum > 0)
			c->which[c->k++] = s;
	}
}

static double count_of(const struct periods *p, enum estimate_method m, size_t i, size_t s)
{
	double begun = p->begun[i * p->k + s];

	return m == ESTIMATE_HALF ? (begun + p->completed[i * p->k + s]) / 2 : begun;
}

static void fill(const struct periods *p, const struct estimate_columns *c, enum estimate_method m,
		 struct least *l)
{
	double row[LEAST_COLUMNS_MAX];

	least_init(l, c->k);
	for (size_t i = 0; i < p->n; i++) {
		for (size_t j = 0; j < c->k; j++)
			row[j] = count_of(p, m, i, c->which[j]);
		least_add(l, row, p->response[i]);
	}
}

/* Marks the services of a direction without length. Returns the column with the greatest part. */
static size_t mark(const double *direction, const struct estimate_columns *c, unsigned group,
		   struct estimate *out)
{
	size_t best = 0;

	for (size_t j = 0; j < c->k; j++) {
		struct estimate_service *s = &out->service[c->which[j]];

		if (fabs(direction[j]) > fabs(direction[best]))
			best = j;
		if (fabs(direction[j]) < LOADING)
			continue;
		s->state = ESTIMATE_INSEPARABLE;
		s->group = group;
	}
	return best;
}

static void drop(struct estimate_columns *c, size_t at)
{
	c->k--;
	memmove(c->which + at, c->which + at + 1, (c->k - at) * sizeof(*c->which));
}

/*
 * Drops columns until the others are independent: one for each direction without length. The
 * demand of the others in that direction is then not theirs alone, and stays unknown.
 */
static void separate(const struct periods *p, struct estimate_columns *c, enum estimate_method m,
		     struct least *l, struct estimate *out)
{
	struct least_spectrum spectrum;

	for (unsigned group = 1;; group++) {
		fill(p, c, m, l);
		least_spectrum(l, &spectrum);
		if (!c->k || spectrum.value[c->k - 1] > SINGULAR)
			break;
		drop(c, mark(spectrum.direction[c->k - 1], c, group, out));
	}
	out->condition = c->k ? spectrum.value[0] / spectrum.value[c->k - 1] : NAN;
}

static void set_fit(const struct periods *p, double squares, struct estimate *out)
{
	double all = 0;

	for (size_t i = 0; i < p->n; i++)
		all += p->response[i] * p->response[i];
	out->deviation = out->df > 0 ? sqrt(squares / out->df) : NAN;
	out->explained = all > 0 ? 1 - squares / all : NAN;
}

static int bounded(const struct periods *p, const struct estimate_columns *c, const struct least *l,
		   struct estimate *out, struct err *e)
{
	struct estimate_columns of_free = { 0 };
	struct least sub;
	double x[LEAST_COLUMNS_MAX], z[LEAST_COLUMNS_MAX];
	bool is_free[LEAST_COLUMNS_MAX];

	if (nonnegative_solve(l, x, is_free, &sub) || (sub.k && least_solve(&sub, z)))
		return err_set(e, ERR_INVALID, "the least squares with bounds have no solution");
	out->df = (double)p->n - (double)sub.k;
	set_fit(p, least_squares(&sub), out);
	for (size_t j = 0; j < c->k; j++)
		if (is_free[j])
			of_free.which[of_free.k++] = c->which[j];
	estimate_take(&sub, &of_free, z, out->deviation * out->deviation, out);
	for (size_t j = 0; j < c->k; j++) {
		struct estimate_service *s = &out->service[c->which[j]];

		if (!is_free[j] && s->state == ESTIMATE_KNOWN) {
			s->demand = s->low = 0;
			s->is_at_bound = true;
		}
		if (s->low < 0)
			s->low = 0;
	}
	return 0;
}

static int check(const struct periods *p, enum estimate_method m, struct err *e)
{
	if (!p->n)
		return err_set(e, ERR_INVALID, "there is no period");
	if (m != ESTIMATE_OLS && m != ESTIMATE_NNLS && !p->completed)
		return err_set(e, ERR_UNSUPPORTED,
			       "the method %s needs columns 'completed:NAME'; ols and nnls do not",
			       methods[m].name);
	if (m == ESTIMATE_ELAPSED && !p->elapsed)
		return err_set(e, ERR_UNSUPPORTED, "the method elapsed needs a column 'elapsed'");
	return 0;
}

static int by_method(const struct periods *p, const struct estimate_columns *c,
		     const struct least *l, struct estimate *out, struct err *e)
{
	double x[LEAST_COLUMNS_MAX];

	if (out->method == ESTIMATE_NNLS)
		return bounded(p, c, l, out, e);
	if (least_solve(l, x))
		return err_set(e, ERR_INVALID, "the services cannot be separated");
	set_fit(p, least_squares(l), out);
	if (out->method == ESTIMATE_GLS || out->method == ESTIMATE_ELAPSED)
		return estimate_generalised(p, c, x, out, e);
	estimate_take(l, c, x, out->deviation * out->deviation, out);
	return 0;
}

int estimate(const struct periods *p, enum estimate_method m, double level, struct estimate *out,
	     struct err *e)
{
	struct estimate_columns c, called;
	struct least l;
	int rc = check(p, m, e);

	if (rc)
		return rc;
	*out = (struct estimate){
		.method = m,
		.level = level,
		.n = p->n,
		.deviation = NAN,
		.explained = NAN,
		.cv = NAN,
	};
	find_called(p, &c, out);
	if (c.k && p->n < c.k)
		return err_set(e, ERR_INVALID,
			       "%zu periods are too few for %zu services: at least %zu are needed",
			       p->n, c.k, c.k + ESTIMATE_SPARE_MIN);
	called = c;
	separate(p, &c, m == ESTIMATE_HALF ? m : ESTIMATE_OLS, &l, out);
	out->k = c.k;
	out->df = (double)p->n - (double)c.k;
	if (!c.k)
		return 0;
	/* sums without one of the services would contradict the busy time */
	if (m == ESTIMATE_CONSTANT)
		return estimate_constant(p, &called, out, e);
	return by_method(p, &c, &l, out, e);
}
