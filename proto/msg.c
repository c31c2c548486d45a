/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/msg.h"

#include "proto/frame.h"
#include "proto/internal.h"

#include <stdlib.h>
#include <string.h>

const char *msg_type_name(uint8_t type)
{
	const struct shape *s = shape_of(type);

	return s ? s->name : "?";
}

void msg_events_add_missing(struct buf *b, const char *what, const char *name)
{
	const char *between = b->n ? ", " : "";

	if (b->n + strlen(between) + strlen(what) + strlen(name) <= MSG_MISSING_MAX_BYTES)
		buf_printf(b, "%s%s%s", between, what, name);
}

/* --- encoding */

static int pack(struct buf *b, const ProtobufCMessage *wire)
{
	size_t n = protobuf_c_message_get_packed_size(wire);

	if (n >= FRAME_MAX_BYTES)
		return -ERR_LIMIT;
	if (buf_reserve(b, n))
		return -ERR_NOMEM;
	b->n += protobuf_c_message_pack(wire, b->p + b->n);
	b->p[b->n] = 0;
	return 0;
}

/* Refuses messages that a receiver would refuse: the guard checks the packed bytes. */
static int check_packed(const struct shape *s, const struct buf *b, size_t mark)
{
	struct guard_cost cost;
	struct err e;
	size_t start = mark + FRAME_HEADER_BYTES;

	if (!guard_check(s, b->p + start, b->n - start, &cost, &e))
		return 0;
	return e.code == ERR_LIMIT || cost.elements > PROTO_ELEMENTS_MAX ? -ERR_LIMIT
									 : -ERR_INVALID;
}

static int put_with(struct buf *b, uint8_t type, const void *plain, struct arena *a)
{
	const struct shape *s = shape_of(type);
	const ProtobufCMessage *wire = to_wire(s, plain, a);
	size_t mark = b->n;
	int rc;

	if (!wire)
		return -ERR_INTERNAL;
	frame_begin(b, type);
	rc = b->failed ? -ERR_NOMEM : pack(b, wire);
	if (!rc)
		rc = check_packed(s, b, mark);
	if (!rc)
		return frame_end(b, mark);
	b->n = mark;
	b->failed = false; /* the buffer is again as long as before this call */
	if (b->p)
		b->p[mark] = 0;
	return rc;
}

/* Puts a message. Most are small, so that their wire structs fit on the stack. */
static int put_plain(struct buf *b, uint8_t type, const void *plain)
{
	_Alignas(8) uint8_t small[1024];
	struct arena a = { small, 0, wire_bytes(shape_of(type), plain) };
	int rc;

	if (b->failed)
		return -ERR_NOMEM;
	if (a.size > sizeof(small))
		a.p = malloc(a.size);
	if (!a.p)
		return -ERR_NOMEM;
	rc = put_with(b, type, plain, &a);
	if (a.p != small)
		free(a.p);
	return rc;
}

#define PUT(NAME, name, number)                                         \
	int msg_##name##_put(struct buf *b, const struct msg_##name *m) \
	{                                                               \
		return put_plain(b, number, m);                         \
	}
MSG_TYPES(PUT)

int msg_put(struct buf *b, const struct msg *m)
{
	/* All members of the union begin at the address of the union. */
	return shape_of(m->type) ? put_plain(b, m->type, &m->hello) : -ERR_INVALID;
}

/* --- decoding */

static void *arena_alloc(void *arena, size_t n)
{
	return arena_get(arena, n);
}

static void arena_no_free(void *arena, void *p)
{
}

static int decode(const struct shape *s, const uint8_t *p, size_t n, struct arena *a,
		  struct msg *out)
{
	ProtobufCAllocator from_arena = { arena_alloc, arena_no_free, a };
	const ProtobufCMessage *wire = protobuf_c_message_unpack(s->desc, &from_arena, n, p);

	return wire ? from_wire(s, wire, &out->hello, a) : -ERR_LIMIT;
}

int msg_get(uint8_t type, const uint8_t *p, size_t n, struct msg **out, struct err *e)
{
	const struct shape *s = shape_of(type);
	struct guard_cost cost;
	struct arena a = { 0 };
	struct msg *m;
	int rc;

	if (!s)
		return err_set(e, ERR_PROTO, "BAD_TYPE %u", type);
	if (!n)
		p = (const uint8_t *)"";
	rc = guard_check(s, p, n, &cost, e);
	if (rc)
		return rc;
	a = (struct arena){ malloc(cost.heap_bytes), 0, cost.heap_bytes };
	if (!a.p)
		return err_nomem(e);
	m = arena_get(&a, sizeof(*m));
	m->type = type;
	if (decode(s, p, n, &a, m)) {
		free(a.p);
		return err_set(e, ERR_INTERNAL, "BAD_FIELD %s: guard and decoder disagree",
			       s->name);
	}
	*out = m;
	return 0;
}

void msg_free(struct msg *m)
{
	free(m);
}
