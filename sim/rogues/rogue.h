/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compromised daemon or tool of a simulated world. Its code runs unchanged. Between it and the
 * network, this code alters, withholds, repeats and invents messages. It keeps its identity.
 * Reports about the host of the rogue are not judged, nor about its site if it is an sm. All other
 * reports are judged.
 */
#ifndef SIM_ROGUES_ROGUE_H
#define SIM_ROGUES_ROGUE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

#define ROGUE_ONE_IN 10 /* fraction of the worlds with faults */
#define ROGUE_TOOL "rogue" /* name of the host of a rogue tool */

enum rogue_when { ROGUE_SOMETIMES, ROGUE_ALWAYS, ROGUE_NEVER };
enum rogue_kind { ROGUE_LM, ROGUE_TOOL_KIND, ROGUE_SM, ROGUE_KINDS };

struct rogue;

/* Decides by the seed, without using the world's random numbers. */
bool rogue_is_drawn(enum rogue_when when, uint64_t seed);

/* From now on c refers to the rogue. */
int rogue_new(struct cluster *c, struct ledger *l, uint64_t seed, struct rogue **out,
	      struct err *e);

/* Makes the rogue follow the protocol from now on; a tool leaves. NULL is accepted. */
void rogue_stop(struct rogue *r);
void rogue_free(struct rogue *r);

/*
 * True if the rogue is the lm of that node or the sm of its site. In this and the following
 * functions, r NULL means that there is no rogue.
 */
bool rogue_has_host(const struct rogue *r, const struct simnode *n);
bool rogue_has_sm(const struct rogue *r, const struct simsite *s);
/* True if the rogue is the daemon or tool on that host. */
bool rogue_is_on(const struct rogue *r, const char *host);

/* True if the token names a host without the rogue, or an object on such a host. */
bool rogue_spares(const struct rogue *r, const char *token);

/*
 * True if an answer about these objects is not judged: they belong to the rogue, or to no known
 * host.
 */
bool rogue_is_excused(const struct rogue *r, const char *objects);

/*
 * Returns the host that has or had that number; NULL if there is none, or if the rogue has that
 * host.
 */
const struct simnode *rogue_node(const struct rogue *r, uint32_t number);

/* True if sums over all hosts may contain lies of the rogue. */
bool rogue_counts(const struct rogue *r);

/* Breaks the world if a reply contains a lie about others. */
void rogue_check(struct rogue *r, const struct reply *reply);

#endif
