/* SPDX-License-Identifier: Apache-2.0 */
/* The places of tools when there are more tools than places. */
#ifndef MAINSM_PLACES_H
#define MAINSM_PLACES_H

#include "common/net/identity.h"

struct mainsm;

/*
 * A place for one more tool. TOOLS_ADMIN_PLACES are for tool-admin alone, so that observers cannot
 * lock out those that may revoke them. Where all permitted places are taken, the identity with the
 * most of them loses its newest session. It must have two more than the newcomer's identity, else
 * ERR_LIMIT.
 */
int places_reserve(struct mainsm *m, const struct identity *id, struct err *why);

#endif
