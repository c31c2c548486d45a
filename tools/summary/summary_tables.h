/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a summary, for the text and for the page. */
#ifndef TOOLS_SUMMARY_SUMMARY_TABLES_H
#define TOOLS_SUMMARY_SUMMARY_TABLES_H

#include "tools/summary/efficiency.h"
#include "tools/summary/summary_text.h"
#include "tools/term/table.h"

struct summary_writer {
	const struct summary *s;
	bool all; /* every row; else those that matter most */
	struct buf *out;
	/* Appends one table. -ERR_NOMEM. */
	int (*put)(struct buf *out, const char *caption, const struct table *tab);
	int rc; /* the first failure */
};

/* sum, n: of efficiency_calls(). */
void summary_put_calls(struct summary_writer *w, const struct summary_section *of,
		       const struct call_sum *sum, size_t n);
void summary_put_ranks(struct summary_writer *w, const struct summary_section *of);
/* Appends nothing if no partner is known. */
void summary_put_pairs(struct summary_writer *w, const struct summary_section *of);
/* Appends nothing if there is one host. */
void summary_put_hosts(struct summary_writer *w, const struct summary_section *of);
/* Of the whole job. Appends nothing if no size is known. */
void summary_put_sizes(struct summary_writer *w);
/* The same of call sites. */
void summary_put_sites(struct summary_writer *w);
void summary_put_programs(struct summary_writer *w, const struct summary_section *of);

#endif
