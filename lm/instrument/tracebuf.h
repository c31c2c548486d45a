/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace buffers: what the actions of events append, by process, until the tool that made the buffer
 * fetches it. They live in the lm's memory and end with the lm. Of the ranks they cost nothing but
 * the record of the event in its ring. When there is no room the newest records are dropped.
 */
#ifndef LM_INSTRUMENT_TRACEBUF_H
#define LM_INSTRUMENT_TRACEBUF_H

#include "common/base/err.h"
#include "common/omis/text/value.h"

#include <stddef.h>
#include <stdint.h>

struct proc;
struct procs;
struct tracebuf;
struct tracebufs;

/* procs is borrowed. NULL: no memory. */
struct tracebufs *tracebufs_new(struct procs *procs);
void tracebufs_free(struct tracebufs *s);

/* The buffer, made when there is none. ERR_DENIED: it is another tool's; ERR_LIMIT, ERR_NOMEM. */
int tracebufs_get(struct tracebufs *s, const char *token, uint32_t tool, struct tracebuf **out,
		  struct err *e);

/* NULL: there is none, or it is another tool's. */
struct tracebuf *tracebufs_find(struct tracebufs *s, const char *token, uint32_t tool);

const char *tracebuf_token(const struct tracebuf *b);
void tracebufs_delete(struct tracebufs *s, struct tracebuf *b);
void tracebufs_tool_gone(struct tracebufs *s, uint32_t tool);

/* The process has a part from now on. */
int tracebuf_add_proc(struct tracebuf *b, struct proc *p, struct err *e);

/*
 * A record for the process, which gets a part if it has none; NULL: for each part. ERR_NOMEM (no
 * room), ERR_LIMIT (too long): dropped and counted. Only the first drop of a part since it was read
 * is an error, later ones are silent.
 */
int tracebuf_append(struct tracebuf *b, struct proc *p, const struct omis_value *record, size_t n,
		    struct err *e);

/* Parts in the order of their making; NULL beyond the last. */
const struct proc *tracebuf_proc_at(const struct tracebuf *b, size_t i);

/*
 * Takes at most max records out of part number i, as values behind its figures: number of the
 * first, records left, records dropped so far. Ends in any case, after one record at least, when
 * the text has reached `bytes`.
 */
void tracebuf_take(struct tracebuf *b, size_t i, int64_t max, size_t bytes, struct omis_writer *w);

/* Of all buffers. */
struct tracebuf_stats {
	size_t buffers, bytes;
	uint64_t dropped; /* of deleted ones too */
};
void tracebufs_stats(const struct tracebufs *s, struct tracebuf_stats *out);

#endif
