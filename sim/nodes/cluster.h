/* SPDX-License-Identifier: Apache-2.0 */
/* All daemons and hosts of a simulated world, and their programs. */
#ifndef SIM_NODES_CLUSTER_H
#define SIM_NODES_CLUSTER_H

#include "sim/nodes/simnode.h"
#include "sim/nodes/simsite.h"
#include "sim/nodes/simtop.h"
#include "sim/world/world.h"

struct rogue;

#define CLUSTER_RANKS_MAX 16 /* that ever begin on one host */
#define CLUSTER_LEVELS_MAX 3 /* of sms: PARENT_WAYS_MAX parents are remembered */

struct cluster_conf {
	unsigned sites, hosts;
	unsigned levels; /* of sms: 1, those of the sites */
	unsigned below; /* sms below each that is not of the last level */
	unsigned ranks; /* of each host at the start */
	bool are_diskless; /* lms and sms: they keep nothing, and have no file open */
	size_t tool_queue; /* bytes that mainsm keeps for a tool; 0: as ever */
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
	struct rogue *rogue; /* one of them, or a tool; NULL: all are as they seem; borrowed */
};

/* For conf.below: each daemon of a site has about as many branches; where there is a level, two of
 * it at least. */
unsigned cluster_below(unsigned sites, unsigned hosts, unsigned levels);

/* Nothing runs yet. */
int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c,
		 struct err *e);
void cluster_close(struct cluster *c);

/*
 * mainsm and the sms, each level when the one above it has settled: hosts that are there already
 * would stay where they are. Takes virtual time.
 */
int cluster_start_sms(struct cluster *c, struct err *e);

/* Starts all daemons that do not run, but those that cannot since their disk is in trouble. */
int cluster_start(struct cluster *c, struct err *e);

/* How many hosts are below the sms of sites; all sms run. *lost: the first that has no daemon above
 * it, or NULL. */
size_t cluster_hosts_below(const struct cluster *c, const struct simsite **lost);

/* The host of the daemon that stands above that sm, by the plan. */
const char *cluster_above(const struct cluster *c, unsigned sm);

/* A rank begins at that host; NULL: there were too many. */
struct simproc *cluster_begin_rank(struct cluster *c, unsigned node);

/* By the rank that it has in the world; NULL: there is none. */
struct simproc *cluster_rank(const struct cluster *c, int64_t rank);

/* All ranks that ever began, one after the other: i counts from 0. NULL: no more. */
struct simproc *cluster_each_rank(const struct cluster *c, size_t *i);

size_t cluster_alive(const struct cluster *c);

/* mainsm continues with the time that it had: a daemon may not have heard of another one yet. */
bool cluster_keeps_time(const struct cluster *c);

#endif
