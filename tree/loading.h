/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends the pieces of a measurement to a branch, in as many FLOW_LOAD messages as needed. Each
 * message except the last one announces another one.
 */
#ifndef TREE_LOADING_H
#define TREE_LOADING_H

#include "proto/msg.h"

struct branches;

/* The caller sets the first three members; the others must be 0. */
struct loading {
	const struct branches *branches; /* borrowed */
	uint32_t branch;
	struct msg_flow_load head; /* the message without pieces */
	struct msg_flow_piece *piece; /* owned */
	size_t n, cap, bytes;
	int rc; /* the first error */
};

/* The graph as text and the token of its object are borrowed until loading_end(). */
void loading_add(struct loading *x, const char *object, const void *graph, size_t n);

/* Sends the remaining pieces. Returns 0, or the first error: as branches_send(), -ERR_NOMEM. */
int loading_end(struct loading *x);

#endif
