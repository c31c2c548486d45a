/* SPDX-License-Identifier: Apache-2.0 */
/* For implementors of worlds, in which processes run: what the layers stand on, and what they ask
 * of it. */
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
	/* bound of what now() erred when it was asked last; NULL: nothing */
	nsec_t (*error)(const struct neko_world *w);
	/* Below the lowest layer; the message is checked. Takes a reference of its own. */
	int (*transmit)(struct neko_process *p, struct neko_msg *m);
	/* Blocks until `until`, or until a message is there where for_message says so. 0,
	 * -ERR_TIMEOUT, -ERR_CLOSED. */
	int (*wait)(struct neko_layer *l, nsec_t until, bool for_message);
	/* A message was put into the queue of l. */
	void (*arrived)(struct neko_layer *l);
	void (*log)(struct neko_world *w, const struct neko_event *v);
	void (*stop)(struct neko_world *w);
	/* Calls of layers of l's process in each other would never end; what l sends or delivers
	 * goes no further. NULL: nothing. */
	void (*looped)(struct neko_layer *l);
};

struct neko_layer {
	const struct neko_layer_ops *ops;
	struct neko_process *process;
	struct neko_layer *above, *below;
	struct neko_msg **queue; /* a ring, owned; what is in it holds a reference */
	uint32_t queue_at, queue_n, queue_cap;
	struct neko_msg *received; /* the last one, held for the layer */
	void *of_world; /* of an active layer: the world's */
	max_align_t state[];
};

struct neko_process {
	struct neko_world *world;
	struct neko_layer *lowest, *highest; /* owned */
	struct rng rng;
	uint32_t id, nlayers;
	uint32_t depth; /* of calls of layers in each other */
	bool is_down; /* crashed: it does and hears nothing */
};

#define NEKO_POOLED_BYTES 20 /* of content: a message of 64 bytes */

struct neko_world {
	const struct neko_world_ops *ops;
	uint32_t nprocess, nnet;
	struct neko_process *process; /* owned; id i is at i - 1 */
	const char **type_name; /* owned, NEKO_TYPES_MAX; NULL where none is declared */
	struct neko_msg *free_msgs; /* of NEKO_POOLED_BYTES */
	void *slabs;
};

/* Processes 1..n without layers, each with random numbers of its own. world is zero before.
 * ERR_NOMEM, ERR_INVALID. */
int world_init(struct neko_world *w, const struct neko_world_ops *ops, uint32_t n, uint64_t seed,
	       struct err *e);
void world_done(struct neko_world *w);

/* NULL for an unknown number. */
static inline struct neko_process *world_process(const struct neko_world *w, uint32_t id)
{
	return id - 1 < w->nprocess ? &w->process[id - 1] : NULL;
}

/* Number i of the nto destinations of a message that is sent. */
static inline uint32_t world_destination(const struct neko_msg *m, uint32_t i)
{
	if (m->to == NEKO_OTHERS)
		return i + 1 < m->from ? i + 1 : i + 2;
	return m->all ? m->all[i] : m->to;
}

/* From the network to the lowest layer of a process. */
void world_hand_up(struct neko_process *p, struct neko_msg *m);

/* Messages. world_msg_new: without a receiver. */
struct neko_msg *world_msg_new(struct neko_world *w, uint32_t nto, size_t n);
void world_msg_free(struct neko_world *w, struct neko_msg *m);
static inline void world_msg_unref(struct neko_world *w, struct neko_msg *m)
{
	if (--m->refs == 0)
		world_msg_free(w, m);
}

#endif
