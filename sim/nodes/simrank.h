/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated rank: a real sealed segment, written as by libomig, with one thread. */
#ifndef SIM_NODES_SIMRANK_H
#define SIM_NODES_SIMRANK_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMRANK_PROBE "step" /* the probe of the program, with the parameter VirtualTime */
#define SIMRANK_EVENT "done" /* the event type of the program, with a number and a blob */
#define SIMRANK_EVENT_MAX 2000 /* bytes of the blob */

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
 * Makes a complete call of MPI_Send with so many bytes and that duration, and obeys the hook word.
 */
void simrank_send(struct simrank *r, int64_t bytes, uint64_t took_ticks);

/* Executes the probe, and writes a record if the lm has switched the probe on. */
void simrank_step(struct simrank *r, int64_t vt);

/* Makes an event if the type is switched on: the next number, and 0 to SIMRANK_EVENT_MAX bytes. */
void simrank_event(struct simrank *r, size_t bytes);

/* Returns the number of the last event made while switched on. */
uint64_t simrank_events(const struct simrank *r);

/*
 * Returns how many of those events are in rings, neither read by an lm nor counted as lost.
 */
uint64_t simrank_untaken(const struct simrank *r);

/* Returns the calls since the start of the rank, counted by libomig or not. */
uint64_t simrank_calls(const struct simrank *r);

struct simrank_sent {
	uint64_t calls, bytes;
};

/* Returns the same values as of that time of the world. O(log n) in the calls. */
struct simrank_sent simrank_sent_by(const struct simrank *r, nsec_t t);

/*
 * Returns how many functions and types of events are still switched on; without_measuring: ignores
 * counts, times and volumes.
 */
size_t simrank_switched_on(const struct simrank *r, bool without_measuring);

#endif
