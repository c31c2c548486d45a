/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the loop and the worker. The worker is a thread, or the loop itself. */
#ifndef EVENTLOG_SPOOL_SPOOLER_INTERNAL_H
#define EVENTLOG_SPOOL_SPOOLER_INTERNAL_H

#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spooler.h"

#include <pthread.h>

#define SPOOLER_WORDS_MAX_BYTES 4096 /* between two turns of the loop; more is cut off */

/* A consumer's requests from the loop. The worker takes them and answers. */
struct consumer_request {
	char name[LEDGER_NAME_BYTES]; /* "" = free */
	bool from_oldest, is_new; /* the worker has not seen it yet */
	bool wants, rewinds, goes, acks;
	uint64_t place; /* acknowledged place */
	unsigned era; /* grows with each rewind, so that older answers are ignored */
	struct buf answer;
	uint64_t answer_place;
	unsigned answer_era;
	bool has_answer;
	bool is_empty; /* the reader waits for blocks */
	uint64_t empty_at; /* appended then */
};

/* The two kinds of worker. */
struct spooler_way {
	int (*start)(struct spooler *s, struct err *e);
	void (*work)(struct spooler *s); /* called when there is work; with the lock held */
	void (*report)(
		struct spooler *s); /* the loop has something to report; the worker calls it */
	/* does the queued work and frees s, at least soon; no callback follows */
	void (*close)(struct spooler *s);
};

extern const struct spooler_way spooler_thread, spooler_loop;

struct turn;

struct spooler {
	struct loop *loop;
	struct spooler_calls calls;
	struct spool_conf conf;
	char *path;
	const struct spooler_way *way;
	struct turn *turn; /* owned; the worker's alone */
	pthread_mutex_t lock;

	/* spooler_thread.c */
	int event_fd;
	struct loop_fd *watch;
	pthread_t thread;
	pthread_cond_t wake, ended; /* for the thread; for the loop that closes */

	/* spooler_loop.c */
	struct loop_timer *next; /* turn */
	struct loop_job reporting;
	bool is_asked; /* a turn was requested, not only due */

	/* under the lock */
	struct buf in; /* struct evblock and the block, one after another */
	struct consumer_request request[LEDGER_CONSUMERS_MAX];
	/* limits that the spool does not have yet */
	enum spool_when_full when_full;
	uint64_t max_bytes; /* 0: it has them */
	bool has_work, is_closing, has_ended, is_left; /* is_left: owned by the thread alone */
	bool is_open, has_opened; /* open; an attempt was made */
	int open_rc;
	struct err open_err;
	uint64_t settled;
	bool is_full;
	struct buf words; /* lines */
	struct spool_stats stats;

	/* owned by the loop */
	uint64_t reported_settled;
	bool reported_open, reported_full;
	int reported_rc; /* of opening */
};

void spooler_free(struct spooler *s);

/* Called in the loop: reports finished work. */
void spooler_report(struct spooler *s);

/* --- spooler_turn.c: the work, which waits for the disk, one part after another. */

struct turn *turn_new(struct spooler *s);
void turn_free(struct turn *t);

/*
 * Opens the spool if needed, takes requests and does them. Returns the time of the next work
 * without a request; INT64_MAX: never.
 */
nsec_t turn_work(struct turn *t);

/* Writes delayed state, too, and closes the spool. */
void turn_close(struct turn *t);

#endif
