/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/cmd/neko_progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define TEXT_BYTES 120

/* The quantity that is farthest from the end by its rule. */
struct farthest {
	const struct quantity *q;
	/* relative half-width of the interval, and the one that the rule requires */
	double width, wanted;
	bool is_relative;
};

static void look_at(struct farthest *f, const struct quantity *q)
{
	const struct stop *s = quantity_stop(q);
	const struct moments *m = quantity_moments(q);

	for (unsigned i = 0; i < s->n && m->n > 1; i++) {
		const struct stop_term *t = &s->term[i];
		double half;

		if (t->kind != STOP_ON_INTERVAL)
			continue;
		half = (t->by_batches ? quantity_interval_of_batches(q, t->level)
				      : quantity_interval(q, t->level))
			       .half;
		if (t->is_relative)
			half /= fabs(moments_mean(m));
		if (!isfinite(half) || (f->q && half / t->width <= f->width / f->wanted))
			continue;
		*f = (struct farthest){ q, half, t->width, t->is_relative };
	}
}

/*
 * Writes "T_M +-7.4 % of 5 %, ~40 s to go". The half-width shrinks with the square root of the
 * time.
 */
static void put_rule(char out[TEXT_BYTES], const struct run *r, double seconds)
{
	struct stat_result v[STAT_QUANTITIES_MAX];
	size_t n = run_results(r, v);
	struct farthest f = { 0 };
	double more;
	int at;

	out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		look_at(&f, v[i].quantity);
	if (!f.q)
		return;
	at = snprintf(out, TEXT_BYTES,
		      f.is_relative ? ", %s +-%.2g %% of %.2g %%" : ", %s +-%.3g of %.3g",
		      quantity_name(f.q), f.width * (f.is_relative ? 100 : 1),
		      f.wanted * (f.is_relative ? 100 : 1));
	more = seconds * (f.width * f.width / (f.wanted * f.wanted) - 1);
	if (at > 0 && at < TEXT_BYTES && more > 0 && more < 1e6)
		snprintf(out + at, TEXT_BYTES - (size_t)at, ", ~%.0f s to go", more);
}

void neko_progress(struct progress *p, const struct run_turn *t, size_t run, size_t runs)
{
	char rule[TEXT_BYTES], of[48] = "", own[64] = "";

	if (!progress_is_due(p))
		return;
	put_rule(rule, t->run, t->wall_seconds);
	if (runs > 1)
		snprintf(of, sizeof(of), ", run %zu of %zu", run, runs);
	if (t->runs > 1)
		snprintf(own, sizeof(own), ", seed %" PRIu64 " of %" PRIu64, t->done + 1, t->runs);
	progress_show(p, "%.0f s%s%s, %.3g s of the run%s; ctrl-C shows the results so far",
		      progress_seconds(p), of, own, t->seconds, rule);
}
