/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of jobs as records of an event log (docs/eventlog.md): the activity of a job in one
 * interval, and of each of its ranks. Each block has its own definitions, so the loss of others
 * has no effect. The reader treats all bytes as hostile.
 */
#ifndef MAINSM_HISTORY_SAMPLE_H
#define MAINSM_HISTORY_SAMPLE_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/ring/calls.h"
#include "eventlog/evread.h"
#include "eventlog/evwrite.h"

#define HISTORY_CALLS_MAX 1024 /* per sample: more than there are functions */
#define HISTORY_RANKS_MAX 65536 /* of a job: OMIS_OBJECTS_MAX */
/* Per record of 64 KB: with all columns, and a long host name for each rank. */
#define HISTORY_RANKS_EACH_MAX 512
#define HISTORY_BLOCK_BYTES (96 * 1024) /* a 64 KB sample of ranks fits behind others */
/* Values of a rank have 16 bits: the exponent of a float and 8 bits of its fraction. */
#define HISTORY_RANK_ERROR (1.0 / 256)

enum history_flags {
	HISTORY_ENDED = 1, /* the job has ended: the last sample */
	/* some totals decreased: a process was removed, and its last activity may be missing */
	HISTORY_FELL = 2,
};

/* Sums of one function over the interval. */
struct history_call {
	const char *name, *class;
	int64_t count, delay_ns, bytes_out, bytes_in;
};

/* Numbers are 0 or more. */
struct history_job {
	nsec_t wall; /* end of the interval, ns since 1970 */
	const char *job, *program;
	int64_t span_ms; /* the interval; 0: earlier totals are not known */
	int64_t began_ms; /* wall time of the first process; 0: not known */
	int64_t world_size, processes, alive, ranks, nodes;
	int64_t missing; /* nodes of the job without a reply: no value includes them */
	/* processes whose calls, and bytes, were counted; ended ones count as before their end */
	int64_t counted, volumes;
	int64_t answered, in_mpi; /* answering processes, and those in a call at the end */
	int64_t exit_status; /* as of wait(), the first that is not 0; -1: not known */
	int64_t flags;
	int64_t cpu_ms; /* of all processes */
	int64_t rss, rss_max; /* bytes at the end: of all, of the largest */
	const struct history_call *call;
	size_t ncall;
};

/* Columns of a rank. Rates are per second of the interval; NaN: not known. */
enum history_column {
	HISTORY_STATE, /* enum msg_state */
	HISTORY_COUNTS, /* bit 0: its calls are counted, bit 1: bytes too */
	HISTORY_CPU, /* processors */
	HISTORY_RSS,
	HISTORY_CALLS_S,
	HISTORY_OUT_S,
	HISTORY_IN_S,
	HISTORY_SHARES, /* of time, for each class of calls */
	HISTORY_COLUMNS = HISTORY_SHARES + CALL_CLASSES
};

struct history_rank {
	int64_t rank;
	float value[HISTORY_COLUMNS];
};

/* A job with many ranks has several records with the same time. */
struct history_ranks {
	nsec_t wall;
	const char *job;
	const char *nodes; /* "n1:0-3 n2:4": ranks by host */
	int64_t span_ms; /* 0: no rates */
	const struct history_rank *rank;
	size_t n;
};

/* --- writing */

struct history_writer {
	struct evwrite out;
	struct history_name *name; /* owned; functions that this block has named */
	size_t nname, cap;
	uint64_t block; /* block described by this entry */
	bool is_described; /* the types are defined in this block */
};

/* stream: a number that no other writer uses. */
void history_writer_init(struct history_writer *w, uint64_t stream);
void history_writer_done(struct history_writer *w);

/* ERR_INVALID, ERR_LIMIT: too long for a record; ERR_NOMEM. On failure nothing is written. */
int history_write_job(struct history_writer *w, const struct history_job *j, struct err *e);
int history_write_ranks(struct history_writer *w, const struct history_ranks *r, struct err *e);

/* Closes the block: w->out.out contains whole blocks. ERR_NOMEM. */
int history_writer_cut(struct history_writer *w, struct err *e);

/* --- reading */

struct history_reader;

struct history_reader_report {
	uint64_t samples;
	uint64_t bad; /* invalid records, or functions without a name */
};

/* Callbacks; both may be NULL. Arguments are valid until they return. */
struct history_visit {
	void (*on_job)(void *arg, const struct history_job *j);
	void (*on_ranks)(void *arg, const struct history_ranks *r);
	void *arg;
};

/* Returns NULL without memory. */
struct history_reader *history_reader_new(const struct history_visit *visit);
void history_reader_free(struct history_reader *r);

/* Reads whole blocks; skips other bytes between them. -ERR_NOMEM. */
int history_read(struct history_reader *r, const uint8_t *p, size_t n);
void history_reader_report(const struct history_reader *r, struct history_reader_report *out);

#endif
