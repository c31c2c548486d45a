/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dataflow graph with its objects, before it is cut: nodes as in common/flow/graph/graph.h, and
 * the places where each can be evaluated. Equal nodes are one node, so that common parts of a
 * metric exist once. Inputs have lower numbers.
 */
#ifndef PMSL_PLAN_BOUND_H
#define PMSL_PLAN_BOUND_H

#include "common/container/map.h"
#include "common/flow/graph/graph.h"
#include "pmsl/plan/world.h"

#define BOUND_NODES_MAX (1024 * 1024) /* a hundred nodes for each of ten thousand processes */
#define BOUND_HEAP_MAX_BYTES (1024 * 1024 * 1024)

enum place_kind { PLACE_ANYWHERE, PLACE_NODE, PLACE_SITE, PLACE_TOP };

struct place {
	enum place_kind kind;
	uint32_t object; /* NODE, SITE: index in the world */
};

/* domain, partial, gives and behind of `n` are set as by the engine's verifier. */
struct bound_node {
	struct flow_node n;
	struct place place;
	bool is_live; /* an output needs it: see bound_mark() */
	struct bound_node *twin; /* next node with the same hash */
	uint32_t id;
};

struct bound {
	const struct world *world;
	struct bound_node **node;
	size_t n, cap;
	struct arena *arena;
	struct map twins;
	bool is_central; /* the top evaluates all nodes except the sources */
};

int bound_init(struct bound *b, const struct world *w);
void bound_done(struct bound *b);

/*
 * Finds or makes the node. n's inputs are numbers of nodes; they and the texts are copied (texts
 * that the world owns are not). at: the place of a source; NULL for other nodes. -ERR_LIMIT,
 * -ERR_NOMEM.
 */
int bound_put(struct bound *b, const struct flow_node *n, const struct place *at, uint32_t *out);

/* Hashes what the node does, without its inputs and the name of a link. */
uint64_t bound_hash_own(const struct flow_node *n);
uint64_t bound_hash_mix(uint64_t h, uint64_t v);
uint64_t bound_hash_text(uint64_t h, const char *s);

/* Marks the nodes that an output needs. Planning may leave others behind. */
void bound_mark(struct bound *b);

/* True for the same kind of place, and the same object if the kind has one. */
bool place_equal(struct place a, struct place b);

/* True if values evaluated at `at` can be sent up to `than`. */
bool place_is_below(const struct world *w, struct place at, struct place than);

/* Returns the place one step below `top` on the way to `at`, which is below it. */
struct place place_step_down(const struct world *w, struct place at, struct place top);

/* Returns the place at which an object's values arise. */
struct place place_of(const struct world *w, uint32_t object);

#endif
