/* SPDX-License-Identifier: Apache-2.0 */
/* A summary as text for people. */
#ifndef TOOLS_SUMMARY_SUMMARY_TEXT_H
#define TOOLS_SUMMARY_SUMMARY_TEXT_H

#include "tools/summary/efficiency.h"
#include "tools/term/table.h"

struct summary_text_options {
	const char *prefix; /* of the sentences: "omig: " on stderr, else "" */
	bool all; /* every row; else those that matter most */
};

/* Sentences, then tables. -ERR_NOMEM. */
int summary_text(const struct summary *s, const struct summary_text_options *w, struct buf *out);

/* Writes one page of HTML with all rows, without a script and without other files. -ERR_NOMEM. */
int summary_html(const struct summary *s, struct buf *out);

/*
 * Writes the text common to both outputs: "heat2d, 4 ranks on 1 host, 12.3 s: 31.0 % in MPI,
 * imbalance 18.2 % (rank 1 computes most)", and the unknown ranks.
 */
void summary_say_section(const struct summary_section *of, struct buf *out);
/*
 * Returns the section of the only MPI program of a sorted summary; NULL: there is none, or several.
 */
const struct summary_section *summary_only_world(const struct summary *s);
/* "job heat2d.4711: " and summary_say_section() of that, or how many programs there were. */
void summary_say_job(const struct summary *s, struct buf *out);
/*
 * Writes "MPI_Waitall 71 %, MPI_Allreduce 20 % of the time in MPI"; nothing when no call is known.
 */
void summary_say_calls(const struct call_sum *sum, size_t n, struct buf *out);

/* Writes "most time in MPI: MPI_Recv in exchange halo.c:41 63 %"; nothing without call sites. */
void summary_say_sites(const struct summary *s, struct buf *out);

/* "parallel efficiency 56.4 % = load balance 81.8 % x communication 69.0 %" */
void summary_say_efficiency(const struct summary_section *of, struct buf *out);

#define SUMMARY_END_BYTES 48
/* "ended by signal 9", of a status of wait(). Returns out. */
char *summary_end(char out[SUMMARY_END_BYTES], int status);

#define SUMMARY_SECONDS_BYTES TABLE_QUANTITY_BYTES
/* 12.3 us, 2.14 ms, 3.5 s, 4m05s; "-" for NaN. Returns out. */
char *summary_seconds(char out[SUMMARY_SECONDS_BYTES], double seconds);

#endif
