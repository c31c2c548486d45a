/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compromised daemon or tool of a simulated world. Its code runs unchanged. Between it and the
 * network, this code alters, withholds, repeats and invents messages. It keeps its identity.
 * Reports about it are not judged: on its host, or on its whole site if it is an sm. All other
 * reports are judged.
 */
#ifndef SIM_ROGUES_ROGUE_H
#define SIM_ROGUES_ROGUE_H

#include "sim/nodes/cluster.h"
#include "sim/world/ledger.h"

#define ROGUE_ONE_IN 10 /* of worlds with faults */
#define ROGUE_TOOL "rogue" /* host of a tool */

enum rogue_when { ROGUE_SOMETIMES, ROGUE_ALWAYS, ROGUE_NEVER };
enum rogue_kind { ROGUE_LM, ROGUE_TOOL_KIND, ROGUE_SM, ROGUE_KINDS };

struct rogue;

/* Drawn from the seed, without the world's random numbers. */
bool rogue_is_drawn(enum rogue_when when, uint64_t seed);

/* c refers to it from now on. */
int rogue_new(struct cluster *c, struct ledger *l, uint64_t seed, struct rogue **out,
	      struct err *e);

/* The rogue follows the protocol from now on; a tool leaves. NULL is fine. */
void rogue_stop(struct rogue *r);
void rogue_free(struct rogue *r);

/* r NULL, here and below: there is no rogue, and everything is judged. */
bool rogue_has_host(const struct rogue *r, const struct simnode *n);
bool rogue_has_sm(const struct rogue *r, const struct simsite *s);
/* True if the rogue is the daemon or tool on that host. */
bool rogue_is_on(const struct rogue *r, const char *host);

/* True if the token names a host, or an object on one, that is not the rogue's. */
bool rogue_spares(const struct rogue *r, const char *token);

/*
 * True if an answer about these objects is not judged: they are the rogue's, or of no known host.
 */
bool rogue_is_excused(const struct rogue *r, const char *objects);

/* Returns the host that has or had that number; NULL: none except the rogue's. */
const struct simnode *rogue_node(const struct rogue *r, uint32_t number);

/* True if sums over all may contain its lies. */
bool rogue_counts(const struct rogue *r);

/* Breaks the world if a lie about others was accepted. */
void rogue_check(struct rogue *r, const struct reply *reply);

#endif
