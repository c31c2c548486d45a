/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainsm of a simulated world: starts, is killed, starts again with the contents of its disk.
 */
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
 * tool_queue: of mainsm_conf. sites: their number; the configuration names them if there are more
 * than hosts may claim.
 */
int simtop_new(struct world *w, size_t tool_queue, unsigned sites, struct simtop **out,
	       struct err *e);
void simtop_free(struct simtop *t);

bool simtop_is_running(const struct simtop *t);
int simtop_start(struct simtop *t, struct err *e);

/* Kills it as by SIGKILL: peers only see the end of the connection. */
void simtop_kill(struct simtop *t);

/* Switches the host off: unsynced data on its disk are lost, too. */
void simtop_switch_off(struct simtop *t);
/* Stops mainsm for this time, as by SIGSTOP. */
void simtop_hold(struct simtop *t, nsec_t time);
void simtop_resume(struct simtop *t);

/* Returns mainsm's time, which is the system's; running only. */
nsec_t simtop_time(const struct simtop *t);
struct hostclock *simtop_clock(struct simtop *t);
struct simdisk *simtop_disk(const struct simtop *t);

/* Running only. Its connection strings have a token's id and secret, separated by a blank. */
const struct tokens *simtop_tokens(const struct simtop *t);

#endif
