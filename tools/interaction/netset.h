/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of a set, and clocks, as JSON. */
#ifndef TOOLS_INTERACTION_NETSET_H
#define TOOLS_INTERACTION_NETSET_H

#include "interaction/set/netclock.h"
#include "interaction/set/nettotal.h"
#include "tools/interaction/netread.h"

/* Ends the document {"networks":[... with the key "set". ERR_NOMEM. */
int netset_put(struct buf *out, const struct nettotal *t, const struct netread_report *report);

/* A document. ERR_NOMEM. */
int netset_clocks(struct buf *out, const struct netclock *c, const char *const *node);

#endif
