/* SPDX-License-Identifier: Apache-2.0 */
/* All daemons and hosts of a simulated world, and their programs. */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "sim/simnode.h"
#include "sim/simsite.h"
#include "sim/simtop.h"
#include "sim/world.h"

#define CLUSTER_RANKS_MAX 16 /* that ever begin on one host */

struct cluster_conf {
	unsigned sites, hosts;
	unsigned ranks; /* of each host at the start */
	nsec_t delay, jitter; /* of each link, one way */
};

struct cluster {
	struct world *w;
	struct cluster_conf conf;
	struct simtop *top;
	struct simsite **site;
	struct simnode **node;
};

/* Nothing runs yet. */
int cluster_open(struct world *w, const struct cluster_conf *conf, struct cluster *c, struct err *e);
void cluster_close(struct cluster *c);

/* Starts all daemons that do not run, but those that cannot since their disk is in trouble. */
int cluster_start(struct cluster *c, struct err *e);

/* A rank begins at that host; NULL: there were too many. */
struct simproc *cluster_begin_rank(struct cluster *c, unsigned node);

/* By the rank that it has in the world; NULL: there is none. */
struct simproc *cluster_rank(const struct cluster *c, int64_t rank);

/* All ranks that ever began, one after the other: i counts from 0. NULL: no more. */
struct simproc *cluster_each_rank(const struct cluster *c, size_t *i);

size_t cluster_alive(const struct cluster *c);

#endif
