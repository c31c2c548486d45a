/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of contracted arcs: at most NETWORK_PIECES_MAX, each use of objects once. */
#ifndef INTERACTION_ONLINE_NETPIECES_H
#define INTERACTION_ONLINE_NETPIECES_H

#include "interaction/network.h"

struct netpieces {
	struct network_piece piece[NETWORK_PIECES_MAX];
	uint32_t n;
	bool is_full; /* one had no room */
	bool keeps_empty; /* pieces without time count, too: for membership */
};

void netpieces_add(struct netpieces *p, const struct network_piece *more);

/*
 * Adds all n pieces, for a part of the path. is_child: of a sub-task that is created at the tail.
 */
void netpieces_add_all(struct netpieces *p, const struct network_piece *more, uint32_t n,
		       bool is_child);
/* Adds only the uses of pieces, which are beside the path. */
void netpieces_add_beside(struct netpieces *p, const struct network_piece *more, uint32_t n,
			  bool is_child);

/* Adds objects that are in use on the whole arc; local ones only to pieces without is_child. */
void netpieces_use(struct netpieces *p, uint64_t objects, bool is_inherited);

#endif
