/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event log to which blocks are appended, each once, and synced. After a kill the next run
 * continues with the same file. These calls do file I/O and block.
 */
#ifndef EVENTLOG_EVKEEP_H
#define EVENTLOG_EVKEEP_H

#include "eventlog/evbalance.h"

struct evkeep;

/*
 * Opens or makes the file. Adds the streams of an existing file to the balance, and cuts a torn
 * block off its end. Fails with ERR_AGAIN if another program appends to it. Fails with ERR_INVALID
 * if it is not a regular file or not an event log. Other errors are ERR_DENIED, ERR_NOTFOUND,
 * ERR_SYS, ERR_NOMEM, ERR_LIMIT.
 */
int evkeep_open(const char *path, struct evbalance *b, struct evkeep **out, struct err *e);

/* Blocks that were not committed may be lost. NULL is accepted. */
void evkeep_close(struct evkeep *k);

/*
 * Appends a block that is new to the balance. After ERR_SYS and ERR_NOMEM the file is as at the
 * last commit, and can only be closed.
 */
int evkeep_put(struct evkeep *k, const uint8_t *p, size_t n, struct err *e);

/* Syncs all appended blocks. After ERR_SYS the file can only be closed, too. */
int evkeep_commit(struct evkeep *k, struct err *e);

#endif
