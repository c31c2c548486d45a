/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that have come to a stop: which rank waits for which, by plain rules over their calls.
 */
#ifndef TOOLS_VIEW_TOP_WAITS_H
#define TOOLS_VIEW_TOP_WAITS_H

#include "common/base/buf.h"
#include "tools/view/top.h"

#define TOP_WAITS_S 5.0 /* what is shorter happens in programs that run well */

/*
 * For each job that has stopped, calls fn with the least duration and a text: "0 waits for 1
 * (MPI_Recv, tag 5), 1 waits ...". All its ranks wait, or some wait in a ring. Excluded are pairs
 * of which one sends and the other receives, and ranks in one collective call. Their data may be
 * on its way. So may that of requests that were posted before, which no call shows: only calls
 * are known to stand still. Where ranks are in a call that no rank leaves before all have come:
 * how many are in it, and which are not.
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

/* "job: no call has ended for 12.4s at least: " with the text, and what is not known. Returns out.
 */
#define TOP_WAIT_LINE_BYTES 2048
char *top_wait_line(char *out, size_t size, const struct top_wait *w);

/* "MPI_Recv from 1", "MPI_Test ..." (asks again and again); "-" outside of a call. Returns out. */
#define TOP_CALL_TEXT_BYTES (TOP_NAME_BYTES + 32)
char *top_call_text(char out[TOP_CALL_TEXT_BYTES], const struct top_call *c);

#endif
