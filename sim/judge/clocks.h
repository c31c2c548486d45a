/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each daemon of a simulated world estimates mainsm's time. The error of the estimate must be
 * within the bound that the daemon reports, whatever its own clock does. Wall clocks step. When
 * mainsm starts after a step of its own clock, all daemons get a new time.
 */
#ifndef SIM_JUDGE_CLOCKS_H
#define SIM_JUDGE_CLOCKS_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct clocks;

/* Checks the clocks each second from now on, while mainsm keeps its time. */
int clocks_new(struct cluster *c, struct clocks **out, struct err *e);
void clocks_free(struct clocks *k);

/* Marks the world as broken unless all estimates are right. All daemons must run. */
void clocks_judge(struct cluster *c);

/* Steps the wall clock of a random host by up to an hour. */
void clocks_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

#endif
