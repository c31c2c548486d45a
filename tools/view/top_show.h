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
};

/* Appends the first lines; on a terminal as much of the title as fits its width, the most important
 * first. */
void top_show_title(const struct term *t, const struct top_title *title, struct buf *out);

/* Lines of a screen that the title and the end of the last line leave. */
size_t top_rows(const struct term *t);

/*
 * Appends nodes, ranks and coverage. is_total: totals since counting began
 * in place of rates. rows: 0, or the lines that fit: then nodes and ranks beyond them are a number.
 * -ERR_NOMEM.
 */
int top_show(const struct term *t, const struct top_sample *s, bool is_total, size_t rows,
	     struct buf *out);

/* One JSON object on a line of stdout: rates are null in the first sample. */
bool top_show_json(const struct top_sample *s);

#endif
