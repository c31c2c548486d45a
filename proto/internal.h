/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of this room: the layout of each plain struct and of its generated one. Other
 * rooms and their tests do not include it.
 */
#ifndef PROTO_INTERNAL_H
#define PROTO_INTERNAL_H

#include "proto/msg.h"

#include <protobuf-c/protobuf-c.h>

/* One field of a plain struct, in the order of the descriptor's fields and with the same name. */
struct place {
	const char *name;
	size_t offset;
	size_t count_offset; /* offset of the size_t that counts a repeated field */
	size_t max_bytes; /* a string or bytes: largest accepted size */
	const struct shape *sub; /* shape of the message, or of elements that are messages */
};

struct shape {
	const char *name; /* name in paths, such as "reply" */
	const ProtobufCMessageDescriptor *desc;
	size_t bytes; /* size of the plain struct */
	const struct place *place;
};

/* Limits of strings and bytes, by their names in omig.proto. */
enum {
	MAX_NAME = NAME_MAX_BYTES,
	MAX_ROLE = 32,
	MAX_TOKEN = 64, /* tokens of objects and of conditional requests */
	MAX_IDENTITY = 1024, /* omig:ROLE/SITE/HOST/OWNER/UID/TOKEN with its parts escaped */
	MAX_ADDRESS = 1024, /* "host:port", or a list of a few */
	MAX_REASON = 1024, /* a sentence for users */
	MAX_SECRET = 64,
	MAX_DER = 8192, /* a certificate of ours has 700 bytes */
	MAX_SERIAL = 20, /* X.509 permits no more */
	MAX_WHOLE = FRAME_MAX_BYTES,
};
static_assert(MSG_MISSING_MAX_BYTES <= MAX_REASON, "the names that an end lacks fit");

/* Made from omig.proto, by type; NULL for a number without a message. */
extern const struct shape *const shapes[MSG_TYPE_END];

static inline const struct shape *shape_of(uint8_t type)
{
	return type < MSG_TYPE_END ? shapes[type] : NULL;
}

struct guard_cost {
	size_t fields; /* fields that were examined, as a measure of the work */
	size_t elements; /* elements of repeated fields */
	size_t heap_bytes; /* upper bound of the arena that decoding needs */
};

/*
 * Examines the payload without allocating memory. Refuses input that the decoder would misread, or
 * would expand too much. *cost is the cost up to the end or the failure.
 */
int guard_check(const struct shape *s, const uint8_t *p, size_t n, struct guard_cost *cost,
		struct err *e);

/* A single block of memory; allocations are valid until the block is freed. */
struct arena {
	uint8_t *p;
	size_t used, size;
};

#define ARENA_ALIGN(n) (((n) + 7) & ~(size_t)7)

/* Returns NULL when the block is full. */
void *arena_get(struct arena *a, size_t n);

/* Returns an upper bound of the arena that to_wire() needs for this plain struct. */
size_t wire_bytes(const struct shape *s, const void *plain);

/*
 * Returns the generated struct, which borrows strings of the plain one. Returns NULL if the arena
 * is too small.
 */
ProtobufCMessage *to_wire(const struct shape *s, const void *plain, struct arena *a);

/*
 * Fills the plain struct; strings and bytes point into the wire struct. Fails with ERR_LIMIT if the
 * arena is too small.
 */
int from_wire(const struct shape *s, const ProtobufCMessage *wire, void *plain, struct arena *a);

#endif
