/* SPDX-License-Identifier: Apache-2.0 */
/* Finds why a condition holds: the rank with the largest part, measured for one second. */
#ifndef TOOLS_CMD_ALERT_EXPLAIN_H
#define TOOLS_CMD_ALERT_EXPLAIN_H

#include "tools/alert/condition.h"

#define EXPLAIN_BYTES 1024

/*
 * Explains why a condition holds. Returns false for a hang if no rank has waited for for_ns: then
 * the condition does not hold. *rank: -1 if no rank is concerned.
 */
bool explain(enum condition_kind kind, const char *job, nsec_t for_ns, char out[EXPLAIN_BYTES],
	     int64_t *rank);

/* A process of that job runs, as far as is known. */
bool explain_runs(const char *job);

#endif
