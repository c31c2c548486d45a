/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a run as a picture: the distribution of each quantity, its values over time, and
 * the messages between processes. An SVG without a script, the same for the same results.
 */
#ifndef NEKO_CMD_NEKO_PLOT_H
#define NEKO_CMD_NEKO_PLOT_H

#include "common/base/buf.h"
#include "neko/cmd/results.h"

#define NEKO_PLOT_MAX_BYTES (64 * 1024 * 1024)

/*
 * path: a file of `run -o`; output: NULL for the standard output. Returns an exit status; reports
 * failures.
 */
int neko_plot(const char *path, const char *output);

/* ERR_INVALID: these are no results. ERR_NOMEM. */
int neko_plot_draw(struct json_object *results, struct buf *out, struct err *e);

/* --- for its parts */

#define PLOT_WIDE 1000
#define PLOT_COLOURS 7
extern const char *const plot_colour[PLOT_COLOURS];

/* A scale from values to a span of the picture. */
struct plot_axis {
	double from, to; /* finite; from < to */
	double at, length; /* pixels */
};

/* Values that are equal get some room around them. */
struct plot_axis plot_axis(double from, double to, double at, double length);
/* Inside of the picture, whatever v is. */
double plot_place(const struct plot_axis *a, double v);

/* Ticks with their lines: x from top to bottom, words below; y from left to right, words left of
 * it. */
void plot_ticks_x(struct buf *out, const struct plot_axis *a, double top, double bottom);
void plot_ticks_y(struct buf *out, const struct plot_axis *a, double left, double right);
void plot_text(struct buf *out, double x, double y, const char *attributes, const char *text);

/* Its height; 0: there is nothing to be drawn. */
double plot_space_height(struct json_object *trace);
void plot_space(struct buf *out, struct json_object *trace, double top);

#endif
