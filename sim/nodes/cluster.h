/* SPDX-License-Identifier: Apache-2.0 */
/* All daemons and hosts of a simulated world, and their programs. */
#ifndef SIM_NODES_CLUSTER_H
#define SIM_NODES_CLUSTER_H

#include "sim/nodes/simnode.h"
#include "sim/nodes/simsite.h"
#include "sim/nodes/simtop.h"
#include "sim/world/world.h"

struct rogue;

#define CLUSTER_RANKS_MAX 16 /* ranks of a host during a run */
#define CLUSTER_LEVELS_MAX 3 /* levels of sms: a daemon stores PARENT_WAYS_MAX parents */

struct cluster_conf {
	unsigned sites, hosts;
	unsigned levels; /* levels of sms: 1 = only those of the sites */
	unsigned below; /* sms below each sm, except on the last level */
	unsigned ranks; /* ranks of each host at the start */
	bool are_diskless; /* lms and sms store nothing, and have no file open */
	size_t tool_queue; /* bytes that mainsm queues for a tool; 0: the default */
	nsec_t delay, jitter; /* delay of each link in one direction */
};

struct cluster {
	struct world *w;
	struct cluster_conf conf;
	struct simtop *top;
	/* all sms, level by level, beginning with the sms of the sites */
	struct simsite **site;
	unsigned sms;
	struct simnode **node;
	nsec_t step; /* difference of the wall clock of mainsm's host at the start */
	struct rogue *rogue; /* malicious daemon or tool; NULL: none; borrowed */
};

/*
 * Returns the value for conf.below with which daemons of a site have about equally many branches.
 * Each level has at least two sms.
 */
unsigned cluster_below(unsigned sites, unsigned hosts, unsigned levels);

/* Opens a cluster, but starts no daemon. */
int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c,
		 struct err *e);
void cluster_close(struct cluster *c);

/*
 * Starts mainsm and the sms. Each level waits until the level above has settled, because existing
 * hosts would not move. Takes virtual time.
 */
int cluster_start_sms(struct cluster *c, struct err *e);

/* Starts all daemons that do not run, except those whose disk has a fault. */
int cluster_start(struct cluster *c, struct err *e);

/*
 * Returns how many hosts are below the sms of sites, while all sms run. *lost: the first sm without
 * a parent, or NULL.
 */
size_t cluster_hosts_below(const struct cluster *c, const struct simsite **lost);

/* Returns the host of the parent of that sm, by the plan. */
const char *cluster_above(const struct cluster *c, unsigned sm);

/* Starts a rank on that host. Returns NULL if CLUSTER_RANKS_MAX have begun there. */
struct simproc *cluster_begin_rank(struct cluster *c, unsigned node);

/* Finds a process by its rank in the world. Returns NULL if there is none. */
struct simproc *cluster_rank(const struct cluster *c, int64_t rank);

/* Iterates over all ranks that have begun: i starts at 0. Returns NULL at the end. */
struct simproc *cluster_each_rank(const struct cluster *c, size_t *i);

size_t cluster_alive(const struct cluster *c);

/* True while mainsm has the time of its first start. Daemons may not know a new time yet. */
bool cluster_keeps_time(const struct cluster *c);

#endif
