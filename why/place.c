/* SPDX-License-Identifier: Apache-2.0 */
#include "why/place.h"

#include "common/base/array.h"

#include <math.h>
#include <stdlib.h>

#define NO_CHANCE 1e-12

int place_reserve(struct place *p, size_t n, struct err *e)
{
	size_t need = p->n + n < PLACE_SUSPECTS_MAX ? p->n + n : PLACE_SUSPECTS_MAX;

	return array_grow(&p->suspect, &p->cap, need, sizeof(*p->suspect), PLACE_SUSPECTS_MAX)
		       ? err_nomem(e)
		       : 0;
}

static struct place_suspect *find(const struct place *p, int64_t object)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->suspect[i].object == object)
			return &p->suspect[i];
	return NULL;
}

/* Adds an object to the suspects, with the process that it had so far. */
static void suspect(struct place *p, int64_t object)
{
	if (!find(p, object) && p->n < p->cap)
		p->suspect[p->n++] = (struct place_suspect){ .object = object, .e = p->others };
}

static void add(struct place_suspect *s, bool is_last, double chance)
{
	s->hits += is_last;
	s->recent = (s->recent << 1 | is_last) & ((1u << PLACE_RECENT) - 1);
	eprocess_add_event(&s->e, is_last, chance);
}

static bool is_among(const int64_t *objects, size_t n, int64_t object)
{
	for (size_t i = 0; i < n; i++)
		if (objects[i] == object)
			return true;
	return false;
}

void place_add(struct place *p, const int64_t *last, size_t m, size_t n)
{
	double chance = (double)(m ? m : 1) / (double)n;

	p->blocks++;
	for (size_t i = 0; i < m; i++)
		suspect(p, last[i]);
	for (size_t i = 0; i < p->n; i++)
		add(&p->suspect[i], is_among(last, m, p->suspect[i].object), chance);
	eprocess_add_event(&p->others, 0, chance);
}

void place_add_sized(struct place *p, int64_t last, const double *chance_of, size_t n)
{
	p->blocks++;
	if (last >= 0)
		suspect(p, last);
	for (size_t i = 0; i < p->n; i++) {
		struct place_suspect *s = &p->suspect[i];

		if ((size_t)s->object < n && chance_of[s->object] > 0 && chance_of[s->object] < 1)
			add(s, s->object == last, chance_of[s->object]);
	}
	eprocess_add_event(&p->others, 0, NO_CHANCE);
}

/* The number of recent blocks in which the suspect came last. */
static unsigned recent_hits(const struct place_suspect *s)
{
	return (unsigned)__builtin_popcount(s->recent);
}

static size_t recent_blocks(const struct place *p)
{
	return p->blocks < PLACE_RECENT ? (size_t)p->blocks : PLACE_RECENT;
}

size_t place_culprits(const struct place *p, double alpha, size_t n,
		      const struct place_suspect **out, size_t max)
{
	double limit = log((double)n / alpha);
	size_t found = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct place_suspect *s = &p->suspect[i];
		size_t at;

		if (s->e.log_sup < limit || recent_hits(s) * 5 < recent_blocks(p))
			continue;
		if (found < max)
			found++;
		else if (out[max - 1]->hits >= s->hits)
			continue;
		for (at = found - 1; at > 0 && out[at - 1]->hits < s->hits; at--)
			out[at] = out[at - 1];
		out[at] = s;
	}
	return found;
}

const struct place_suspect *place_likely(const struct place *p)
{
	const struct place_suspect *best = NULL;
	unsigned most = 0;

	for (size_t i = 0; i < p->n; i++) {
		unsigned n = recent_hits(&p->suspect[i]);

		if (n > most) {
			most = n;
			best = &p->suspect[i];
		}
	}
	return most * 2 >= recent_blocks(p) ? best : NULL;
}

void place_clear(struct place *p)
{
	p->others = (struct eprocess){ 0 };
	p->n = 0;
	p->blocks = 0;
}

void place_done(struct place *p)
{
	free(p->suspect);
	*p = (struct place){ 0 };
}
