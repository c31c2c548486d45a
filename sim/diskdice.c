/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/diskdice.h"

#include "common/base/log.h"

/* Its programs are started again, as a batch system would. */
static void switch_off(struct cluster *c, unsigned node)
{
	simnode_switch_off(c->node[node]);
	for (unsigned i = 0; i < c->conf.ranks; i++)
		cluster_begin_rank(c, node);
}

void diskdice_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n)
{
	unsigned node = (unsigned)rng_below(dice, c->conf.hosts);
	bool is_top = rng_below(dice, 2);
	struct simdisk *d = is_top ? simtop_disk(c->top) : simnode_disk(c->node[node]);

	switch (rng_below(dice, 3)) {
	case 0:
		n->full_disks++;
		simdisk_set(d, SIMDISK_FULL);
		break;
	case 1:
		n->failing_disks++;
		simdisk_set(d, SIMDISK_FAILING);
		break;
	default:
		n->switched_off++;
		if (is_top)
			simtop_switch_off(c->top);
		else
			switch_off(c, node);
		return;
	}
	log_info("sim", "the disk of %s is %s", is_top ? "mainsm" : simnode_name(c->node[node]),
		 simdisk_state(d) == SIMDISK_FULL ? "full" : "failing");
}

void diskdice_mend(struct cluster *c)
{
	simdisk_set(simtop_disk(c->top), SIMDISK_WELL);
	for (unsigned i = 0; i < c->conf.hosts; i++)
		simdisk_set(simnode_disk(c->node[i]), SIMDISK_WELL);
}
