/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks that are sent until they are acknowledged go into an archive: which have come of each
 * stream, and what was lost of it, is saved in the transaction of their events, so that whoever is
 * killed in the middle goes on without loss or doubles.
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
