/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/waits/matrix.h"

#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/cli/nearest.h"
#include "common/ring/calls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int matrix_metric(const char *name, struct pmsl_builtin *out, struct err *e)
{
	const struct pmsl_builtin_use use = { .by_partners = true };
	struct nearest near = nearest_to(name);
	char best[PMSL_BUILTIN_NAME_BYTES];
	int id = pmsl_builtin_find(name);
	const char *refusal;

	if (id < 0 || !pmsl_builtin_get((unsigned)id, out)) {
		pmsl_builtin_try(&near, best);
		return near.best
			       ? err_set(e, ERR_NOTFOUND,
					 "there is no metric '%s'; did you mean %s?", name,
					 near.best)
			       : err_set(e, ERR_NOTFOUND,
					 "there is no metric '%s'; omig metrics lists them", name);
	}
	refusal = pmsl_builtin_refusal(out, &use);
	return refusal ? err_set(e, ERR_UNSUPPORTED, "%s %s", name, refusal) : 0;
}

/* --- values */

static bool is_delay(const struct matrix *m)
{
	return m->metric.quantity == PMSL_Q_DELAY;
}

static bool counts(const struct matrix *m, unsigned func)
{
	return m->metric.call >= 0 ? (unsigned)m->metric.call == func
				   : m->metric.classes >> call_table[func].class & 1;
}

static enum matrix_way way_of(const struct pmsl_builtin *b)
{
	uint32_t classes = b->call >= 0 ? 1u << call_table[b->call].class : b->classes;

	if (b->quantity == PMSL_Q_DELAY)
		return MATRIX_WAITS;
	if (b->quantity >= PMSL_Q_VOLUME && b->counts_in != b->counts_out)
		return b->counts_in ? MATRIX_RECEIVES : MATRIX_SENDS;
	return classes == 1u << CALL_SEND   ? MATRIX_SENDS
	       : classes == 1u << CALL_RECV ? MATRIX_RECEIVES
					    : MATRIX_BOTH;
}

static double value_of(const struct matrix *m, const struct exchange_pair *p)
{
	if (is_delay(m))
		return p->certain + p->shared;
	if (m->metric.quantity == PMSL_Q_COUNT)
		return p->count;
	return (m->metric.counts_out ? p->bytes_out : 0) + (m->metric.counts_in ? p->bytes_in : 0);
}

/* Sums of a rank's calls of the metric over all partners. */
struct shares {
	double shared, possible, unknown;
};

static struct shares shares_of(const struct matrix *m, const struct exchange_rank *r)
{
	struct shares s = { 0 };

	for (size_t i = 0; i < r->npair; i++) {
		if (!counts(m, r->pair[i].func))
			continue;
		s.shared += r->pair[i].shared;
		s.possible += r->pair[i].possible;
		if (r->pair[i].partner == CALL_PARTNER_UNKNOWN)
			s.unknown += r->pair[i].certain;
	}
	return s;
}

/*
 * Bound of the error, computed as for the metric: shares of this pair may belong to others, and the
 * reverse.
 */
static double error_of(const struct exchange_pair *p, const struct shares *s)
{
	double others = s->shared - p->shared;
	double less = fmin(p->shared, s->possible - p->possible - others);

	return fmax(less, fmin(p->possible - p->shared, others) + s->unknown);
}

static bool add(struct matrix *m, const struct exchange_rank *r, const struct exchange_pair *p,
		const struct shares *s)
{
	if (array_grow(&m->cell, &m->cap, m->n + 1, sizeof(*m->cell), OMIS_VALUES_MAX))
		return false;
	m->cell[m->n++] = (struct matrix_cell){ .rank = r->rank,
						.partner = p->partner,
						.value = value_of(m, p),
						.error = is_delay(m) ? error_of(p, s) : 0 };
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct matrix_cell *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->partner > y->partner) - (x->partner < y->partner);
}

/* Functions of one pair become one value; zeros are left out. */
static void join(struct matrix *m)
{
	size_t n = 0;

	if (m->n)
		qsort(m->cell, m->n, sizeof(*m->cell), by_place);
	for (size_t i = 0; i < m->n; i++) {
		const struct matrix_cell *c = &m->cell[i];

		if (n && !by_place(&m->cell[n - 1], c)) {
			m->cell[n - 1].value += c->value;
			m->cell[n - 1].error += c->error;
		} else if (c->value > 0) {
			m->cell[n++] = *c;
		}
	}
	m->n = n;
}

bool matrix_make(struct matrix *m, const struct pmsl_builtin *metric, const struct exchange *x)
{
	*m = (struct matrix){ .metric = *metric, .x = x, .way = way_of(metric) };
	for (size_t i = 0; i < x->n; i++) {
		const struct exchange_rank *r = &x->rank[i];
		struct shares s = shares_of(m, r);

		m->seconds = fmax(m->seconds, r->seconds);
		m->lost += r->lost;
		for (size_t k = 0; k < r->npair; k++) {
			if (r->pair[k].partner < 0 || !counts(m, r->pair[k].func))
				continue;
			if (!add(m, r, &r->pair[k], &s)) {
				matrix_done(m);
				return false;
			}
		}
	}
	join(m);
	for (size_t i = 0; i < m->n; i++) {
		m->sum += m->cell[i].value;
		if (m->cell[i].value <= m->most)
			continue;
		m->most = m->cell[i].value;
		m->largest = &m->cell[i];
	}
	return true;
}

void matrix_done(struct matrix *m)
{
	free(m->cell);
	*m = (struct matrix){ 0 };
}

/* --- text */

char *matrix_value(char out[MATRIX_VALUE_BYTES], const struct matrix *m, double v)
{
	return table_quantity(out, v, 3, m->metric.unit);
}

char *matrix_pair(char out[MATRIX_PAIR_BYTES], const struct matrix *m, const struct matrix_cell *c)
{
	static const char *const words[] = { [MATRIX_SENDS] = "->",
					     [MATRIX_RECEIVES] = "<-",
					     [MATRIX_WAITS] = "waits for",
					     [MATRIX_BOTH] = "<->" };

	snprintf(out, MATRIX_PAIR_BYTES, "rank %d %s rank %d", c->rank, words[m->way], c->partner);
	return out;
}
