/* SPDX-License-Identifier: Apache-2.0 */
/* An sm of a simulated world: the sm of a site, or one below another sm. */
#ifndef SIM_NODES_SIMSITE_H
#define SIM_NODES_SIMSITE_H

#include "sim/disk/simdisk.h"
#include "sim/world/hostclock.h"
#include "sim/world/world.h"
#include "sm/node/sm.h"

#define SIMSITE_NAME_BYTES 32
#define SIMSITE_PORT 4700 /* the same port for all, because each has its own host */
/* time for which csrs wait for a mainsm, which is shorter than the final judgement */
#define SIMSITE_GRACE_NS (20 * NSEC_PER_SEC)

struct simsite;

struct simsite_conf {
	const char *site, *host; /* names in the certificate; copied */
	bool is_stacked; /* its parent is another sm */
	bool is_diskless; /* the sm stores nothing */
	const char *parent; /* parent of a stacked sm: host:port; "": mainsm names it; copied */
};

int simsite_new(struct world *w, const struct simsite_conf *conf, struct simsite **out,
		struct err *e);
void simsite_free(struct simsite *s);

const char *simsite_name(const struct simsite *s);
const char *simsite_host(const struct simsite *s); /* returns the host of the sm */

bool simsite_is_running(const struct simsite *s);
int simsite_start(struct simsite *s, struct err *e);
void simsite_kill(struct simsite *s);

/* Switches the host off: unsynced data on its disk may be lost, too. */
void simsite_switch_off(struct simsite *s);

/* Stops the sm for this time, like SIGSTOP. */
void simsite_hold(struct simsite *s, nsec_t time);
void simsite_resume(struct simsite *s);

/* Returns the sm's estimate of mainsm's time, with its error bound. The sm must run. */
nsec_t simsite_time(const struct simsite *s, nsec_t *error);
struct hostclock *simsite_clock(struct simsite *s);
struct simdisk *simsite_disk(const struct simsite *s); /* returns NULL if the sm has no disk */

/* Permits that the daemon ends, because a rogue may cause that. */
void simsite_let_end(struct simsite *s);

/* The sm must run. */
void simsite_counts(const struct simsite *s, struct sm_counts *out);

#endif
