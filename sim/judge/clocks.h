/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each daemon of a simulated world estimates mainsm's time. The estimate is right within the bound
 * that the daemon states, whatever its own clock does. Wall clocks step. When mainsm starts after
 * a step of its own, there is a new time for all.
 */
#ifndef SIM_JUDGE_CLOCKS_H
#define SIM_JUDGE_CLOCKS_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

struct clocks;

/* Looks each second from now on, as long as mainsm goes on with the time that it had. */
int clocks_new(struct cluster *c, struct clocks **out, struct err *e);
void clocks_free(struct clocks *k);

/* All are right now, or the world is broken. All daemons run. */
void clocks_judge(struct cluster *c);

/* Some host's wall clock steps by up to an hour. */
void clocks_throw(struct cluster *c, struct rng *dice, struct ledger_counts *n);

#endif
