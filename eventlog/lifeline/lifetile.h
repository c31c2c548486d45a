/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of more lines than a screen has pixels. They show how many lines are in each cell, so
 * that the slowest step is the darkest. They also show the smallest and largest value of each load.
 */
#ifndef EVENTLOG_LIFELINE_LIFETILE_H
#define EVENTLOG_LIFELINE_LIFETILE_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

/* columns of the coarsest level; each further level has twice as many */
#define LIFETILE_COLUMNS 1024
#define LIFETILE_LEVELS_MAX 6

/* The density of all stages over the whole time, with `fine` rows between two stages. */
struct lifetile {
	unsigned columns, rows, fine;
	/*
	 * owned; rows * columns: number of lines in a cell, each weighted by the fraction of the
	 * cell's time that it takes
	 */
	float *count;
	float max;
};

/* Fails with ERR_NOMEM. O(points * fine + cells). */
int lifetile_draw(struct lifetile *t, const struct life_model *m, unsigned level);
void lifetile_done(struct lifetile *t);

/* Returns the density of a cell: 0 (empty) to 15 (the densest), by its square root. */
unsigned lifetile_shade(const struct lifetile *t, float count);

/*
 * Packs the cells row by row, as runs of one shade. A run is a byte (shade << 4 | n), with its
 * length n in 1..15. If n is 0, the length follows as a base-128 number.
 */
void lifetile_pack(struct buf *out, const struct lifetile *t);

/*
 * The smallest and largest value of a series in each of n equal parts of the time; min > max if a
 * part has no value.
 */
struct liferange {
	double min, max;
};
void lifetile_range(const struct life_model *m, const struct life_series *s, struct liferange *out,
		    size_t n);

#endif
