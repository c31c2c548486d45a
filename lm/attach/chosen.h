/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds processes to be watched that have no segment. They are those of the program of `omig run`
 * or `omig exec`, and their descendants. Launchers of MPI programs, and what these start, are left
 * out.
 *
 * A search begins when a message announces such a program, and lasts while there are such
 * processes. A process that lives shorter than the time between two searches is not seen. The cost
 * for the host is bounded, whatever the number of its processes.
 */
#ifndef LM_ATTACH_CHOSEN_H
#define LM_ATTACH_CHOSEN_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdint.h>

/* Time until the first search; each interval is twice as long as the last. */
#define CHOSEN_SOON_NS (50 * NSEC_PER_MSEC)
#define CHOSEN_MIN_NS (2 * NSEC_PER_SEC) /* up to this; */
#define CHOSEN_COST 1000 /* searches take at most a thousandth of a processor */
/* Time until searches stop: a daemon may have left its parents. */
#define CHOSEN_STAY_NS (60 * NSEC_PER_SEC)

struct chosen;
struct host;
struct loop;
struct procs;

struct chosen_conf {
	struct loop *loop;
	struct host *host;
	struct procs *procs; /* all borrowed */
	const char *caid; /* id of the monitor's authority; copied */
	/* called once, until there is room again */
	void (*refused)(void *arg, int32_t pid, const struct err *why);
	void *arg;
};

struct chosen *chosen_new(const struct chosen_conf *c); /* NULL: no memory */
void chosen_free(struct chosen *c);

/* A new process is possible: searches soon, and then often for a while. */
void chosen_wake(struct chosen *c);

#endif
