/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores blocks, which their sender repeats until they are acknowledged, in an archive. The
 * transaction of the events also stores which blocks of each stream have arrived and which are
 * lost. So after a kill the next run continues without loss or duplicates.
 */
#ifndef EVENTLOG_ARCHIVE_ARKEPT_H
#define EVENTLOG_ARCHIVE_ARKEPT_H

#include "eventlog/archive/archive.h"
#include "eventlog/evbalance.h"

/*
 * Loads the stored state into the balance, which must be empty. Fails with ERR_INVALID if Omig has
 * not written the archive, and like archive_put().
 */
int arkept_open(struct archive *a, struct evbalance *b, struct err *e);

/*
 * Stores the events of a block of stream s, if the balance has counted it as new. Events without a
 * description are left out. Fails like archive_put().
 */
int arkept_block(struct archive *a, struct evbalance_stream *s, const uint8_t *p,
		 const struct evblock *head, struct err *e);

/* Commits everything. */
int arkept_commit(struct archive *a, struct evbalance *b, struct err *e);

#endif
