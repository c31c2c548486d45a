/* SPDX-License-Identifier: Apache-2.0 */
/* Who has the places of tools when there are more tools than places. */
#ifndef MAINSM_PLACES_H
#define MAINSM_PLACES_H

#include "common/net/identity.h"

struct mainsm;

/*
 * A place for one more tool. TOOLS_ADMIN_PLACES are for tool-admin alone, so that observers cannot
 * lock out those that may revoke them. Where all that it may have are taken, the newest session of
 * the identity with the most of them is ended, if it has two more than the newcomer's. ERR_LIMIT:
 * it has not.
 */
int places_take(struct mainsm *m, const struct identity *who, struct err *why);

#endif
