/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Efficiency of a section's ranks, by the model of the POP centre. docs/summary.md has the
 * formulas. Computation is all time outside of MPI.
 */
#ifndef TOOLS_SUMMARY_EFFICIENCY_H
#define TOOLS_SUMMARY_EFFICIENCY_H

#include "tools/summary/summary.h"

struct efficiency {
	size_t ranks, known; /* all ranks in the section, and those whose calls could be read */
	size_t final; /* known ranks that were read after their end */
	double seconds; /* time of the longest rank */
	double mpi_share; /* share of the ranks' time in MPI */
	/* mean computation / greatest computation; greatest computation / seconds; their product */
	double load_balance, communication, parallel;
	/* the process that computes most; NULL: fewer than two ranks */
	const struct summary_process *most;
};

/* The same from any source: sums over ranks. Zeros are none. */
struct efficiency_sum {
	size_t known;
	double seconds, longest, computed, mpi, time;
};
/* Adds a rank; true: none before computes longer. */
bool efficiency_add(struct efficiency_sum *sum, double seconds, double in_mpi);
/* Sets the values from the sums; NaN where no rank is known. */
void efficiency_close(struct efficiency *e, const struct efficiency_sum *sum);

/* Values are NaN where no rank is known. Valid until the section changes. */
struct efficiency efficiency_of(const struct summary_section *of);

/* One function over all ranks of a section. */
struct call_sum {
	const struct summary_name *name;
	uint64_t count, bytes_out, bytes_in;
	double seconds;
	size_t ranks; /* number of ranks that called it */
	const struct summary_process *most; /* process with the longest time in it */
	double most_seconds;
};

/*
 * Returns all functions by their time, the longest first; for free(). *n: how many. NULL: no
 * memory, or there are none.
 */
struct call_sum *efficiency_calls(const struct summary_section *of, size_t *n);

#endif
