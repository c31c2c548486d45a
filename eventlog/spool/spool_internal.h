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
	int fd; /* the last segment, to which blocks are written; -1: none */
	uint64_t stored; /* place of the end of the log on the disk */
	struct buf pending; /* blocks behind that place, which are not on the disk yet */
	struct buf scratch; /* for encoding the ledger */
	struct ledger ledger;
	struct store file; /* file of the ledger */
	uint64_t kept_from; /* lowest cursor in the ledger on the disk */
	uint64_t appended, settled;
	/*
	 * number of the first appended block that is lost but not in the ledger on the disk;
	 * UINT64_MAX: none
	 */
	uint64_t unsure_from;
	nsec_t commit_at, ledger_at; /* due times of the writes; INT64_MAX: never */
	nsec_t ledger_was; /* time of the ledger's last write */
	nsec_t retry_at; /* 0: no failure */
	bool is_full, needs_room; /* needs_room: the disk itself is full */
	struct spool_stats stats;
	uint8_t window[WALK_WINDOW_BYTES];
};

void spool_word(struct spool *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Marks the ledger as different from the disk, to be written at this time at the latest. */
void spool_ledger_due(struct spool *s, nsec_t at);

/*
 * Reads one further window. A part that could not be read SPOOL_READ_TRIES times is skipped as
 * damaged. Fails like walk_window().
 */
int spool_walk(struct spool *s, struct walk *w, struct segment *g);

/* Drops segments that no consumer needs. */
void spool_trim(struct spool *s);

uint64_t spool_disk_bytes(const struct spool *s);

#endif
