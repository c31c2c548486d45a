/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/why/culprits.h"

#include "common/base/array.h"

#include <math.h>
#include <stdlib.h>

static double in_mpi(const struct why_rank *r)
{
	double sum = 0;

	for (size_t i = 0; i < WHY_CLASSES; i++)
		sum += isnan(r->delay[i]) ? 0 : r->delay[i];
	return r->seconds > 0 ? fmin(sum / r->seconds, 1) : (double)NAN;
}

static bool is_culprit(const struct why_finding *f, const struct why_rank *r)
{
	for (size_t i = 0; i < f->nrank; i++)
		if (f->rank[i] == r->rank)
			return true;
	for (size_t i = 0; f->is_host && i < f->nhost; i++)
		if (f->host[i] == r->host)
			return true;
	return false;
}

struct sums {
	double late, figure[WHY_FIGURES];
	size_t n;
};

static void add_culprit(struct sums *c, const struct why_rank *r)
{
	c->late += 1 - in_mpi(r);
	for (size_t i = 0; i < WHY_FIGURES; i++)
		c->figure[i] += r->figure[i] / r->seconds;
	c->n++;
}

bool culprits_line(const struct why_finding *f, const struct why_block *b,
		   struct culprits_line *out)
{
	double *useful = calloc(b->nrank + 1, sizeof(*useful)), sum = 0, seconds = 0;
	struct sums c = { 0 };
	size_t n = 0;

	if (!useful)
		return false;
	for (size_t i = 0; i < b->nrank; i++) {
		const struct why_rank *r = &b->rank[i];

		if (r->seconds <= 0)
			continue;
		useful[n++] = 1 - in_mpi(r);
		sum += useful[n - 1] * r->seconds;
		seconds += r->seconds;
		if (is_culprit(f, r))
			add_culprit(&c, r);
	}
	qsort(useful, n, sizeof(*useful), array_order_double);
	*out = (struct culprits_line){ .seconds = (double)(b->end - b->begin) * 1e-9,
				       .ranks = n,
				       .useful = n ? sum / seconds : (double)NAN,
				       .median = n ? useful[n / 2] : (double)NAN,
				       .late = c.late / (double)c.n,
				       .compute = c.figure[WHY_COMPUTE] / (double)c.n,
				       .run_delay = c.figure[WHY_RUN_DELAY] / (double)c.n,
				       .block_delay = c.figure[WHY_BLOCK_DELAY] / (double)c.n };
	free(useful);
	return true;
}

struct culprits_mean culprits_mean(const struct why_finding *f, const struct kept *kept)
{
	struct sums c = { 0 };

	for (size_t i = 0; i < kept->n; i++) {
		const struct why_block *b = &kept->block[i].block;

		for (size_t k = 0; k < b->nrank; k++)
			if (b->rank[k].seconds > 0 && is_culprit(f, &b->rank[k]))
				add_culprit(&c, &b->rank[k]);
	}
	return (struct culprits_mean){ c.figure[WHY_COMPUTE] / (double)c.n,
				       c.figure[WHY_RUN_DELAY] / (double)c.n };
}
