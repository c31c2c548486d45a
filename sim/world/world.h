/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all parts of one simulated world share: a loop in virtual time, a network in memory, dice,
 * a folder for all disks. Also the first thing that was found to be wrong.
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
#define WORLD_TOP "top" /* mainsm's host */
#define WORLD_PIN "aaaaaaaaaaaaaaaaaaaaaaaaaa"

struct heap_account;

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct rng dice; /* what happens, and when */
	char disk[DISK_PATH_BYTES]; /* "": there is none */
	int back; /* the folder that we were in; -1: still there */
	uint16_t port; /* mainsm's */
	struct trace trace; /* of all links */
	struct list accounts; /* of all hosts */
	uint32_t serial; /* of the last certificate */
	char broken[WORLD_WORDS_BYTES]; /* "": nothing yet */
	nsec_t broken_at;
};

/*
 * with_disks: a new folder stands for them. It is the working folder until the world is closed. So
 * disks have the same names each time, in answers too.
 */
int world_open(struct world *w, uint64_t seed, bool with_disks, struct err *e);

/* After all that stands in it. What is charged to a host and not freed by then breaks the world. */
void world_close(struct world *w);

bool world_one_in(struct world *w, uint64_t n);

/* Evenly in [0, max). */
nsec_t world_random(struct world *w, nsec_t max);

/* Something is wrong: the first one counts, and ends the run. */
void world_break(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For what is allocated on that host, from now on and until the world is closed; host: borrowed as
 * long. NULL: no memory. */
struct heap_account *world_account(struct world *w, const char *host);

/* A certificate of its own. */
struct identity world_identity(struct world *w, enum role role, const char *site, const char *host);

/* Virtual wall time; arg: the world. */
nsec_t world_wall(void *arg);

#endif
