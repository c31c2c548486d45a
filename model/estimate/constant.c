/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant service times. All requests that have completed fit into the busy time so far. The busy
 * time fits into all requests that have begun:
 *
 *	completed . s <= busy <= begun . s
 *
 * at the end of each period, for sums since the begin. Both hold as equations whenever no request
 * is in service. The bounds of each s are those of a linear programme: no level is needed.
 */
#include "model/algebra/programme.h"
#include "model/estimate/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-11 /* of the whole busy time: the rounding of sums */
#define CONSTANT_ENOUGH 1e-6 /* violation, of the mean response of a period */

struct conditions {
	size_t k, n; /* columns; rows, two for each period */
	double *a, *b; /* owned; columns of A at about the size 1 */
	double scale[LEAST_COLUMNS_MAX], busy; /* sums over all periods: the units of A and b */
};

static void conditions_done(struct conditions *w)
{
	free(w->a);
	free(w->b);
}

/* Rows of sums, for an extra column `wide` - k of ones. */
static int make_conditions(const struct periods *p, const struct estimate_columns *c,
			   struct conditions *w)
{
	double begun[LEAST_COLUMNS_MAX] = { 0 }, completed[LEAST_COLUMNS_MAX] = { 0 }, busy = 0;

	w->k = c->k;
	w->n = 2 * p->n;
	w->a = calloc(w->n * w->k + 1, sizeof(double));
	w->b = calloc(w->n + 1, sizeof(double));
	if (!w->a || !w->b)
		return -ERR_NOMEM;
	for (size_t i = 0; i < p->n; i++) {
		busy += p->response[i];
		w->b[2 * i] = busy;
		w->b[2 * i + 1] = -busy;
		for (size_t j = 0; j < c->k; j++) {
			begun[j] += p->begun[i * p->k + c->which[j]];
			completed[j] += p->completed[i * p->k + c->which[j]];
			w->a[2 * i * w->k + j] = begun[j];
			w->a[(2 * i + 1) * w->k + j] = -completed[j];
		}
	}
	for (size_t j = 0; j < c->k; j++)
		w->scale[j] = begun[j] > 0 ? begun[j] : 1;
	for (size_t i = 0; i < w->n * w->k; i++)
		w->a[i] /= w->scale[i % w->k];
	w->busy = busy > 0 ? busy : 1;
	for (size_t i = 0; i < w->n; i++)
		w->b[i] /= w->busy;
	return 0;
}

/* The least t with A s + t >= b. */
static int least_violation(const struct conditions *w, double *t)
{
	double *a = calloc(w->n * (w->k + 1), sizeof(*a)), goal[PROGRAMME_UNKNOWNS_MAX] = { 0 };
	double x[PROGRAMME_UNKNOWNS_MAX] = { 0 };
	struct programme *p = NULL;
	int rc = a ? 0 : -ERR_NOMEM;

	for (size_t i = 0; !rc && i < w->n; i++) {
		memcpy(a + i * (w->k + 1), w->a + i * w->k, w->k * sizeof(*a));
		a[i * (w->k + 1) + w->k] = 1;
	}
	if (!rc)
		rc = programme_new(w->k + 1, w->n, a, w->b, &p);
	goal[w->k] = 1;
	if (!rc)
		rc = programme_minimise(p, goal, x);
	*t = x[w->k];
	programme_free(p);
	free(a);
	return rc;
}

/* Sets the bounds of each column, each from a goal of its own. NaN: no bound. */
static int find_bounds(const struct conditions *w, double (*bound)[2])
{
	struct programme *p = NULL;
	double goal[PROGRAMME_UNKNOWNS_MAX], x[PROGRAMME_UNKNOWNS_MAX];
	int rc = programme_new(w->k, w->n, w->a, w->b, &p);

	for (size_t j = 0; j < w->k; j++)
		goal[j] = 1;
	if (!rc)
		rc = programme_minimise(p, goal, x);
	for (size_t j = 0; !rc && j < 2 * w->k; j++) {
		memset(goal, 0, sizeof(goal));
		goal[j / 2] = j % 2 ? -1 : 1;
		rc = programme_minimise(p, goal, x);
		if (rc == -ERR_NOTFOUND) {
			x[j / 2] = NAN;
			rc = 0;
		}
		bound[j / 2][j % 2] = x[j / 2] * w->busy / w->scale[j / 2];
	}
	programme_free(p);
	return rc;
}

static int solve(struct conditions *w, double (*bound)[2], struct err *e)
{
	double t = 0;
	int rc = least_violation(w, &t);

	if (rc)
		return err_set(e, (enum err_code) - rc, "the linear programme has no solution");
	if (t > CONSTANT_ENOUGH * 2 / (double)w->n)
		return err_set(e, ERR_INVALID,
			       "the services do not take constant times: the sums contradict that "
			       "by %.3g",
			       t * w->busy);
	for (size_t i = 0; i < w->n; i++)
		w->b[i] -= t + SLACK;
	rc = find_bounds(w, bound);
	return rc ? err_set(e, (enum err_code) - rc, "the linear programme has no solution") : 0;
}

static void set_bounds(const struct estimate_columns *c, double (*bound)[2], struct estimate *out)
{
	for (size_t j = 0; j < c->k; j++) {
		struct estimate_service *s = &out->service[c->which[j]];

		if (s->state != ESTIMATE_KNOWN)
			continue;
		s->low = bound[j][0];
		s->high = bound[j][1];
		s->demand = (s->low + s->high) / 2;
	}
}

int estimate_constant(const struct periods *p, const struct estimate_columns *c,
		      struct estimate *out, struct err *e)
{
	struct conditions w = { 0 };
	double bound[LEAST_COLUMNS_MAX][2];
	int *in, rc;

	if (2 * p->n > PROGRAMME_CONDITIONS_MAX)
		return err_set(e, ERR_LIMIT, "the method constant takes at most %d periods",
			       PROGRAMME_CONDITIONS_MAX / 2);
	in = calloc(p->n + 1, sizeof(*in));
	rc = in ? periods_in_service(p, in, e) : 0;
	if (!rc)
		rc = in && !make_conditions(p, c, &w) ? 0 : err_nomem(e);
	if (!rc && in[0] >= 0)
		rc = err_set(e, ERR_INVALID, "a request was in service before the first period");
	if (!rc)
		rc = solve(&w, bound, e);
	if (!rc) {
		out->level = 1;
		set_bounds(c, bound, out);
	}
	conditions_done(&w);
	free(in);
	return rc;
}
