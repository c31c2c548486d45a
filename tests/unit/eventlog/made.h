/* SPDX-License-Identifier: Apache-2.0 */
/* Logs for tests: one with every kind and edge value, one of many events, and a reader for any. */
#ifndef TESTS_UNIT_EVENTLOG_MADE_H
#define TESTS_UNIT_EVENTLOG_MADE_H

#include "eventlog/evread.h"
#include "eventlog/evwrite.h"

#define MADE_STREAM UINT64_C(0x1122334455667788)

/* Field values that conversions like to lose. */
extern const struct evtype made_all;
#define MADE_EDGES 14
const struct evvalue *made_edge(size_t i); /* made_all.nfield values */
int64_t made_edge_time(size_t i);

/* Paper 001's event: a time, a 32-bit integer, a 32-bit float, the rest constant. */
extern const struct evtype made_table1;

/* The log of all edge values. The caller frees it with buf_done(). */
void made_edges(struct buf *out, bool swap);

/* n events of made_table1 numbered from `from`, in blocks of block_bytes. */
void made_many(struct buf *out, uint64_t stream, unsigned from, unsigned n, size_t block_bytes);

/* Reads all and hands each event on. The report is copied. */
void made_read(const struct buf *b, void (*fn)(void *arg, const struct event *ev), void *arg,
	       struct evread_report *out);

#endif
