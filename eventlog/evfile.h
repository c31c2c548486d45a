/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs in files of any length, read in pieces. These calls do file I/O and so may block. */
#ifndef EVENTLOG_EVFILE_H
#define EVENTLOG_EVFILE_H

#include "eventlog/evread.h"

struct evfile;

/*
 * "-" is the standard input. Opening does not block: the name must be a regular file or a pipe with
 * a writer. ERR_NOTFOUND, ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int evfile_open(const char *path, struct evfile **out, struct err *e);
void evfile_close(struct evfile *f);

/*
 * From now on a file is one that grows: evfile_next(), evfile_line() and evfile_peek() return
 * -ERR_AGAIN at its end, or where a pipe has no bytes yet. A later call continues with what was
 * appended. A pipe without writers has ended.
 */
void evfile_follow(struct evfile *f);

/* False: path is another file now, or this one is shorter than what was read. True where path is
 * missing, and for pipes. */
bool evfile_is_current(const struct evfile *f, const char *path);

/* Returns 1: *out is the next event, valid until the next call. 0: the end. ERR_SYS, ERR_NOMEM. */
int evfile_next(struct evfile *f, struct event *out, struct err *e);

const struct evread_report *evfile_report(const struct evfile *f);

/* Returns the size of the file when it was opened; 0 = not known. */
uint64_t evfile_size(const struct evfile *f);

/*
 * Returns the first bytes, at most *n of them, without consuming them: to detect the kind of file.
 * ERR_SYS.
 */
int evfile_peek(struct evfile *f, const uint8_t **p, size_t *n, struct err *e);

/*
 * For other readers: consumes and returns the next bytes, valid until the next call; *n is 0 at the
 * end. ERR_SYS.
 */
int evfile_bytes(struct evfile *f, const uint8_t **p, size_t *n, struct err *e);

/*
 * For text files: reads the next line without its end, valid until the next call. 1, 0 at the end,
 * -ERR_LIMIT for a line of more than max bytes, which is skipped, ERR_SYS.
 */
int evfile_line(struct evfile *f, size_t max, const char **line, size_t *n, struct err *e);

#endif
