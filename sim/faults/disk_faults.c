/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/disk_faults.h"

#include "common/base/log.h"

/* Switches a node off, and restarts its programs as a batch system would. */
static void switch_node_off(struct cluster *c, unsigned node)
{
	simnode_switch_off(c->node[node]);
	for (unsigned i = 0; i < c->conf.ranks; i++)
		cluster_begin_rank(c, node);
}

enum whose { OF_TOP, OF_SM, OF_NODE };

struct victim {
	enum whose whose;
	unsigned number; /* index among the daemons of its kind */
	const char *name;
	struct simdisk *disk;
};

static struct victim any_victim(const struct cluster *c, struct rng *dice)
{
	unsigned node = (unsigned)rng_below(dice, c->conf.hosts),
		 sm = (unsigned)rng_below(dice, c->sms);

	switch (rng_below(dice, 5)) {
	case 0:
	case 1:
		return (struct victim){ OF_TOP, 0, "mainsm", simtop_disk(c->top) };
	case 2:
		return (struct victim){ OF_SM, sm, simsite_host(c->site[sm]),
					simsite_disk(c->site[sm]) };
	default:
		return (struct victim){ OF_NODE, node, simnode_name(c->node[node]),
					simnode_disk(c->node[node]) };
	}
}

static void switch_off(struct cluster *c, const struct victim *v)
{
	if (v->whose == OF_TOP)
		simtop_switch_off(c->top);
	else if (v->whose == OF_SM)
		simsite_switch_off(c->site[v->number]);
	else
		switch_node_off(c, v->number);
}

void disk_faults_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n)
{
	const struct victim v = any_victim(c, dice);

	switch (rng_below(dice, 3)) {
	case 0:
		n->full_disks++;
		simdisk_set(v.disk, SIMDISK_FULL);
		break;
	case 1:
		n->failing_disks++;
		simdisk_set(v.disk, SIMDISK_FAILING);
		break;
	default:
		n->switched_off++;
		switch_off(c, &v);
		return;
	}
	log_info("sim", "the disk of %s is %s", v.name,
		 simdisk_state(v.disk) == SIMDISK_FULL ? "full" : "failing");
}

void disk_faults_mend(struct cluster *c)
{
	simdisk_set(simtop_disk(c->top), SIMDISK_WELL);
	for (unsigned i = 0; i < c->sms; i++)
		simdisk_set(simsite_disk(c->site[i]), SIMDISK_WELL);
	for (unsigned i = 0; i < c->conf.hosts; i++)
		simdisk_set(simnode_disk(c->node[i]), SIMDISK_WELL);
}
