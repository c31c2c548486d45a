/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of jobs: while jobs run, their hosts are asked for sums (omig_job_sample) and samples
 * are stored on disk. It does not switch on counting: samples have calls only while a tool counts
 * them. A sample contains the number of counted processes. Without a job nothing runs.
 */
#ifndef MAINSM_HISTORY_HISTORY_H
#define MAINSM_HISTORY_HISTORY_H

#include "mainsm/history/store.h"

#define HISTORY_SAMPLE_NS (10 * NSEC_PER_SEC)
/* delay of a sample after the begin or end of a job: its processes do not start or end at once */
#define HISTORY_SOON_NS (NSEC_PER_SEC)
/*
 * A job of up to this many ranks has a sample every HISTORY_SAMPLE_NS, a larger one less often; so
 * have its ranks. Therefore a day of 1,024 ranks needs less than 4 MiB.
 */
#define HISTORY_JOB_EACH 512
#define HISTORY_RANKS_EACH 6

struct branches;
struct directory;
struct executor;
struct history;
struct numbers;
struct omis_writer;

struct history_conf {
	struct history_store_conf store;
	const struct directory *directory; /* borrowed, as all here */
	const struct branches *branches;
	struct executor *executor;
	struct numbers *numbers;
	struct list *sessions; /* sessions of mainsm, with the history's own */
};

/* ERR_NOMEM, ERR_SYS. */
int history_open(const struct history_conf *c, struct history **out, struct err *e);
void history_close(struct history *h); /* NULL is fine */

/* The processes in the directory have changed. NULL is fine. */
void history_follow(struct history *h);

/* For readers; NULL for NULL. */
struct history_store *history_store(struct history *h);

/* Changes the limits; keep 0: no samples are made. */
void history_limit(struct history *h, uint64_t max_bytes, nsec_t keep);

/* Counters of omig_status(). */
void history_status(struct history *h, struct omis_writer *w);

#endif
