/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim runs the unchanged daemons (lms, sms and a mainsm) in virtual time on one thread. Hosts with
 * programs, links, disks and clocks are simulated. Work and faults are drawn from a seed. The same
 * seed gives the same run, to the byte. See docs/sim.md.
 */
#ifndef SIM_STUDIES_RUN_H
#define SIM_STUDIES_RUN_H

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/err.h"
#include "sim/rogues/rogue.h"
#include "sim/world/ledger.h"
#include "sim/world/world.h"

#include <stdbool.h>
#include <stdint.h>

#define RUN_SITES_MAX 1000
#define RUN_HOSTS_MAX 100000
#define RUN_TOOLS_MAX 16
#define RUN_RANKS_MAX 12 /* ranks at the start; more begin later */

struct run_conf {
	uint64_t seed;
	unsigned sites, levels, hosts, ranks, tools; /* levels of sms; 0 means 1 */
	nsec_t time; /* time of work and faults; the final checks take a minute more */
	bool with_faults;
	enum rogue_when rogues; /* with faults: whether a daemon or tool is rogue */
};

struct run_result {
	uint64_t hash; /* hash of all events */
	uint64_t frames, bytes;
	nsec_t virtual_time, real_time;
	struct ledger_counts counts;
	char broken[WORLD_WORDS_BYTES]; /* the violated invariant; "": all invariants hold */
	nsec_t broken_at;
};

/* Returns 0 if the world ran; result.broken has a violation. Fails if the world could not run. */
int run_world(const struct run_conf *c, struct run_result *out, struct err *e);

/* Prints the command that repeats the run. */
void run_print_command(const struct run_conf *c, struct buf *out);

#endif
