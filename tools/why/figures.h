/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the system about the processes and hosts of a job: one measurement (dfg_create) for
 * each metric, which is read in the same request as the calls.
 */
#ifndef TOOLS_WHY_FIGURES_H
#define TOOLS_WHY_FIGURES_H

#include "common/base/buf.h"
#include "tools/libomis/omis.h"

#include <stdbool.h>
#include <stddef.h>

enum figure {
	FIGURE_COMPUTE, /* totals of processes, in seconds or numbers */
	FIGURE_RUN_DELAY,
	FIGURE_SWITCHES,
	FIGURE_FAULTS,
	FIGURE_BLOCK_DELAY,
	FIGURE_THROTTLED,
	FIGURE_FREQUENCY, /* of now, Hz */
	FIGURE_BUSY, /* of nodes, since the read before, in % */
	FIGURE_STEAL, /* total of nodes, in seconds */
	FIGURE_CPU_PRESSURE, /* % of the last 10 s */
	FIGURE_MEMORY_PRESSURE,
	FIGURE_IO_PRESSURE,
	FIGURES
};

/* The built-in metric. */
const char *figure_metric(enum figure f);

#define FIGURES_TOKEN_BYTES 40

/* The measurements of this tool. "": not made. */
struct figures {
	char dfg[FIGURES][FIGURES_TOKEN_BYTES];
};

/* Makes and starts them for all attached objects. Returns an exit status; reports failures. */
int figures_begin(struct figures *f);
/* Deletes them in mainsm. */
void figures_end(struct figures *f);

/* Appends " dfg_read([d_1,d_2,...])": an action of a request. Nothing without measurements. */
void figures_ask(const struct figures *f, struct buf *request);

struct figure_values {
	char object[64];
	double v[FIGURES]; /* NaN: not known, or not of such an object */
};

/* The values of one read, by object. */
struct figures_read {
	struct figure_values *object; /* owned; ascending */
	size_t n, cap;
};

/* Takes the entries of that action. False: no memory; *out is empty. */
bool figures_take(struct figures_read *out, const struct figures *f,
		  const Omis_object_result *entries);
void figures_read_done(struct figures_read *r);

/* Returns NaN for an unknown object. */
double figures_value(const struct figures_read *r, const char *object, enum figure f);

/* The increase of a total between two reads; NaN if one of the two is unknown, or it decreases. */
double figures_increase(const struct figures_read *before, const struct figures_read *now,
			const char *object, enum figure f);

#endif
