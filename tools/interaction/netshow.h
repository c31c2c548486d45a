/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One analysed network, or a set of them, on the terminal. The first lines state in words where
 * the time was spent.
 */
#ifndef TOOLS_INTERACTION_NETSHOW_H
#define TOOLS_INTERACTION_NETSHOW_H

#include "common/base/buf.h"
#include "interaction/netretime.h"
#include "interaction/set/netclock.h"
#include "interaction/set/nettotal.h"

#define NETSHOW_ROWS 12 /* of a table; a terminal has 24 lines */

/* Appends text; -ERR_NOMEM. name: "" for an interaction without a name. */
int netshow_verdict(struct buf *out, const char *name, const struct network *w,
		    const struct netanalysis *a);
int netshow_states(struct buf *out, const struct network *w, const struct netanalysis *a);
/* A row for each vertex of the path. */
int netshow_path(struct buf *out, const struct network *w, const struct netpath *p);
int netshow_near(struct buf *out, const struct network *w, const struct netpath *p, size_t n);
int netshow_what_if(struct buf *out, const struct network *w, const struct netretime_change *c,
		    size_t n, const struct netretime *r);
int netshow_total(struct buf *out, const struct nettotal *t);
/* Writes only the first lines of that text. */
int netshow_words(struct buf *out, const struct nettotal *t);
int netshow_clocks(struct buf *out, const struct netclock *c, const char *const *node);

#endif
