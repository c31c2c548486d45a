/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated rank: a real sealed segment, written as by libomig, with one thread. */
#ifndef SIM_NODES_SIMRANK_H
#define SIM_NODES_SIMRANK_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMRANK_PROBE "step" /* the probe of its program: (VirtualTime) */
#define SIMRANK_EVENT "done" /* the one type of events that its program has: number, more */
#define SIMRANK_EVENT_MAX 2000 /* bytes of the latter */

struct simrank;

struct loop;

struct simrank_conf {
	const struct loop *loop; /* loop of its host */
	const char *memfd; /* name of the segment */
	const char *job, *program;
	int32_t pid, rank, world_size;
};

int simrank_new(const struct simrank_conf *c, struct simrank **out, struct err *e);
void simrank_free(struct simrank *r);

/* Borrowed. */
int simrank_fd(const struct simrank *r);

/*
 * Makes a complete call of MPI_Send with that many bytes and that duration; follows the hook word.
 */
void simrank_send(struct simrank *r, int64_t bytes, uint64_t took_ticks);

/* The rank executes its probe, and writes a record if the lm has switched the probe on. */
void simrank_step(struct simrank *r, int64_t vt);

/*
 * Makes an event, if it is switched on: the next number, and this many bytes, 0 to
 * SIMRANK_EVENT_MAX.
 */
void simrank_event(struct simrank *r, size_t bytes);

/* Returns the number of the last event made while switched on. */
uint64_t simrank_events(const struct simrank *r);

/* Returns how many of those events no lm has read, or could have counted as lost. */
uint64_t simrank_untaken(const struct simrank *r);

/* Returns the calls sent since its start, counted or not. */
uint64_t simrank_calls(const struct simrank *r);

struct simrank_sent {
	uint64_t calls, bytes;
};

/* The same up to that time of the world. O(log n) in its calls. */
struct simrank_sent simrank_sent_by(const struct simrank *r, nsec_t t);

/*
 * Returns how many functions and types of events are still switched on; without_measuring: ignores
 * counts, times and volumes.
 */
size_t simrank_switched_on(const struct simrank *r, bool without_measuring);

#endif
