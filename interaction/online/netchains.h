/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network under contraction: events in chains, one for each sub-task, from which events are
 * taken out. For this room.
 */
#ifndef INTERACTION_ONLINE_NETCHAINS_H
#define INTERACTION_ONLINE_NETCHAINS_H

#include "interaction/online/netpieces.h"

struct chain_node {
	uint32_t prev, next; /* in the chain of the sub-task; NETWORK_NONE */
	uint32_t op, nops; /* changes of use that are left */
	uint32_t piece, npiece, piece_cap; /* in the pool; of the arc that ends here */
	int64_t begin; /* of a stretch */
	bool has_stretch, is_ambiguous, is_gone, blocks;
	uint8_t kind; /* forks and joins that are decided are simple */
};

struct chain {
	uint32_t first, last; /* NETWORK_NONE: empty */
	bool is_gone; /* the sub-task was decided */
	bool is_known; /* it has earlier events in another part */
};

struct netchains {
	const struct network *w;
	bool is_lowest; /* the events are those of this host */
	bool has_members; /* uses beside the path count, for membership */
	struct chain_node *node; /* of each vertex */
	struct chain *chain; /* of each sub-task */
	struct network_use *op; /* a copy */
	struct network_piece *pool;
	size_t npool, pool_cap;
	uint32_t last_sink; /* NETWORK_NONE */
	bool has_changed;
	int rc; /* -ERR_NOMEM */
};

int netchains_init(struct netchains *k, const struct network *w); /* ERR_NOMEM */
void netchains_done(struct netchains *k);

static inline int64_t netchains_time(const struct netchains *k, uint32_t v)
{
	return k->w->v[v].t;
}

static inline bool netchains_is_inherited(const struct netchains *k, uint32_t object)
{
	return netuse_object_class(k->w->use, object) == NETUSE_INHERIT;
}

/* Returns the vertex where the own arc of v begins; NONE: it is not in this part. */
uint32_t netchains_tail(const struct netchains *k, uint32_t v);

/*
 * True if the own arc of v is wholly in this part, and its time does not decrease. Other arcs are
 * not contracted: the daemon that has the whole network checks them.
 */
bool netchains_is_sound(const struct netchains *k, uint32_t v);

static inline struct netpieces netchains_no_pieces(const struct netchains *k)
{
	struct netpieces p;

	p.n = 0;
	p.is_full = false;
	p.keeps_empty = k->has_members;
	return p;
}

/* Appends the pieces of v's own arc, which is sound. */
void netchains_pieces(const struct netchains *k, uint32_t v, bool is_child, struct netpieces *out);
/* Sets the pieces of v's own arc. */
void netchains_set_pieces(struct netchains *k, uint32_t v, const struct netpieces *p);

void netchains_remove(struct netchains *k, uint32_t v);
void netchains_remove_op(struct netchains *k, uint32_t v, uint32_t i);

static inline const struct network_use *netchains_op(const struct netchains *k, uint32_t v,
						     uint32_t i)
{
	return &k->op[k->node[v].op + i];
}

/* Moves balanced uses of v, and of the sub-task that it creates, into the arcs behind. */
void netchains_fold(struct netchains *k, uint32_t v);

/* Decides the fork of a sub-task that is wholly in this part. */
void netchains_decide(struct netchains *k, uint32_t task);

#endif
