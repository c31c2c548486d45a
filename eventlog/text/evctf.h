/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace of the Common Trace Format 1.8 in a folder: a file for each stream, and the metadata.
 * Constants become fields. These calls do file I/O and so may block.
 */
#ifndef EVENTLOG_TEXT_EVCTF_H
#define EVENTLOG_TEXT_EVCTF_H

#include "eventlog/evread.h"

struct evctf;

/* Makes the folder, which must not exist. ERR_EXISTS, ERR_SYS, ERR_NOMEM. */
int evctf_open(const char *path, struct evctf **out, struct err *e);

/* ERR_LIMIT: too many streams or types; ERR_SYS, ERR_NOMEM. */
int evctf_event(struct evctf *c, const struct event *ev, struct err *e);

/*
 * Writes the metadata. *moved: events whose time decreased, is before the trace's clock or in the
 * last second of 2262. The clock begins in 1970; if the first event is earlier, a day before that.
 * The format cannot represent such times; they got the nearest one. ERR_SYS.
 */
int evctf_finish(struct evctf *c, uint64_t *moved, struct err *e);
void evctf_close(struct evctf *c);

#endif
