/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/algorithms/chen.h"

#include "common/base/array.h"

#include <math.h>
#include <stdlib.h>

#define HEARTBEATS_MAX 4096 /* heartbeats that may count at one freshness point */
#define PRECISION 1e-13 /* error of the area of one span, as a fraction of the whole area */
/* relative shift of times, so that the two sides of a corner have separate values */
#define INSET 4e-16
/* halvings of a span: the remaining error is below the precision of a double */
#define HALVINGS_MAX 50

/* Returns the probability that heartbeat i + j is missing at time x after the freshness point i. */
static double p_missing(const struct chen *c, double x, unsigned j)
{
	return c->loss + (1 - c->loss) * delay_tail(&c->delay, c->delta + x - j * c->eta);
}

static double u(const struct chen *c, double x, unsigned k)
{
	double product = 1;

	for (unsigned j = 0; j <= k && product > 0; j++)
		product *= p_missing(c, x, j);
	return product;
}

/* A span of x, with u at both ends and in the middle, and its area by Simpson's rule. */
struct span {
	double from, to, ufrom, umid, uto, area;
};

static struct span make_span(const struct chen *c, unsigned k, const double x[2],
			     const double ends[2])
{
	struct span s = { .from = x[0], .to = x[1], .ufrom = ends[0], .uto = ends[1] };

	s.umid = u(c, (s.from + s.to) / 2, k);
	s.area = (s.to - s.from) * (s.ufrom + 4 * s.umid + s.uto) / 6;
	return s;
}

/*
 * Halves a span until the areas of the whole and of its halves agree. u never increases with x: a
 * span with equal ends is constant. A span that drops steeply at its first end is halved at that
 * end, so that short delays count.
 */
static double halve(const struct chen *c, unsigned k, const struct span *s, double most,
		    unsigned left)
{
	double mid = (s->from + s->to) / 2, both, differs;
	struct span a =
		make_span(c, k, (double[]){ s->from, mid }, (double[]){ s->ufrom, s->umid });
	struct span b = make_span(c, k, (double[]){ mid, s->to }, (double[]){ s->umid, s->uto });

	both = a.area + b.area;
	differs = both - s->area;
	if (fabs(differs) <= 15 * PRECISION * most || !left)
		return both + differs / 15;
	return halve(c, k, &a, most, left - 1) + halve(c, k, &b, most, left - 1);
}

static double add_spans(const struct chen *c, unsigned k, const double *at, unsigned n, double most)
{
	double sum = 0;

	for (unsigned i = 0; i + 1 < n; i++) {
		double inset = INSET * (c->delta + k * c->eta + at[i + 1]);
		double ends[2] = { u(c, at[i] + inset, k), u(c, at[i + 1] - inset, k) };
		struct span s = make_span(c, k, &at[i], ends);

		sum += halve(c, k, &s, most, HALVINGS_MAX);
	}
	return sum;
}

/*
 * Computes the area, which is at most eta and may be far less. Repeats with the result until the
 * precision is relative to the area itself.
 */
static double integrate_spans(const struct chen *c, unsigned k, const double *at, unsigned n)
{
	double area = c->eta, most;

	do {
		most = area;
		area = add_spans(c, k, at, n, most);
	} while (area > 0 && area < most / 2);
	return area;
}

static double integrate(const struct chen *c, unsigned k)
{
	double corner[2], at[2 * (HEARTBEATS_MAX + 1) + 2];
	unsigned ncorner = delay_corners(&c->delay, corner), n = 0;

	at[n++] = 0;
	at[n++] = c->eta;
	for (unsigned j = 0; j <= k; j++)
		for (unsigned i = 0; i < ncorner; i++) {
			double x = corner[i] - c->delta + j * c->eta;

			if (x > 0 && x < c->eta)
				at[n++] = x;
		}
	qsort(at, n, sizeof(*at), array_order_double);
	return integrate_spans(c, k, at, n);
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

/*
 * The function f of the paper: returns E(T_MR) with this eta, and the delta that the detection time
 * leaves.
 */
static double recurrence(const struct chen_requirements *w, double loss, const struct delay *d,
			 double eta, double q)
{
	unsigned k = (unsigned)ceil(w->detection / eta);
	double product = q;

	for (unsigned j = 1; j < k; j++)
		product *= loss + (1 - loss) * delay_tail(d, w->detection - j * eta);
	return eta / product;
}

/*
 * The function f has a saw-tooth shape. Above any eta of interest it has fewer teeth than this
 * number.
 */
#define ETAS 200000

int chen_configure(const struct chen_requirements *w, struct chen *inout, struct err *e)
{
	const struct delay *d = &inout->delay;
	double loss = inout->loss;
	double q = (1 - loss) * (1 - delay_tail(d, w->detection)), most = q * w->duration, try;

	if (most > w->detection)
		most = w->detection;
	for (unsigned i = ETAS; i > 0 && q > 0; i--) {
		try = most * i / ETAS;
		if (try * HEARTBEATS_MAX < w->detection)
			break;
		if (recurrence(w, loss, d, try, q) < w->recurrence)
			continue;
		inout->eta = try;
		inout->delta = w->detection - try;
		return 0;
	}
	return err_set(e, ERR_INVALID,
		       "no NFD-S fulfils this over such a network; allow a later detection");
}
