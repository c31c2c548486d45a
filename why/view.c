/* SPDX-License-Identifier: Apache-2.0 */
#include "why/view.h"

#include "common/base/array.h"
#include "common/base/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Grows an array of `item` bytes; its old items stay. */
static int grow(void *array, size_t from, size_t to, size_t item)
{
	void **at = array, *p = realloc(*at, to * item);

	if (!p)
		return -ERR_NOMEM;
	memset((char *)p + from * item, 0, (to - from) * item);
	*at = p;
	return 0;
}

static int reserve_ranks(struct view *v, size_t n)
{
	int rc = 0;

	if (n <= v->cap)
		return 0;
	n = n < 64 ? 64 : n;
	rc = rc ? rc : grow(&v->host_of, v->cap, n, sizeof(*v->host_of));
	rc = rc ? rc : grow(&v->useful, v->cap, n, sizeof(*v->useful));
	rc = rc ? rc : grow(&v->share, v->cap, n, sizeof(*v->share));
	rc = rc ? rc : grow(&v->is_explained, v->cap, n, sizeof(*v->is_explained));
	rc = rc ? rc : grow(&v->is_alike, v->cap, n, sizeof(*v->is_alike));
	rc = rc ? rc : grow(&v->role, v->cap, n, sizeof(*v->role));
	if (!rc)
		v->cap = n;
	return rc;
}

static int reserve_blame(struct view *v, size_t n)
{
	int rc = 0;

	if (n <= v->blame_cap)
		return 0;
	for (size_t i = 0; !rc && i < ARRAY_LEN(v->blame); i++)
		rc = grow(&v->blame[i], 2 * v->blame_cap, 2 * n, sizeof(double));
	if (!rc)
		v->blame_cap = n;
	return rc;
}

int view_reserve(struct view *v, const struct why_block *b, struct err *e)
{
	size_t ranks = b->nrank ? (size_t)b->rank[b->nrank - 1].rank + 1 : 0;
	int rc = reserve_ranks(v, b->nrank);

	if (!rc)
		rc = array_grow(&v->counts, &v->counts_cap, ranks, sizeof(*v->counts),
				WHY_RANKS_MAX);
	if (!rc)
		rc = array_grow(&v->host, &v->host_cap, b->nhost, sizeof(*v->host), WHY_RANKS_MAX);
	if (!rc && b->npair)
		rc = array_grow(&v->edge, &v->edge_cap, b->npair, sizeof(*v->edge), WHY_PAIRS_MAX);
	if (!rc && b->npair)
		rc = array_grow(&v->wait, &v->wait_cap, b->npair, sizeof(*v->wait), WHY_PAIRS_MAX);
	if (!rc && b->npair)
		rc = reserve_blame(v, b->nrank);
	return rc ? err_nomem(e) : 0;
}

void view_done(struct view *v)
{
	free(v->counts);
	free(v->host_of);
	free(v->useful);
	free(v->share);
	free(v->is_explained);
	free(v->is_alike);
	free(v->role);
	free(v->host);
	free(v->edge);
	free(v->wait);
	for (size_t i = 0; i < ARRAY_LEN(v->blame); i++)
		free(v->blame[i]);
	*v = (struct view){ 0 };
}

size_t view_index(const struct why_block *b, int32_t rank)
{
	size_t low = 0, high = b->nrank;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->rank[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->nrank && b->rank[low].rank == rank ? low : (size_t)-1;
}

/* Classes that are not measured count as no time in MPI. */
static double useful_share(const struct why_rank *r)
{
	double sum = 0;
	bool is_known = false;

	if (!(r->seconds > 0))
		return NAN;
	for (size_t i = 0; i < WHY_CLASSES; i++) {
		is_known = is_known || !isnan(r->delay[i]);
		sum += isnan(r->delay[i]) ? 0 : r->delay[i];
	}
	return is_known ? fmax(1 - sum / r->seconds, 0) : NAN;
}

static bool are_alike(const struct view_counts *a, const struct view_counts *b)
{
	for (size_t i = 0; i < VIEW_KINDS; i++) {
		double high = fmax(a->calls[i], b->calls[i]), low = fmin(a->calls[i], b->calls[i]);

		if (high > 2 * low + VIEW_CALLS_SLACK)
			return false;
	}
	return true;
}

/* Each rank gets the role of the first rank that is like it. */
static void divide_roles(struct view *v)
{
	const struct view_counts *leader[VIEW_ROLES_MAX];
	size_t nrole = 0, size[VIEW_ROLES_MAX + 1] = { 0 }, largest = 0;

	for (size_t i = 0; i < v->b->nrank; i++) {
		const struct view_counts *c = &v->counts[v->b->rank[i].rank];
		size_t role = 0;

		if (isnan(v->useful[i]))
			continue;
		while (role < nrole && !are_alike(c, leader[role]))
			role++;
		if (role == nrole && nrole < VIEW_ROLES_MAX)
			leader[nrole++] = c;
		v->role[i] = (uint8_t)role;
		size[role]++;
	}
	for (size_t role = 1; role < nrole; role++)
		if (size[role] > size[largest])
			largest = role;
	v->alike = size[largest];
	for (size_t i = 0; i < v->b->nrank; i++)
		v->is_alike[i] = !isnan(v->useful[i]) && v->role[i] == largest;
}

double view_median(const struct view *v, const double *value)
{
	double sample[VIEW_SAMPLE_MAX];
	size_t n = 0, step = v->b->nrank / VIEW_SAMPLE_MAX + 1;

	for (size_t i = 0; i < v->b->nrank; i += step)
		if (v->is_alike[i] && !isnan(value[i]))
			sample[n++] = value[i];
	if (!n)
		return NAN;
	qsort(sample, n, sizeof(*sample), array_order_double);
	return n % 2 ? sample[n / 2] : (sample[n / 2 - 1] + sample[n / 2]) / 2;
}

static const uint8_t kind_of[WHY_CLASSES] = {
	[WHY_BARRIER] = 0, [WHY_NXN] = 1,      [WHY_FROM_ROOT] = 2, [WHY_TO_ROOT] = 3,
	[WHY_SEND] = 4,	   [WHY_RECEIVE] = 4,  [WHY_WAIT] = 4,	    [WHY_OTHER] = 4,
	[WHY_RMA] = 5,	   [WHY_RMA_SYNC] = 5, [WHY_FILE] = 6,
};

/* Adds the calls of a rank to those since the start, and to the totals of the block. */
static void add_totals(struct view *v, const struct why_rank *r)
{
	struct view_counts *c = &v->counts[r->rank];

	for (size_t k = 0; k < WHY_CLASSES; k++) {
		double calls = isnan(r->calls[k]) ? 0 : r->calls[k];

		c->calls[kind_of[k]] += calls;
		v->calls[k] += calls;
		v->seconds[k] += isnan(r->delay[k]) ? 0 : r->delay[k];
		v->bytes[k] += isnan(r->bytes[k]) ? 0 : r->bytes[k];
		v->has_class[k] += r->seconds > 0 && !isnan(r->delay[k]);
	}
	for (size_t k = 0; k < WHY_FIGURES; k++)
		v->has_figure[k] += !isnan(r->figure[k]);
}

void view_update(struct view *v, const struct why_block *b)
{
	v->b = b;
	v->known = 0;
	memset(v->has_class, 0, sizeof(v->has_class));
	memset(v->calls, 0, sizeof(v->calls));
	memset(v->seconds, 0, sizeof(v->seconds));
	memset(v->bytes, 0, sizeof(v->bytes));
	memset(v->has_figure, 0, sizeof(v->has_figure));
	for (size_t i = 0; i < b->nrank; i++) {
		const struct why_rank *r = &b->rank[i];

		v->host_of[i] = r->host;
		v->useful[i] = useful_share(r);
		v->known += !isnan(v->useful[i]);
		add_totals(v, r);
	}
	divide_roles(v);
	v->useful_median = view_median(v, v->useful);
}
