/* SPDX-License-Identifier: Apache-2.0 */
#include "why/place.h"

#include "common/base/array.h"

#include <math.h>
#include <stdlib.h>

#define NO_CHANCE 1e-12

int place_reserve(struct place *p, struct err *e)
{
	if (p->n >= PLACE_SUSPECTS_MAX)
		return 0;
	return array_grow(&p->suspect, &p->cap, p->n + 1, sizeof(*p->suspect), PLACE_SUSPECTS_MAX)
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

/* Adds the last object to the suspects, with the process that it had so far. */
static void suspect(struct place *p, int64_t last)
{
	if (last >= 0 && !find(p, last) && p->n < p->cap)
		p->suspect[p->n++] = (struct place_suspect){ .object = last, .e = p->others };
	p->recent[p->blocks++ % PLACE_RECENT] = last;
}

static void add(struct place_suspect *s, int64_t last, double chance)
{
	s->hits += s->object == last;
	eprocess_add_event(&s->e, s->object == last, chance);
}

void place_add(struct place *p, int64_t last, double chance)
{
	suspect(p, last);
	for (size_t i = 0; i < p->n; i++)
		add(&p->suspect[i], last, chance);
	eprocess_add_event(&p->others, 0, chance);
}

void place_add_sized(struct place *p, int64_t last, const double *chance_of, size_t n)
{
	suspect(p, last);
	for (size_t i = 0; i < p->n; i++) {
		struct place_suspect *s = &p->suspect[i];

		if ((size_t)s->object < n && chance_of[s->object] > 0 && chance_of[s->object] < 1)
			add(s, last, chance_of[s->object]);
	}
	eprocess_add_event(&p->others, 0, NO_CHANCE);
}

unsigned place_recent(const struct place *p, int64_t object)
{
	unsigned n = 0;

	for (size_t i = 0; i < PLACE_RECENT && i < p->blocks; i++)
		n += p->recent[i] == object;
	return n;
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

		if (s->e.log_sup < limit || place_recent(p, s->object) * 5 < recent_blocks(p))
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
		unsigned n = place_recent(p, p->suspect[i].object);

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
