/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the number of tools, if there are more tools than places. */
#ifndef MAINSM_PLACES_H
#define MAINSM_PLACES_H

#include "common/net/identity.h"

struct mainsm;

/*
 * Reserves a place for a tool. TOOLS_ADMIN_PLACES are for tool-admin only, so that observers cannot
 * lock out those that may revoke them. If all permitted places are taken, the identity with the
 * most places loses its newest session. It must have two more than the new tool's identity, else
 * ERR_LIMIT.
 */
int places_reserve(struct mainsm *m, const struct identity *id, struct err *why);

#endif
