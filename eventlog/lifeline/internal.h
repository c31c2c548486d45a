/* SPDX-License-Identifier: Apache-2.0 */
/* How a model is made of what came, between the files of this room: in the order of these calls. */
#ifndef EVENTLOG_LIFELINE_INTERNAL_H
#define EVENTLOG_LIFELINE_INTERNAL_H

#include "eventlog/lifeline/life.h"

/* A model in the making. */
struct life_work {
	struct life_model *m;
	/* owned: points of key k are first[k] .. first[k + 1] - 1 after life_group() */
	size_t *first;
};

/* Points by key, then by time. -ERR_NOMEM. */
int life_group(struct life_work *w);

/* Stages as lines have them (is_given: as they are), points with their new numbers, in order
 * again. */
void life_order(struct life_work *w, bool is_given);

/* Lines of the points, and what each lacks. -ERR_NOMEM. */
int life_cut(struct life_work *w);

/* What steps took. -ERR_NOMEM. */
int life_measure(struct life_work *w);

/* For a line's points: the bits of their stages. */
static inline uint64_t life_stages_of(const struct life_point *p, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= UINT64_C(1) << p[i].stage;
	return bits;
}

_Static_assert(LIFE_STAGES_MAX == 64, "a line's stages are bits of a word");

#endif
