/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of a loss: tests of "this object comes last no more often than the others". A block
 * has at most one last object. All objects are tested from the first block on. So a test needs the
 * level alpha / n (Bonferroni), and no block chooses the object that it tests. Objects that never
 * came last share one process.
 */
#ifndef WHY_PLACE_H
#define WHY_PLACE_H

#include "common/base/err.h"
#include "why/eprocess.h"

#include <stdbool.h>

#define PLACE_RECENT 16 /* blocks in which a culprit must have come last again */
#define PLACE_SUSPECTS_MAX 4096 /* objects that came last; later ones are not tested */

struct place_suspect {
	int64_t object;
	uint64_t hits; /* blocks */
	uint32_t recent; /* a bit for each of the last blocks, the last one lowest */
	struct eprocess e;
};

/* The place owns its suspects. All zeros: no blocks. */
struct place {
	struct eprocess others; /* of an object that never came last */
	struct place_suspect *suspect;
	size_t n, cap;
	uint64_t blocks;
};

/* Makes room for n more suspects, so that place_add() cannot fail. */
int place_reserve(struct place *p, size_t n, struct err *e);

/*
 * Adds a block in which m objects of n came last, m <= n/2. 0: none stood out. If all are alike,
 * each of them is among the m with the chance m/n.
 */
void place_add(struct place *p, const int64_t *last, size_t m, size_t n);

/*
 * Adds a block in which one object came last, or none (-1). Objects have different sizes: their
 * chances are 0 <= chance_of[i] <= 1.
 * Blocks before an object came last for the first time count as if its chance had been 0. That
 * makes its process smaller, never larger.
 */
void place_add_sized(struct place *p, int64_t last, const double *chance_of, size_t n);

/*
 * Returns the suspects that passed the test at alpha, for n objects, the most frequent first. They
 * still come last in a fifth of the recent blocks. At most max of them.
 */
size_t place_culprits(const struct place *p, double alpha, size_t n,
		      const struct place_suspect **out, size_t max);

/*
 * Returns the most likely suspect: last in most of the recent blocks. NULL if none is last in half
 * of them.
 */
const struct place_suspect *place_likely(const struct place *p);

void place_clear(struct place *p); /* no blocks; keeps its memory */
void place_done(struct place *p);

#endif
