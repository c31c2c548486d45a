/* SPDX-License-Identifier: Apache-2.0 */
/* Builds lines from sorted points: their beginnings, and missing stages. */
#include "common/base/array.h"
#include "eventlog/lifeline/internal.h"

#include <stdlib.h>

/*
 * Returns the number of points of the first line of a key, which ends where its first stage is
 * repeated.
 */
static size_t line_length(const struct life_model *m, const struct life_point *p, size_t n)
{
	bool has_head = m->stage[p[0].stage].is_head;
	size_t i = 1;

	for (; i < n; i++) {
		bool is_head = m->stage[p[i].stage].is_head;

		if (is_head && has_head)
			break;
		has_head |= is_head;
	}
	return i;
}

static int cut_key(struct life_model *m, size_t *cap, size_t first, size_t end)
{
	while (first < end) {
		size_t n = line_length(m, m->point + first, end - first);

		if (array_grow(&m->line, cap, m->nline + 1, sizeof(*m->line), LIFE_EVENTS_MAX))
			return -ERR_NOMEM;
		m->line[m->nline++] = (struct life_line){ m->point[first].at, first,
							  m->point[first].key, (uint32_t)n };
		first += n;
	}
	return 0;
}

/* --- stages common to most lines of a kind */

static void find_expected(struct life_model *m)
{
	uint64_t has[LIFE_STAGES_MAX] = { 0 }, lines[LIFE_STAGES_MAX] = { 0 };

	for (size_t i = 0; i < m->nline; i++) {
		const struct life_line *l = &m->line[i];
		uint64_t bits = life_stages_of(m->point + l->first, l->n);

		lines[m->stage[m->point[l->first].stage].kind]++;
		for (unsigned s = 0; s < m->nstage; s++)
			has[s] += bits >> s & 1;
	}
	for (unsigned s = 0; s < m->nstage; s++)
		m->stage[s].is_expected = has[s] && has[s] * 2 >= lines[m->stage[s].kind];
}

static uint64_t expected_of(const struct life_model *m, unsigned kind)
{
	uint64_t bits = 0;

	for (unsigned s = 0; s < m->nstage; s++)
		if (m->stage[s].kind == kind && m->stage[s].is_expected)
			bits |= UINT64_C(1) << s;
	return bits;
}

static bool goes_back(const struct life_point *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (p[i].stage < p[i - 1].stage)
			return true;
	return false;
}

static void count_line(struct life_model *m, const struct life_line *l, const uint64_t *expected)
{
	const struct life_point *p = m->point + l->first;
	uint64_t lacks = expected[m->stage[p->stage].kind] & ~life_stages_of(p, l->n);

	m->complete += !lacks;
	m->backward += goes_back(p, l->n);
	for (unsigned s = 0; lacks; s++, lacks >>= 1)
		m->stage[s].missing += lacks & 1;
	for (uint32_t i = 0; i < l->n; i++)
		m->stage[p[i].stage].events++;
}

static int by_start(const void *a, const void *b)
{
	const struct life_line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

int life_cut(struct life_work *w)
{
	struct life_model *m = w->m;
	uint64_t expected[LIFE_STAGES_MAX];
	size_t cap = 0;

	for (size_t k = 0; k < m->nkey; k++)
		if (cut_key(m, &cap, w->first[k], w->first[k + 1]))
			return -ERR_NOMEM;
	find_expected(m);
	for (unsigned i = 0; i < m->nstage; i++)
		expected[i] = expected_of(m, i);
	for (size_t i = 0; i < m->nline; i++)
		count_line(m, &m->line[i], expected);
	if (m->nline)
		qsort(m->line, m->nline, sizeof(*m->line), by_start);
	return 0;
}
