/* SPDX-License-Identifier: Apache-2.0 */
/* Converts plain structs to generated ones and back, field by field along the descriptor. */
#include "proto/internal.h"

#include <string.h>

static void *at(void *p, size_t offset)
{
	return (uint8_t *)p + offset;
}

static const void *at_const(const void *p, size_t offset)
{
	return (const uint8_t *)p + offset;
}

/*
 * Returns the size of a scalar, which is equal in both structs. Not for bool, whose sizes differ.
 */
static size_t scalar_bytes(ProtobufCType t)
{
	switch (t) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return 8;
	default:
		return 4;
	}
}

void *arena_get(struct arena *a, size_t n)
{
	uint8_t *p = a->p + a->used;

	if (n > a->size || a->used > a->size - ARENA_ALIGN(n))
		return NULL;
	a->used += ARENA_ALIGN(n);
	return p;
}

/* --- plain -> wire */

static size_t count_of(const struct place *pl, const void *plain)
{
	size_t n;

	memcpy(&n, at_const(plain, pl->count_offset), sizeof(n));
	return n;
}

static const void *pointer_of(const struct place *pl, const void *plain)
{
	const void *p;

	memcpy(&p, at_const(plain, pl->offset), sizeof(p));
	return p;
}

static size_t repeated_bytes(const ProtobufCFieldDescriptor *f, const struct place *pl,
			     const void *plain)
{
	size_t n = count_of(pl, plain), total = 0;
	const uint8_t *item = pointer_of(pl, plain);

	if (f->type == PROTOBUF_C_TYPE_BYTES)
		return n * sizeof(ProtobufCBinaryData);
	if (f->type != PROTOBUF_C_TYPE_MESSAGE)
		return 0; /* the plain array serves as it is */
	for (size_t i = 0; i < n; i++)
		total += wire_bytes(pl->sub, item + i * pl->sub->bytes);
	return total + n * sizeof(void *) + sizeof(void *);
}

size_t wire_bytes(const struct shape *s, const void *plain)
{
	size_t total = ARENA_ALIGN(s->desc->sizeof_message);

	for (unsigned i = 0; i < s->desc->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &s->desc->fields[i];
		const struct place *pl = &s->place[i];

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			total += repeated_bytes(f, pl, plain);
		else if (f->type == PROTOBUF_C_TYPE_MESSAGE && pointer_of(pl, plain))
			total += wire_bytes(pl->sub, pointer_of(pl, plain));
	}
	return total;
}

static void bytes_to_wire(const struct bytes *b, ProtobufCBinaryData *out)
{
	*out = (ProtobufCBinaryData){ .len = b->n, .data = (uint8_t *)(uintptr_t)b->p };
}

static int one_to_wire(const ProtobufCFieldDescriptor *f, const struct place *pl, const void *plain,
		       ProtobufCMessage *wire, struct arena *a)
{
	const void *from = at_const(plain, pl->offset);
	void *to = at(wire, f->offset);
	const void *p;

	switch (f->type) {
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)to = *(const bool *)from;
		return 0;
	case PROTOBUF_C_TYPE_BYTES:
		bytes_to_wire(from, to);
		return 0;
	case PROTOBUF_C_TYPE_STRING:
		p = pointer_of(pl, plain);
		if (p)
			memcpy(to, &p, sizeof(p));
		return 0;
	case PROTOBUF_C_TYPE_MESSAGE:
		p = pointer_of(pl, plain);
		if (p)
			p = to_wire(pl->sub, p, a);
		memcpy(to, &p, sizeof(p));
		return p || !pointer_of(pl, plain) ? 0 : -ERR_LIMIT;
	default:
		memcpy(to, from, scalar_bytes(f->type));
		return 0;
	}
}

static void *list_to_wire(const ProtobufCFieldDescriptor *f, const struct place *pl,
			  const void *plain, struct arena *a)
{
	const uint8_t *item = pointer_of(pl, plain);
	size_t n = count_of(pl, plain);
	ProtobufCBinaryData *data;
	ProtobufCMessage **sub;

	if (f->type == PROTOBUF_C_TYPE_BYTES) {
		data = arena_get(a, n * sizeof(*data));
		for (size_t i = 0; data && i < n; i++)
			bytes_to_wire((const struct bytes *)(const void *)item + i, &data[i]);
		return data;
	}
	if (f->type != PROTOBUF_C_TYPE_MESSAGE)
		return (void *)(uintptr_t)item;
	sub = arena_get(a, n * sizeof(*sub));
	for (size_t i = 0; sub && i < n; i++) {
		sub[i] = to_wire(pl->sub, item + i * pl->sub->bytes, a);
		if (!sub[i])
			return NULL;
	}
	return sub;
}

static int many_to_wire(const ProtobufCFieldDescriptor *f, const struct place *pl,
			const void *plain, ProtobufCMessage *wire, struct arena *a)
{
	size_t n = count_of(pl, plain);
	void *list;

	if (!n)
		return 0;
	list = list_to_wire(f, pl, plain, a);
	if (!list)
		return -ERR_LIMIT;
	memcpy(at(wire, f->quantifier_offset), &n, sizeof(n));
	memcpy(at(wire, f->offset), &list, sizeof(list));
	return 0;
}

ProtobufCMessage *to_wire(const struct shape *s, const void *plain, struct arena *a)
{
	ProtobufCMessage *wire = arena_get(a, s->desc->sizeof_message);
	int rc = 0;

	if (!wire)
		return NULL;
	s->desc->message_init(wire);
	for (unsigned i = 0; i < s->desc->n_fields && !rc; i++) {
		const ProtobufCFieldDescriptor *f = &s->desc->fields[i];

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			rc = many_to_wire(f, &s->place[i], plain, wire, a);
		else
			rc = one_to_wire(f, &s->place[i], plain, wire, a);
	}
	return rc ? NULL : wire;
}

/* --- wire -> plain */

static void bytes_from_wire(const ProtobufCBinaryData *b, struct bytes *out)
{
	*out = (struct bytes){ b->len ? b->data : NULL, b->len };
}

static int sub_from_wire(const struct place *pl, const ProtobufCMessage *sub, void *to,
			 struct arena *a)
{
	void *made = NULL;
	int rc = 0;

	if (sub) {
		made = arena_get(a, pl->sub->bytes);
		rc = made ? from_wire(pl->sub, sub, made, a) : -ERR_LIMIT;
	}
	memcpy(to, &made, sizeof(made));
	return rc;
}

static int one_from_wire(const ProtobufCFieldDescriptor *f, const struct place *pl,
			 const ProtobufCMessage *wire, void *plain, struct arena *a)
{
	const void *from = at_const(wire, f->offset);
	void *to = at(plain, pl->offset);

	switch (f->type) {
	case PROTOBUF_C_TYPE_BOOL:
		*(bool *)to = *(const protobuf_c_boolean *)from;
		return 0;
	case PROTOBUF_C_TYPE_BYTES:
		bytes_from_wire(from, to);
		return 0;
	case PROTOBUF_C_TYPE_STRING:
		memcpy(to, from, sizeof(char *));
		return 0;
	case PROTOBUF_C_TYPE_MESSAGE:
		return sub_from_wire(pl, *(ProtobufCMessage *const *)from, to, a);
	default:
		memcpy(to, from, scalar_bytes(f->type));
		return 0;
	}
}

/* Returns an array for n plain elements, n > 0; NULL without room. */
static const void *list_from_wire(const ProtobufCFieldDescriptor *f, const struct place *pl,
				  const void *list, size_t n, struct arena *a)
{
	ProtobufCMessage *const *sub = list;
	const ProtobufCBinaryData *data = list;
	struct bytes *bytes;
	uint8_t *item;

	if (f->type == PROTOBUF_C_TYPE_BYTES) {
		bytes = arena_get(a, n * sizeof(*bytes));
		for (size_t i = 0; bytes && i < n; i++)
			bytes_from_wire(&data[i], &bytes[i]);
		return bytes;
	}
	if (f->type != PROTOBUF_C_TYPE_MESSAGE)
		return list;
	item = arena_get(a, n * pl->sub->bytes);
	for (size_t i = 0; item && i < n; i++)
		if (from_wire(pl->sub, sub[i], item + i * pl->sub->bytes, a))
			return NULL;
	return item;
}

static int many_from_wire(const ProtobufCFieldDescriptor *f, const struct place *pl,
			  const ProtobufCMessage *wire, void *plain, struct arena *a)
{
	const void *list, *made = NULL;
	size_t n;

	memcpy(&n, at_const(wire, f->quantifier_offset), sizeof(n));
	memcpy(&list, at_const(wire, f->offset), sizeof(list));
	if (n) {
		made = list_from_wire(f, pl, list, n, a);
		if (!made)
			return -ERR_LIMIT;
	}
	memcpy(at(plain, pl->offset), &made, sizeof(made));
	memcpy(at(plain, pl->count_offset), &n, sizeof(n));
	return 0;
}

int from_wire(const struct shape *s, const ProtobufCMessage *wire, void *plain, struct arena *a)
{
	int rc = 0;

	memset(plain, 0, s->bytes);
	for (unsigned i = 0; i < s->desc->n_fields && !rc; i++) {
		const ProtobufCFieldDescriptor *f = &s->desc->fields[i];

		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			rc = many_from_wire(f, &s->place[i], wire, plain, a);
		else
			rc = one_from_wire(f, &s->place[i], wire, plain, a);
	}
	return rc;
}
