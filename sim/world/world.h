/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by all parts of one simulated world: a loop in virtual time, a network in memory,
 * random numbers, a folder for all disks. It also has the first violation that was found.
 */
#ifndef SIM_WORLD_WORLD_H
#define SIM_WORLD_WORLD_H

#include "common/base/rng.h"
#include "common/container/list.h"
#include "common/loop/loop.h"
#include "common/net/mem.h"
#include "sim/world/disk.h"
#include "sim/world/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define WORLD_WORDS_BYTES 512
#define WORLD_TOP "top" /* name of mainsm's host */
#define WORLD_PIN "aaaaaaaaaaaaaaaaaaaaaaaaaa"

struct heap_account;

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct rng dice; /* for kind and time of faults */
	char disk[DISK_PATH_BYTES]; /* "": no disks */
	int back; /* the previous working folder; -1: unchanged */
	uint16_t port; /* port of mainsm */
	struct trace trace; /* trace of all links */
	struct list accounts; /* accounts of all hosts */
	uint32_t serial; /* serial number of the last certificate */
	char broken[WORLD_WORDS_BYTES]; /* the first violation; "": none yet */
	nsec_t broken_at;
};

/*
 * with_disks: makes a new folder for disks, which is the working folder until the world is closed.
 * So disks have the same names in each run, in answers too.
 */
int world_open(struct world *w, uint64_t seed, bool with_disks, struct err *e);

/*
 * Called after all parts of the world were freed. Memory that is charged to a host and not freed by
 * then breaks the world.
 */
void world_close(struct world *w);

bool world_one_in(struct world *w, uint64_t n);

/* Returns a random time, uniformly in [0, max). */
nsec_t world_random(struct world *w, nsec_t max);

/* Reports a violation. The first one counts, and ends the run. */
void world_break(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes an account for that host, until the world is closed; host is borrowed as long. Returns NULL
 * without memory.
 */
struct heap_account *world_account(struct world *w, const char *host);

/* Makes a certificate for the peer. */
struct identity world_identity(struct world *w, enum role role, const char *site, const char *host);

/* Returns virtual wall time; arg: the world. */
nsec_t world_wall(void *arg);

#endif
