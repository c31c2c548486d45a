/* SPDX-License-Identifier: Apache-2.0 */
#include "why/block.h"

#include "common/base/limits.h"

#include <math.h>
#include <stdbool.h>

void why_rank_clear(struct why_rank *r, int32_t rank, uint32_t host)
{
	*r = (struct why_rank){ .rank = rank, .host = host };
	for (size_t i = 0; i < WHY_CLASSES; i++)
		r->delay[i] = r->calls[i] = r->bytes[i] = NAN;
	for (size_t i = 0; i < WHY_FIGURES; i++)
		r->figure[i] = NAN;
}

void why_host_clear(struct why_host *h)
{
	for (size_t i = 0; i < WHY_HOST_FIGURES; i++)
		h->figure[i] = NAN;
}

/* True for NaN and for a finite number that is not negative. */
static bool is_figure(double v)
{
	return isnan(v) || (v >= 0 && isfinite(v));
}

static bool are_figures(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_figure(v[i]))
			return false;
	return true;
}

static int check_rank(const struct why_block *b, size_t i, struct err *e)
{
	const struct why_rank *r = &b->rank[i];

	if (r->rank < 0 || (i && r->rank <= r[-1].rank))
		return err_set(e, ERR_INVALID, "rank %d of a block is out of order", r->rank);
	if (r->rank >= b->world_size || r->rank >= WHY_RANKS_MAX)
		return err_set(e, ERR_INVALID, "rank %d of a job of %lld, at most %d", r->rank,
			       (long long)b->world_size, WHY_RANKS_MAX);
	if (r->host >= b->nhost)
		return err_set(e, ERR_INVALID, "rank %d is on host %u of %zu", r->rank, r->host,
			       b->nhost);
	if (isnan(r->seconds) || !is_figure(r->seconds) || !are_figures(r->delay, WHY_CLASSES) ||
	    !are_figures(r->calls, WHY_CLASSES) || !are_figures(r->bytes, WHY_CLASSES) ||
	    !are_figures(r->figure, WHY_FIGURES))
		return err_set(e, ERR_INVALID, "rank %d has a negative or infinite figure",
			       r->rank);
	return 0;
}

static bool has_rank(const struct why_block *b, int32_t rank)
{
	size_t low = 0, high = b->nrank;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->rank[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->nrank && b->rank[low].rank == rank;
}

static int check_pair(const struct why_block *b, const struct why_pair *p, struct err *e)
{
	if (!has_rank(b, p->from) || !has_rank(b, p->to))
		return err_set(e, ERR_INVALID, "pair %d, %d has a rank outside of the block",
			       p->from, p->to);
	if (!is_figure(p->least) || !is_figure(p->most) || p->least > p->most ||
	    !is_figure(p->messages) || !is_figure(p->bytes))
		return err_set(e, ERR_INVALID, "pair %d, %d has a wrong figure", p->from, p->to);
	return 0;
}

static int check_wait(const struct why_block *b, const struct why_wait *w, struct err *e)
{
	if (!has_rank(b, w->rank))
		return err_set(e, ERR_INVALID, "a wait has rank %d, which is not in the block",
			       w->rank);
	if ((unsigned)w->class > WHY_TO_ROOT || !is_figure(w->seconds) || !is_figure(w->last) ||
	    !is_figure(w->instances))
		return err_set(e, ERR_INVALID, "the wait of rank %d has a wrong figure", w->rank);
	return 0;
}

static int check_sizes(const struct why_block *b, struct err *e)
{
	if (b->end <= b->begin)
		return err_set(e, ERR_INVALID, "a block ends before it begins");
	if (b->nrank > WHY_RANKS_MAX || b->nhost > WHY_RANKS_MAX)
		return err_set(e, ERR_LIMIT, "a block has more than %d ranks or hosts",
			       WHY_RANKS_MAX);
	if (b->npair > WHY_PAIRS_MAX || b->nwait > WHY_PAIRS_MAX)
		return err_set(e, ERR_LIMIT, "a block has more than %d pairs or waits",
			       WHY_PAIRS_MAX);
	if (b->world_size < (int64_t)b->nrank)
		return err_set(e, ERR_INVALID, "a block has %zu ranks of a job of %lld", b->nrank,
			       (long long)b->world_size);
	return 0;
}

int why_block_check(const struct why_block *b, struct err *e)
{
	int rc = check_sizes(b, e);

	for (size_t i = 0; !rc && i < b->nrank; i++)
		rc = check_rank(b, i, e);
	for (size_t i = 0; !rc && i < b->nhost; i++)
		if (!are_figures(b->host[i].figure, WHY_HOST_FIGURES))
			rc = err_set(e, ERR_INVALID, "host %zu has a wrong figure", i);
	for (size_t i = 0; !rc && i < b->npair; i++)
		rc = check_pair(b, &b->pair[i], e);
	for (size_t i = 0; !rc && i < b->nwait; i++)
		rc = check_wait(b, &b->wait[i], e);
	return rc;
}
