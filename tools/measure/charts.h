/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pictures of `omig watch`: the reads of a measurement as curves, bars, a heat map, a histogram
 * or sparks. The first line says in words which object is highest.
 */
#ifndef TOOLS_MEASURE_CHARTS_H
#define TOOLS_MEASURE_CHARTS_H

#include "tools/chart/grid.h"
#include "tools/measure/history.h"
#include "tools/measure/measurement.h"

enum charts_kind {
	CHARTS_AUTO, /* curves of few objects, bands of many, a histogram of buckets */
	CHARTS_LINE,
	CHARTS_BAND, /* the least, the quartiles and the most of all objects */
	CHARTS_HEAT,
	CHARTS_BAR,
	CHARTS_SPARK,
	CHARTS_HIST,
	CHARTS_KINDS
};

struct charts;

/* As an option: into is an enum charts_kind. ERR_INVALID. */
int charts_kind(void *into, const char *text, struct err *e);
/* As an option: into is an enum paint_glyphs. ERR_INVALID. */
int charts_glyphs(void *into, const char *text, struct err *e);

/* Keeps ten minutes of reads at this interval. NULL: no memory. */
struct charts *charts_new(enum charts_kind kind, struct paint paint, int64_t every_ns);
void charts_free(struct charts *c);

/* Adds a read of the measurement. -ERR_NOMEM. */
int charts_add(struct charts *c, const struct measurement *m, const struct reading *r);

/*
 * Handles a key (term_key()): kind, freeze, scroll. Returns true if the picture must be drawn
 * again.
 */
bool charts_key(struct charts *c, int key);

/* True: new reads do not change the picture. */
bool charts_is_frozen(const struct charts *c);

/* Appends the picture as lines. -ERR_NOMEM. */
int charts_draw(const struct charts *c, const struct measurement *m, struct grid_area size,
		struct buf *out);

#endif
