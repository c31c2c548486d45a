/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/waits/waits.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/ring/calls.h"
#include "common/ring/seg.h"

#include <math.h>
#include <stdlib.h>

/* --- lateness of ranks */

/* Share of the rank's time that it is in MPI. */
static double in_mpi(const struct exchange_rank *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->ncall; i++)
		sum += r->call[i].seconds;
	return r->seconds > 0 ? fmin(sum / r->seconds, 1) : 0;
}

/* The lateness of each rank of x, in its order; owned by the caller. NULL: no memory. */
static double *latenesses(const struct exchange *x)
{
	double *late = calloc(2 * x->n + 1, sizeof(*late)), *sorted = late + x->n, median;

	if (!late)
		return NULL;
	for (size_t i = 0; i < x->n; i++)
		late[i] = sorted[i] = in_mpi(&x->rank[i]);
	qsort(sorted, x->n, sizeof(*sorted), array_order_double);
	median = x->n ? sorted[x->n / 2] : 0;
	for (size_t i = 0; i < x->n; i++)
		late[i] = fmax(median - late[i], 0);
	return late;
}

/* --- the time of one function of one rank */

struct making {
	struct waits *w;
	const double *late;
	const struct exchange_rank *rank;
	struct waits_edge *part; /* owned: by rank, partner and function */
	size_t n, cap;
	double given; /* of this rank */
};

static void add_part(struct making *m, const struct exchange_pair *p, double inferred)
{
	if (array_grow(&m->part, &m->cap, m->n + 1, sizeof(*m->part), OMIS_VALUES_MAX)) {
		m->w->failed = true;
		return;
	}
	m->part[m->n++] = (struct waits_edge){ .rank = m->rank->rank,
					       .partner = p->partner,
					       .seconds = p->certain + inferred,
					       .inferred = inferred,
					       .least = p->certain,
					       .most = p->certain + p->possible,
					       .func = p->func,
					       .kinds = p->kinds,
					       .tag = p->tag,
					       .func_seconds = p->certain + inferred };
	m->given += p->certain + inferred;
}

/* Unlikely pairs are not candidates. Differences below WAITS_LEAST have little weight. */
static double weight(const struct making *m, const struct exchange_pair *p)
{
	const struct exchange_rank *partner = exchange_find(m->w->x, p->partner);

	if (p->shared <= 0)
		return 0;
	return p->possible * ((partner ? m->late[partner - m->w->x->rank] : 0) + WAITS_LEAST / 2);
}

static void add_function(struct making *m, const struct exchange_pair *p, size_t n)
{
	double shared = 0, weights = 0, left;

	for (size_t i = 0; i < n; i++) {
		shared += p[i].shared;
		weights += weight(m, &p[i]);
	}
	left = shared;
	for (size_t i = 0; i < n; i++) {
		double inferred = weights > 0 ? shared * weight(m, &p[i]) / weights : 0;

		inferred = fmin(fmin(inferred, p[i].possible), left);
		left -= inferred;
		add_part(m, &p[i], inferred);
	}
	/* More than was possible for those: their share of it stays unknown. */
	if (left > 1e-9)
		add_part(m,
			 &(struct exchange_pair){ .func = p->func,
						  .partner = CALL_PARTNER_UNKNOWN,
						  .certain = left,
						  .tag = -1 },
			 0);
}

static bool is_between_two(const struct call_desc *d)
{
	return d->class == CALL_SEND || d->class == CALL_RECV || d->class == CALL_PROBE ||
	       d->class == CALL_RMA || call_waits(d);
}

/* Time of calls between two ranks that has no pair: probes, and partners without room. */
static void add_unknown(struct making *m)
{
	const struct exchange_rank *r = m->rank;
	struct exchange_pair p = { .partner = CALL_PARTNER_UNKNOWN, .tag = -1 };
	double sum = 0, largest = 0;

	for (size_t i = 0; i < r->ncall; i++) {
		const struct exchange_call *c = &r->call[i];

		if (!is_between_two(call_get(c->func)))
			continue;
		sum += c->seconds;
		if (c->seconds > largest && call_table[c->func].class == CALL_PROBE) {
			largest = c->seconds;
			p.func = c->func;
		}
	}
	p.certain = sum - m->given;
	/* Two reads of a call that ends meanwhile differ a little. */
	if (p.certain > 1e-3)
		add_part(m, &p, 0);
}

static void add_rank(struct making *m, const struct exchange_rank *r)
{
	m->rank = r;
	m->given = 0;
	for (size_t i = 0, n; i < r->npair; i += n) {
		for (n = 1; i + n < r->npair && r->pair[i + n].func == r->pair[i].func;)
			n++;
		if (is_between_two(call_get(r->pair[i].func)))
			add_function(m, &r->pair[i], n);
	}
	add_unknown(m);
}

/* --- edges of all functions together */

static int by_partner(const void *a, const void *b)
{
	const struct waits_edge *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->partner > y->partner) - (x->partner < y->partner);
}

static void join(struct waits_edge *to, const struct waits_edge *part)
{
	to->seconds += part->seconds;
	to->inferred += part->inferred;
	to->least += part->least;
	to->most += part->most;
	if (part->func_seconds <= to->func_seconds)
		return;
	to->func = part->func;
	to->kinds = part->kinds;
	to->tag = part->tag;
	to->func_seconds = part->func_seconds;
}

static int by_seconds(const void *a, const void *b)
{
	const struct waits_edge *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return by_partner(a, b);
}

static void join_all(struct waits *w, struct waits_edge *part, size_t n)
{
	size_t at = 0;

	if (n)
		qsort(part, n, sizeof(*part), by_partner);
	for (size_t i = 0; i < n; i++) {
		if (at && !by_partner(&part[at - 1], &part[i]))
			join(&part[at - 1], &part[i]);
		else
			part[at++] = part[i];
	}
	for (size_t i = 0; i < at; i++)
		part[i].share = part[i].seconds / exchange_find(w->x, part[i].rank)->seconds;
	if (at)
		qsort(part, at, sizeof(*part), by_seconds);
	w->edge = part;
	w->nedge = at;
}

/* --- the rank that is waited for most */

static void choose_most(struct waits *w, const double *for_rank)
{
	w->most = -1;
	for (int64_t p = 0; p < w->x->world_size; p++) {
		if (for_rank[p] > w->most_seconds) {
			w->most_seconds = for_rank[p];
			w->most = (int32_t)p;
		}
	}
}

static void describe_most(struct waits *w)
{
	for (size_t i = 0; i < w->nedge; i++) {
		if (w->edge[i].partner != w->most || w->edge[i].share < WAITS_LEAST)
			continue;
		if (!w->most_edge)
			w->most_edge = &w->edge[i];
		w->most_ranks++;
	}
	for (size_t i = 0; i < w->ncollective; i++) {
		const struct waits_collective *c = &w->collective[i];

		if (c->last != w->most || c->worst_share < WAITS_LEAST)
			continue;
		w->most_ranks = w->x->n - 1;
		if (!w->most_edge || c->waited > w->most_edge->seconds) {
			w->most_edge = NULL;
			w->most_collective = c;
		}
		break;
	}
	if (!w->most_edge && !w->most_collective)
		w->most = -1;
}

static bool find_most(struct waits *w)
{
	double *for_rank = calloc((size_t)w->x->world_size + 1, sizeof(*for_rank));

	if (!for_rank)
		return false;
	for (size_t i = 0; i < w->nedge; i++)
		if (w->edge[i].partner >= 0 && w->edge[i].share >= WAITS_LEAST)
			for_rank[w->edge[i].partner] += w->edge[i].seconds;
	for (size_t i = 0; i < w->ncollective; i++)
		if (w->collective[i].last >= 0 && w->collective[i].worst_share >= WAITS_LEAST)
			for_rank[w->collective[i].last] += w->collective[i].waited;
	choose_most(w, for_rank);
	free(for_rank);
	describe_most(w);
	return true;
}

/* --- all together */

static void add_up(struct waits *w)
{
	for (size_t i = 0; i < w->nedge; i++) {
		const struct waits_edge *e = &w->edge[i];

		if (e->partner == CALL_PARTNER_ALL)
			continue;
		w->waited += e->seconds;
		w->inferred += e->inferred;
		w->unknown += e->partner == CALL_PARTNER_UNKNOWN ? e->seconds : 0;
	}
	for (size_t i = 0; i < w->x->n; i++)
		for (size_t k = 0; k < w->x->rank[i].ncall; k++) {
			const struct exchange_call *c = &w->x->rank[i].call[k];

			if (is_between_two(call_get(c->func)))
				w->calls += c->count;
		}
}

bool waits_make(struct waits *w, const struct exchange *x)
{
	struct making m = { .w = w };
	double *late = latenesses(x);

	*w = (struct waits){ .x = x, .most = -1 };
	m.late = late;
	for (size_t i = 0; late && i < x->n; i++) {
		const struct exchange_rank *r = &x->rank[i];

		w->seconds = fmax(w->seconds, r->seconds);
		w->rank_seconds += r->seconds;
		w->lost += r->lost;
		if (r->seconds > 0)
			add_rank(&m, r);
	}
	free(late);
	join_all(w, m.part, m.n);
	add_up(w);
	if (!late || w->failed || !waits_collectives(w) || !find_most(w)) {
		waits_done(w);
		return false;
	}
	return true;
}

void waits_done(struct waits *w)
{
	free(w->edge);
	free(w->collective);
	*w = (struct waits){ .most = -1 };
}
