/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts events by time. Events of one time keep the order in which they were put. Memory is
 * bounded: sorted runs go to a temporary file, and are merged at the end.
 */
#ifndef EVENTLOG_SORT_EVSORT_H
#define EVENTLOG_SORT_EVSORT_H

#include "eventlog/evread.h"

#define EVSORT_MEMORY_BYTES (64u << 20) /* some 700,000 events; less than a browser's page */
#define EVSORT_RUNS_MAX 2048 /* 128 GiB of that memory; each has a window of 128 KiB at the end */

struct evsort;

/*
 * folder is for temporary files, opened when memory is full; NULL as evrun_file(). memory is in
 * bytes, without types and names. NULL: no memory.
 */
struct evsort *evsort_new(const char *folder, size_t memory);
void evsort_free(struct evsort *s);

/* Copies the event. ERR_LIMIT: too many types or runs; ERR_SYS, ERR_NOMEM. */
int evsort_put(struct evsort *s, const struct event *ev, struct err *e);

/*
 * After the last evsort_put(): 1 with the next event, valid until the next call; 0 at the end; or
 * ERR_SYS, ERR_NOMEM.
 */
int evsort_next(struct evsort *s, struct event *out, struct err *e);

/* Events that were put, and runs in the temporary file. */
uint64_t evsort_events(const struct evsort *s);
size_t evsort_runs(const struct evsort *s);

#endif
