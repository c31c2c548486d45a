/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs in files of any length, read in pieces. These calls do file I/O and may block. */
#ifndef EVENTLOG_EVFILE_H
#define EVENTLOG_EVFILE_H

#include "eventlog/evread.h"

struct evfile;

/*
 * Opens a file; "-" is the standard input. Does not block: the name must be a regular file, or a
 * pipe with a writer. Fails with ERR_NOTFOUND, ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int evfile_open(const char *path, struct evfile **out, struct err *e);
void evfile_close(struct evfile *f);

/*
 * Treats the file as one that grows. At its end, or if a pipe has no bytes yet, evfile_next(),
 * evfile_line() and evfile_peek() return -ERR_AGAIN. A later call continues with appended bytes. A
 * pipe without writers has ended.
 */
void evfile_follow(struct evfile *f);

/*
 * Returns false if path is another file now, or if the file is shorter than the bytes that were
 * read. Returns true if path does not exist, and for pipes.
 */
bool evfile_is_current(const struct evfile *f, const char *path);

/*
 * Returns 1: *out is the next event, valid until the next call. Returns 0 at the end. Fails with
 * ERR_SYS, ERR_NOMEM.
 */
int evfile_next(struct evfile *f, struct event *out, struct err *e);

const struct evread_report *evfile_report(const struct evfile *f);

/* Returns the size of the file when it was opened; 0 = unknown. */
uint64_t evfile_size(const struct evfile *f);

/*
 * Returns the first bytes, at most *n, without consuming them, for detecting the kind of file.
 * Fails with ERR_SYS.
 */
int evfile_peek(struct evfile *f, const uint8_t **p, size_t *n, struct err *e);

/*
 * For other readers: consumes and returns the next bytes, valid until the next call. *n is 0 at the
 * end. Fails with ERR_SYS.
 */
int evfile_bytes(struct evfile *f, const uint8_t **p, size_t *n, struct err *e);

/*
 * For text files: reads the next line without its end, valid until the next call. Returns 1, or 0
 * at the end. Fails with ERR_LIMIT for a line of more than max bytes, which is skipped, and with
 * ERR_SYS.
 */
int evfile_line(struct evfile *f, size_t max, const char **line, size_t *n, struct err *e);

#endif
