/* SPDX-License-Identifier: Apache-2.0 */
/* A viewer: one open page, what it looks at, and what it has seen. */
#ifndef TOOLS_PAGE_VIEWER_H
#define TOOLS_PAGE_VIEWER_H

#include "common/container/list.h"
#include "tools/page/scene.h"
#include "tools/page/chart.h"
#include "tools/page/form.h"
#include "tools/page/keys.h"
#include "tools/view/top_screen.h"

#define VIEWER_CHARTS_MAX 6 /* of one page: they fill a screen */
#define VIEWER_OPEN_MAX 8 /* hosts whose ranks are listed in the tree */
#define VIEWER_ROWS_DEFAULT 256

struct viewer_chart {
	unsigned id; /* 0: free */
	struct chart_seen seen;
	uint64_t reads; /* of the chart when it was sent last */
	bool is_new, has_ended; /* nothing was sent yet; its end was */
};

struct viewer {
	struct list item;
	unsigned id;
	const struct keys_entry *key;
	/* its choice of the page */
	size_t rows; /* lines of the strip */
	size_t first, count; /* of the table */
	struct top_screen order; /* filter and order of the table */
	char chosen[TOP_TOKEN_BYTES]; /* a rank; "": none */
	char open[VIEWER_OPEN_MAX][TOP_TOKEN_BYTES];
	size_t nopen;
	struct viewer_chart chart[VIEWER_CHARTS_MAX];
	/* the parts that were sent */
	bool is_changed; /* its choice */
	uint64_t version, tree_version, generation, column;
};

struct viewer *viewer_new(unsigned id, const struct keys_entry *key);
void viewer_free(struct viewer *v);

/* Takes the choice that a page sends. */
void viewer_look(struct viewer *v, const struct form *f);

bool viewer_has_chart(const struct viewer *v, unsigned id);
/* Returns false if it has VIEWER_CHARTS_MAX already. */
bool viewer_add_chart(struct viewer *v, unsigned id);
/* Returns false if it has no such chart. */
bool viewer_drop_chart(struct viewer *v, unsigned id);

/* --- frames.c */

/* Appends lines of JSON with what it has not seen. */
void viewer_put(struct viewer *v, const struct scene *b, const struct charts_all *charts,
		struct buf *out);

#endif
