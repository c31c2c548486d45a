/* SPDX-License-Identifier: Apache-2.0 */
/* For worlds, in which processes run: the functions that layers need from a world. */
#ifndef NEKO_CORE_WORLD_H
#define NEKO_CORE_WORLD_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "neko/core/event.h"
#include "neko/core/limits.h"

struct neko_world;

struct neko_world_ops {
	nsec_t (*now)(const struct neko_world *w);
	/* error bound of the last result of now(); NULL: no error */
	nsec_t (*error)(const struct neko_world *w);
	/* Called below the lowest layer with a valid message. Takes a reference of its own. */
	int (*transmit)(struct neko_process *p, struct neko_msg *m);
	/*
	 * Blocks until the time `until`, or, if for_message is set, until a message arrives.
	 * Returns 0, -ERR_TIMEOUT or -ERR_CLOSED.
	 */
	int (*wait)(struct neko_layer *l, nsec_t until, bool for_message);
	/* Called after a message was queued for l. */
	void (*arrived)(struct neko_layer *l);
	void (*log)(struct neko_world *w, const struct neko_event *v);
	void (*stop)(struct neko_world *w);
	/*
	 * Called when nested calls of layers in l's process would never end. Messages of l are
	 * dropped then. NULL: no report.
	 */
	void (*looped)(struct neko_layer *l);
};

struct neko_layer {
	const struct neko_layer_ops *ops;
	struct neko_process *process;
	struct neko_layer *above, *below;
	struct neko_msg **queue; /* owned; a ring, whose entries hold references */
	uint32_t queue_at, queue_n, queue_cap;
	struct neko_msg *received; /* the last received message, held until the next receive */
	void *of_world; /* for an active layer: state of the world */
	max_align_t state[];
};

struct neko_process {
	struct neko_world *world;
	struct neko_layer *lowest, *highest; /* owned */
	struct rng rng;
	uint32_t id, nlayers;
	uint32_t depth; /* depth of nested calls of layers */
	bool is_down; /* crashed: the process sends and receives nothing */
};

/* largest content of a pooled message, whose size is then 64 bytes */
#define NEKO_POOLED_BYTES 20

struct neko_world {
	const struct neko_world_ops *ops;
	uint32_t nprocess, nnet;
	struct neko_process *process; /* owned; process id i is at i - 1 */
	const char **type_name; /* owned, NEKO_TYPES_MAX entries; NULL if no layer declares types */
	struct neko_msg *free_msgs; /* pooled messages that are free */
	void *slabs;
};

/*
 * Makes processes 1..n without layers, each with its own random numbers. *w must be zero. Fails
 * with ERR_NOMEM, ERR_INVALID.
 */
int world_init(struct neko_world *w, const struct neko_world_ops *ops, uint32_t n, uint64_t seed,
	       struct err *e);
void world_done(struct neko_world *w);

/* Returns NULL for an unknown id. */
static inline struct neko_process *world_process(const struct neko_world *w, uint32_t id)
{
	return id - 1 < w->nprocess ? &w->process[id - 1] : NULL;
}

/* Returns number i of the nto destinations of a message. */
static inline uint32_t world_destination(const struct neko_msg *m, uint32_t i)
{
	if (m->to == NEKO_OTHERS)
		return i + 1 < m->from ? i + 1 : i + 2;
	return m->all ? m->all[i] : m->to;
}

/* Passes a message from the network to the lowest layer of a process. */
void world_hand_up(struct neko_process *p, struct neko_msg *m);

/* world_msg_new() makes a message without a receiver. */
struct neko_msg *world_msg_new(struct neko_world *w, uint32_t nto, size_t n);
void world_msg_free(struct neko_world *w, struct neko_msg *m);
static inline void world_msg_unref(struct neko_world *w, struct neko_msg *m)
{
	if (--m->refs == 0)
		world_msg_free(w, m);
}

#endif
