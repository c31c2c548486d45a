/* SPDX-License-Identifier: Apache-2.0 */
/* A host of a simulated world with its lm. */
#ifndef SIM_NODES_SIMNODE_H
#define SIM_NODES_SIMNODE_H

#include "sim/disk/simdisk.h"
#include "sim/nodes/simhost.h"
#include "sim/world/hostclock.h"
#include "sim/world/world.h"

struct simnode;

struct simnode_conf {
	unsigned number;
	const char *site;
	bool is_diskless;
};

/* site: the site in the certificate. is_diskless: the lm has no folder to write to. */
int simnode_new(struct world *w, const struct simnode_conf *conf, struct simnode **out,
		struct err *e);
void simnode_free(struct simnode *n);

const char *simnode_name(const struct simnode *n);
const char *simnode_site(const struct simnode *n);
struct simhost *simnode_host(struct simnode *n);

bool simnode_is_running(const struct simnode *n);
int simnode_start(struct simnode *n, struct err *e);
void simnode_kill(struct simnode *n);

/*
 * Switches the host off: its lm and all its processes end, and unsynced data on its disk may be
 * lost.
 */
void simnode_switch_off(struct simnode *n);
/* Stops the lm for this time, like SIGSTOP. */
void simnode_hold(struct simnode *n, nsec_t time);
void simnode_resume(struct simnode *n);

/* Returns the lm's estimate of mainsm's time, with its error bound. The lm must run. */
nsec_t simnode_time(const struct simnode *n, nsec_t *error);
struct hostclock *simnode_clock(struct simnode *n);
struct simdisk *simnode_disk(const struct simnode *n);

/*
 * Starts a process, which registers with the lm if the lm runs. Returns NULL without memory or
 * descriptors.
 */
struct simproc *simnode_begin(struct simnode *n, int32_t rank);

/* Permits that the daemon ends, because a rogue may cause that. */
void simnode_let_end(struct simnode *n);

#endif
