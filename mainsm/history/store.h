/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of jobs on disk: a spool (eventlog/spool) with the newest samples, bounded in bytes and
 * in age. A disk error only loses samples, which are counted.
 */
#ifndef MAINSM_HISTORY_STORE_H
#define MAINSM_HISTORY_STORE_H

#include "common/container/list.h"
#include "eventlog/spool/spooler.h"
#include "mainsm/history/sample.h"

/* time between writes: a crash of mainsm loses the samples of this time */
#define HISTORY_BLOCK_NS (120 * NSEC_PER_SEC)
#define HISTORY_QUERIES_MAX 8 /* queries at a time: each reads the whole store */
#define HISTORY_MIN_BYTES (INT64_C(1) << 20)
#define HISTORY_EXPIRE_NS (600 * NSEC_PER_SEC) /* interval of the searches for old blocks */

struct history_store;
struct history_query;
struct loop;

struct history_store_conf {
	struct loop *loop;
	const char *path; /* path of the directory; copied */
	uint64_t max_bytes;
	nsec_t keep; /* older samples are removed */
	uint64_t stream; /* a number that is unique to this start */
	nsec_t (*wall_now)(void *arg);
	void *arg;
	const struct disk *disk; /* NULL: the folder; borrowed */
	const struct spooler_turns *turns; /* as of struct spooler_calls; borrowed */
};

/* ERR_NOMEM, ERR_SYS. A folder that cannot be opened is not an error, and is retried. */
int history_store_open(const struct history_store_conf *c, struct history_store **out,
		       struct err *e);

/* Writes pending samples; waits for the disk as spooler_close(). Queries must have ended. */
void history_store_close(struct history_store *s);

void history_store_limit(struct history_store *s, uint64_t max_bytes, nsec_t keep);

/*
 * Adds a sample. The next block begins after HISTORY_BLOCK_NS, or by history_store_cut(). Samples
 * that cannot be written count as lost.
 */
void history_store_job(struct history_store *s, const struct history_job *j);
void history_store_ranks(struct history_store *s, const struct history_ranks *r);
void history_store_cut(struct history_store *s);

struct history_outcome {
	struct history_reader_report report;
	bool is_partial; /* the disk fails: samples that wait for it are missing */
};

/*
 * Reads all samples, the oldest first; then calls on_done once, from the loop. *out is valid until
 * then. ERR_AGAIN: HISTORY_QUERIES_MAX are running, or the folder cannot be opened: e has the
 * reason. ERR_NOMEM.
 */
int history_query(struct history_store *s, const struct history_visit *visit,
		  void (*on_done)(void *arg, const struct history_outcome *o),
		  struct history_query **out, struct err *e);
/* on_done is not called. */
void history_query_cancel(struct history_query *q);

struct history_store_stats {
	uint64_t samples; /* samples written since the start */
	uint64_t lost; /* samples lost because of a full store or a disk error */
	uint64_t bytes; /* on disk */
	uint64_t damaged; /* bytes that are not valid records */
	bool is_failing;
};

void history_store_stats(struct history_store *s, struct history_store_stats *out);

#endif
