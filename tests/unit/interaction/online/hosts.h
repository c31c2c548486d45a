/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random interactions on a random tree of hosts: each event goes to the contractor of its host,
 * batches go up through one or two levels. The same events are analysed off line.
 */
#ifndef TESTS_UNIT_INTERACTION_ONLINE_HOSTS_H
#define TESTS_UNIT_INTERACTION_ONLINE_HOSTS_H

#include "common/base/rng.h"
#include "interaction/online/netonline.h"

#define HOSTS_NETWORKS 40 /* interactions of one world */

enum hosts_fate { HOSTS_NOTHING, HOSTS_WHOLE, HOSTS_ELSE };

/* The result of one interaction, off line and on line. */
struct hosts_result {
	enum hosts_fate fate;
	int64_t response, state[4];
	bool is_unique;
};

struct hosts_plan {
	bool has_members; /* alternatives are declared */
	bool loses_events; /* the same ones on line and off line */
	bool loses_batches, repeats, reorders; /* on the way up */
	bool is_late; /* one host's batches come last */
	bool moves; /* sub-tasks go to another host; times are distinct then */
	bool returns; /* and some come back */
	bool is_hasty; /* parts are sent while their interactions go on */
	bool is_small; /* contractors have room for few vertices */
};

struct hosts_world {
	struct hosts_result off[HOSTS_NETWORKS], on[HOSTS_NETWORKS];
	bool is_hit[HOSTS_NETWORKS]; /* an arc of it was in a lost batch */
	struct netonline_report report; /* of the top */
	struct nettotal *off_total; /* owned */
	uint64_t sent, lost, lost_arcs, repeated; /* batches to the top; and on all links */
	uint64_t events, arcs_up; /* given to hosts; taken by the top */
};

void hosts_run(struct hosts_world *out, const struct hosts_plan *plan, struct rng *r);

#endif
