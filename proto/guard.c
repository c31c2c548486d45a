/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A check of a payload that runs before protobuf-c decodes it. That decoder
 *
 * - recurses without a limit
 * - turns two bytes into a heap object
 * - merges a repeated singular message in quadratic time
 * - accepts invalid UTF-8, and cuts strings at a NUL
 * - keeps unknown fields
 *
 * Recursion here is bounded by PROTO_DEPTH_MAX.
 */
#include "common/base/cur.h"
#include "common/base/str.h"
#include "proto/internal.h"

#include <math.h>
#include <string.h>

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LEN = 2, WIRE_32 = 5 };

/*
 * The decoder notes each field of a message in slabs, which double from 16 entries. An entry has 32
 * bytes at present.
 */
#define SCAN_ENTRY_BYTES 48
#define SCAN_ENTRIES_FREE 16

struct guard {
	struct guard_cost *cost;
	struct err *e;
	const char *path[PROTO_DEPTH_MAX + 2];
	unsigned depth; /* number of names in `path` */
};

static int refuse(struct guard *g, enum err_code code, const char *word, const char *why)
{
	char path[96];
	size_t at = 0;

	path[0] = 0;
	for (unsigned i = 0; i < g->depth && at < sizeof(path) - 1; i++) {
		if (i)
			path[at++] = '.';
		str_copy(path + at, sizeof(path) - at, g->path[i]);
		at += strlen(path + at);
	}
	return err_set(g->e, code, "%s %s%s%s", word, path, *why ? ": " : "", why);
}

static int bad_field(struct guard *g, const char *why)
{
	return refuse(g, ERR_PROTO, "BAD_FIELD", why);
}

static int spend(struct guard *g, size_t bytes)
{
	g->cost->heap_bytes += ARENA_ALIGN(bytes);
	if (g->cost->heap_bytes > DECODE_HEAP_MAX_BYTES)
		return refuse(g, ERR_LIMIT, "TOO_LARGE", "would take too much memory");
	return 0;
}

static int count_elements(struct guard *g, size_t n)
{
	g->cost->elements += n;
	if (g->cost->elements > PROTO_ELEMENTS_MAX)
		return refuse(g, ERR_PROTO, "TOO_MANY", "more elements than one frame may have");
	return 0;
}

static enum wire wire_of(ProtobufCType t)
{
	switch (t) {
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_32;
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return WIRE_64;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_LEN;
	default:
		return WIRE_VARINT;
	}
}

/* Refuses a value that the decoder would cut to 32 bits. */
static int check_varint(struct guard *g, const ProtobufCFieldDescriptor *f, uint64_t v)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return v > 1 ? bad_field(g, "not a truth value") : 0;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_SINT32:
		return v > UINT32_MAX ? bad_field(g, "more than 32 bits") : 0;
	case PROTOBUF_C_TYPE_INT32:
		return (int64_t)v < INT32_MIN || (int64_t)v > INT32_MAX
			       ? bad_field(g, "more than 32 bits")
			       : 0;
	case PROTOBUF_C_TYPE_ENUM:
		if (v > INT32_MAX || !protobuf_c_enum_descriptor_get_value(f->descriptor, (int)v))
			return bad_field(g, "not one of the known values");
		return 0;
	default:
		return 0;
	}
}

static int check_fixed(struct guard *g, const ProtobufCFieldDescriptor *f, const uint8_t *p)
{
	double d;
	float s;

	if (f->type == PROTOBUF_C_TYPE_DOUBLE) {
		memcpy(&d, p, sizeof(d));
		return isfinite(d) ? 0 : bad_field(g, "not a finite number");
	}
	if (f->type == PROTOBUF_C_TYPE_FLOAT) {
		memcpy(&s, p, sizeof(s));
		return isfinite(s) ? 0 : bad_field(g, "not a finite number");
	}
	return 0;
}

/* Scans one scalar with the wire type of its field. */
static int scan_scalar(struct guard *g, struct cur *c, const ProtobufCFieldDescriptor *f)
{
	enum wire w = wire_of(f->type);
	const uint8_t *p;
	uint64_t v;

	if (w == WIRE_VARINT) {
		v = cur_varint(c);
		return c->failed ? bad_field(g, "broken varint") : check_varint(g, f, v);
	}
	p = cur_bytes(c, w == WIRE_64 ? 8 : 4);
	return p ? check_fixed(g, f, p) : bad_field(g, "cut short");
}

/* True if the text contains C0, DEL or C1, which are not printable. p is UTF-8. */
static bool has_control(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 || p[i] == 0x7f || (p[i] == 0xc2 && i + 1 < n && p[i + 1] < 0xa0))
			return true;
	return false;
}

static int check_text(struct guard *g, const struct place *at, const uint8_t *p, size_t n)
{
	if (n > at->max_bytes)
		return bad_field(g, "too long");
	if (!str_is_utf8(p, n))
		return bad_field(g, "not UTF-8");
	if (has_control(p, n))
		return bad_field(g, "has a control character");
	return spend(g, n + 1);
}

static int check_bytes(struct guard *g, const struct place *at, size_t n)
{
	return n > at->max_bytes ? bad_field(g, "too long") : spend(g, n);
}

static int scan_packed(struct guard *g, const ProtobufCFieldDescriptor *f, const uint8_t *p,
		       size_t n)
{
	struct cur c;
	int rc = 0;

	cur_init(&c, p, n);
	while (!rc && cur_left(&c)) {
		rc = count_elements(g, 1);
		if (!rc)
			rc = spend(g, sizeof(uint64_t));
		if (!rc)
			rc = scan_scalar(g, &c, f);
	}
	return rc;
}

static int scan_message(struct guard *g, const struct shape *s, const uint8_t *p, size_t n);

static int scan_sub(struct guard *g, const struct place *at, const uint8_t *p, size_t n)
{
	int rc = spend(g, at->sub->bytes + sizeof(void *));

	return rc ? rc : scan_message(g, at->sub, p, n);
}

static int scan_delimited(struct guard *g, struct cur *c, const ProtobufCFieldDescriptor *f,
			  const struct place *at)
{
	size_t start = c->at;
	uint64_t n = cur_varint(c);
	const uint8_t *p;

	/* The decoder reads at most five bytes of a length. */
	if (c->failed || c->at - start > 5)
		return bad_field(g, "broken length");
	p = n <= cur_left(c) ? cur_bytes(c, (size_t)n) : NULL;
	if (!p)
		return bad_field(g, "longer than its message");
	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		return check_text(g, at, p, (size_t)n);
	case PROTOBUF_C_TYPE_BYTES:
		return check_bytes(g, at, (size_t)n);
	case PROTOBUF_C_TYPE_MESSAGE:
		return scan_sub(g, at, p, (size_t)n);
	default:
		return scan_packed(g, f, p, (size_t)n);
	}
}

/* Returns the field of a tag; NULL if the message has no field of that number and kind. */
static const ProtobufCFieldDescriptor *read_tag(struct cur *c, const struct shape *s, enum wire *w)
{
	size_t start = c->at;
	uint64_t tag = cur_varint(c);
	const ProtobufCFieldDescriptor *f;

	if (c->failed || c->at - start > 5 || tag > UINT32_MAX)
		return NULL;
	*w = tag & 7;
	f = protobuf_c_message_descriptor_get_field(s->desc, (unsigned)(tag >> 3));
	if (!f || *w == wire_of(f->type))
		return f;
	/* Repeated scalars may be packed, whatever the descriptor prefers. */
	return *w == WIRE_LEN && f->label == PROTOBUF_C_LABEL_REPEATED ? f : NULL;
}

/* A message that is being scanned. */
struct scan {
	const struct shape *shape;
	struct cur *c;
	uint64_t seen; /* a bit for each field that has occurred */
};

static int scan_field(struct guard *g, struct scan *s, const ProtobufCFieldDescriptor *f,
		      enum wire w)
{
	size_t index = (size_t)(f - s->shape->desc->fields);
	int rc;

	if (f->label != PROTOBUF_C_LABEL_REPEATED) {
		if (s->seen >> index & 1)
			return bad_field(g, "twice in one message");
		s->seen |= UINT64_C(1) << index;
	} else if (w == wire_of(f->type)) {
		/* The arrays of both structs have pointers or values. */
		rc = count_elements(g, 1);
		if (!rc)
			rc = spend(g, 2 * sizeof(struct bytes));
		if (rc)
			return rc;
	}
	if (w == WIRE_LEN)
		return scan_delimited(g, s->c, f, &s->shape->place[index]);
	return scan_scalar(g, s->c, f);
}

/*
 * fields: number of fields of this message. Slabs have room for at most twice that number, and the
 * first 16 entries cost nothing.
 */
static int spend_scan(struct guard *g, size_t fields)
{
	return fields > SCAN_ENTRIES_FREE ? spend(g, 2 * fields * SCAN_ENTRY_BYTES) : 0;
}

static int scan_fields(struct guard *g, const struct shape *s, struct cur *c)
{
	const ProtobufCFieldDescriptor *f;
	struct scan scan = { .shape = s, .c = c };
	size_t fields = 0;
	enum wire w;
	int rc = 0;

	while (!rc && cur_left(c)) {
		g->cost->fields++;
		fields++;
		f = read_tag(c, s, &w);
		if (!f)
			return bad_field(g, "it has an unknown field or a wrong wire type");
		g->path[g->depth++] = f->name;
		rc = scan_field(g, &scan, f, w);
		g->depth--;
	}
	return rc ? rc : spend_scan(g, fields);
}

static int scan_message(struct guard *g, const struct shape *s, const uint8_t *p, size_t n)
{
	struct cur c;
	int rc;

	/* path has the name of the root, and one name for each level. */
	if (g->depth > PROTO_DEPTH_MAX)
		return refuse(g, ERR_PROTO, "TOO_DEEP", "");
	rc = spend(g, s->desc->sizeof_message);
	if (rc)
		return rc;
	cur_init(&c, p, n);
	return scan_fields(g, s, &c);
}

int guard_check(const struct shape *s, const uint8_t *p, size_t n, struct guard_cost *cost,
		struct err *e)
{
	struct guard g = { .cost = cost, .e = e, .path = { s->name }, .depth = 1 };

	*cost = (struct guard_cost){ .heap_bytes = ARENA_ALIGN(sizeof(struct msg)) };
	return scan_message(&g, s, p, n);
}
