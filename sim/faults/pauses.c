/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/faults/pauses.h"

#include <math.h>

#define SHORTEST_S 0.1
#define LONGEST_S 20 /* longer than 6 s, after which peers close a silent link */

static nsec_t any_time(struct rng *dice)
{
	return (nsec_t)(SHORTEST_S * pow(LONGEST_S / SHORTEST_S, rng_double(dice)) * 1e9);
}

void pauses_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n)
{
	nsec_t time = any_time(dice);

	n->pauses++;
	switch (rng_below(dice, 6)) {
	case 0:
		simtop_hold(c->top, time);
		break;
	case 1:
	case 2:
		simsite_hold(c->site[rng_below(dice, c->sms)], time);
		break;
	default:
		simnode_hold(c->node[rng_below(dice, c->conf.hosts)], time);
	}
}

void pauses_mend(struct cluster *c)
{
	simtop_resume(c->top);
	for (unsigned i = 0; i < c->sms; i++)
		simsite_resume(c->site[i]);
	for (unsigned i = 0; i < c->conf.hosts; i++)
		simnode_resume(c->node[i]);
}
