/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts events by time. Events with the same time keep their order. Memory is bounded: sorted runs
 * are written to a temporary file, and merged at the end.
 */
#ifndef EVENTLOG_SORT_EVSORT_H
#define EVENTLOG_SORT_EVSORT_H

#include "eventlog/evread.h"

/* about 700,000 events; less memory than a page in a browser takes */
#define EVSORT_MEMORY_BYTES (64u << 20)
/* 128 GiB of events; each run has a window of 128 KiB in the merge */
#define EVSORT_RUNS_MAX 2048

struct evsort;

/*
 * folder is for temporary files, which are made when memory is full; NULL: as in evrun_file().
 * memory is in bytes, without types and names. Returns NULL without memory.
 */
struct evsort *evsort_new(const char *folder, size_t memory);
void evsort_free(struct evsort *s);

/* Copies the event. Fails with ERR_LIMIT for too many types or runs, ERR_SYS, ERR_NOMEM. */
int evsort_put(struct evsort *s, const struct event *ev, struct err *e);

/*
 * Called after the last evsort_put(). Returns 1 with the next event, valid until the next call, and
 * 0 at the end. Fails with ERR_SYS, ERR_NOMEM.
 */
int evsort_next(struct evsort *s, struct event *out, struct err *e);

/* Return the number of events that were put, and of runs in the temporary file. */
uint64_t evsort_events(const struct evsort *s);
size_t evsort_runs(const struct evsort *s);

#endif
