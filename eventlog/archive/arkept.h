/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores blocks in an archive. Their sender repeats them until they are acknowledged. The
 * transaction of the events also saves which blocks of each stream have come, and what was lost. So
 * after a kill in the middle the next run continues without loss or doubles.
 */
#ifndef EVENTLOG_ARCHIVE_ARKEPT_H
#define EVENTLOG_ARCHIVE_ARKEPT_H

#include "eventlog/archive/archive.h"
#include "eventlog/evbalance.h"

/* What was saved comes into the balance, which is empty. ERR_INVALID: none of ours wrote that; as
 * of archive_put(). */
int arkept_open(struct archive *a, struct evbalance *b, struct err *e);

/*
 * The events of a block that is new to the balance, of stream s. A block that lacks a description
 * is worth what can be read of it. Errors as of archive_put().
 */
int arkept_block(struct archive *a, struct evbalance_stream *s, const uint8_t *p,
		 const struct evblock *head, struct err *e);

/* All of it is safe. */
int arkept_commit(struct archive *a, struct evbalance *b, struct err *e);

#endif
