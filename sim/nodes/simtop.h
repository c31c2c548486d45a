/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mainsm of a simulated world. It starts, is killed, and restarts with the contents of its
 * disk.
 */
#ifndef SIM_NODES_SIMTOP_H
#define SIM_NODES_SIMTOP_H

#include "sim/disk/simdisk.h"
#include "sim/world/hostclock.h"
#include "sim/world/world.h"

#include "common/base/buf.h"

struct simtop;
struct tokens;

#define SIMTOP_SITE "site%u" /* name of a site by its number */

/*
 * tool_queue: as in mainsm_conf. sites: number of sites; if hosts may claim fewer, the
 * configuration names them.
 */
int simtop_new(struct world *w, size_t tool_queue, unsigned sites, struct simtop **out,
	       struct err *e);
void simtop_free(struct simtop *t);

bool simtop_is_running(const struct simtop *t);
int simtop_start(struct simtop *t, struct err *e);

/* Kills mainsm like SIGKILL: peers see the end of their connections only. */
void simtop_kill(struct simtop *t);

/* Switches the host off: unsynced data on its disk may be lost, too. */
void simtop_switch_off(struct simtop *t);
/* Stops mainsm for this time, like SIGSTOP. */
void simtop_hold(struct simtop *t, nsec_t time);
void simtop_resume(struct simtop *t);

/* Returns mainsm's time, which is the time of the system. mainsm must run. */
nsec_t simtop_time(const struct simtop *t);
struct hostclock *simtop_clock(struct simtop *t);
struct simdisk *simtop_disk(const struct simtop *t);

/*
 * mainsm must run. Its connection strings are the id and the secret of a token, separated by a
 * blank.
 */
const struct tokens *simtop_tokens(const struct simtop *t);

#endif
