/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event log to which blocks are appended, each once, and synced. After a
 * kill in the middle the next run continues with the same file. These calls do file I/O and so
 * block.
 */
#ifndef EVENTLOG_EVKEEP_H
#define EVENTLOG_EVKEEP_H

#include "eventlog/evbalance.h"

struct evkeep;

/*
 * Opens or makes the file. Adds the streams of an existing one to the balance, and cuts a torn
 * block off its end. ERR_AGAIN: another program appends to it; ERR_INVALID: no file, or no event
 * log; ERR_DENIED, ERR_NOTFOUND, ERR_SYS, ERR_NOMEM, ERR_LIMIT.
 */
int evkeep_open(const char *path, struct evbalance *b, struct evkeep **out, struct err *e);

/* Blocks that were not committed may be lost. NULL is fine. */
void evkeep_close(struct evkeep *k);

/*
 * Appends a block that is new to the balance. ERR_SYS, ERR_NOMEM: the file is as at the last
 * commit, and can only be closed.
 */
int evkeep_put(struct evkeep *k, const uint8_t *p, size_t n, struct err *e);

/* Syncs all appended blocks. ERR_SYS: as above. */
int evkeep_commit(struct evkeep *k, struct err *e);

#endif
