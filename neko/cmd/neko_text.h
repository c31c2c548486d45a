/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as charts of characters, for a terminal or as plain text: of a run a histogram of each
 * quantity, and its values over time; of two runs the shares of values; of a sweep the means over
 * its first key.
 */
#ifndef NEKO_CMD_NEKO_TEXT_H
#define NEKO_CMD_NEKO_TEXT_H

#include "neko/cmd/neko_plot.h"
#include "tools/chart/paint.h"

/* --chart: what is drawn of a run. */
enum text_chart { TEXT_NONE, TEXT_AUTO, TEXT_LINE, TEXT_HIST };

struct text_form {
	enum text_chart chart; /* NONE: on a terminal without an output file AUTO, else SVG */
	bool has_glyphs; /* else those of the locale */
	enum paint_glyphs glyphs;
	const char *color; /* as of term_open() */
};

/* Options: into is the enum, and the form. ERR_INVALID. */
int neko_text_chart(void *into, const char *word, struct err *e);
int neko_text_glyphs(void *into, const char *word, struct err *e);

/* The paper of a chart. */
struct text_page {
	struct buf *out;
	struct paint paint;
	unsigned cols;
	unsigned logs; /* enum plot_log */
	enum text_chart chart;
};

/* Draws the results of a run. Errors as neko_plot_draw(). */
int neko_text_run(const struct text_page *page, struct json_object *results, struct err *e);

/* A chart of curves with its title above, as of a sweep. ERR_NOMEM. */
struct svg_chart;
int neko_text_curves(const struct text_page *page, const char *title, const struct svg_chart *c,
		     struct err *e);

#endif
