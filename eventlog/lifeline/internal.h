/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that make a model of events, in the order of their calls. Only files of this room
 * include it.
 */
#ifndef EVENTLOG_LIFELINE_INTERNAL_H
#define EVENTLOG_LIFELINE_INTERNAL_H

#include "eventlog/lifeline/life.h"

/* A model under construction. */
struct life_work {
	struct life_model *m;
	/* owned: points of key k are first[k] .. first[k + 1] - 1 after life_group() */
	size_t *first;
};

/* Sorts points by key, then by time. Fails with ERR_NOMEM. */
int life_group(struct life_work *w);

/*
 * Orders the stages as lines pass them, or keeps their order (is_given). Renumbers and sorts the
 * points.
 */
void life_order(struct life_work *w, bool is_given);

/* Cuts the points into lines, and finds the missing stages of each. Fails with ERR_NOMEM. */
int life_cut(struct life_work *w);

/* Measures the durations of steps. Fails with ERR_NOMEM. */
int life_measure(struct life_work *w);

/* Returns a set of bits: the stages of a line's points. */
static inline uint64_t life_stages_of(const struct life_point *p, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= UINT64_C(1) << p[i].stage;
	return bits;
}

_Static_assert(LIFE_STAGES_MAX == 64, "a line's stages are bits of a word");

#endif
