/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The history of jobs: while jobs run, their hosts are asked for sums (omig_job_sample) and samples
 * go to disk. Nothing is switched on in programs for it: calls are recorded as far as a tool has
 * them counted. A sample says of how many processes that is. Without a job nothing runs.
 */
#ifndef MAINSM_HISTORY_HISTORY_H
#define MAINSM_HISTORY_HISTORY_H

#include "mainsm/history/store.h"

#define HISTORY_SAMPLE_NS (10 * NSEC_PER_SEC)
/* a job that begins or ends is sampled so soon: its processes come and go one by one */
#define HISTORY_SOON_NS (NSEC_PER_SEC)
/* A job has a sample every HISTORY_SAMPLE_NS for this many ranks, larger ones have more rarely. So
 * have its ranks. Then a day of 1,024 ranks has less than 4 MiB. */
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
	struct list *sessions; /* of mainsm: its own is in it */
};

/* ERR_NOMEM, ERR_SYS. */
int history_open(const struct history_conf *c, struct history **out, struct err *e);
void history_close(struct history *h); /* NULL is fine */

/* The processes in the directory have changed. NULL is fine. */
void history_follow(struct history *h);

/* For what reads it; NULL of NULL. */
struct history_store *history_store(struct history *h);

/* Other limits from now on; keep 0: no samples are made. */
void history_limit(struct history *h, uint64_t max_bytes, nsec_t keep);

/* Counters of omig_status(). */
void history_status(struct history *h, struct omis_writer *w);

#endif
