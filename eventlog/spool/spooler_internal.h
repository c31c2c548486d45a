/* SPDX-License-Identifier: Apache-2.0 */
/* What the loop and the thread share. */
#ifndef EVENTLOG_SPOOL_SPOOLER_INTERNAL_H
#define EVENTLOG_SPOOL_SPOOLER_INTERNAL_H

#include "eventlog/spool/ledger.h"
#include "eventlog/spool/spooler.h"

#include <pthread.h>

#define SPOOLER_WORDS_MAX_BYTES 4096 /* between two turns of the loop; more is cut off */

/* A consumer, as the loop asks; the thread takes what is asked, and answers. */
struct wish {
	char name[LEDGER_NAME_BYTES]; /* "" = free */
	bool from_oldest, is_new; /* the thread has not seen it yet */
	bool wants, rewinds, goes, acks;
	uint64_t place; /* that it acknowledges */
	unsigned era; /* grows with each rewinding, so that an answer from before it is none */
	struct buf answer;
	uint64_t answer_place;
	unsigned answer_era;
	bool has_answer;
	bool is_empty; /* it wants, and there is nothing */
	uint64_t empty_at; /* appended then */
};

struct spooler {
	struct loop *loop;
	struct spooler_calls calls;
	struct spool_conf conf;
	char *path;
	int event_fd;
	struct loop_fd *watch;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, ended; /* for the thread; for whoever closes */

	/* under the lock */
	struct buf in; /* struct evblock and the block, one after another */
	struct wish wish[LEDGER_CONSUMERS_MAX];
	enum spool_when_full when_full; /* these two are of limits that the spool does not have yet */
	uint64_t max_bytes; /* 0: it has them */
	bool has_work, is_closing, has_ended, is_left; /* is_left: nobody but the thread has it */
	bool is_open, has_opened; /* the thread has tried */
	int open_rc;
	struct err open_err;
	uint64_t settled;
	bool is_full;
	struct buf words; /* lines */
	struct spool_stats stats;

	/* the loop's */
	uint64_t told_settled;
	bool told_open, told_full;
};

/* The thread's main. arg: struct spooler *. */
void *spooler_run(void *arg);

void spooler_free(struct spooler *s);

#endif
