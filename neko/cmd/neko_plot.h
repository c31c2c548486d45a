/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as a picture, an SVG without a script, the same for the same results:
 *
 * - of a run: the distribution of each quantity, its values over time, and the messages
 * - of two runs: the share of values up to each value, both in one chart
 * - of a sweep: the mean of each quantity and its interval over the parameter
 */
#ifndef NEKO_CMD_NEKO_PLOT_H
#define NEKO_CMD_NEKO_PLOT_H

#include "common/base/buf.h"
#include "eventlog/lifeline/svgaxis.h"
#include "tools/results/results.h"

#define NEKO_PLOT_MAX_BYTES (64 * 1024 * 1024)

/* The axes that are logarithmic. */
enum plot_log { PLOT_LOG_X = 1, PLOT_LOG_Y = 2 };

/*
 * Parses x, y or xy. It is a callback of options: into is an unsigned, for values of enum plot_log.
 * Fails with ERR_INVALID.
 */
int neko_plot_log(void *into, const char *text, struct err *e);

struct text_form;
struct text_page;

struct plot_options {
	const char *output; /* NULL for the standard output */
	unsigned logs;
	const struct text_form *form; /* neko_text.h */
};

/* path: one or two files of `run -o`. Returns an exit status and reports failures. */
int neko_plot(char *const *path, size_t n, const struct plot_options *w);

/*
 * Draws the results of a run or a sweep. Fails with ERR_INVALID if the file has no results, and
 * with ERR_NOMEM.
 */
int neko_plot_draw(struct json_object *results, unsigned logs, struct buf *out, struct err *e);

/* One of two runs with names that are drawn in one chart. Errors as above. */
struct plot_run {
	const char *name;
	struct json_object *results;
};
int neko_plot_draw_two(const struct plot_run run[2], unsigned logs, struct buf *out, struct err *e);

/* --- for the parts of the picture */

#define PLOT_WIDE 1000
#define PLOT_HEAD 58
#define PLOT_CHART 290 /* height of a chart, with its title and labels */
#define PLOT_CHART_TOP 46 /* top of the plot within a chart */
#define PLOT_CHART_HIGH 190

void plot_begin(struct buf *out, double high, const char *title, const char *words);
/* writes a name with its unit, such as "wait (s)" */
void plot_name(char *out, size_t size, struct json_object *quantity);
/* Writes a line below a chart: a logarithmic axis has no place for n of the points. */
void plot_left_out(struct buf *out, double at, size_t n);

bool plot_is_sweep(struct json_object *results);

/* Where curves are drawn: into an SVG, or, with a page, as text. */
struct plot_onto {
	struct buf *out;
	unsigned logs;
	const struct text_page *page; /* NULL: SVG */
};

int plot_sweep(const struct plot_onto *onto, struct json_object *results, struct err *e);
int plot_cdf(const struct plot_onto *onto, const struct plot_run run[2], struct err *e);

/* Returns the height of the space-time diagram; 0: there is nothing to draw. */
double plot_space_height(struct json_object *trace);
void plot_space(struct buf *out, struct json_object *trace, double top);

#endif
