/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace buffers: records that actions of events append, by process, until the tool that made the
 * buffer fetches them. They are in the lm's memory and end with the lm. The ranks only write the
 * record of the event to their ring. When a buffer is full the newest records are dropped.
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

/* procs is borrowed. Returns NULL without memory. */
struct tracebufs *tracebufs_new(struct procs *procs);
void tracebufs_free(struct tracebufs *s);

/* Finds or makes the buffer. ERR_DENIED: it belongs to another tool; ERR_LIMIT, ERR_NOMEM. */
int tracebufs_get(struct tracebufs *s, const char *token, uint32_t tool, struct tracebuf **out,
		  struct err *e);

/* Returns NULL if there is no such buffer, or it belongs to another tool. */
struct tracebuf *tracebufs_find(struct tracebufs *s, const char *token, uint32_t tool);

const char *tracebuf_token(const struct tracebuf *b);
void tracebufs_delete(struct tracebufs *s, struct tracebuf *b);
void tracebufs_tool_gone(struct tracebufs *s, uint32_t tool);

/* Adds a part for the process. */
int tracebuf_add_proc(struct tracebuf *b, struct proc *p, struct err *e);

/*
 * Appends a record to the part of the process, which is added if it is missing; NULL: to each part.
 * ERR_NOMEM (no room), ERR_LIMIT (too long): the record is dropped and counted. Only the first drop
 * after a read of the part is an error; later ones return 0.
 */
int tracebuf_append(struct tracebuf *b, struct proc *p, const struct omis_value *record, size_t n,
		    struct err *e);

/* Returns the process of part i, in the order in which parts were added; NULL beyond the last. */
const struct proc *tracebuf_proc_at(const struct tracebuf *b, size_t i);

/*
 * Removes at most max records from part i. Writes three counters, and then the records. The
 * counters: number of the first record, records left, records dropped so far. Stops after at least
 * one record when the text has reached `bytes`.
 */
void tracebuf_take(struct tracebuf *b, size_t i, int64_t max, size_t bytes, struct omis_writer *w);

/* Sums over all buffers. */
struct tracebuf_stats {
	size_t buffers, bytes;
	uint64_t dropped; /* with deleted buffers */
};
void tracebufs_stats(const struct tracebufs *s, struct tracebuf_stats *out);

#endif
