/* SPDX-License-Identifier: Apache-2.0 */
/* All daemons and hosts of a simulated world, and their programs. */
#ifndef SIM_NODES_CLUSTER_H
#define SIM_NODES_CLUSTER_H

#include "sim/nodes/simnode.h"
#include "sim/nodes/simsite.h"
#include "sim/nodes/simtop.h"
#include "sim/world/world.h"

struct rogue;

#define CLUSTER_RANKS_MAX 16 /* ranks per host, over time */
#define CLUSTER_LEVELS_MAX 3 /* of sms: PARENT_WAYS_MAX parents are remembered */

struct cluster_conf {
	unsigned sites, hosts;
	unsigned levels; /* of sms: 1 for those of the sites only */
	unsigned below; /* sms below each that is not of the last level */
	unsigned ranks; /* of each host at the start */
	bool are_diskless; /* lms and sms store nothing, and have no file open */
	size_t tool_queue; /* bytes that mainsm queues for a tool; 0: the default */
	nsec_t delay, jitter; /* of each link, one way */
};

struct cluster {
	struct world *w;
	struct cluster_conf conf;
	struct simtop *top;
	/* all sms: those of the sites, then those below them, level by level */
	struct simsite **site;
	unsigned sms;
	struct simnode **node;
	nsec_t step; /* of the wall clock of mainsm's host at the start */
	struct rogue *rogue; /* malicious daemon or tool; NULL: none; borrowed */
};

/*
 * For conf.below: each daemon of a site has about as many branches; each level has at least two
 * sms.
 */
unsigned cluster_below(unsigned sites, unsigned hosts, unsigned levels);

/* Opens a cluster in which nothing runs yet. */
int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c,
		 struct err *e);
void cluster_close(struct cluster *c);

/*
 * Starts mainsm and the sms, each level when the one above has settled: existing hosts would not
 * move. Takes virtual time.
 */
int cluster_start_sms(struct cluster *c, struct err *e);

/* Starts all daemons that do not run, except those with a failing disk. */
int cluster_start(struct cluster *c, struct err *e);

/*
 * Returns how many hosts are below the sms of sites; all sms run. *lost: the first that has no
 * daemon above it, or NULL.
 */
size_t cluster_hosts_below(const struct cluster *c, const struct simsite **lost);

/* Returns the host of the daemon above that sm, by the plan. */
const char *cluster_above(const struct cluster *c, unsigned sm);

/* Starts a rank at that host; NULL: there were too many. */
struct simproc *cluster_begin_rank(struct cluster *c, unsigned node);

/* Finds by the rank in the world; NULL: there is none. */
struct simproc *cluster_rank(const struct cluster *c, int64_t rank);

/* Iterates over all ranks that ever began: i counts from 0. NULL: no more. */
struct simproc *cluster_each_rank(const struct cluster *c, size_t *i);

size_t cluster_alive(const struct cluster *c);

/* True while mainsm's time has not been replaced: a daemon may not know of a new one yet. */
bool cluster_keeps_time(const struct cluster *c);

#endif
