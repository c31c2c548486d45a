/* SPDX-License-Identifier: Apache-2.0 */
#include "why/cause.h"

#include <math.h>

#define ALPHA_SHOWN 0.05 /* of intervals that users see */

enum { C1, C2, C3, C4, C5, C8 };

/* The parts of the useful time of a rank, as shares of its time. */
struct parts {
	double useful, of[WHY_CAUSES];
};

static double share_of(double seconds, const struct why_rank *r)
{
	return at_most(seconds / r->seconds, 1);
}

/* The mean frequency of hosts that report it; NaN if fewer than two do. */
static double usual_frequency(const struct why_block *b)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < b->nhost; i++) {
		if (isnan(b->host[i].figure[WHY_FREQUENCY]))
			continue;
		sum += b->host[i].figure[WHY_FREQUENCY];
		n++;
	}
	return n < 2 ? NAN : sum / (double)n;
}

/* The part of working time that a slow host takes; NaN if the host reports nothing. */
static double slowed(const struct why_host *h, double frequency)
{
	double slow = 1 - h->figure[WHY_FREQUENCY] / frequency,
	       steal = h->figure[WHY_STEAL] / h->figure[WHY_PROCESSORS];

	if (isnan(slow) && isnan(steal))
		return NAN;
	return fmin((isnan(slow) ? 0 : fmax(slow, 0)) + (isnan(steal) ? 0 : steal), 1);
}

/*
 * Time ready without a processor, in the useful part: it is spread as time is. If the system does
 * not report it, it is the time off the processor.
 */
static double descheduled(const struct why_rank *r, double useful)
{
	double ready = share_of(r->figure[WHY_RUN_DELAY], r);

	if (isnan(ready)) {
		double blocked = r->figure[WHY_BLOCK_DELAY];

		ready = 1 - share_of(r->figure[WHY_COMPUTE] + (isnan(blocked) ? 0 : blocked), r);
	}
	return ready * useful;
}

/*
 * Useful time without a processor and without any other reason. The processor time of the rank in
 * MPI counts as useful: it is not known. So this is a lower bound of the time.
 */
static double asleep(const struct why_rank *r, double left)
{
	double awake = share_of(r->figure[WHY_COMPUTE], r);

	return isnan(awake) ? NAN : left - fmin(awake, left);
}

static struct parts parts_of(const struct view *v, size_t i, double frequency)
{
	const struct why_rank *r = &v->b->rank[i];
	const struct why_host *h = &v->b->host[r->host];
	struct parts p = { .useful = v->useful[i] };
	double slow, left = p.useful,
		     throttled = h->figure[WHY_THROTTLED] * 1e9 / (double)(v->b->end - v->b->begin);

	p.of[C5] = at_most(share_of(r->figure[WHY_BLOCK_DELAY], r), left);
	p.of[C4] = at_most(share_of(r->figure[WHY_FAULTS] * CAUSE_FAULT_SECONDS, r), left);
	/* Page faults are a part of the time blocked on disk. */
	if (p.of[C4] > 0 && p.of[C5] > 0) {
		p.of[C4] = fmin(p.of[C4], p.of[C5]);
		p.of[C5] -= p.of[C4];
	}
	left -= (isnan(p.of[C4]) ? 0 : p.of[C4]) + (isnan(p.of[C5]) ? 0 : p.of[C5]);
	p.of[C2] = at_most(descheduled(r, p.useful), left);
	/* A throttled rank is ready, too. */
	if (p.of[C2] > 0 && throttled > 0) {
		p.of[C3] = fmin(throttled * p.useful, p.of[C2]);
		p.of[C2] -= p.of[C3];
	}
	left -= (isnan(p.of[C2]) ? 0 : p.of[C2]) + p.of[C3];
	p.of[C8] = asleep(r, left);
	left -= isnan(p.of[C8]) ? 0 : p.of[C8];
	slow = slowed(h, frequency) * left;
	if (!isnan(slow))
		p.of[C3] += slow;
	else if (isnan(throttled))
		p.of[C3] = NAN;
	p.of[C1] = isnan(p.of[C2]) || isnan(p.of[C8]) ? NAN : left - (isnan(slow) ? 0 : slow);
	return p;
}

static bool is_culprit(const struct why_finding *f, const struct why_rank *r)
{
	for (size_t i = 0; !f->is_host && i < f->nrank; i++)
		if (f->rank[i] == r->rank)
			return true;
	for (size_t i = 0; f->is_host && i < f->nhost; i++)
		if (f->host[i] == r->host)
			return true;
	return false;
}

/* Sums over ranks for both ways to a share. */
struct sums {
	double n, useful, of[WHY_CAUSES]; /* of culprits, or of all */
	double others, others_useful, others_of[WHY_CAUSES], others_n[WHY_CAUSES];
	double square, product[WHY_CAUSES]; /* around `origin` */
	double origin;
};

static void sum_up(struct sums *s, const struct parts *p, bool is_late)
{
	double e = p->useful - s->origin;

	s->n += is_late;
	s->others += !is_late;
	*(is_late ? &s->useful : &s->others_useful) += p->useful;
	s->square += e * e;
	for (size_t c = 0; c < WHY_CAUSES; c++) {
		s->product[c] += e * p->of[c];
		if (is_late) {
			s->of[c] += p->of[c];
		} else if (!isnan(p->of[c])) {
			s->others_of[c] += p->of[c];
			s->others_n[c]++;
		}
	}
}

/* The shares by covariance: all ranks are in the sums of others. */
static void correlate(const struct sums *s, double threshold, struct cause_shares *out)
{
	double mean = s->others_useful / s->others - s->origin,
	       variance = s->square / s->others - mean * mean;

	if (!(sqrt(fmax(variance, 0)) >= threshold / 4))
		return;
	for (size_t c = 0; c < WHY_CAUSES; c++)
		out->of[c] =
			(s->product[c] / s->others - mean * s->others_of[c] / s->others) / variance;
}

static void compare(const struct sums *s, double threshold, struct cause_shares *out)
{
	double excess = s->useful / s->n - s->others_useful / s->others;

	if (s->others_useful > 0)
		out->ratio = s->useful / s->n / (s->others_useful / s->others);
	if (!(excess >= threshold / 4))
		return;
	for (size_t c = 0; c < WHY_CAUSES; c++)
		out->of[c] = (s->of[c] / s->n - s->others_of[c] / s->others_n[c]) / excess;
}

struct cause_shares cause_shares(struct view *v, const struct why_finding *f, double threshold)
{
	struct cause_shares out = { { NAN, NAN, NAN, NAN, NAN, NAN }, NAN };
	struct sums s = { .origin = v->useful_median };
	double frequency = usual_frequency(v->b);

	for (size_t i = 0; i < v->b->nrank; i++) {
		struct parts p;

		if (!v->is_alike[i])
			continue;
		p = parts_of(v, i, frequency);
		sum_up(&s, &p, is_culprit(f, &v->b->rank[i]));
	}
	if (s.n > 0 && s.others > 0)
		compare(&s, threshold, &out);
	else if (!(s.n > 0) && s.others >= 2)
		correlate(&s, threshold, &out);
	/* All ranks of a host with "more work" than all others: the host is slow. */
	if (f->is_host && s.n >= 2 && isnan(out.of[C3])) {
		out.of[C3] = out.of[C1];
		out.of[C1] = 0;
	}
	return out;
}

void causes_add(struct causes *c, const struct cause_shares *s)
{
	moments_add(&c->ratio, s->ratio);
	for (size_t i = 0; i < WHY_CAUSES; i++) {
		double share = fmin(fmax(s->of[i], 0), 1);

		if (isnan(s->of[i]))
			continue;
		moments_add(&c->share[i], share);
		eprocess_add_share(&c->e[i], share, CAUSE_LEAST);
	}
}

static struct why_range range_of(const struct moments *m, double max)
{
	double mean = moments_mean(m), width = sequence_width(m, ALPHA_SHOWN);

	if (!m->n)
		return (struct why_range){ NAN, NAN, NAN };
	return (struct why_range){ mean, fmax(mean - width, 0), fmin(mean + width, max) };
}

void causes_conclude(const struct causes *c, double alpha, struct why_finding *f)
{
	double p[WHY_CAUSES], explained = 0;
	unsigned char is_sure[WHY_CAUSES];
	bool is_taken[WHY_CAUSES] = { false };

	f->ratio = range_of(&c->ratio, INFINITY);
	f->ncause = 0;
	for (size_t i = 0; i < WHY_CAUSES; i++)
		p[i] = c->share[i].n ? eprocess_p(c->e[i].log_sup) : NAN;
	holm(p, WHY_CAUSES, alpha, is_sure);
	while (explained < 1 - CAUSE_LEAST) {
		size_t best = WHY_CAUSES;

		for (size_t i = 0; i < WHY_CAUSES; i++)
			if (!is_taken[i] && c->share[i].n &&
			    (best == WHY_CAUSES ||
			     moments_mean(&c->share[i]) > moments_mean(&c->share[best])))
				best = i;
		if (best == WHY_CAUSES || moments_mean(&c->share[best]) < CAUSE_LEAST / 2)
			return;
		is_taken[best] = true;
		explained += moments_mean(&c->share[best]);
		f->cause[f->ncause++] = (struct why_cause){ .id = (enum why_id)(WHY_C1 + best),
							    .share = range_of(&c->share[best], 1),
							    .is_sure = is_sure[best] };
	}
}

/* True if some host reports the figure. */
static bool has_host_figure(const struct why_block *b, enum why_host_figure figure)
{
	for (size_t i = 0; i < b->nhost; i++)
		if (!isnan(b->host[i].figure[figure]))
			return true;
	return false;
}

const char *cause_reason(const struct view *v, enum why_id id)
{
	const struct why_block *b = v->b;
	bool has_run_delay = v->has_figure[WHY_RUN_DELAY] || v->has_figure[WHY_COMPUTE];

	switch (id) {
	case WHY_C1:
	case WHY_C8:
		return v->has_figure[WHY_COMPUTE] ? NULL : "processor time is not known";
	case WHY_C2:
		return has_run_delay ? NULL : "run delay and processor time are not known";
	case WHY_C3:
		return !isnan(usual_frequency(b)) || has_host_figure(b, WHY_STEAL) ||
				       has_host_figure(b, WHY_THROTTLED)
			       ? NULL
			       : "frequency, steal and throttling are not known";
	case WHY_C4:
		return v->has_figure[WHY_FAULTS] ? NULL : "page faults are not known";
	case WHY_C5:
		return v->has_figure[WHY_BLOCK_DELAY] ? NULL : "time blocked on disk is not known";
	case WHY_C6:
		return "durations of single calls are not known";
	default:
		return "counting is not switched off to compare";
	}
}
