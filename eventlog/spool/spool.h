/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on disk, between the source that makes them and the consumers that read them, each at its
 * own pace. Settled blocks survive the end of the process and of the machine: they are in the log,
 * or counted as lost. Calls here wait for the disk, and have no thread or clock of their own: a
 * daemon uses struct spooler.
 *
 * A block that cannot be stored is lost, for all consumers or for one that was too slow. A gap
 * (evgap.h) takes its place in the order of the stream. So a consumer gets exactly the numbers of
 * blocks and events that were appended. There is one exception: a consumer with losses in more than
 * LEDGER_GAPS_MAX streams. Losses of further streams are not reported to it (unnamed_losses). The
 * next block of such a stream shows them, if there is one. Without a consumer everything that fits
 * is stored: a later consumer may begin with the oldest.
 */
#ifndef EVENTLOG_SPOOL_SPOOL_H
#define EVENTLOG_SPOOL_SPOOL_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "eventlog/evblock.h"
#include "common/store/disk.h"

#include <stdbool.h>

/* memory for a busy disk: a third of a second at 50 MB/s */
#define SPOOL_PENDING_MAX_BYTES (16u << 20)
/* after a failure; so writing resumes within two seconds of its end */
#define SPOOL_RETRY_NS NSEC_PER_SEC
/* delay of acknowledgements: a crash repeats the blocks of this time */
#define SPOOL_LEDGER_NS (200 * NSEC_PER_MSEC)
/* of a segment with read errors; then it is skipped */
#define SPOOL_READ_TRIES 3
#define SPOOL_READ_BYTES (512 * 1024) /* limit of one read */
/* a full block does not fit there, but most have a few KB */
#define SPOOL_DISK_MIN_BYTES (EVBLOCK_MAX_BYTES / 2)
#define SPOOL_BAD_MAX 4 /* damaged segments that are kept */

enum spool_when_full {
	SPOOL_DROP_OLDEST, /* consumers that were too slow lose it */
	SPOOL_DROP_NEWEST, /* all consumers lose it */
	SPOOL_STOP, /* as above, and the source should stop: spool_is_full() */
};

struct spool_conf {
	const struct disk *disk; /* borrowed */
	enum spool_when_full when_full;
	/* of all segments, SPOOL_DISK_MIN_BYTES at least; blocks in memory are extra */
	uint64_t max_bytes;
	uint64_t segment_bytes; /* 0: an eighth of that */
	nsec_t commit_ns; /* longest delay of a block until it is synced with others */
	/* ... unless there are this many, at most SPOOL_PENDING_MAX_BYTES / 2 */
	size_t commit_bytes;
	void (*on_word)(void *arg, const char *text); /* messages for people; once per event */
	void *arg;
};

struct spool;
struct consumer;

/*
 * Repairs the folder after a crash: a torn end is cut off. ERR_SYS: the folder or the ledger
 * cannot be read. ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int spool_open(const struct spool_conf *c, struct spool **out, struct err *e);

/* Writes nothing, as in a crash. NULL is fine. */
void spool_free(struct spool *s);

/*
 * Changes the limits from now on; a segment has an eighth. Blocks beyond the new limit are treated
 * as if they were appended under it. ERR_INVALID: nothing changed.
 */
int spool_limit(struct spool *s, enum spool_when_full when_full, uint64_t max_bytes, nsec_t now);

/*
 * Appends a good block of b->bytes at p. The numbers of a stream must not decrease. 0: the block is
 * queued, and settled later. -ERR_LIMIT: it is lost, and its gap is settled later. Both count as
 * appended. -ERR_NOMEM: nothing happened.
 */
int spool_append(struct spool *s, const uint8_t *p, const struct evblock *b, nsec_t now);

/* Return how many were appended since it was opened, and how many of the first ones are settled. */
uint64_t spool_appended(const struct spool *s);
uint64_t spool_settled(const struct spool *s);

/* True if appended blocks, or their losses, are not in the log yet. A loss waits for room. */
bool spool_owes(const struct spool *s);

/* True if there is no room, and new blocks are lost. False again when a quarter is free. */
bool spool_is_full(const struct spool *s);

/* Does the work that is due. Returns the time of the next work; INT64_MAX: none. */
nsec_t spool_step(struct spool *s, nsec_t now);

/*
 * Writes all queued blocks now. On failure none of them is settled, and a later step retries.
 * ERR_SYS, ERR_NOMEM, ERR_LIMIT.
 */
int spool_commit(struct spool *s, nsec_t now);

/* --- consumers */

/* Returns NULL if there is none of that name. Valid until it is removed. */
struct consumer *spool_find(struct spool *s, const char *name);

/* Adds a consumer of all blocks from now on, or also of the present ones. ERR_EXISTS, ERR_LIMIT,
 * ERR_INVALID for the name. */
int spool_add(struct spool *s, const char *name, bool from_oldest, struct consumer **out);
void spool_remove(struct spool *s, struct consumer *c);

/* Moves the consumer back to its last acknowledgement, as after a new connection. */
void spool_rewind(struct spool *s, struct consumer *c);

/*
 * Reads the next whole blocks into out, at most SPOOL_READ_BYTES. *place acknowledges them and all
 * before. Empty out: there is nothing to read. ERR_SYS: retry after SPOOL_RETRY_NS. ERR_NOMEM.
 */
int spool_read(struct spool *s, struct consumer *c, struct buf *out, uint64_t *place);

/* True if spool_read() would return blocks. */
bool spool_can_read(const struct spool *s, const struct consumer *c);

/* Acknowledges everything up to place. ERR_INVALID: the consumer has not read that far. */
int spool_ack(struct spool *s, struct consumer *c, uint64_t place, nsec_t now);

/* Returns the bytes that the consumer has not acknowledged. */
uint64_t spool_backlog(const struct spool *s, const struct consumer *c);

/*
 * Calls fn for all good blocks in that folder, the oldest first, also acknowledged ones. No process
 * may have it open. ERR_EXISTS, ERR_SYS, ERR_NOMEM.
 */
int spool_scan(const struct disk *disk, const char *path,
	       void (*fn)(void *arg, const uint8_t *p, const struct evblock *b), void *arg,
	       struct err *e);

/* --- counters */

struct spool_stats {
	uint64_t disk_bytes, segments;
	uint64_t lost_blocks, lost_events; /* appended and not stored, since it was opened */
	uint64_t expired_segments; /* evicted before a consumer had read them */
	uint64_t unnamed_losses; /* blocks of streams that a consumer's ledger has no room for */
	uint64_t damaged_bytes; /* found when segments were read */
	uint64_t failures; /* of the disk, since it was opened */
	bool is_failing; /* the last write has failed */
};

void spool_stats(const struct spool *s, struct spool_stats *out);

#endif
