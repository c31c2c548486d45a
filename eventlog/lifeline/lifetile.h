/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of more lines than a screen has pixels. They show how many lines are in each cell at a
 * time, so that the slowest step is the darkest. They also show the smallest and largest value of
 * each load.
 */
#ifndef EVENTLOG_LIFELINE_LIFETILE_H
#define EVENTLOG_LIFELINE_LIFETILE_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

/* of the coarsest level; each level has twice as many as the one before */
#define LIFETILE_COLUMNS 1024
#define LIFETILE_LEVELS_MAX 6

/* Density of all stages over the whole time. There are `fine` rows between two stages. */
struct lifetile {
	unsigned columns, rows, fine;
	/* owned; rows * columns: lines, times the fraction of the cell's time that each is in it */
	float *count;
	float max;
};

/* -ERR_NOMEM. O(points * fine + cells). */
int lifetile_draw(struct lifetile *t, const struct life_model *m, unsigned level);
void lifetile_done(struct lifetile *t);

/* Returns the density of a cell, 0 (empty) to 15 (the densest), by its square root. */
unsigned lifetile_shade(const struct lifetile *t, float count);

/*
 * Packs row by row, runs of cells of one shade. A run is a byte (shade << 4 | n). Its length is n,
 * in 1..15. If n is 0, the length follows as a base-128 number.
 */
void lifetile_pack(struct buf *out, const struct lifetile *t);

/*
 * The smallest and largest value of a series in each of n equal parts of the time; min > max if
 * there is none.
 */
struct liferange {
	double min, max;
};
void lifetile_range(const struct life_model *m, const struct life_series *s, struct liferange *out,
		    size_t n);

#endif
