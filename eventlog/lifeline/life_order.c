/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders the stages by the lines: stage a is above b if more lines have a before b than b before a.
 * Kinds of lines without a common stage are placed below each other.
 */
#include "eventlog/lifeline/internal.h"

#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
	const struct life_point *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

/* The points are usually sorted already, because a log is written in the order of time. */
static void sort_points(struct life_point *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (by_time(&p[i - 1], &p[i]) > 0) {
			qsort(p, n, sizeof(*p), by_time);
			return;
		}
}

static void sort_groups(const struct life_work *w)
{
	for (size_t k = 0; k < w->m->nkey; k++)
		sort_points(w->m->point + w->first[k], w->first[k + 1] - w->first[k]);
}

int life_group(struct life_work *w)
{
	struct life_model *m = w->m;
	struct life_point *sorted = malloc((m->npoint + 1) * sizeof(*sorted));

	w->first = calloc(m->nkey + 2, sizeof(*w->first));
	if (!sorted || !w->first) {
		free(sorted);
		return -ERR_NOMEM;
	}
	for (size_t i = 0; i < m->npoint; i++)
		w->first[m->point[i].key + 2]++;
	for (size_t k = 2; k < m->nkey + 2; k++)
		w->first[k] += w->first[k - 1];
	/* first[k + 1] advances from the begin of k to its end, which is the begin of k + 1. */
	for (size_t i = 0; i < m->npoint; i++)
		sorted[w->first[m->point[i].key + 1]++] = m->point[i];
	free(m->point);
	m->point = sorted;
	sort_groups(w);
	return 0;
}

/* --- order of the stages */

struct order {
	/* [a][b]: number of lines with a before b */
	uint32_t before[LIFE_STAGES_MAX][LIFE_STAGES_MAX];
	unsigned kind[LIFE_STAGES_MAX];
	unsigned place[LIFE_STAGES_MAX]; /* new number, by old number */
};

static void count_line(struct order *o, const struct life_point *p, size_t n)
{
	unsigned seen[LIFE_STAGES_MAX], nseen = 0;
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned s = p[i].stage;

		if (bits >> s & 1)
			continue;
		for (unsigned k = 0; k < nseen; k++)
			o->before[seen[k]][s]++;
		seen[nseen++] = s;
		bits |= UINT64_C(1) << s;
	}
}

static bool are_together(const struct order *o, unsigned a, unsigned b)
{
	return o->before[a][b] || o->before[b][a];
}

/* Finds the kinds. A kind has the number of its lowest stage. */
static void find_kinds(struct order *o, unsigned n)
{
	bool has_changed = true;

	for (unsigned i = 0; i < n; i++)
		o->kind[i] = i;
	while (has_changed) {
		has_changed = false;
		for (unsigned a = 0; a < n; a++)
			for (unsigned b = 0; b < n; b++)
				if (o->kind[b] < o->kind[a] && are_together(o, a, b)) {
					o->kind[a] = o->kind[b];
					has_changed = true;
				}
	}
}

/*
 * Returns how many unplaced stages of the same kind precede this one more often than they follow
 * it.
 */
static unsigned rivals_of(const struct order *o, unsigned s, unsigned n, uint64_t placed)
{
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		k += !(placed >> i & 1) && o->before[i][s] > o->before[s][i];
	return k;
}

/*
 * Places the stages. The next stage is of the current kind, and has the fewest stages before it. Of
 * several, the one with the lowest number is next.
 */
static void find_places(struct order *o, unsigned n)
{
	uint64_t placed = 0;

	for (unsigned place = 0; place < n; place++) {
		unsigned best = n, least = 0;

		for (unsigned s = 0; s < n; s++) {
			unsigned rivals = placed >> s & 1 ? 0 : rivals_of(o, s, n, placed);

			if (placed >> s & 1)
				continue;
			if (best == n || o->kind[s] < o->kind[best] ||
			    (o->kind[s] == o->kind[best] && rivals < least)) {
				best = s;
				least = rivals;
			}
		}
		o->place[best] = place;
		placed |= UINT64_C(1) << best;
	}
}

/* Keeps the places of stages that were given. They are of one kind. */
static void keep_places(struct order *o, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		o->place[i] = i;
		o->kind[i] = 0;
	}
}

static void give_places(struct life_work *w, const struct order *o)
{
	struct life_model *m = w->m;
	struct life_stage old[LIFE_STAGES_MAX];

	memcpy(old, m->stage, m->nstage * sizeof(*old));
	for (unsigned i = 0; i < m->nstage; i++) {
		struct life_stage *s = &m->stage[o->place[i]];

		*s = old[i];
		s->kind = o->kind[i];
	}
	for (unsigned i = 0; i < m->nstage; i++)
		m->stage[i].is_head = !i || m->stage[i].kind != m->stage[i - 1].kind;
	for (size_t i = 0; i < m->npoint; i++)
		m->point[i].stage = o->place[m->point[i].stage];
}

void life_order(struct life_work *w, bool is_given)
{
	struct life_model *m = w->m;
	struct order o = { 0 };

	if (!m->nstage)
		return;
	for (size_t k = 0; k < m->nkey; k++)
		count_line(&o, m->point + w->first[k], w->first[k + 1] - w->first[k]);
	find_kinds(&o, m->nstage);
	find_places(&o, m->nstage);
	if (is_given)
		keep_places(&o, m->nstage);
	give_places(w, &o);
	/* sorts again, because events with the same time are now in the order of their stages */
	sort_groups(w);
}
