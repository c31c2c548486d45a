/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of one thread that the kernel records (perf_event_open): the thread reaches an address,
 * gets or loses its processor. The thread is not held. Closing the descriptor removes the event,
 * however the lm ends.
 */
#ifndef LM_HOST_PERF_H
#define LM_HOST_PERF_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>

/* 600 records between two reads; a user may lock some 100 such rings */
#define PERF_RING_PAGES 4

struct perf;

enum perf_what { PERF_ADDR, PERF_SWITCH };

/* An event has happened, or (lost) events could not be recorded. */
struct perf_record {
	int32_t tid;
	nsec_t time; /* monotonic */
	bool is_out; /* SWITCH: off its processor */
	bool is_preempted; /* still runnable when it lost the processor */
	uint64_t lost;
};

typedef void (*perf_fn)(void *arg, const struct perf_record *r);

/*
 * -ERR_NOTFOUND: no such thread; -ERR_LIMIT: it has four addresses already; -ERR_UNSUPPORTED: the
 * kernel or the machine cannot do it; -ERR_SYS: the kernel forbids it, with the remedy.
 */
int perf_open(int32_t tid, enum perf_what what, uint64_t addr, struct perf **out, struct err *e);
void perf_close(struct perf *p);

/* Calls fn for the records since the last call; fn must not close it. */
void perf_read(struct perf *p, perf_fn fn, void *arg);

/*
 * Decodes one record at p. Returns its size, or 0 if it is cut or invalid. *is_known: out was
 * filled.
 */
size_t perf_decode(const uint8_t *p, size_t n, struct perf_record *out, bool *is_known);

#endif
