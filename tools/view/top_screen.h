/* SPDX-License-Identifier: Apache-2.0 */
/* What a person has chosen in `omig top`: page, order, filter, job and row, by keys. */
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
 * A key (term_key()). s: what is shown, all: what there is; rows: ranks that fit. True: something
 * changed, and the screen is to be drawn again.
 */
bool top_screen_key(struct top_screen *p, int key, const struct top_sample *s,
		    const struct top_sample *all, size_t rows);

/*
 * The ranks of `all` that are wanted, in their order. Other members are those of `all`; free
 * out->rank alone. False: no memory.
 */
bool top_screen_view(struct top_screen *p, const struct top_sample *all, struct top_sample *out);

/*
 * All words of the filter hold: "node1" is a part of program, node, job, state or call, "17" a
 * rank; "mpi>50", "rank<16", "cpu>90", "rss>100" (MiB), "calls>10" compare.
 */
bool top_filter_takes(const char *filter, const struct top_rank *r, const struct top_node *node);

/* Lines of the page of help. */
extern const char top_help[];

#endif
