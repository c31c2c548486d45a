/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two summaries side by side: what changed in the time of a rank, by call. A sure change is more
 * than the spread over ranks and over time explains. docs/summary.md has the formulas.
 */
#ifndef TOOLS_SUMMARY_COMPARE_H
#define TOOLS_SUMMARY_COMPARE_H

#include "common/base/buf.h"
#include "tools/summary/summary.h"

#include <stdbool.h>

enum compare_verdict {
	COMPARE_MORE, /* this change and the next one are sure */
	COMPARE_LESS,
	COMPARE_NEW, /* only the second summary has such calls */
	COMPARE_GONE,
	COMPARE_SMALL, /* a sure change below the relevant size */
	COMPARE_UNSURE,
	COMPARE_TOO_FEW, /* too few ranks and slices for an interval */
	COMPARE_VERDICTS
};
extern const char *const compare_verdicts[COMPARE_VERDICTS];
#define COMPARE_IS_SURE(v) ((v) <= COMPARE_GONE)

/* Basis of an interval: the wider one if there are both. */
enum compare_basis { COMPARE_NONE, COMPARE_PAIRS, COMPARE_RANKS, COMPARE_SLICES, COMPARE_BASES };
extern const char *const compare_bases[COMPARE_BASES]; /* "-", "rank pairs", "ranks", "slices" */

/* [0]: of the first summary, [1]: of the second. */
struct compare_row {
	char name[SUMMARY_NAME_BYTES]; /* name of the call; "in MPI", "outside of MPI" */
	uint64_t count[2], bytes[2];
	/* per rank, on average: in the call, and of the whole rank */
	double seconds[2], rank_s[2];
	double mean[2]; /* per call; NaN: there was none */
	double difference, half; /* difference in seconds; half NaN: no interval */
	double p;
	enum compare_basis basis;
	enum compare_verdict verdict;
	bool is_sum; /* in MPI, outside of MPI: without calls and bytes */
};

/* An MPI program of both summaries, by their order. */
struct comparison {
	const struct summary_section *section[2];
	/* of the longest rank: one value of each summary, without an interval */
	double seconds[2];
	struct compare_row
		*row; /* owned: both sums, then calls, sure ones with most seconds first */
	size_t n, sure; /* sure: number of calls that surely changed */
};

struct compare_options {
	double level; /* confidence level of all intervals of one comparison together, 0 to 1 */
	double least; /* a change matters from this share of the first rank time on */
};

/* -ERR_NOMEM. Valid until a section changes; for compare_done(). */
int compare_sections(const struct summary_section *a, const struct summary_section *b,
		     const struct compare_options *w, struct comparison *c);
void compare_done(struct comparison *c);

/* Writes a sentence about the changes. */
void compare_say(const struct comparison *c, struct buf *out);
/* A table of all rows. -ERR_NOMEM. */
int compare_table(const struct comparison *c, struct buf *out);
void compare_csv_head(struct buf *out);
/* program: a number from 1, the first column. */
void compare_csv(const struct comparison *c, size_t program, struct buf *out);
struct json;
/* An object. */
void compare_json(const struct comparison *c, struct json *j);

#endif
