/* SPDX-License-Identifier: Apache-2.0 */
#include "why/tested.h"

#include "stats/series.h"
#include "why/change.h"
#include "why/search.h"

#include <math.h>
#include <string.h>

#define ALPHA_SHOWN 0.05 /* of intervals that users see */

static void count(struct tested *t, const struct tested_value *v, double threshold)
{
	moments_add(&t->low, v->low);
	moments_add(&t->high, v->high);
	t->held += v->low >= threshold ? (t->merged ? t->merged : 1) : 0;
}

static void store(struct tested *t, const struct tested_value *v)
{
	if (t->n == TESTED_KEPT) {
		memmove(t->value, t->value + 1, (TESTED_KEPT - 1) * sizeof(*t->value));
		t->n--;
	}
	t->value[t->n++] = *v;
}

/* Counts from value `at` on. */
static void forget_before(struct tested *t, size_t at, double threshold)
{
	t->before = 0;
	for (size_t i = 0; i < at; i++)
		t->before += t->value[i].low / (double)at;
	t->n -= at;
	memmove(t->value, t->value + at, t->n * sizeof(*t->value));
	t->since = t->changed = t->value[0].begin;
	t->low = t->high = (struct moments){ 0 };
	t->held = 0;
	for (size_t i = 0; i < t->n; i++)
		count(t, &t->value[i], threshold);
}

/*
 * Merges each two neighbours if values depend on the ones before them. The last values may be the
 * first ones after a change: then it is too early to say.
 */
static void merge(struct tested *t, const double *x, double threshold)
{
	size_t half = t->n / 2;

	if (t->merged >= TESTED_MERGED_MAX || t->n < TESTED_SERIAL_MIN || t->n % 2)
		return;
	if (t->n - change_at(x, t->n) < CHANGE_SIDE_MIN)
		return;
	if (moments_deviation(&t->low) < threshold / 10 ||
	    !(series_autocorrelation(x, t->n, 1) > 2.33 / sqrt((double)t->n)))
		return;
	t->merged = t->merged ? 2 * t->merged : 2;
	t->low = t->high = (struct moments){ 0 };
	t->held = 0;
	for (size_t i = 0; i < half; i++) {
		const struct tested_value *a = &t->value[2 * i], *b = a + 1;

		t->value[i] = (struct tested_value){ .low = (a->low + b->low) / 2,
						     .high = (a->high + b->high) / 2,
						     .begin = a->begin };
		count(t, &t->value[i], threshold);
	}
	t->n = half;
}

static bool add_value(struct tested *t, const struct tested_value *v, double threshold)
{
	double x[TESTED_KEPT];
	size_t at;

	if (!t->n)
		t->since = v->begin;
	eprocess_add_share(&t->e, v->low, threshold);
	store(t, v);
	count(t, v, threshold);
	for (size_t i = 0; i < t->n; i++)
		x[i] = t->value[i].low;
	at = change_find(x, t->n, threshold / 2);
	if (at)
		forget_before(t, at, threshold);
	else
		merge(t, x, threshold);
	return at > 0;
}

bool tested_add(struct tested *t, const struct why_loss *l, nsec_t begin, double threshold)
{
	unsigned merged = t->merged ? t->merged : 1;
	struct tested_value v;

	if (l->reason)
		return false;
	t->is_lower_bound = l->is_lower_bound;
	if (!t->pending)
		t->pending_begin = begin;
	t->sum_low += l->low;
	t->sum_high += l->high;
	if (++t->pending < merged)
		return false;
	v = (struct tested_value){ .low = t->sum_low / merged,
				   .high = t->sum_high / merged,
				   .begin = t->pending_begin };
	t->pending = 0;
	t->sum_low = t->sum_high = 0;
	return add_value(t, &v, threshold);
}

double tested_p(const struct tested *t)
{
	/* The parts of alpha: 0.8 for the first attempt, 0.2/(a (a+1)) for attempt a from 1. */
	double factor = t->attempts ? 5 * t->attempts * (t->attempts + 1.0) : 1.25;

	return fmin(factor * eprocess_p(t->e.log_sup), 1);
}

bool tested_matters(const struct tested *t, double threshold)
{
	struct why_range r = tested_severity(t);

	return r.value >= threshold && r.low >= threshold / 2 && t->held >= WHY_HELD_MIN;
}

bool tested_is_ruled_out(const struct tested *t, double threshold)
{
	return t->high.n >= TESTED_RULED_OUT_MIN &&
	       moments_mean(&t->high) + sequence_width(&t->high, ALPHA_SHOWN) < threshold;
}

void tested_restart(struct tested *t)
{
	t->e = (struct eprocess){ 0 };
	t->attempts++;
}

struct why_range tested_severity(const struct tested *t)
{
	double low = moments_mean(&t->low), high = t->is_lower_bound ? low : moments_mean(&t->high);

	if (!t->low.n)
		return (struct why_range){ NAN, NAN, NAN };
	return (struct why_range){
		.value = low,
		.low = fmax(low - sequence_width(&t->low, ALPHA_SHOWN), 0),
		.high = fmin(
			high + sequence_width(t->is_lower_bound ? &t->low : &t->high, ALPHA_SHOWN),
			1),
	};
}

struct why_range tested_guaranteed(const struct tested *t)
{
	struct why_range r = { .value = moments_mean(&t->low) };
	double x[TESTED_KEPT];

	for (size_t i = 0; i < t->n; i++)
		x[i] = t->value[i].low;
	sequence_bounds(x, t->n, ALPHA_SHOWN, &r);
	return r;
}
