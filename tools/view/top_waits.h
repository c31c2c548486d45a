/* SPDX-License-Identifier: Apache-2.0 */
/* Finds jobs that have stopped, and which rank waits for which, by plain rules over their calls. */
#ifndef TOOLS_VIEW_TOP_WAITS_H
#define TOOLS_VIEW_TOP_WAITS_H

#include "common/base/buf.h"
#include "tools/view/top.h"

#define TOP_WAITS_S 5.0 /* shorter waits occur in healthy programs */

/*
 * For each job that has stopped, calls fn with the least duration and a text: "0 waits for 1
 * (MPI_Recv, tag 5), 1 waits ...". All its ranks wait, or some wait in a ring. Excluded are pairs
 * where one sends and the other receives, and ranks in one collective call. Their data may be in
 * transit. So may the data of earlier requests, which no call shows: only calls are known to be
 * stopped. For ranks in a call that no rank leaves before all have entered: how many are in it, and
 * which are not.
 */
enum top_wait_kind {
	TOP_WAIT_ALL, /* all ranks of the job */
	TOP_WAIT_RING,
	TOP_WAIT_OTHERS,
};

struct top_wait {
	const char *job; /* "": not known */
	double seconds;
	enum top_wait_kind kind;
	const char *text;
};
void top_waits(const struct top_sample *s, void (*fn)(void *arg, const struct top_wait *w),
	       void *arg);

/* "no call has ended" */
const char *top_wait_words(const struct top_wait *w);

/*
 * Writes "job: no call has ended for 12.4s at least: " with the text, and the unknown parts.
 * Returns out.
 */
#define TOP_WAIT_LINE_BYTES 2048
char *top_wait_line(char *out, size_t size, const struct top_wait *w);

/* Writes "MPI_Recv from 1", "MPI_Test ..." (repeatedly); "-" outside of a call. Returns out. */
#define TOP_CALL_TEXT_BYTES (TOP_NAME_BYTES + 32)
char *top_call_text(char out[TOP_CALL_TEXT_BYTES], const struct top_call *c);

#endif
