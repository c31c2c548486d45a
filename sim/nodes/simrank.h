/* SPDX-License-Identifier: Apache-2.0 */
/* A simulated rank: a real sealed segment, written as libomig writes it, one thread. */
#ifndef SIM_NODES_SIMRANK_H
#define SIM_NODES_SIMRANK_H

#include "common/base/clock.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIMRANK_PROBE "step" /* the one that its program has: (VirtualTime) */
#define SIMRANK_EVENT "done" /* the one type of events that its program has: number, more */
#define SIMRANK_EVENT_MAX 2000 /* bytes of the latter */

struct simrank;

struct loop;

struct simrank_conf {
	const struct loop *loop; /* of its host */
	const char *memfd; /* name of the segment */
	const char *job, *program;
	int32_t pid, rank, world_size;
};

int simrank_new(const struct simrank_conf *c, struct simrank **out, struct err *e);
void simrank_free(struct simrank *r);

/* Borrowed. */
int simrank_fd(const struct simrank *r);

/* A whole call of MPI_Send with so many bytes that took so long; does what the hook word says. */
void simrank_send(struct simrank *r, int64_t bytes, uint64_t took_ticks);

/* The rank executes its probe, and writes a record if the lm has switched the probe on. */
void simrank_step(struct simrank *r, int64_t vt);

/* An event of its own, if it is switched on: the next number, and this many bytes with it, 0 to
 * SIMRANK_EVENT_MAX. */
void simrank_event(struct simrank *r, size_t bytes);

/* The last number of those made while they were switched on. */
uint64_t simrank_events(const struct simrank *r);

/* The number of those events that no lm has read, nor can have counted as lost. */
uint64_t simrank_untaken(const struct simrank *r);

/* What it has sent since it began, whether anybody counted or not. */
uint64_t simrank_calls(const struct simrank *r);

struct simrank_sent {
	uint64_t calls, bytes;
};

/* The same, of what it had sent at that time of the world. O(log n) in its calls. */
struct simrank_sent simrank_sent_by(const struct simrank *r, nsec_t t);

/* Functions and types of events that are still switched on; without_measuring: counts,
 * times and volumes do not count. */
size_t simrank_switched_on(const struct simrank *r, bool without_measuring);

#endif
