/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event log to which blocks are appended, each once, and that is sure of what it has. After a
 * kill in the middle the next run continues with the same file. These calls do file I/O and so
 * block.
 */
#ifndef EVENTLOG_EVKEEP_H
#define EVENTLOG_EVKEEP_H

#include "eventlog/evbalance.h"

struct evkeep;

/*
 * Made when it is not there; else read through, and its streams are in the balance; a torn block at
 * its end is cut off. ERR_AGAIN: another program appends to it; ERR_INVALID: no file, or no event
 * log; ERR_DENIED, ERR_NOTFOUND, ERR_SYS, ERR_NOMEM, ERR_LIMIT.
 */
int evkeep_open(const char *path, struct evbalance *b, struct evkeep **out, struct err *e);

/* What is not committed may be there, or not. NULL is fine. */
void evkeep_close(struct evkeep *k);

/* A block that is new to the balance. ERR_SYS, ERR_NOMEM: the file is as it was at the last commit,
 * and can only be closed. */
int evkeep_put(struct evkeep *k, const uint8_t *p, size_t n, struct err *e);

/* All that was put survives the end of the machine. ERR_SYS: as above. */
int evkeep_commit(struct evkeep *k, struct err *e);

#endif
