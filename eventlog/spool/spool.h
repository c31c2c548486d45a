/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on disk, between the source that makes them and consumers that read them at different
 * speeds. Settled blocks survive the end of the process and of the machine: they are in the log, or
 * counted as lost. Functions here wait for the disk, and use no thread or clock of their own. A
 * daemon uses struct spooler.
 *
 * A block that cannot be stored is lost, for all consumers or for one that was too slow. A gap
 * (evgap.h) replaces it in the order of the stream. So a consumer gets blocks and gaps with exactly
 * the numbers that were appended. There is one exception: a consumer with losses in more than
 * LEDGER_GAPS_MAX streams gets no gap for further streams (unnamed_losses). The next block of such
 * a stream, if there is one, shows the loss by its number. Without a consumer all blocks with room
 * are stored, because a later consumer may begin with the oldest.
 */
#ifndef EVENTLOG_SPOOL_SPOOL_H
#define EVENTLOG_SPOOL_SPOOL_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "eventlog/evblock.h"
#include "common/store/disk.h"

#include <stdbool.h>

/* queue for a busy disk: a third of a second at 50 MB/s */
#define SPOOL_PENDING_MAX_BYTES (16u << 20)
/* time between attempts after a failure */
#define SPOOL_RETRY_NS NSEC_PER_SEC
/* delay until acknowledgements are stored: a crash repeats the blocks of this time */
#define SPOOL_LEDGER_NS (200 * NSEC_PER_MSEC)
/* failed reads of a segment, after which it is skipped */
#define SPOOL_READ_TRIES 3
#define SPOOL_READ_BYTES (512 * 1024) /* largest result of one read */
/* less than the largest block, but most blocks have a few KB */
#define SPOOL_DISK_MIN_BYTES (EVBLOCK_MAX_BYTES / 2)
#define SPOOL_BAD_MAX 4 /* number of damaged segments that are kept */

enum spool_when_full {
	SPOOL_DROP_OLDEST, /* the oldest blocks are dropped, for consumers that were too slow */
	SPOOL_DROP_NEWEST, /* new blocks are dropped, for all consumers */
	SPOOL_STOP, /* as SPOOL_DROP_NEWEST, and the source should stop: spool_is_full() */
};

struct spool_conf {
	const struct disk *disk; /* borrowed */
	enum spool_when_full when_full;
	/* limit of all segments, at least SPOOL_DISK_MIN_BYTES; blocks in memory are extra */
	uint64_t max_bytes;
	uint64_t segment_bytes; /* size of a segment; 0: an eighth of max_bytes */
	nsec_t commit_ns; /* longest delay of a block until it is synced, together with others */
	/* bytes at which blocks are synced earlier; at most SPOOL_PENDING_MAX_BYTES / 2 */
	size_t commit_bytes;
	/* called with a message for the log, once per problem */
	void (*on_word)(void *arg, const char *text);
	void *arg;
};

struct spool;
struct consumer;

/*
 * Opens a spool, and repairs it after a crash: a torn end is cut off. Fails with ERR_SYS if the
 * folder or the ledger cannot be read, and with ERR_INVALID, ERR_LIMIT, ERR_NOMEM.
 */
int spool_open(const struct spool_conf *c, struct spool **out, struct err *e);

/* Writes nothing, as after a crash. NULL is accepted. */
void spool_free(struct spool *s);

/*
 * Changes the limits; the size of a segment becomes an eighth. Blocks beyond a lower limit are
 * treated as if they had been appended under it. Fails with ERR_INVALID, and then changes nothing.
 */
int spool_limit(struct spool *s, enum spool_when_full when_full, uint64_t max_bytes, nsec_t now);

/*
 * Appends a good block of b->bytes at p. The numbers of a stream must not decrease. Returns 0 if
 * the block is queued, to be settled later. Fails with ERR_LIMIT if it is lost: then its gap is
 * settled later. Both count as appended. Fails with ERR_NOMEM without any effect.
 */
int spool_append(struct spool *s, const uint8_t *p, const struct evblock *b, nsec_t now);

/*
 * Return how many blocks were appended since the spool was opened, and how many of the first ones
 * are settled.
 */
uint64_t spool_appended(const struct spool *s);
uint64_t spool_settled(const struct spool *s);

/* True if appended blocks, or gaps for lost ones, are not in the log yet. A gap waits for room. */
bool spool_owes(const struct spool *s);

/*
 * True if there is no room, so that new blocks are lost. It becomes false when a quarter is free.
 */
bool spool_is_full(const struct spool *s);

/* Does the work that is due. Returns the time of the next work; INT64_MAX if there is none. */
nsec_t spool_step(struct spool *s, nsec_t now);

/*
 * Writes all queued blocks now. Fails with ERR_SYS, ERR_NOMEM, ERR_LIMIT: then none of them is
 * settled, and a later step tries again.
 */
int spool_commit(struct spool *s, nsec_t now);

/* --- consumers */

/* Returns NULL if there is no consumer of that name. Valid until the consumer is removed. */
struct consumer *spool_find(struct spool *s, const char *name);

/*
 * Adds a consumer of all blocks from now on, or of the stored blocks, too. Fails with ERR_EXISTS,
 * ERR_LIMIT, and with ERR_INVALID for the name.
 */
int spool_add(struct spool *s, const char *name, bool from_oldest, struct consumer **out);
void spool_remove(struct spool *s, struct consumer *c);

/* Moves the consumer back to its last acknowledgement, for example after a new connection. */
void spool_rewind(struct spool *s, struct consumer *c);

/*
 * Reads the next complete blocks into out, at most SPOOL_READ_BYTES. *place acknowledges them and
 * all earlier ones. out is empty if there are none. Fails with ERR_SYS: try again after
 * SPOOL_RETRY_NS; and with ERR_NOMEM.
 */
int spool_read(struct spool *s, struct consumer *c, struct buf *out, uint64_t *place);

/* True if spool_read() would return blocks. */
bool spool_can_read(const struct spool *s, const struct consumer *c);

/*
 * Acknowledges all blocks before place. Fails with ERR_INVALID if the consumer has not read so far.
 */
int spool_ack(struct spool *s, struct consumer *c, uint64_t place, nsec_t now);

/* Returns the number of bytes that the consumer has not acknowledged. */
uint64_t spool_backlog(const struct spool *s, const struct consumer *c);

/*
 * Calls fn for all good blocks in the folder, the oldest first, including acknowledged ones. No
 * process may have the spool open. Fails with ERR_EXISTS, ERR_SYS, ERR_NOMEM.
 */
int spool_scan(const struct disk *disk, const char *path,
	       void (*fn)(void *arg, const uint8_t *p, const struct evblock *b), void *arg,
	       struct err *e);

/* --- counters */

struct spool_stats {
	uint64_t disk_bytes, segments;
	uint64_t lost_blocks, lost_events; /* appended since the spool was opened, but not stored */
	uint64_t expired_segments; /* segments that were dropped before a consumer had read them */
	/* losses without a gap, because the ledger had no room for the stream */
	uint64_t unnamed_losses;
	uint64_t damaged_bytes; /* damaged bytes that were found by reads */
	uint64_t failures; /* failures of the disk since the spool was opened */
	bool is_failing; /* the last write failed */
};

void spool_stats(const struct spool *s, struct spool_stats *out);

#endif
