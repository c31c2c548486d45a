/* SPDX-License-Identifier: Apache-2.0 */
/* What the history of mainsm has, in the shapes of what runs now. */
#ifndef TOOLS_VIEW_PAST_H
#define TOOLS_VIEW_PAST_H

#include "common/base/clock.h"
#include "tools/view/jobs.h"
#include "tools/view/top.h"

/*
 * Adds jobs of omig_history_jobs() that are not in j as they stand there: earlier runs too. now:
 * wall time. False: no memory; some may be added.
 */
bool past_jobs(struct jobs *j, const Omis_value *history, nsec_t now);

/* A sample of ranks is no older than that: jobs of 1,024 ranks have one each half hour. */
#define PAST_RANKS_NS (3600 * NSEC_PER_SEC)
/* The same of one job that is named: 65,536 ranks have one each 30 hours. */
#define PAST_JOB_NS (31 * 3600 * NSEC_PER_SEC)

/*
 * The ranks at a moment as a sample with rates, for top_sample_done(): calls and loads of nodes are
 * not known. job: NULL is all. *span_s: the rates are of this long an interval. An exit status;
 * failures are reported.
 */
int past_ask_ranks(struct top_sample *s, const char *job, nsec_t at, double *span_s);

/* The one job that the history has between these times: an exit status. */
int past_choose(char out[JOB_NAME_BYTES], nsec_t from, nsec_t to);

#endif
