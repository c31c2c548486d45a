/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about a sample, by plain rules: hangs, slow ranks, overloaded hosts. */
#ifndef TOOLS_VIEW_TOP_WORDS_H
#define TOOLS_VIEW_TOP_WORDS_H

#include "tools/view/top.h"
#include "tools/view/top_waits.h"

/*
 * Slow ranks compute this many points more than the others, which are in MPI for this long: both in
 * %.
 */
#define TOP_SLOW_POINTS 15
#define TOP_SLOW_MPI 20
/* Tasks per processor, and fraction of the time in which some wait for one. */
#define TOP_STARVED_TASKS 1.5
#define TOP_STARVED_PRESSURE 20
#define TOP_MEMORY_PRESSURE 5 /* % of the time in which all tasks wait for memory */
#define TOP_IO_PRESSURE 20 /* likewise for disks */

enum top_word_kind {
	TOP_WORD_PLAIN, /* a job without any of those below */
	TOP_WORD_HANG,
	TOP_WORD_SLOW,
	TOP_WORD_STARVED,
	TOP_WORD_ENDED,
};

struct top_word {
	enum top_word_kind kind;
	const char *of; /* job or node */
	const char *text; /* a line */
};

/*
 * Calls fn for each line, the most urgent first: hangs, slow ranks, hosts, then jobs without any of
 * those. Ranks must be in the order of top_sort(). The first sample has no rates: only hangs and
 * hosts.
 */
void top_words(const struct top_sample *s, void (*fn)(void *arg, const struct top_word *w),
	       void *arg);

/* Sets is_slow of the ranks that a line of TOP_WORD_SLOW is about. */
void top_mark_slow(struct top_sample *s);

/* True: a line of TOP_WORD_STARVED is about the host. */
bool top_node_is_full(const struct top_node *n);

/* "hang", "slow", ... */
const char *top_word_name(enum top_word_kind kind);

#endif
