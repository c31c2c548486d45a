/* SPDX-License-Identifier: Apache-2.0 */
#include "why/partners.h"

#include "why/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double block_seconds(const struct why_block *b)
{
	return (double)(b->end - b->begin) / 1e9;
}

/* All rank-seconds of the block. */
static double rank_seconds(const struct why_block *b)
{
	return block_seconds(b) * (double)b->world_size;
}

/* The middle of the bounds; 0 if they are not known. */
static double wait_of(const struct why_pair *p)
{
	double middle = (p->least + p->most) / 2;

	return isnan(middle) ? 0 : middle;
}

/* --- instances of collectives */

static void refine_collective(struct view *v, enum why_class class, double threshold,
			      struct why_loss *l)
{
	const struct why_block *b = v->b;
	double sum = 0, most = 0, instances = 0;
	size_t known = 0;
	int64_t last = -1;

	for (size_t i = 0; i < b->nwait; i++) {
		const struct why_wait *w = &b->wait[i];
		size_t at = view_index(b, w->rank);

		if (w->class != class || isnan(w->seconds))
			continue;
		known++;
		sum += w->seconds;
		instances = fmax(instances, isnan(w->instances) ? 0 : w->instances);
		if (v->is_alike[at] && !isnan(v->share[at]) && w->last > most) {
			most = w->last;
			last = w->rank;
		}
	}
	if (!known)
		return;
	l->low = fmin(sum / rank_seconds(b), l->high);
	l->high = fmin(l->low + fmax(1 - (double)known / (double)b->world_size, 0), l->high);
	l->is_lower_bound = false;
	l->nlate = 0;
	/* Twice as often as by chance, in a loss that matters. */
	l->last = l->low >= threshold / 2 && most * (double)l->compared > 2 * instances ? last : -1;
}

/* --- receives and sends */

/* The chain over the pairs of one kind. Returns their number. */
static size_t blame_pairs(struct view *v, bool is_send)
{
	const struct why_block *b = v->b;
	struct chain c = { .n = b->nrank,
			   .useful = v->blame[3],
			   .wait = v->wait,
			   .waited = v->blame[0],
			   .moving = v->blame[1],
			   .blame = v->blame[2] };

	for (size_t i = 0; i < b->nrank; i++)
		v->blame[3][i] = isnan(v->useful[i]) ? 0 : v->useful[i] * b->rank[i].seconds;
	for (size_t k = 0; k < b->npair; k++)
		if (b->pair[k].is_send == is_send)
			v->wait[c.nwait++] =
				(struct chain_wait){ (uint32_t)view_index(b, b->pair[k].from),
						     (uint32_t)view_index(b, b->pair[k].to),
						     wait_of(&b->pair[k]) };
	chain_blame(&c);
	return c.nwait;
}

/*
 * The time that ranks waited because others were late. A wait of a pair has its transfers, too. So
 * a rank costs each other one its excess at most, and nothing if its excess is noise. Waits for a
 * server, and for ranks that are explained, are counted elsewhere.
 */
static double lateness(const struct view *v, double threshold, int64_t server, size_t *most)
{
	const struct why_block *b = v->b;
	double sum = 0, best = 0;

	*most = (size_t)-1;
	for (size_t i = 0; i < b->nrank; i++) {
		double excess = v->useful[i] - v->useful_median,
		       cost = fmin(v->blame[2][i],
				   excess * b->rank[i].seconds * (double)(b->nrank - 1));

		if (b->rank[i].rank == server || v->is_explained[i] || !(excess >= threshold / 4) ||
		    !(cost > 0))
			continue;
		sum += cost;
		if (v->is_alike[i] && cost > best) {
			best = cost;
			*most = i;
		}
	}
	return sum;
}

/* Raises the lower bound from totals, and names the rank at the end of the waits. */
static void refine_messages(struct view *v, bool is_send, double threshold, struct why_loss *l)
{
	const struct why_block *b = v->b;
	struct why_loss server = { .last = -1 };
	double most = 0, low;
	size_t at;

	partners_lose_by_server(v, threshold, &server);
	if (!blame_pairs(v, is_send))
		return;
	for (size_t k = 0; k < b->npair; k++)
		if (b->pair[k].is_send == is_send && b->pair[k].most > 0)
			most += b->pair[k].most;
	low = lateness(v, threshold, server.last, &at) / rank_seconds(b);
	l->high = fmin(fmax(l->high, most / rank_seconds(b)), 1);
	if (server.last >= 0) {
		l->low = 0;
		l->last = -1;
		l->nlate = 0;
	}
	l->low = fmax(l->low, low);
	if (low < threshold / 2 || at == (size_t)-1)
		return;
	l->last = b->rank[at].rank;
	l->nlate = 0;
}

void partners_refine(struct view *v, unsigned classes, double threshold, struct why_loss *l)
{
	if (classes == (1u << WHY_RECEIVE | 1u << WHY_WAIT) && v->b->npair)
		refine_messages(v, false, threshold, l);
	if (classes == 1u << WHY_SEND && v->b->npair)
		refine_messages(v, true, threshold, l);
	for (enum why_class c = WHY_BARRIER; c <= WHY_TO_ROOT; c++)
		if (classes == 1u << c && v->b->nwait)
			refine_collective(v, c, threshold, l);
}

/* --- servers */

void partners_lose_by_server(struct view *v, double threshold, struct why_loss *l)
{
	const struct why_block *b = v->b;
	double *in = v->blame[0], *partners = v->blame[2], sum = 0;
	size_t best = 0;

	if (!b->npair)
		return;
	memset(in, 0, b->nrank * sizeof(*in));
	memset(partners, 0, b->nrank * sizeof(*partners));
	for (size_t k = 0; k < b->npair; k++) {
		size_t to = view_index(b, b->pair[k].to);
		double least = isnan(b->pair[k].least) ? 0 : b->pair[k].least;

		in[to] += least;
		partners[to] += least > 0;
		sum += isnan(b->pair[k].most) ? 0 : b->pair[k].most;
	}
	for (size_t i = 1; i < b->nrank; i++)
		if (in[i] > in[best])
			best = i;
	l->high = fmin(sum / rank_seconds(b), 1);
	l->compared = b->nrank;
	if (in[best] <= sum / 2 || partners[best] < PARTNERS_SERVED_MIN ||
	    partners[best] < (double)(b->nrank - 1) / 2)
		return;
	l->low = fmin(in[best] / rank_seconds(b), 1);
	if (l->low >= threshold / 2)
		l->last = b->rank[best].rank;
}

/* --- links */

static int by_key(const void *a, const void *b)
{
	const struct view_edge *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int by_cost(const void *a, const void *b)
{
	const struct view_edge *x = a, *y = b;
	double p = x->wait / x->weight, q = y->wait / y->weight;

	return p < q ? -1 : p > q;
}

/* Sums the pairs of ranks on different hosts up by link. Returns the number of links. */
static size_t sum_links(struct view *v)
{
	const struct why_block *b = v->b;
	size_t n = 0, links = 0;

	for (size_t k = 0; k < b->npair; k++) {
		const struct why_pair *p = &b->pair[k];
		uint32_t x = b->rank[view_index(b, p->from)].host,
			 y = b->rank[view_index(b, p->to)].host;
		double weight = p->bytes + 64 * p->messages;

		if (x == y || !(weight > 0) || isnan(p->least + p->most))
			continue;
		v->edge[n++] =
			(struct view_edge){ (uint64_t)partners_link(x, y), wait_of(p), weight };
	}
	qsort(v->edge, n, sizeof(*v->edge), by_key);
	for (size_t k = 0; k < n; k++) {
		if (links && v->edge[links - 1].key == v->edge[k].key) {
			v->edge[links - 1].wait += v->edge[k].wait;
			v->edge[links - 1].weight += v->edge[k].weight;
		} else {
			v->edge[links++] = v->edge[k];
		}
	}
	return links;
}

/* True if most pairs over the link are slow, and wait for ranks that are not late themselves. */
static bool is_link_slow(const struct view *v, uint64_t key, double cost, double threshold)
{
	const struct why_block *b = v->b;
	size_t pairs = 0, slow = 0;

	for (size_t k = 0; k < b->npair; k++) {
		const struct why_pair *p = &b->pair[k];
		size_t from = view_index(b, p->from), to = view_index(b, p->to);
		double weight = p->bytes + 64 * p->messages;

		if ((uint64_t)partners_link(b->rank[from].host, b->rank[to].host) != key ||
		    !(weight > 0))
			continue;
		pairs++;
		slow += wait_of(p) > 2 * cost * weight &&
			!(v->useful[to] - v->useful_median > threshold / 2);
	}
	return slow * 4 >= pairs * 3;
}

void partners_lose_by_link(struct view *v, double threshold, struct why_loss *l)
{
	size_t n = v->b->npair ? sum_links(v) : 0;
	double sum = 0, median, more;
	const struct view_edge *last;

	for (size_t k = 0; k < n; k++)
		sum += v->edge[k].wait;
	l->high = fmin(sum / rank_seconds(v->b), 1);
	l->compared = n;
	if (n < PARTNERS_LINKS_MIN)
		return;
	qsort(v->edge, n, sizeof(*v->edge), by_cost);
	last = &v->edge[n - 1];
	median = v->edge[(n - 1) / 2].wait / v->edge[(n - 1) / 2].weight;
	more = last->wait - median * last->weight;
	if (!is_link_slow(v, last->key, median, threshold))
		return;
	l->low = fmin(more / rank_seconds(v->b), 1);
	if (l->low >= threshold / 2)
		l->last = (int64_t)last->key;
}
