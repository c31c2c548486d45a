/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the loop and the worker. The worker is a thread, or the loop itself. */
#ifndef EVENTLOG_SPOOL_SPOOLER_INTERNAL_H
#define EVENTLOG_SPOOL_SPOOLER_INTERNAL_H

#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spooler.h"

#include <pthread.h>

/* bytes of log messages between two turns of the loop; the rest is cut */
#define SPOOLER_WORDS_MAX_BYTES 4096

/* A consumer's requests from the loop, and the worker's answers to them. */
struct consumer_request {
	char name[LEDGER_NAME_BYTES]; /* "" = unused entry */
	bool from_oldest, is_new; /* is_new: the worker has not handled it yet */
	bool wants, rewinds, goes, acks;
	uint64_t place; /* acknowledged place */
	unsigned era; /* increases with each rewind, so that older answers are ignored */
	struct buf answer;
	uint64_t answer_place;
	unsigned answer_era;
	bool has_answer;
	bool is_empty; /* there were no further blocks for the consumer */
	uint64_t empty_at; /* number of appended blocks at that time */
};

/* The two kinds of worker. */
struct spooler_way {
	int (*start)(struct spooler *s, struct err *e);
	void (*work)(struct spooler *s); /* called with the lock held when there is work */
	void (*report)(
		/* called by the worker when it has something to report to the loop */
		struct spooler *s);
	/* does the queued work and frees s, now or later; no callback follows */
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
	struct turn *turn; /* owned; used by the worker only */
	pthread_mutex_t lock;

	/* for spooler_thread.c */
	int event_fd;
	struct loop_fd *watch;
	pthread_t thread;
	pthread_cond_t wake, ended; /* wake: for the thread; ended: for the loop that closes */

	/* for spooler_loop.c */
	struct loop_timer *next; /* the next turn */
	struct loop_job reporting;
	bool is_asked; /* a turn was requested, and not only due */

	/* the lock protects the members from here to `words` */
	struct buf in; /* requests: struct evblock and the block, one after another */
	struct consumer_request request[LEDGER_CONSUMERS_MAX];
	/* limits that the worker has not applied yet */
	enum spool_when_full when_full;
	uint64_t max_bytes; /* 0: it has applied them */
	bool has_work, is_closing, has_ended, is_left; /* is_left: the thread alone owns s */
	bool is_open, has_opened; /* is_open: the spool is open; has_opened: an attempt was made */
	int open_rc;
	struct err open_err;
	uint64_t settled;
	bool is_full;
	struct buf words; /* lines for the log */
	struct spool_stats stats;

	/* only the loop uses the members from here on */
	uint64_t reported_settled;
	bool reported_open, reported_full;
	int reported_rc; /* result of opening that was reported */
};

void spooler_free(struct spooler *s);

/* Called in the loop: reports finished work. */
void spooler_report(struct spooler *s);

/* --- spooler_turn.c: the work, which waits for the disk */

struct turn *turn_new(struct spooler *s);
void turn_free(struct turn *t);

/*
 * Opens the spool if needed, then takes and executes requests. Returns the time of the next work
 * without a request; INT64_MAX: never.
 */
nsec_t turn_work(struct turn *t);

/* Writes delayed state and closes the spool. */
void turn_close(struct turn *t);

#endif
