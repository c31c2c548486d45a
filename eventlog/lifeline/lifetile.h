/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of more lines than a screen has pixels. They show how many lines are in each cell at a
 * time. So the step in which lines spend their time is the dark one. They also show the least and
 * the most of each load.
 */
#ifndef EVENTLOG_LIFELINE_LIFETILE_H
#define EVENTLOG_LIFELINE_LIFETILE_H

#include "common/base/buf.h"
#include "eventlog/lifeline/life.h"

/* of the coarsest; each level has twice as many as the one before */
#define LIFETILE_COLUMNS 1024
#define LIFETILE_LEVELS_MAX 6

/* All of the time over all of the stages. Between two stages lie `fine` rows. */
struct lifetile {
	unsigned columns, rows, fine;
	/* owned; rows * columns: lines, times the part of the cell's time that each is in it */
	float *count;
	float max;
};

/* -ERR_NOMEM. O(points * fine + cells). */
int lifetile_draw(struct lifetile *t, const struct life_model *m, unsigned level);
void lifetile_done(struct lifetile *t);

/* How dense a cell is, 0 (nothing) to 15 (the densest), by its square root. */
unsigned lifetile_shade(const struct lifetile *t, float count);

/*
 * Row by row, runs of cells of one shade. A run is a byte (shade << 4 | n). Its length is n, in
 * 1..15. When n is 0, the length follows as a base-128 number.
 */
void lifetile_pack(struct buf *out, const struct lifetile *t);

/* The least and the most of a series in each of n equal parts of the time; min > max where it has
 * none. */
struct liferange {
	double min, max;
};
void lifetile_range(const struct life_model *m, const struct life_series *s, struct liferange *out,
		    size_t n);

#endif
