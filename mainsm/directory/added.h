/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the directory: the services of plug-ins, by the nodes that have them. */
#ifndef MAINSM_DIRECTORY_ADDED_H
#define MAINSM_DIRECTORY_ADDED_H

#include "common/container/map.h"
#include "mainsm/directory/directory.h"

struct added {
	struct added_services *all; /* owned; NULL = none */
	unsigned version; /* of `all`; 0 = none was made yet */
	bool is_old; /* a node has changed its services since then */
};

void added_done(struct added *a);

/* Keeps the text of a node. -ERR_LIMIT, -ERR_NOMEM. */
int added_put(struct added *a, struct object *node, const struct bytes *text, struct err *e);

/* Returns those of all nodes, read again if a node's text has changed. */
const struct added_services *added_all(struct added *a, const struct map *nodes);

void added_each_node(const struct map *nodes, const char *service,
		     void (*fn)(void *arg, const struct object *node), void *arg);

#endif
