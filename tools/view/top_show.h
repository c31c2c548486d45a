/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as tables and as JSON. */
#ifndef TOOLS_VIEW_TOP_SHOW_H
#define TOOLS_VIEW_TOP_SHOW_H

#include "common/base/buf.h"
#include "tools/term/term.h"
#include "tools/view/top.h"

struct top_title {
	nsec_t wall;
	double every_s;
	const char *sort;
	bool is_paused;
	const char *job, *filter; /* "": all */
};

/* The part that is shown, and its form. */
struct top_look {
	bool is_total; /* totals since counting began in place of rates */
	size_t rows; /* 0, or the lines that fit: nodes and ranks beyond them are a number */
	const struct top_sample *whole; /* sample that the words describe; NULL: the one shown */
	size_t first, row; /* the first rank on a screen, and the marked one */
};

/* Appends the first lines; on a terminal as much of the title as fits, the most important first. */
void top_show_title(const struct term *t, const struct top_title *title, struct buf *out);

/* Returns the lines of a screen without the title and the end of the last line. */
size_t top_rows(const struct term *t);

/* Appends the sentences of top_words(), nodes, ranks and coverage. -ERR_NOMEM. */
int top_show(const struct term *t, const struct top_sample *s, const struct top_look *look,
	     struct buf *out);

/* Returns how many ranks it shows. */
size_t top_rank_rows(const struct term *t, const struct top_sample *s, const struct top_look *look);

/* Prints one JSON object on a line of stdout: rates are null in the first sample. */
bool top_show_json(const struct top_sample *s);

#endif
