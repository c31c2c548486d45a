/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Periods of one process: counts of its services, and a response such as CPU time (Rolia and
 * Vetland 1995, section 5). Counts and responses are those of a period, not cumulative. Times have
 * any unit, the same for all.
 */
#ifndef MODEL_ESTIMATE_PERIODS_H
#define MODEL_ESTIMATE_PERIODS_H

#include "common/base/err.h"
#include "model/algebra/least.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERIODS_MAX 2000000 /* lines of a file: a year of periods of 15 s */
#define PERIODS_CELLS_MAX (32u << 20) /* counts in all: 256 MB */
#define PERIODS_VALUE_MAX 1e15 /* of a count or a time: beyond it doubles are not whole numbers */
#define PERIODS_NAME_BYTES 128

struct periods {
	size_t k; /* services, up to LEAST_COLUMNS_MAX */
	size_t n, cap; /* periods */
	char (*name)[PERIODS_NAME_BYTES]; /* owned; of each service */
	double *begun; /* owned; [period * k + service] */
	double *completed; /* owned; the same; NULL: not counted */
	double *response; /* owned; of each period */
	/* owned; how long the request in service at the end has been in service; NULL: unknown */
	double *elapsed;
};

/* Makes an empty set. -ERR_NOMEM, -ERR_LIMIT. */
int periods_new(size_t k, bool has_completed, bool has_elapsed, struct periods **out);
void periods_free(struct periods *p);

/* Appends a period of zeros; *at: its index. -ERR_NOMEM, -ERR_LIMIT. */
int periods_add(struct periods *p, size_t *at);

/* Removes all periods; the memory stays. */
void periods_clear(struct periods *p);

/*
 * Sets out[0] to the service in service at the begin, and out[i] to that at the end of period i;
 * -1 for none. The process has one thread. -ERR_UNSUPPORTED: completions were not counted.
 * -ERR_INVALID: more than one request was in service, so that there are several threads.
 */
int periods_in_service(const struct periods *p, int *out, struct err *e);

/*
 * Reads CSV: a line of names, then a line for each period. Columns:
 *
 *	busy, response     the response
 *	NAME, begun:NAME   how often a service began
 *	completed:NAME     how often it completed
 *	elapsed            as above
 *	period, time       ignored
 *
 * ERR_PARSE and ERR_INVALID with line and column; ERR_LIMIT, ERR_NOMEM.
 */
int periods_read(const char *text, size_t n, struct periods **out, struct err *e);

#endif
