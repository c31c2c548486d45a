/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices as events of logs. The name is interaction.source, .fork, .join, .simple or .sink; the
 * time is that of the event. Fields, or constants:
 *
 *     st         sub-task, an integer
 *     new        fork: the sub-task that it creates; via: thread or message
 *     with       join: the sub-task that ends
 *     v          name of the vertex; else it is the number of the event
 *     use        changes of use by st: "+cpu -net"; child_use: by the new sub-task
 *     blocks     1: st waits from here for another sub-task of the interaction
 *     i          source: name of the interaction
 *     node       the clock; else HOST, host
 *
 * Declarations are events too: interaction.object with name and class (local, inherit);
 * interaction.state with name and objects ("db net"); interaction.member with objects.
 */
#ifndef INTERACTION_FORM_NETLOG_H
#define INTERACTION_FORM_NETLOG_H

#include "eventlog/evread.h"
#include "common/base/limits.h"
#include "interaction/network.h"

#define NETLOG_USES_MAX 256 /* at one event; a record has 64 KB */

/* The vertex of the last event; its texts are valid as long as the event. */
struct netlog {
	struct network_event vertex;
	struct network_use op[NETLOG_USES_MAX];
	char interaction[NAME_MAX_BYTES + 1]; /* "" */
	char node[NAME_MAX_BYTES + 1]; /* "": not known; vertex.node is the caller's */
	char name[NAME_MAX_BYTES + 1];
};

/* True for the names of source, fork, join, simple and sink. */
bool netlog_is_vertex(const char *event);

/*
 * Uses of objects that a closed netuse does not know are left out. Returns 1: l->vertex is set. 0:
 * another event. ERR_INVALID: e has the reason; ERR_LIMIT, ERR_NOMEM.
 */
int netlog_vertex(struct netlog *l, struct netuse *use, const struct event *ev, struct err *e);

/*
 * Makes the declaration of the event. Returns 1; 0: another event. ERR_INVALID, ERR_EXISTS,
 * ERR_LIMIT, ERR_NOMEM.
 */
int netlog_declare(struct netuse *use, const struct event *ev, struct err *e);

/* Reads "db net" or "db+net" into object[NETUSE_TERMS_MAX]. ERR_INVALID, ERR_LIMIT, ERR_NOMEM. */
int netlog_objects(struct netuse *use, struct bytes text, uint32_t *object, size_t *out,
		   struct err *e);

#endif
