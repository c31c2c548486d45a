/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of a set, and clocks, as JSON. */
#ifndef TOOLS_INTERACTION_NETSET_H
#define TOOLS_INTERACTION_NETSET_H

#include "interaction/set/netclock.h"
#include "common/json/json.h"
#include "interaction/set/nettotal.h"
#include "tools/interaction/netread.h"

/* The keys RT, slowest, composite and exclusive of an object. */
void netset_put_total(struct json *j, const struct nettotal *t);

/* Ends the document {"networks":[... with the key "set". ERR_NOMEM. */
int netset_put(struct buf *out, const struct nettotal *t, const struct netread_report *report);

/* A document. ERR_NOMEM. */
int netset_clocks(struct buf *out, const struct netclock *c, const char *const *node);

#endif
