/* SPDX-License-Identifier: Apache-2.0 */
/* Waits in calls that ranks make together: how long, and for which rank where that can be
 * inferred. */
#include "tools/waits/waits.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/ring/calls.h"
#include "common/ring/calls_id.h"
#include "common/ring/seg.h"

#include <math.h>
#include <stdlib.h>

/* The last rank to enter waits for no other: its time is below this part of the median. */
#define LAST_OF_MEDIAN 0.75
/* Reads of ranks are not of one moment: this many calls, or this share, may differ. */
#define COUNT_DIFFERS 2
#define COUNT_SHARE 0.02

static bool is_together(const struct call_desc *d)
{
	return !call_posts(d) && (d->class == CALL_COLLECTIVE || d->class == CALL_BARRIER ||
				  d->class == CALL_COMM || d->class == CALL_RMA_SYNC);
}

/* True if no rank leaves the call before all have entered. */
static bool holds_until_all_come(unsigned func)
{
	static const uint16_t funcs[] = { CALL_ID_Barrier,   CALL_ID_Allreduce,
					  CALL_ID_Allgather, CALL_ID_Allgatherv,
					  CALL_ID_Alltoall,  CALL_ID_Alltoallv,
					  CALL_ID_Alltoallw, CALL_ID_Reduce_scatter,
					  CALL_ID_Win_fence, CALL_ID_Reduce_scatter_block };

	for (size_t i = 0; i < ARRAY_LEN(funcs); i++)
		if (funcs[i] == func)
			return true;
	return false;
}

static const struct exchange_call *call_of(const struct exchange_rank *r, unsigned func)
{
	for (size_t i = 0; i < r->ncall; i++)
		if (r->call[i].func == func)
			return &r->call[i];
	return NULL;
}

/* All ranks of the world have made it equally often, as in a communicator of all. */
static bool is_of_all(const struct waits *w, unsigned func)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < w->x->n; i++) {
		const struct exchange_call *c = call_of(&w->x->rank[i], func);

		if (!c)
			return false;
		least = fmin(least, c->count);
		most = fmax(most, c->count);
	}
	return (int64_t)w->x->n == w->x->world_size &&
	       most - least <= fmax(COUNT_DIFFERS, most * COUNT_SHARE);
}

/* time: of each rank, sorted. */
static double median_of(double *time, size_t n)
{
	qsort(time, n, sizeof(*time), array_order_double);
	return time[n / 2];
}

static bool find_last(const struct waits *w, struct waits_collective *c)
{
	const struct exchange *x = w->x;
	double *time, least = INFINITY;
	size_t last = 0;

	if (!holds_until_all_come(c->func) || x->n < 2 || !is_of_all(w, c->func))
		return true;
	time = calloc(x->n, sizeof(*time));
	if (!time)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		time[i] = call_of(&x->rank[i], c->func)->seconds;
		if (time[i] < least) {
			least = time[i];
			last = i;
		}
	}
	if (least < LAST_OF_MEDIAN * median_of(time, x->n)) {
		c->last = x->rank[last].rank;
		c->waited = c->seconds - least * (double)x->n;
	}
	free(time);
	return true;
}

static struct waits_collective *collective_of(struct waits *w, unsigned func)
{
	for (size_t i = 0; i < w->ncollective; i++)
		if (w->collective[i].func == func)
			return &w->collective[i];
	if (array_grow(&w->collective, &w->collective_cap, w->ncollective + 1,
		       sizeof(*w->collective), SEG_HOOKS))
		return NULL;
	w->collective[w->ncollective] =
		(struct waits_collective){ .func = func, .worst = -1, .last = -1 };
	return &w->collective[w->ncollective++];
}

static bool add_calls(struct waits *w, const struct exchange_rank *r)
{
	for (size_t i = 0; i < r->ncall; i++) {
		struct waits_collective *c;

		if (r->seconds <= 0 || !is_together(call_get(r->call[i].func)))
			continue;
		c = collective_of(w, r->call[i].func);
		if (!c)
			return false;
		c->seconds += r->call[i].seconds;
		if (c->worst >= 0 && r->call[i].seconds <= c->worst_seconds)
			continue;
		c->worst = r->rank;
		c->worst_seconds = r->call[i].seconds;
		c->worst_share = r->call[i].seconds / r->seconds;
	}
	return true;
}

static int by_seconds(const void *a, const void *b)
{
	const struct waits_collective *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return (x->func > y->func) - (x->func < y->func);
}

bool waits_collectives(struct waits *w)
{
	for (size_t i = 0; i < w->x->n; i++)
		if (!add_calls(w, &w->x->rank[i]))
			return false;
	for (size_t i = 0; i < w->ncollective; i++) {
		w->collective[i].share = w->collective[i].seconds / w->rank_seconds;
		if (!find_last(w, &w->collective[i]))
			return false;
	}
	if (w->ncollective)
		qsort(w->collective, w->ncollective, sizeof(*w->collective), by_seconds);
	return true;
}
