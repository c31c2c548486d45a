/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of the Common Trace Format 1.8 in a folder: a file for each stream, and the metadata.
 * Constants become fields. These calls do file I/O and may block.
 */
#ifndef EVENTLOG_TEXT_EVCTF_H
#define EVENTLOG_TEXT_EVCTF_H

#include "eventlog/evread.h"

struct evctf;

/* Makes the folder, which must not exist. Fails with ERR_EXISTS, ERR_SYS, ERR_NOMEM. */
int evctf_open(const char *path, struct evctf **out, struct err *e);

/* Fails with ERR_LIMIT for too many streams or types, ERR_SYS, ERR_NOMEM. */
int evctf_event(struct evctf *c, const struct event *ev, struct err *e);

/*
 * Writes the metadata. *moved: number of events with times that the format cannot represent, which
 * got the nearest possible time. Such a time decreases, is before the trace's clock, or is in the
 * last second of 2262. The clock begins in 1970, or a day before the first event if that is
 * earlier. Fails with ERR_SYS.
 */
int evctf_finish(struct evctf *c, uint64_t *moved, struct err *e);
void evctf_close(struct evctf *c);

#endif
