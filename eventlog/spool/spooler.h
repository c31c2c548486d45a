/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool with its own thread, for a program that has a loop and must not wait for a disk. Only
 * spooler_close() blocks. Results are reported by callbacks from the loop. If only one thread is
 * permitted, the loop does the work itself, in turns.
 */
#ifndef EVENTLOG_SPOOL_SPOOLER_H
#define EVENTLOG_SPOOL_SPOOLER_H

#include "common/loop/loop.h"
#include "eventlog/spool/spool.h"

/* queue between the loop and the thread; as many bytes again may wait for the disk */
#define SPOOLER_QUEUE_MAX_BYTES (16u << 20)
/* Longest time of a close. After it a hanging disk is left to its thread. */
#define SPOOLER_CLOSE_NS (2 * NSEC_PER_SEC)

struct spooler;

/* For a loop that does the work itself and waits for the disk. */
struct spooler_turns {
	nsec_t (*after)(void *arg); /* delay of the next turn; > 0 */
	void *arg;
};

/* All callbacks come from the loop, and may call the functions below except spooler_close(). */
struct spooler_calls {
	struct loop *loop;
	/*
	 * The spool is open; or it could not be opened, for the reason in e, and will be opened
	 * later. Meanwhile appending fails. Called for each change of the result.
	 */
	void (*on_open)(void *arg, int rc, const struct err *e);
	/*
	 * The first `appended` of the appended blocks are on the disk, or are counted there as
	 * lost.
	 */
	void (*on_settled)(void *arg, uint64_t appended);
	/*
	 * Delivers blocks after spooler_want(). They are valid during the call, and acknowledged by
	 * their place.
	 */
	void (*on_blocks)(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place);
	/*
	 * The consumer has requested blocks, and has got all of the first `appended` ones. May be
	 * NULL.
	 */
	void (*on_empty)(void *arg, int consumer, uint64_t appended);
	/* the source should stop making events, or may continue */
	void (*on_full)(void *arg, bool is_full);
	void (*on_word)(void *arg, const char *text);
	void *arg;
	const struct spooler_turns *turns; /* borrowed; NULL: the spool has its own thread */
};

/*
 * Makes the worker (the thread, or the loop in its turns), which opens the folder on c->disk (NULL:
 * the system's disk). c->on_word and c->arg are not used. Fails with ERR_NOMEM, ERR_SYS.
 */
int spooler_open(const char *path, const struct spool_conf *c, const struct spooler_calls *calls,
		 struct spooler **out, struct err *e);

/*
 * Blocks until all blocks are written, at most for SPOOLER_CLOSE_NS. No callback follows. NULL is
 * accepted.
 */
void spooler_close(struct spooler *s);

/* Changes the limits like spool_limit(); the worker applies them later. */
void spooler_limit(struct spooler *s, enum spool_when_full when_full, uint64_t max_bytes);

/*
 * Appends a copy of a good block. Returns 0. Fails with ERR_LIMIT if it is lost, which the spool
 * counts; both count as appended. Fails without effect with ERR_NOMEM, ERR_AGAIN if the queue is
 * full even of losses, ERR_CLOSED before the spool is open.
 */
int spooler_append(struct spooler *s, const uint8_t *p, const struct evblock *b);

/*
 * Finds the consumer of that name, or makes one that begins now or with the oldest block. Returns
 * its number. Fails with ERR_INVALID, ERR_LIMIT.
 */
int spooler_consumer(struct spooler *s, const char *name, bool from_oldest);

/* Removes the consumer permanently. */
void spooler_remove(struct spooler *s, int consumer);

/* Requests the next blocks, which on_blocks() delivers once, as soon as there are any. */
void spooler_want(struct spooler *s, int consumer);
void spooler_ack(struct spooler *s, int consumer, uint64_t place);

/* Moves the consumer back to its last acknowledgement. Drops its pending request. */
void spooler_rewind(struct spooler *s, int consumer);

/* Returns the counters as of the last work. */
void spooler_stats(struct spooler *s, struct spool_stats *out);

#endif
