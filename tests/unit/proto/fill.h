/* SPDX-License-Identifier: Apache-2.0 */
/* Random messages of any type, made along the tables of the room. */
#ifndef TESTS_UNIT_PROTO_FILL_H
#define TESTS_UNIT_PROTO_FILL_H

#include "common/base/array.h"
#include "common/base/rng.h"
#include "proto/internal.h"

#include <stdlib.h>
#include <string.h>

/* Memory of one message; fill_done() frees all of it. */
struct fill {
	struct rng rng;
	void *block[4096];
	size_t n;
};

static inline void *fill_alloc(struct fill *f, size_t n)
{
	void *p = calloc(1, n + 1);

	if (!p || f->n == ARRAY_LEN(f->block))
		abort();
	f->block[f->n++] = p;
	return p;
}

static inline void fill_done(struct fill *f)
{
	while (f->n)
		free(f->block[--f->n]);
}

static inline const char *fill_text(struct fill *f, size_t max)
{
	static const char *const pieces[] = {
		"a", "node", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8e\x88", "s_1,", " "
	};
	size_t want = rng_below(&f->rng, max < 40 ? max + 1 : 40), at = 0;
	char *s = fill_alloc(f, want + 8);

	while (at < want) {
		const char *piece = pieces[rng_below(&f->rng, 7)];

		if (at + strlen(piece) > want)
			break;
		memcpy(s + at, piece, strlen(piece));
		at += strlen(piece);
	}
	return s;
}

static inline struct bytes fill_bytes(struct fill *f, size_t max)
{
	size_t n = rng_below(&f->rng, max < 64 ? max + 1 : 64);
	uint8_t *p = fill_alloc(f, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)rng_next(&f->rng);
	return (struct bytes){ n ? p : NULL, n };
}

/* Small and large numbers alike. */
static inline uint64_t fill_number(struct fill *f)
{
	return rng_next(&f->rng) >> rng_below(&f->rng, 64);
}

static void fill_shape(struct fill *f, const struct shape *s, void *plain);

static inline void fill_enum(struct fill *f, const ProtobufCFieldDescriptor *d, void *to)
{
	const ProtobufCEnumDescriptor *e = d->descriptor;
	int v = e->values[rng_below(&f->rng, e->n_values)].value;

	memcpy(to, &v, sizeof(v));
}

static inline void fill_one(struct fill *f, const ProtobufCFieldDescriptor *d,
			    const struct place *pl, void *to)
{
	uint64_t v = fill_number(f);
	const char *s;
	void *sub;

	switch (d->type) {
	case PROTOBUF_C_TYPE_STRING:
		s = fill_text(f, pl->max_bytes);
		memcpy(to, &s, sizeof(s));
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*(struct bytes *)to = fill_bytes(f, pl->max_bytes);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		sub = v & 1 ? fill_alloc(f, pl->sub->bytes) : NULL;
		if (sub)
			fill_shape(f, pl->sub, sub);
		memcpy(to, &sub, sizeof(sub));
		break;
	case PROTOBUF_C_TYPE_BOOL:
		*(bool *)to = v & 1;
		break;
	case PROTOBUF_C_TYPE_ENUM:
		fill_enum(f, d, to);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		memcpy(to, &v, 8);
		break;
	default:
		memcpy(to, &v, 4);
	}
}

static inline size_t fill_item_bytes(const ProtobufCFieldDescriptor *d, const struct place *pl)
{
	return d->type == PROTOBUF_C_TYPE_MESSAGE ? pl->sub->bytes
	       : d->type == PROTOBUF_C_TYPE_BYTES ? sizeof(struct bytes)
						  : 4;
}

static inline void fill_many(struct fill *f, const ProtobufCFieldDescriptor *d,
			     const struct place *pl, uint8_t *plain)
{
	size_t n = rng_below(&f->rng, 5), item = fill_item_bytes(d, pl);
	uint8_t *p = n ? fill_alloc(f, n * item) : NULL;

	for (size_t i = 0; i < n; i++) {
		if (d->type == PROTOBUF_C_TYPE_MESSAGE)
			fill_shape(f, pl->sub, p + i * item);
		else
			fill_one(f, d, pl, p + i * item);
	}
	memcpy(plain + pl->offset, &p, sizeof(p));
	memcpy(plain + pl->count_offset, &n, sizeof(n));
}

static inline void fill_shape(struct fill *f, const struct shape *s, void *plain)
{
	for (unsigned i = 0; i < s->desc->n_fields; i++) {
		const ProtobufCFieldDescriptor *d = &s->desc->fields[i];

		if (d->label == PROTOBUF_C_LABEL_REPEATED)
			fill_many(f, d, &s->place[i], plain);
		else
			fill_one(f, d, &s->place[i], (uint8_t *)plain + s->place[i].offset);
	}
}

static inline struct msg *fill_msg(struct fill *f, uint8_t type)
{
	struct msg *m = fill_alloc(f, sizeof(*m));

	m->type = type;
	fill_shape(f, shape_of(type), &m->hello);
	return m;
}

/* --- equality, along the same tables */

static bool same_shape(const struct shape *s, const void *a, const void *b);

static inline bool same_bytes(const struct bytes *a, const struct bytes *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

static inline const void *same_pointer(const void *p)
{
	const void *v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline bool same_one(const ProtobufCFieldDescriptor *d, const struct place *pl,
			    const void *a, const void *b)
{
	const char *x, *y;

	switch (d->type) {
	case PROTOBUF_C_TYPE_STRING:
		x = same_pointer(a);
		y = same_pointer(b);
		return !strcmp(x ? x : "", y ? y : "");
	case PROTOBUF_C_TYPE_BYTES:
		return same_bytes(a, b);
	case PROTOBUF_C_TYPE_MESSAGE:
		if (!same_pointer(a) || !same_pointer(b))
			return same_pointer(a) == same_pointer(b);
		return same_shape(pl->sub, same_pointer(a), same_pointer(b));
	case PROTOBUF_C_TYPE_BOOL:
		return *(const bool *)a == *(const bool *)b;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
		return !memcmp(a, b, 8);
	default:
		return !memcmp(a, b, 4);
	}
}

static inline bool same_many(const ProtobufCFieldDescriptor *d, const struct place *pl,
			     const uint8_t *a, const uint8_t *b)
{
	const uint8_t *p = same_pointer(a + pl->offset), *q = same_pointer(b + pl->offset);
	size_t n, m, item = fill_item_bytes(d, pl);

	memcpy(&n, a + pl->count_offset, sizeof(n));
	memcpy(&m, b + pl->count_offset, sizeof(m));
	if (n != m)
		return false;
	for (size_t i = 0; i < n; i++)
		if (d->type == PROTOBUF_C_TYPE_MESSAGE
			    ? !same_shape(pl->sub, p + i * item, q + i * item)
			    : !same_one(d, pl, p + i * item, q + i * item))
			return false;
	return true;
}

static inline bool same_shape(const struct shape *s, const void *a, const void *b)
{
	for (unsigned i = 0; i < s->desc->n_fields; i++) {
		const ProtobufCFieldDescriptor *d = &s->desc->fields[i];
		const struct place *pl = &s->place[i];
		bool same = d->label == PROTOBUF_C_LABEL_REPEATED
				    ? same_many(d, pl, a, b)
				    : same_one(d, pl, (const uint8_t *)a + pl->offset,
					       (const uint8_t *)b + pl->offset);

		if (!same)
			return false;
	}
	return true;
}

static inline bool same_msg(const struct msg *a, const struct msg *b)
{
	return a->type == b->type && same_shape(shape_of(a->type), &a->hello, &b->hello);
}

#endif
