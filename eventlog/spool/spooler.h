/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A spool on a thread of its own. It is for a program that has a loop and must not wait for a disk.
 * Nothing here blocks but spooler_close(). Results come as callbacks of the loop. Where there must
 * be one thread only, the loop works itself, in turns.
 */
#ifndef EVENTLOG_SPOOL_SPOOLER_H
#define EVENTLOG_SPOOL_SPOOLER_H

#include "common/loop/loop.h"
#include "eventlog/spool/spool.h"

/* between the loop and the thread: as much again as waits for the disk */
#define SPOOLER_QUEUE_MAX_BYTES (16u << 20)
/* then a disk that hangs is left alone with its thread */
#define SPOOLER_CLOSE_NS (2 * NSEC_PER_SEC)

struct spooler;

/* For a loop that works itself, and then waits for the disk: no daemon that serves others does. */
struct spooler_turns {
	nsec_t (*after)(void *arg); /* until the turn that is asked for now; > 0 */
	void *arg;
};

/* All of them are called from the loop, and may call what is below, but not spooler_close(). */
struct spooler_calls {
	struct loop *loop;
	/* It is open; or is not, and e says why: it is tried again. Nothing is kept meanwhile:
	 * appending fails. Each time that it is another answer. */
	void (*on_open)(void *arg, int rc, const struct err *e);
	/* As many of the appended blocks, from the first, are on the disk, or counted as lost on
	 * the disk. */
	void (*on_settled)(void *arg, uint64_t appended);
	/* What spooler_want() asked for. Valid until it returns; acknowledged by its place. */
	void (*on_blocks)(void *arg, int consumer, const uint8_t *p, size_t n, uint64_t place);
	/* The consumer wants blocks, and was given all. Of the first `appended` ones nothing
	 * more is to come. May be NULL. */
	void (*on_empty)(void *arg, int consumer, uint64_t appended);
	void (*on_full)(void *arg, bool is_full); /* the source should make no more; it may go on */
	void (*on_word)(void *arg, const char *text);
	void *arg;
	const struct spooler_turns *turns; /* borrowed; NULL: it has a thread of its own */
};

/*
 * The worker (the thread, or the loop in its turns) opens the folder on c->disk; NULL: the
 * system's. c->on_word and c->arg are not used. ERR_NOMEM, ERR_SYS.
 */
int spooler_open(const char *path, const struct spool_conf *c, const struct spooler_calls *calls,
		 struct spooler **out, struct err *e);

/* Blocks until all that came is written, for SPOOLER_CLOSE_NS at the most. No callback comes
 * after it. NULL is fine. */
void spooler_close(struct spooler *s);

/* As spool_limit(), soon. */
void spooler_limit(struct spooler *s, enum spool_when_full when_full, uint64_t max_bytes);

/*
 * A good block, which is copied. 0; -ERR_LIMIT: it is lost, and counted by the spool; both count as
 * appended. -ERR_AGAIN, -ERR_NOMEM: nothing happened; the queue is full even of what is lost.
 * -ERR_CLOSED: it could not be opened yet.
 */
int spooler_append(struct spooler *s, const uint8_t *p, const struct evblock *b);

/*
 * The consumer of that name, made when the spool has none: from now on, or with all that is there.
 * A number; ERR_INVALID, ERR_LIMIT.
 */
int spooler_consumer(struct spooler *s, const char *name, bool from_oldest);

/* It is gone for good. */
void spooler_remove(struct spooler *s, int consumer);

/* The next blocks, once, as soon as there are any. */
void spooler_want(struct spooler *s, int consumer);
void spooler_ack(struct spooler *s, int consumer, uint64_t place);

/* It begins again behind what it has acknowledged. What was wanted before is dropped. */
void spooler_rewind(struct spooler *s, int consumer);

/* As they were after the last work. */
void spooler_stats(struct spooler *s, struct spool_stats *out);

#endif
