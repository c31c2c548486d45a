/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of struct spool. */
#ifndef EVENTLOG_SPOOL_SPOOL_INTERNAL_H
#define EVENTLOG_SPOOL_SPOOL_INTERNAL_H

#include "common/store/store.h"
#include "eventlog/spool/ledger.h"
#include "eventlog/spool/segments.h"
#include "eventlog/spool/spool.h"
#include "eventlog/spool/walk.h"

#define LEDGER_NAME "ledger"

struct spool {
	struct spool_conf conf;
	struct segments segments;
	int fd; /* of the last segment, which gets new blocks; -1: none */
	uint64_t stored; /* place up to which the log is on the disk */
	struct buf pending; /* blocks behind that place, not on the disk yet */
	struct buf scratch; /* of the ledger's bytes */
	struct ledger ledger;
	struct store file; /* of the ledger */
	uint64_t kept_from; /* the least cursor of the ledger as it is on the disk */
	uint64_t appended, settled;
	/* the first appended block that is lost and not in the ledger on disk; UINT64_MAX: none */
	uint64_t unsure_from;
	nsec_t commit_at, ledger_at; /* due times; INT64_MAX: never */
	nsec_t ledger_was; /* time of the last write */
	nsec_t retry_at; /* 0: no failure */
	bool is_full, needs_room; /* the disk itself is */
	struct spool_stats stats;
	uint8_t window[WALK_WINDOW_BYTES];
};

void spool_word(struct spool *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The ledger differs from the disk, and must be written at this time at the latest. */
void spool_ledger_due(struct spool *s, nsec_t at);

/*
 * Reads one more window. A part that cannot be read SPOOL_READ_TRIES times is skipped as damaged.
 * Returns as walk_window().
 */
int spool_walk(struct spool *s, struct walk *w, struct segment *g);

/* Drops the segments that no consumer needs. */
void spool_trim(struct spool *s);

uint64_t spool_disk_bytes(const struct spool *s);

#endif
