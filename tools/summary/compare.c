/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/summary/compare.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "stats/moments.h"
#include "stats/student.h"
#include "stats/welch.h"
#include "tools/summary/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICES_MIN 8 /* the minimum to estimate the dependence of slices */
#define SUMS 2 /* rows before the calls */

const char *const compare_verdicts[COMPARE_VERDICTS] = { "more",  "less",     "new",	"gone",
							 "small", "not sure", "too few" };
const char *const compare_bases[COMPARE_BASES] = { "-", "rank pairs", "ranks", "slices" };

/* Kind of a row: a sum over all, or one name. */
enum what { IN_MPI, OUTSIDE, CALL };

struct subject {
	enum what what;
	const char *name;
};

/* --- values of one section */

/* -1: the section has no such name. */
static int index_of(const struct summary_section *of, const char *name)
{
	for (size_t i = 0; i < of->nname; i++)
		if (str_eq(of->name[i].name, name))
			return (int)i;
	return -1;
}

static const struct summary_call *call_of(const struct summary_process *p, int index)
{
	for (size_t i = 0; index >= 0 && i < p->ncall; i++)
		if (p->call[i].of == (unsigned)index)
			return &p->call[i];
	return NULL;
}

static double seconds_of(const struct summary_process *p, const struct subject *s, int index)
{
	const struct summary_call *c = call_of(p, index);

	if (s->what == IN_MPI)
		return summary_mpi_seconds(p);
	if (s->what == OUTSIDE)
		return p->seconds - summary_mpi_seconds(p);
	return c ? c->seconds : 0;
}

static void moments_of(const struct summary_section *of, const struct subject *s, struct moments *m)
{
	int index = index_of(of, s->name);

	for (size_t i = 0; i < of->n; i++)
		if (of->process[i].has_calls)
			moments_add(m, seconds_of(&of->process[i], s, index));
}

static struct welch_mean mean_of(const struct moments *m)
{
	return (struct welch_mean){ moments_mean(m), sqrt(moments_variance(m) / (double)m->n),
				    (double)m->n - 1 };
}

/* --- slices: ratios of sums, because slices are not equally long */

static double slice_seconds(const struct summary_slice *slice, const struct subject *s, int index)
{
	double sum = 0;

	if (s->what == CALL)
		return index >= 0 && (size_t)index < slice->n ? slice->seconds[index] : 0;
	for (size_t i = 0; i < slice->n; i++)
		sum += slice->seconds[i];
	return s->what == IN_MPI ? sum : fmax(0, slice->rank_s - sum);
}

/* Dependent slices carry less information: they count as fewer. */
static double inflation_of(const struct moments *errors)
{
	double r = moments_serial(errors);

	return r > 0 && serial_is_beyond_chance(r, errors->n) ? (1 + r) / (1 - r) : 1;
}

/*
 * Seconds of a rank by slices: their share of the ranks' time, times the time of a rank. Cochran,
 * Sampling Techniques (1977), chapter 6. False: too few slices.
 */
static bool mean_of_slices(const struct summary_section *of, const struct subject *s, double rank_s,
			   struct welch_mean *out)
{
	int index = index_of(of, s->name);
	double y = 0, x = 0, n = (double)of->nslice, squares = 0, ratio;
	struct moments errors = { 0 };

	if (of->nslice < SLICES_MIN)
		return false;
	for (size_t i = 0; i < of->nslice; i++) {
		y += slice_seconds(&of->slice[i], s, index);
		x += of->slice[i].rank_s;
	}
	if (!(x > 0))
		return false;
	ratio = y / x;
	for (size_t i = 0; i < of->nslice; i++) {
		double e = slice_seconds(&of->slice[i], s, index) - ratio * of->slice[i].rank_s;

		squares += e * e;
		moments_add(&errors, e);
	}
	*out = (struct welch_mean){ ratio * rank_s,
				    sqrt(n / (n - 1) * squares * inflation_of(&errors)) / x *
					    rank_s,
				    n - 1 };
	return true;
}

/* --- intervals */

/* Both have the same ranks, all of them known: each is compared with itself. */
static bool are_pairs(const struct summary_section *a, const struct summary_section *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->process[i].rank != b->process[i].rank || !a->process[i].has_calls ||
		    !b->process[i].has_calls)
			return false;
	return a->n >= 2;
}

static struct welch_difference by_pairs(const struct comparison *c, const struct subject *s,
					double level)
{
	const struct summary_section *a = c->section[0], *b = c->section[1];
	int of_a = index_of(a, s->name), of_b = index_of(b, s->name);
	struct moments m = { 0 };
	struct welch_mean mean;

	for (size_t i = 0; i < a->n; i++)
		moments_add(&m, seconds_of(&b->process[i], s, of_b) -
					seconds_of(&a->process[i], s, of_a));
	mean = mean_of(&m);
	return welch_paired(&mean, level);
}

/* A change that is certain by one spread only is uncertain. */
static void take(struct compare_row *row, const struct welch_difference *d,
		 enum compare_basis basis)
{
	bool is_sure = d->is_sure && (row->basis == COMPARE_NONE || COMPARE_IS_SURE(row->verdict));

	row->verdict =
		is_sure ? (row->difference > 0 ? COMPARE_MORE : COMPARE_LESS) : COMPARE_UNSURE;
	if (row->basis != COMPARE_NONE && !(d->p > row->p))
		return;
	row->half = d->half;
	row->p = d->p;
	row->basis = basis;
}

static void judge(const struct comparison *c, struct compare_row *row, const struct subject *s,
		  double level)
{
	struct moments m[2] = { { 0 }, { 0 } };
	struct welch_mean mean[2];
	struct welch_difference d;

	for (int i = 0; i < 2; i++)
		moments_of(c->section[i], s, &m[i]);
	if (are_pairs(c->section[0], c->section[1])) {
		d = by_pairs(c, s, level);
		take(row, &d, COMPARE_PAIRS);
	} else if (m[0].n >= 2 && m[1].n >= 2) {
		mean[0] = mean_of(&m[0]);
		mean[1] = mean_of(&m[1]);
		d = welch_compare(&mean[0], &mean[1], 0, level);
		take(row, &d, COMPARE_RANKS);
	}
	if (mean_of_slices(c->section[0], s, row->rank_s[0], &mean[0]) &&
	    mean_of_slices(c->section[1], s, row->rank_s[1], &mean[1])) {
		d = welch_compare(&mean[0], &mean[1], 0, level);
		take(row, &d, COMPARE_SLICES);
	}
}

/* --- rows */

static void add_counts(const struct summary_section *of, struct compare_row *row, int side)
{
	int index = index_of(of, row->name);

	for (size_t i = 0; i < of->n; i++) {
		const struct summary_call *call = call_of(&of->process[i], index);

		row->count[side] += call ? call->count : 0;
		row->bytes[side] += call ? call->bytes_out + call->bytes_in : 0;
	}
}

static double rank_seconds(const struct summary_section *of)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < of->n; i++) {
		if (!of->process[i].has_calls)
			continue;
		sum += of->process[i].seconds;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

static void fill_row(const struct comparison *c, struct compare_row *row, const struct subject *s,
		     const struct compare_options *w)
{
	*row = (struct compare_row){ .half = NAN, .p = NAN, .verdict = COMPARE_TOO_FEW };
	str_copy(row->name, sizeof(row->name), s->name);
	for (int i = 0; i < 2; i++) {
		struct moments m = { 0 };

		moments_of(c->section[i], s, &m);
		row->seconds[i] = moments_mean(&m);
		row->rank_s[i] = rank_seconds(c->section[i]);
		if (s->what == CALL)
			add_counts(c->section[i], row, i);
		row->mean[i] = row->count[i]
				       ? moments_mean(&m) * (double)m.n / (double)row->count[i]
				       : NAN;
	}
	row->difference = row->seconds[1] - row->seconds[0];
	if (isnan(row->difference))
		return;
	if (s->what == CALL && !row->count[0] != !row->count[1]) {
		row->verdict = row->count[0] ? COMPARE_GONE : COMPARE_NEW;
		return;
	}
	judge(c, row, s, w->level);
	if (COMPARE_IS_SURE(row->verdict) && fabs(row->difference) < w->least * row->rank_s[0])
		row->verdict = COMPARE_SMALL;
}

static int by_verdict(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	double of_a = fabs(a->difference), of_b = fabs(b->difference);

	if (COMPARE_IS_SURE(a->verdict) != COMPARE_IS_SURE(b->verdict))
		return COMPARE_IS_SURE(a->verdict) ? -1 : 1;
	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	return strcmp(a->name, b->name);
}

/* Names of both, each once. */
static size_t list_names(const struct comparison *c, const char **name)
{
	size_t n = 0;

	for (size_t i = 0; i < c->section[0]->nname; i++)
		name[n++] = c->section[0]->name[i].name;
	for (size_t i = 0; i < c->section[1]->nname; i++)
		if (index_of(c->section[0], c->section[1]->name[i].name) < 0)
			name[n++] = c->section[1]->name[i].name;
	return n;
}

int compare_sections(const struct summary_section *a, const struct summary_section *b,
		     const struct compare_options *w, struct comparison *c)
{
	const char **name = calloc(a->nname + b->nname + 1, sizeof(*name));
	static const struct subject sums[SUMS] = { { IN_MPI, "in MPI" },
						   { OUTSIDE, "outside of MPI" } };
	struct compare_options each = *w;
	size_t n;

	*c = (struct comparison){ .section = { a, b },
				  .seconds = { efficiency_of(a).seconds,
					       efficiency_of(b).seconds } };
	n = name ? list_names(c, name) : 0;
	c->row = calloc(n + SUMS, sizeof(*c->row));
	if (!name || !c->row) {
		free(name);
		compare_done(c);
		return -ERR_NOMEM;
	}
	each.level = 1 - (1 - w->level) / (double)(n + SUMS);
	for (; c->n < n + SUMS; c->n++) {
		struct subject s =
			c->n < SUMS ? sums[c->n] : (struct subject){ CALL, name[c->n - SUMS] };

		fill_row(c, &c->row[c->n], &s, &each);
		c->row[c->n].is_sum = s.what != CALL;
		c->sure += c->n >= SUMS && COMPARE_IS_SURE(c->row[c->n].verdict);
	}
	if (n > 1)
		qsort(c->row + SUMS, n, sizeof(*c->row), by_verdict);
	free(name);
	return 0;
}

void compare_done(struct comparison *c)
{
	free(c->row);
	*c = (struct comparison){ 0 };
}
