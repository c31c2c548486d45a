/* SPDX-License-Identifier: Apache-2.0 */
/* Makes samples from a number, and checks the samples that a reader returns. */
#ifndef TESTS_UNIT_MAINSM_HISTORY_SAMPLES_H
#define TESTS_UNIT_MAINSM_HISTORY_SAMPLES_H

#include "mainsm/history/sample.h"

#define SAMPLES_START (INT64_C(1700000000) * NSEC_PER_SEC)
#define SAMPLES_EACH (10 * NSEC_PER_SEC)
#define SAMPLES_RANKS 5

/* Number i of a job "job-N"; valid until the next one is made. */
const struct history_job *samples_job(unsigned i);
const struct history_ranks *samples_ranks(unsigned i);

/* Returns the number of a sample by its time, and checks each of its values. */
unsigned samples_check_job(const struct history_job *j);
unsigned samples_check_ranks(const struct history_ranks *r);

#endif
