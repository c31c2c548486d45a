/* SPDX-License-Identifier: Apache-2.0 */
/* The user's choices in `omig top`: page, order, filter, job and row, by keys. */
#ifndef TOOLS_VIEW_TOP_SCREEN_H
#define TOOLS_VIEW_TOP_SCREEN_H

#include "tools/view/top.h"

enum top_page { TOP_PAGE_LIST, TOP_PAGE_HELP, TOP_PAGE_RANK };

#define TOP_FILTER_BYTES 64

struct top_screen {
	enum top_page page;
	enum top_sort sort;
	bool is_reverse, is_paused, is_over;
	bool is_editing; /* the filter is being typed */
	char filter[TOP_FILTER_BYTES], edit[TOP_FILTER_BYTES];
	char job[TOP_NAME_BYTES]; /* "": all */
	size_t row, first; /* the chosen rank, and the first one on the screen */
	char token[TOP_TOKEN_BYTES]; /* of the page of a rank */
};

/*
 * Handles a key (term_key()). s: the shown part, all: everything; rows: ranks that fit. Returns
 * true if something changed, so that the screen must be redrawn.
 */
bool top_screen_key(struct top_screen *p, int key, const struct top_sample *s,
		    const struct top_sample *all, size_t rows);

/*
 * Selects the requested ranks of `all`, in order. Other members are those of `all`; free only
 * out->rank. False: no memory.
 */
bool top_screen_view(struct top_screen *p, const struct top_sample *all, struct top_sample *out);

/*
 * True if all words of the filter match: "node1" is a part of program, node, job, state or call,
 * "17" a rank; "mpi>50", "rank<16", "cpu>90", "rss>100" (MiB), "calls>10" compare.
 */
bool top_filter_takes(const char *filter, const struct top_rank *r, const struct top_node *node);

/* Lines of the help page. */
extern const char top_help[];

#endif
