/* SPDX-License-Identifier: Apache-2.0 */
/* The mainsm of a simulated world: starts, is killed, starts again with what is on its disk. */
#ifndef SIM_NODES_SIMTOP_H
#define SIM_NODES_SIMTOP_H

#include "sim/disk/simdisk.h"
#include "sim/world/hostclock.h"
#include "sim/world/world.h"

#include "common/base/buf.h"

struct simtop;
struct tokens;

#define SIMTOP_SITE "site%u" /* the name of a site, by its number */

/*
 * tool_queue: of mainsm_conf. sites: how many there are; the configuration names them when they
 * are more than hosts may claim.
 */
int simtop_new(struct world *w, size_t tool_queue, unsigned sites, struct simtop **out,
	       struct err *e);
void simtop_free(struct simtop *t);

bool simtop_is_running(const struct simtop *t);
int simtop_start(struct simtop *t, struct err *e);

/* As kill -9 does: peers see no more than the end of the connection. */
void simtop_kill(struct simtop *t);

/* The host: what was not synced to its disk is gone, too. */
void simtop_switch_off(struct simtop *t);
/* mainsm stands still for this time, as after SIGSTOP. */
void simtop_hold(struct simtop *t, nsec_t time);
void simtop_resume(struct simtop *t);

/* mainsm's time, which is everybody's; running only. */
nsec_t simtop_time(const struct simtop *t);
struct hostclock *simtop_clock(struct simtop *t);
struct simdisk *simtop_disk(const struct simtop *t);

/* Running only. A connection string of this one is the token's id and secret, with a blank
 * between. */
const struct tokens *simtop_tokens(const struct simtop *t);

#endif
