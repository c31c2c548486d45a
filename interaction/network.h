/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One interaction network: a directed acyclic graph of the events of one interaction. Events come
 * in any order; network_build() checks them, and puts them in an order of cause and effect. Source:
 * Ashton and Penny, TR COSC 01/91, section 3, with the rules of docs/interactions.md.
 */
#ifndef INTERACTION_NETWORK_H
#define INTERACTION_NETWORK_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/container/map.h"
#include "interaction/netuse.h"

/* Some 70 bytes each are 7 GiB. A log may have more, in many interactions. */
#define NETWORK_VERTICES_MAX (100u << 20)
#define NETWORK_NONE UINT32_MAX
#define NETWORK_NAMES_MAX_BYTES (3u << 30) /* names have 32-bit offsets */

enum network_kind { NETWORK_SOURCE, NETWORK_FORK, NETWORK_JOIN, NETWORK_SIMPLE, NETWORK_SINK };
#define NETWORK_KINDS (NETWORK_SINK + 1)

/* True for the events of two sub-tasks: forks and joins. */
static inline bool network_is_pair(enum network_kind kind)
{
	return kind == NETWORK_FORK || kind == NETWORK_JOIN;
}

/* "source", ... The inverse: -ERR_INVALID. */
const char *network_kind_name(enum network_kind kind);
int network_kind_from_name(const char *s, size_t n, enum network_kind *out);

/* An object begun or ended: by the sub-task of the event, or by the one that it creates. */
struct network_use {
	uint32_t object;
	bool is_end, is_child;
};

/*
 * A contracted arc replaces a part of a network that no other part is connected to: a stretch of a
 * sub-task, with the forks and joins in it. Its pieces are its times by objects in use. In use are
 * the objects of `with`, and those of the arc's tail (is_child: only those that a new sub-task
 * inherits). The times add up to the length of the arc. A piece without time was beside the path.
 * Without pieces nothing more is in use: only the begin of the arc is known.
 */
#define NETWORK_PIECES_MAX 64 /* of an arc; contraction stops there */
struct network_piece {
	uint64_t with; /* objects below 64, as bits */
	int64_t ns; /* >= 0 */
	bool is_child;
	uint32_t use; /* of a built network */
};

struct network_stretch {
	const struct network_piece *piece; /* borrowed; of an event */
	uint32_t first, n; /* pieces; first: in those of the network */
	int64_t begin; /* time of its tail */
	bool is_ambiguous; /* a join in it has two critical paths */
};

/* All is borrowed for the call. */
struct network_event {
	const char *name; /* of the vertex; n bytes. NULL: "#" and its place */
	size_t n;
	int64_t t; /* ns */
	enum network_kind kind;
	bool is_message; /* of a fork: a message, not a thread */
	bool blocks; /* the sub-task waits from here for another one of the interaction */
	uint64_t task, other; /* ids of sub-tasks; other: created, or ended by a join */
	uint32_t node; /* the clock; NETWORK_NONE: not known */
	uint32_t place; /* in the input: a line, or the number of an event */
	const struct network_use *use;
	size_t nuse;
	const struct network_stretch *stretch; /* the arc of `task` that ends here; NULL: one arc */
};

struct network_vertex {
	int64_t t;
	uint32_t task, other; /* indices of sub-tasks */
	uint32_t tail; /* the vertex before in the sub-task, or its creator's; NONE: the source */
	uint32_t tail2; /* of a join: the last vertex of the sub-task that ends; else NONE */
	uint32_t use, child_use; /* in use on the arcs that begin here */
	uint32_t ops, nops; /* changes of the use */
	uint32_t name, place, node;
	uint32_t stretch; /* index + 1; 0: the own arc is not contracted */
	uint8_t kind; /* enum network_kind */
	bool is_message, blocks;
};

struct network_task {
	uint64_t id;
	uint32_t creator, ender; /* vertices; the source and sinks count; NONE: missing */
	uint32_t first, last; /* own vertices in their order; NONE: it has none */
};

enum network_anomaly {
	NETWORK_BOTH_BLOCKED, /* a join where both sub-tasks wait */
	NETWORK_WAIT_WITHOUT_JOIN, /* a wait that ends elsewhere is ordinary time */
	NETWORK_END_WITHOUT_BEGIN, /* of a use: ignored */
	NETWORK_BACKWARD_MESSAGE, /* received before it was sent, by the clocks of two nodes */
	NETWORK_ANOMALIES
};
const char *network_anomaly_name(enum network_anomaly a);

struct network {
	struct netuse *use; /* borrowed */
	struct network_vertex *v; /* after the build no arc leads to an earlier one */
	size_t n, cap;
	struct network_task *task;
	size_t ntask, task_cap;
	uint32_t v0, vf; /* the source; the last sink; NONE */
	size_t unsettled; /* creators and ends of sub-tasks that are missing */
	size_t count[NETWORK_KINDS];
	uint64_t anomaly[NETWORK_ANOMALIES];
	/* --- the rest is of this room */
	struct map ids; /* -> index of a sub-task + 1 */
	struct buf names; /* each with a 0; offset 0 is not a name */
	uint32_t *named; /* open addressing: vertex + 1 */
	size_t nnamed, named_slots;
	struct hash_key key;
	struct network_use *op;
	size_t nop, op_cap;
	struct network_stretch *stretch;
	size_t nstretch, stretch_cap;
	struct network_piece *piece;
	size_t npiece, piece_cap;
	bool is_unsorted, is_built;
};

void network_init(struct network *w, struct netuse *use);
/* removes all events and keeps the memory for another interaction */
void network_clear(struct network *w);
void network_done(struct network *w);

/*
 * ERR_EXISTS: a second vertex of that name, a second source, or a sub-task that is created or ended
 * twice. ERR_INVALID: a sub-task that creates or joins itself, or a name that is not printable.
 * ERR_LIMIT, ERR_NOMEM. e->line is the event's place.
 */
int network_add(struct network *w, const struct network_event *ev, struct err *e);

/* Adds a vertex of another network, with its own or other uses. As network_add(). */
struct network_copy {
	const struct network *from;
	uint32_t v;
	const struct network_use *use;
	size_t nuse;
};
int network_add_copy(struct network *w, const struct network_copy *c, struct err *e);

/* Adds all events of another network, which is unchanged. As network_add(). */
int network_absorb(struct network *w, const struct network *from, struct err *e);

/* True if every sub-task has a creator and an end: the interaction is over. */
bool network_is_whole(const struct network *w);

/*
 * Writes the missing parts of an interaction that is not whole: "the end of sub-task 3 (and 2
 * more)".
 */
void network_put_missing(const struct network *w, struct buf *out);

/*
 * Builds the network, once. ERR_NOTFOUND: it is not whole. ERR_INVALID: an event outside of its
 * sub-task, time that goes back, or a cycle; e->line is the place. ERR_EXISTS: an event is in the
 * middle of a contracted arc. ERR_LIMIT, ERR_NOMEM.
 */
int network_build(struct network *w, struct err *e);

#define NETWORK_NAME_BYTES 24
/* Returns the name of a vertex; one without a name gets a text in out. */
const char *network_name(const struct network *w, uint32_t v, char out[NETWORK_NAME_BYTES]);
uint32_t network_find(const struct network *w, const char *name); /* NONE */
static inline uint64_t network_id(const struct network *w, uint32_t task)
{
	return w->task[task].id;
}

/* An arc, by its head: that of the sub-task, or (is_ending) that of the sub-task that ends there.
 */
struct network_arc {
	uint32_t tail, head, task, use;
	bool blocks; /* a B-arc: from its tail on the sub-task waits for another one */
};

/* Returns false if there is none. Of a built network. */
bool network_arc(const struct network *w, uint32_t head, bool is_ending, struct network_arc *out);

/* Returns the contracted arc of the sub-task that ends at v; NULL: it is one arc. */
static inline const struct network_stretch *network_stretch(const struct network *w, uint32_t v)
{
	return w->v[v].stretch ? &w->stretch[w->v[v].stretch - 1] : NULL;
}

static inline int64_t network_length(const struct network *w, const struct network_arc *a)
{
	return w->v[a->head].t - w->v[a->tail].t;
}

/*
 * Sinks end an interaction in the order of their times, given here, then of ids of sub-tasks. True
 * if the sink v ends it later than the sink `other`.
 */
static inline bool network_ends_later(const struct network *w, uint32_t v, int64_t t,
				      uint32_t other, int64_t other_t)
{
	return t != other_t ? t > other_t
			    : network_id(w, w->v[v].task) > network_id(w, w->v[other].task);
}

/*
 * True if a critical path through the join takes the arc of the sub-task that ends there. The path
 * takes the arc that does not block. If neither blocks, it takes the arc of the join's own
 * sub-task, and *is_unique is false. If both block, it takes the one that began later.
 */
bool network_takes_ending(const struct network *w, uint32_t join, bool *is_unique);

/*
 * Returns the numbers of all vertices by sub-task, in it by time and then in the order of arrival.
 * The caller frees them. NULL: no memory.
 */
uint32_t *network_by_task(const struct network *w);

/* --- for this room: the steps of a build, and the names of vertices that have moved */
int network_order(struct network *w, struct err *e);
void network_rename(struct network *w);

#endif
