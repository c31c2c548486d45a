/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places of vertices in a picture: columns, and time downwards. A column is a thread, or threads of
 * one node that work one after the other. A message without own vertices needs no column.
 */
#ifndef INTERACTION_PICTURE_NETLAYOUT_H
#define INTERACTION_PICTURE_NETLAYOUT_H

#include "interaction/netanalysis.h"

struct netlayout_column {
	uint32_t node; /* NETWORK_NONE: not known */
	uint32_t first; /* sub-task that is drawn there first */
};

struct netlayout {
	uint32_t *column; /* owned; of each sub-task; NETWORK_NONE: it has none */
	struct netlayout_column *head; /* owned; by node, then by time */
	size_t n, cap;
	uint32_t *rank; /* owned; of each vertex: equal times have the same */
	uint32_t ranks;
	uint8_t *on_path; /* owned; of each vertex: bits of the arcs that lead to it */
};
#define NETLAYOUT_OWN 1
#define NETLAYOUT_ENDING 2

/* Of a built network. ERR_NOMEM. */
int netlayout_make(struct netlayout *l, const struct network *w, const struct netpath *p,
		   struct err *e);
void netlayout_done(struct netlayout *l);

/* True if the arc passes on a message: from the column of its sender to that of its receiver. */
bool netlayout_is_message(const struct network *w, const struct network_arc *a);

#endif
