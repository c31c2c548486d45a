/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/chen.h"

#include <math.h>
#include <stdlib.h>

#define HEARTBEATS_MAX 4096 /* that one freshness point waits for */
#define STEPS 256 /* of Simpson's rule between two corners */

/* The chance that heartbeat i + j is not there x after the freshness point i. */
static double p_missing(const struct chen *c, double x, unsigned j)
{
	return c->loss + (1 - c->loss) * delay_tail(&c->delay, c->delta + x - j * c->eta);
}

static double u(const struct chen *c, double x, unsigned k)
{
	double product = 1;
	unsigned j;

	for (j = 0; j <= k && product > 0; j++)
		product *= p_missing(c, x, j);
	return product;
}

/* Just inside of the corners: where the tail jumps there both sides have their own value. */
static double simpson(const struct chen *c, double from, double to, unsigned k)
{
	double h = (to - from) / STEPS, inset = h * 1e-9, sum;
	unsigned i;

	sum = u(c, from + inset, k) + u(c, to - inset, k);
	for (i = 1; i < STEPS; i++)
		sum += u(c, from + i * h, k) * (i % 2 ? 4 : 2);
	return sum * h / 3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double integrate(const struct chen *c, unsigned k)
{
	double corner[2], at[2 * (HEARTBEATS_MAX + 1) + 2], sum = 0;
	unsigned ncorner = delay_corners(&c->delay, corner), n = 0, i, j;

	at[n++] = 0;
	at[n++] = c->eta;
	for (j = 0; j <= k; j++)
		for (i = 0; i < ncorner; i++) {
			double x = corner[i] - c->delta + j * c->eta;

			if (x > 0 && x < c->eta)
				at[n++] = x;
		}
	qsort(at, n, sizeof(*at), compare);
	for (i = 0; i + 1 < n; i++)
		sum += simpson(c, at[i], at[i + 1], k);
	return sum;
}

int chen_predict(const struct chen *c, struct chen_qos *out, struct err *e)
{
	double q0 = (1 - c->loss) * (1 - delay_tail(&c->delay, c->delta + c->eta)), begins, area;
	double k = ceil(c->delta / c->eta);

	if (k > HEARTBEATS_MAX)
		return err_set(e, ERR_LIMIT, "delta is more than %d eta", HEARTBEATS_MAX);
	begins = q0 * u(c, 0, (unsigned)k);
	area = integrate(c, (unsigned)k);
	out->recurrence = begins > 0 ? c->eta / begins : INFINITY;
	out->duration = begins > 0 ? area / begins : NAN;
	out->accuracy = 1 - area / c->eta;
	out->detection = c->delta + c->eta;
	return 0;
}

/* f of the paper: E(T_MR) with this eta, and the delta that the detection leaves. */
static double recurrence(const struct chen_wish *w, double loss, const struct delay *d, double eta,
			 double q)
{
	unsigned k = (unsigned)ceil(w->detection / eta), j;
	double product = q;

	for (j = 1; j < k; j++)
		product *= loss + (1 - loss) * delay_tail(d, w->detection - j * eta);
	return eta / product;
}

/* f is not monotonic, but saw-toothed with fewer teeth than this above any eta of interest. */
#define ETAS 200000

int chen_configure(const struct chen_wish *w, double loss, const struct delay *d, double *eta,
		   double *delta, struct err *e)
{
	double q = (1 - loss) * (1 - delay_tail(d, w->detection)), most = q * w->duration, try;
	unsigned i;

	if (most > w->detection)
		most = w->detection;
	for (i = ETAS; i > 0 && q > 0; i--) {
		try = most * i / ETAS;
		if (try * HEARTBEATS_MAX < w->detection)
			break;
		if (recurrence(w, loss, d, try, q) < w->recurrence)
			continue;
		*eta = try;
		*delta = w->detection - try;
		return 0;
	}
	return err_set(e, ERR_INVALID,
		       "no NFD-S keeps this over such a network; allow a later detection");
}
