/* SPDX-License-Identifier: Apache-2.0 */
/* The history of mainsm, in the structs of current jobs and samples. */
#ifndef TOOLS_VIEW_PAST_H
#define TOOLS_VIEW_PAST_H

#include "common/base/clock.h"
#include "tools/view/jobs.h"
#include "tools/view/top.h"

/*
 * Adds jobs of omig_history_jobs() that j does not contain: earlier runs too. now: wall time.
 * False: no memory; some may be added.
 */
bool past_jobs(struct jobs *j, const Omis_value *history, nsec_t now);

/* Largest age of a sample of ranks: jobs of 1,024 ranks have one each half hour. */
#define PAST_RANKS_NS (3600 * NSEC_PER_SEC)
/* The same for one named job: 65,536 ranks have one each 30 hours. */
#define PAST_JOB_NS (31 * 3600 * NSEC_PER_SEC)

/*
 * Reads the ranks at a moment as a sample with rates, for top_sample_done(): calls and loads of
 * nodes are unknown. job: NULL is all. *span_s: length of the interval of the rates. Returns an
 * exit status; failures are reported.
 */
int past_ask_ranks(struct top_sample *s, const char *job, nsec_t at, double *span_s);

/* Chooses the one job in the history between these times. Returns an exit status. */
int past_choose(char out[JOB_NAME_BYTES], nsec_t from, nsec_t to);

#endif
