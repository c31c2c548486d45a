/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores blocks in an archive. Their sender repeats them until they are acknowledged. The
 * transaction of the events also saves which blocks of each stream have arrived, and which are
 * lost. So after a kill in the middle the next run continues without loss or duplicates.
 */
#ifndef EVENTLOG_ARCHIVE_ARKEPT_H
#define EVENTLOG_ARCHIVE_ARKEPT_H

#include "eventlog/archive/archive.h"
#include "eventlog/evbalance.h"

/*
 * Loads the saved state into the balance, which must be empty. ERR_INVALID: the archive was not
 * written by Omig; other errors as archive_put().
 */
int arkept_open(struct archive *a, struct evbalance *b, struct err *e);

/*
 * Stores the events of a block of stream s that is new to the balance. A block that lacks a
 * description is stored as far as it can be read. Errors as archive_put().
 */
int arkept_block(struct archive *a, struct evbalance_stream *s, const uint8_t *p,
		 const struct evblock *head, struct err *e);

/* Commits everything. */
int arkept_commit(struct archive *a, struct evbalance *b, struct err *e);

#endif
