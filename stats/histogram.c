/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/histogram.h"

double histogram_edge(const struct histogram *h, unsigned i)
{
	return i >= h->n ? h->to : h->from + (h->to - h->from) / h->n * i;
}

static unsigned usual_bins(struct quantity *q)
{
	const struct moments *m = quantity_moments(q);
	double range = quantity_quantile(q, 0.75, NULL) - quantity_quantile(q, 0.25, NULL);
	double bins = (m->max - m->min) / (2 * range / cbrt((double)m->n));

	/*
	 * The number of bins is NaN or infinite if half of the values are equal, or memory is
	 * missing.
	 */
	if (!(bins <= HISTOGRAM_BINS_USUAL))
		return HISTOGRAM_BINS_USUAL;
	return bins < 1 ? 1 : (unsigned)ceil(bins);
}

static void count(struct histogram *h, double v, uint64_t n)
{
	double at = (v - h->from) / (h->to - h->from) * h->n;

	h->count[!(at > 0) ? 0 : at >= h->n ? h->n - 1 : (unsigned)at] += n;
}

void histogram_of(struct quantity *q, unsigned bins, struct histogram *out)
{
	const struct moments *m = quantity_moments(q);
	struct sketch_bucket b;
	size_t n;
	const double *v = quantity_values(q, &n);

	*out = (struct histogram){ .from = m->min, .to = m->max };
	if (!m->n)
		return;
	out->n = m->min == m->max	     ? 1
		 : !bins		     ? usual_bins(q)
		 : bins < HISTOGRAM_BINS_MAX ? bins
					     : HISTOGRAM_BINS_MAX;
	for (size_t i = 0; i < n; i++)
		count(out, v[i], 1);
	for (uint32_t i = 0; !v && sketch_next(quantity_sketch(q), &i, &b);)
		count(out, b.from + (b.to - b.from) / 2, b.count);
}
