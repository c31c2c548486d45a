/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this room: the layout of each plain struct and the generated one. Not for
 * other rooms (nor their tests).
 */
#ifndef PROTO_INTERNAL_H
#define PROTO_INTERNAL_H

#include "proto/msg.h"

#include <protobuf-c/protobuf-c.h>

/*
 * One field of a plain struct. Places are in the order of the descriptor's fields, with the same
 * names.
 */
struct place {
	const char *name;
	size_t offset;
	size_t count_offset; /* of the size_t of a repeated field */
	size_t max_bytes; /* a string or bytes: longest that is accepted */
	const struct shape *sub; /* a message, or elements that are messages */
};

struct shape {
	const char *name; /* as in paths: "reply" */
	const ProtobufCMessageDescriptor *desc;
	size_t bytes; /* of the plain struct */
	const struct place *place;
};

/* Limits of strings and bytes, by their names in omig.proto. */
enum {
	MAX_NAME = NAME_MAX_BYTES,
	MAX_ROLE = 32,
	MAX_TOKEN = 64, /* tokens of objects and of conditional requests */
	MAX_IDENTITY = 1024, /* omig:ROLE/SITE/HOST/OWNER/UID/TOKEN with its parts escaped */
	MAX_ADDRESS = 1024, /* "host:port" or a list of a few */
	MAX_REASON = 1024, /* a sentence for people */
	MAX_SECRET = 64,
	MAX_DER = 8192, /* a certificate of ours has 700 bytes */
	MAX_SERIAL = 20, /* X.509 allows no more */
	MAX_WHOLE = FRAME_MAX_BYTES,
};
static_assert(MSG_MISSING_MAX_BYTES <= MAX_REASON, "the names that an end lacks fit");

/* Made from omig.proto, by type; NULL for a number that is no message. */
extern const struct shape *const shapes[MSG_TYPE_END];

static inline const struct shape *shape_of(uint8_t type)
{
	return type < MSG_TYPE_END ? shapes[type] : NULL;
}

struct guard_cost {
	size_t fields; /* examined: the work that was done */
	size_t elements; /* of repeated fields */
	size_t heap_bytes; /* upper bound of the arena that decoding needs */
};

/*
 * Walks the payload without allocating. Refuses input that the decoder would accept wrongly, fail
 * on or expand too much. *cost is the cost up to the end or the failure.
 */
int guard_check(const struct shape *s, const uint8_t *p, size_t n, struct guard_cost *cost,
		struct err *e);

/* One block; allocations are valid until the block is freed. */
struct arena {
	uint8_t *p;
	size_t used, size;
};

#define ARENA_ALIGN(n) (((n) + 7) & ~(size_t)7)

/* NULL when the block is full. */
void *arena_get(struct arena *a, size_t n);

/* Returns an upper bound of the arena that to_wire() needs for this struct. */
size_t wire_bytes(const struct shape *s, const void *plain);

/*
 * Returns the generated struct, which borrows the plain one's strings. NULL: the arena is too
 * small.
 */
ProtobufCMessage *to_wire(const struct shape *s, const void *plain, struct arena *a);

/* Fills the plain struct; strings and bytes point into the wire struct. -ERR_LIMIT: as above. */
int from_wire(const struct shape *s, const ProtobufCMessage *wire, void *plain, struct arena *a);

#endif
