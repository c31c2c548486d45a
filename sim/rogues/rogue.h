/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One daemon or tool of a simulated world that is taken over. Its code runs as it is. Between it
 * and the network, this code alters, withholds, repeats and makes up what it says. It keeps the
 * identity that it has. Reports on it are not judged: on its host, or on all its site when it is an
 * sm. All other reports are.
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

/* From the seed; the world's own dice are not thrown. */
bool rogue_is_drawn(enum rogue_when when, uint64_t seed);

/* c knows it from now on. */
int rogue_new(struct cluster *c, struct ledger *l, uint64_t seed, struct rogue **out,
	      struct err *e);

/* The rogue obeys the rules from now on; a tool leaves. NULL is fine. */
void rogue_stop(struct rogue *r);
void rogue_free(struct rogue *r);

/* r NULL, as everywhere below: there is no rogue, and all are judged. */
bool rogue_has_host(const struct rogue *r, const struct simnode *n);
bool rogue_has_sm(const struct rogue *r, const struct simsite *s);
/* True: the rogue is the daemon or tool on that host. */
bool rogue_is_on(const struct rogue *r, const char *host);

/* The token names a host, or what is on one, that is not the rogue's. */
bool rogue_spares(const struct rogue *r, const char *token);

/* Of what an answer says of these objects nothing is judged: they are the rogue's, or of no known
 * host. */
bool rogue_is_excused(const struct rogue *r, const char *objects);

/* The host that has or had that number; NULL: none that is not the rogue's. */
const struct simnode *rogue_node(const struct rogue *r, uint32_t number);

/* Whether what it may lie about is in sums over all. */
bool rogue_counts(const struct rogue *r);

/* What it said of others was believed: breaks the world. */
void rogue_check(struct rogue *r, const struct reply *reply);

#endif
