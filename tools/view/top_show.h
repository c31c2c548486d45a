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

/* Which part is shown, and how. */
struct top_look {
	bool is_total; /* totals since counting began in place of rates */
	size_t rows; /* 0, or the lines that fit: nodes and ranks beyond them are a number */
	const struct top_sample *whole; /* that the words are about; NULL: what is shown */
	size_t first, row; /* the first rank on a screen, and the one that is marked */
};

/* Appends the first lines; on a terminal as much of the title as fits its width, the most important
 * first. */
void top_show_title(const struct term *t, const struct top_title *title, struct buf *out);

/* Lines of a screen that the title and the end of the last line leave. */
size_t top_rows(const struct term *t);

/* Appends what there is to say in words (top_words()), nodes, ranks and coverage. -ERR_NOMEM. */
int top_show(const struct term *t, const struct top_sample *s, const struct top_look *look,
	     struct buf *out);

/* How many ranks it shows. */
size_t top_rank_rows(const struct term *t, const struct top_sample *s, const struct top_look *look);

/* One JSON object on a line of stdout: rates are null in the first sample. */
bool top_show_json(const struct top_sample *s);

#endif
