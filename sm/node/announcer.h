/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Announces changes of hosts to the parent: at the end of the turn, many changes in one message. A
 * new mainsm gets whole snapshots.
 */
#ifndef SM_NODE_ANNOUNCER_H
#define SM_NODE_ANNOUNCER_H

#include "sm/hosts/nodes.h"
#include "sm/node/parent_link.h"

struct loop;
struct announcer;

/* site is borrowed. Returns NULL without memory. */
struct announcer *announcer_new(struct loop *loop, const char *site);
void announcer_free(struct announcer *w);

/* Sets the source and the parent of the reports; before the first report. */
void announcer_connect(struct announcer *w, struct nodes *nodes, struct parent_link *parent);

/* Something changed: a report follows soon. */
void announcer_soon(struct announcer *w);

/* The parent has no state: a full report follows, soon or when a parent is connected. */
void announcer_restart(struct announcer *w);

/* A host is about to be removed: reports it at once, or never. */
void announcer_gone(struct announcer *w, const struct node *n);

#endif
