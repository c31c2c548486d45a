/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool with its own thread, for a program that has a loop and must not wait for a disk. Only
 * spooler_close() blocks. The loop calls back with results. If only one thread is permitted, the
 * loop does the work itself, in turns.
 */
#ifndef EVENTLOG_SPOOL_SPOOLER_H
#define EVENTLOG_SPOOL_SPOOLER_H

#include "common/loop/loop.h"
#include "eventlog/spool/spool.h"

/* between the loop and the thread: as much again as waits for the disk */
#define SPOOLER_QUEUE_MAX_BYTES (16u << 20)
/* Time-out of a close: then a hanging disk is left to its thread. */
#define SPOOLER_CLOSE_NS (2 * NSEC_PER_SEC)

struct spooler;

/*
 * For a loop that does the work itself and waits for the disk, unlike a daemon that serves others.
 */
struct spooler_turns {
	nsec_t (*after)(void *arg); /* delay of the next turn; > 0 */
	void *arg;
};

/* All are called from the loop, and may call the functions below except spooler_close(). */
struct spooler_calls {
	struct loop *loop;
	/*
	 * The spool is open; or it is not, and e has the reason: opening is retried. Meanwhile
	 * appending fails. Called for each change of the result.
	 */
	void (*on_open)(void *arg, int rc, const struct err *e);
	/*
	 * The first `appended` of the appended blocks are on the disk, or counted as lost on the
	 * disk.
	 */
	void (*on_settled)(void *arg, uint64_t appended);
	/* Blocks for spooler_want(). Valid until it returns; acknowledged by their place. */
	void (*on_blocks)(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place);
	/*
	 * The consumer wants blocks, and has got all. No more of the first `appended` ones will
	 * come. May be NULL.
	 */
	void (*on_empty)(void *arg, int consumer, uint64_t appended);
	/* the source should stop making events; it may continue */
	void (*on_full)(void *arg, bool is_full);
	void (*on_word)(void *arg, const char *text);
	void *arg;
	const struct spooler_turns *turns; /* borrowed; NULL: it has its own thread */
};

/*
 * Makes the worker (the thread, or the loop in its turns) open the folder on c->disk; NULL: the
 * system's. c->on_word and c->arg are not used. ERR_NOMEM, ERR_SYS.
 */
int spooler_open(const char *path, const struct spool_conf *c, const struct spooler_calls *calls,
		 struct spooler **out, struct err *e);

/*
 * Blocks until all blocks are written, at most for SPOOLER_CLOSE_NS. No callback follows. NULL is
 * fine.
 */
void spooler_close(struct spooler *s);

/* As spool_limit(), applied soon. */
void spooler_limit(struct spooler *s, enum spool_when_full when_full, uint64_t max_bytes);

/*
 * Appends a good block, which is copied. Returns 0; -ERR_LIMIT: it is lost, and counted by the
 * spool; both count as appended. -ERR_AGAIN, -ERR_NOMEM: nothing happened; the queue is full even
 * of lost ones. -ERR_CLOSED: the spool is not open yet.
 */
int spooler_append(struct spooler *s, const uint8_t *p, const struct evblock *b);

/*
 * Finds the consumer of that name, or makes one that begins now or with the oldest block. Returns a
 * number; ERR_INVALID, ERR_LIMIT.
 */
int spooler_consumer(struct spooler *s, const char *name, bool from_oldest);

/* Removes the consumer for ever. */
void spooler_remove(struct spooler *s, int consumer);

/* Requests the next blocks, once, as soon as there are any. */
void spooler_want(struct spooler *s, int consumer);
void spooler_ack(struct spooler *s, int consumer, uint64_t place);

/* Moves the consumer back to its last acknowledgement. Drops its pending request. */
void spooler_rewind(struct spooler *s, int consumer);

/* Returns the counters after the last work. */
void spooler_stats(struct spooler *s, struct spool_stats *out);

#endif
