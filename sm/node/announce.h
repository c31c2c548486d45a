/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed at the hosts, passed up: at the end of the turn, many changes in one
 * message; and whole snapshots for a mainsm that has just come.
 */
#ifndef SM_NODE_ANNOUNCE_H
#define SM_NODE_ANNOUNCE_H

#include "sm/hosts/nodes.h"
#include "sm/node/parent.h"

struct loop;
struct news;

/* site is borrowed. NULL: no memory. */
struct news *news_new(struct loop *loop, const char *site);
void news_free(struct news *w);

/* Between whom; before anything is told. */
void news_connect(struct news *w, struct nodes *nodes, struct uplink *uplink);

/* Something changed: told soon. */
void news_soon(struct news *w);

/* Whoever listens knows nothing: everything is told, soon or when somebody listens. */
void news_restart(struct news *w);

/* A host is about to be forgotten: told at once, or never. */
void news_gone(struct news *w, const struct node *n);

#endif
