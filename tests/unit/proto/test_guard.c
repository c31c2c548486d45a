/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-made bombs: coverage-guided fuzzing does not find them. The oracle is work and memory, not
 * time.
 */
#include "common/base/limits.h"
#include "proto/internal.h"
#include "common/base/array.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

#define MIB (1024 * 1024)

/*
 * A message that contains itself, as no message of ours does:
 * message Node { Node child = 1; repeated Node list = 3; double d = 4; float f = 5; bool b = 6;
 * int32 i = 7; }
 */
struct node_wire {
	ProtobufCMessage base;
	struct node_wire *child;
	size_t n_list;
	struct node_wire **list;
	double d;
	float f;
	protobuf_c_boolean b;
	int32_t i;
};

static const ProtobufCMessageDescriptor node_desc;
#define FIELD(name_, id_, label_, type_, quant, sub)                           \
	{                                                                      \
		.name = #name_, .id = id_, .label = PROTOBUF_C_LABEL_##label_, \
		.type = PROTOBUF_C_TYPE_##type_, .quantifier_offset = quant,   \
		.offset = offsetof(struct node_wire, name_), .descriptor = sub \
	}
static const ProtobufCFieldDescriptor node_fields[] = {
	FIELD(child, 1, NONE, MESSAGE, 0, &node_desc),
	FIELD(list, 3, REPEATED, MESSAGE, offsetof(struct node_wire, n_list), &node_desc),
	FIELD(d, 4, NONE, DOUBLE, 0, NULL),
	FIELD(f, 5, NONE, FLOAT, 0, NULL),
	FIELD(b, 6, NONE, BOOL, 0, NULL),
	FIELD(i, 7, NONE, INT32, 0, NULL),
};
static const ProtobufCIntRange node_ranges[] = { { 1, 0 }, { 3, 1 }, { 0, 6 } };
static const ProtobufCMessageDescriptor node_desc = {
	.magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
	.name = "Node",
	.sizeof_message = sizeof(struct node_wire),
	.n_fields = 6,
	.fields = node_fields,
	.n_field_ranges = 2,
	.field_ranges = node_ranges,
};
static const struct shape node_shape;
static const struct place node_places[] = {
	{ .name = "child", .sub = &node_shape },
	{ .name = "list", .sub = &node_shape },
	{ .name = "d" },
	{ .name = "f" },
	{ .name = "b" },
	{ .name = "i" },
};
static const struct shape node_shape = { "node", &node_desc, 64, node_places };

struct verdict {
	int rc;
	struct guard_cost cost;
	struct err e;
	size_t allocations;
};

static struct verdict judge(const struct shape *s, const void *p, size_t n)
{
	struct verdict v = { 0 };

	alloc_sweep_arm(0);
	v.rc = guard_check(s, p, n, &v.cost, &v.e);
	v.allocations = alloc_sweep_count();
	ck_assert_uint_eq(v.allocations, 0);
	return v;
}

static struct verdict judge_type(uint8_t type, const void *p, size_t n)
{
	return judge(shape_of(type), p, n);
}

/* Repeats a piece up to n bytes. */
static uint8_t *repeat(const char *piece, size_t size, size_t n)
{
	uint8_t *p = malloc(n);

	ck_assert_ptr_nonnull(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)piece[i % size];
	return p;
}

/* Wraps from the inside: a payload of `depth` messages in each other. */
static void nest(struct buf *b, unsigned depth)
{
	size_t total = depth * 6 + 16, at = total, n = 0;
	uint8_t *p = calloc(1, total);

	for (unsigned i = 1; i < depth; i++) {
		uint8_t head[6];
		struct buf h = BUF_INIT(16);

		buf_putc(&h, 0x0a);
		buf_put_varint(&h, n);
		memcpy(head, h.p, h.n);
		at -= h.n;
		n += h.n;
		memcpy(p + at, head, h.n);
		buf_done(&h);
	}
	buf_put(b, p + at, n);
	free(p);
}

TEST(nesting_is_refused_at_level_nine)
{
	for (unsigned depth = 7; depth <= 9; depth++) {
		struct buf b = BUF_INIT(MIB);
		struct verdict v;

		nest(&b, depth);
		v = judge(&node_shape, b.n ? b.p : (const uint8_t *)"", b.n);
		ck_assert_int_eq(v.rc, depth > PROTO_DEPTH_MAX ? -ERR_PROTO : 0);
		buf_done(&b);
	}
}

TEST(the_message_nested_8735_deep_costs_eight_fields)
{
	struct buf b = BUF_INIT(MIB);
	struct verdict v;

	nest(&b, 8735);
	ck_assert_uint_gt(b.n, 29000);
	v = judge(&node_shape, b.p, b.n);
	ck_assert_int_eq(v.rc, -ERR_PROTO);
	ck_assert_str_eq(v.e.text, "TOO_DEEP node.child.child.child.child.child.child.child.child");
	ck_assert_uint_eq(v.cost.fields, PROTO_DEPTH_MAX);
	buf_done(&b);
}

TEST(a_mebibyte_of_empty_elements_is_refused_at_20001)
{
	uint8_t *p = repeat("\x1a\x00", 2, MIB);
	struct verdict v;

	/* Field 3 is `entry` in a reply and `object` in a directory. */
	v = judge_type(MSG_REPLY, p, MIB);
	ck_assert_int_eq(v.rc, -ERR_PROTO);
	ck_assert_str_eq(v.e.text, "TOO_MANY reply.entry: more elements than one frame may have");
	ck_assert_uint_eq(v.cost.elements, PROTO_ELEMENTS_MAX + 1);
	ck_assert_uint_eq(v.cost.fields, PROTO_ELEMENTS_MAX + 1);
	v = judge_type(MSG_DIRECTORY, p, MIB);
	ck_assert_int_lt(v.rc, 0);
	ck_assert_uint_le(v.cost.elements, PROTO_ELEMENTS_MAX + 1);
	v = judge(&node_shape, p, MIB);
	ck_assert_uint_eq(v.cost.elements, PROTO_ELEMENTS_MAX + 1);
	free(p);
}

TEST(twenty_thousand_elements_pass_and_decode_within_the_budget)
{
	uint8_t *p = repeat("\x1a\x00", 2, 2 * PROTO_ELEMENTS_MAX);
	struct verdict v = judge_type(MSG_REPLY, p, 2 * PROTO_ELEMENTS_MAX);
	struct msg *m = NULL;
	struct err e = { 0 };
	size_t allocations;
	int rc;

	ck_assert_int_eq(v.rc, 0);
	ck_assert_uint_le(v.cost.heap_bytes, DECODE_HEAP_MAX_BYTES);
	alloc_sweep_arm(0);
	rc = msg_get(MSG_REPLY, p, 2 * PROTO_ELEMENTS_MAX, &m, &e);
	allocations = alloc_sweep_count();
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(allocations, 1);
	ck_assert_uint_eq(m->reply.nentry, PROTO_ELEMENTS_MAX);
	msg_free(m);
	free(p);
}

TEST(memory_is_refused_before_it_is_taken)
{
	/*
	 * 20,000 directory entries with five texts each would need more than the decoder may have.
	 */
	static const char object[] = "\x1a\x32\x0a\x08"
				     "aaaaaaaa"
				     "\x12\x08"
				     "bbbbbbbb"
				     "\x22\x08"
				     "cccccccc"
				     "\x42\x08"
				     "dddddddd"
				     "\x4a\x08"
				     "eeeeeeee";
	size_t n = (sizeof(object) - 1) * PROTO_ELEMENTS_MAX;
	uint8_t *p = repeat(object, sizeof(object) - 1, n);
	struct verdict v = judge_type(MSG_DIRECTORY, p, n);

	ck_assert_int_eq(v.rc, -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(v.e.text, "TOO_LARGE directory"));
	free(p);
}

TEST(memory_up_to_its_limit_is_granted)
{
	struct shape leaf = { "leaf", &node_desc, 64, node_places };
	struct place places[6] = { { .name = "child", .sub = &leaf } };
	const struct shape root = { "root", &node_desc, 64, places };
	struct verdict v = judge(&root, "\x0a\x00", 2);

	ck_assert_int_eq(v.rc, 0);
	leaf.bytes += DECODE_HEAP_MAX_BYTES - v.cost.heap_bytes;
	v = judge(&root, "\x0a\x00", 2);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_uint_eq(v.cost.heap_bytes, DECODE_HEAP_MAX_BYTES);
	leaf.bytes++;
	ck_assert_int_eq(judge(&root, "\x0a\x00", 2).rc, -ERR_LIMIT);
}

TEST(a_singular_message_twice_is_refused_at_the_second)
{
	uint8_t *p = repeat("\x0a\x02\x1a\x00", 4, MIB);
	uint8_t *q = repeat("\x22\x02\x1a\x00", 4, MIB);
	struct verdict v = judge(&node_shape, p, MIB);

	ck_assert_int_eq(v.rc, -ERR_PROTO);
	ck_assert_str_eq(v.e.text, "BAD_FIELD node.child: twice in one message");
	ck_assert_uint_eq(v.cost.fields, 3);
	v = judge_type(MSG_REPLY, q, MIB);
	ck_assert_str_eq(v.e.text, "BAD_FIELD reply.coverage: twice in one message");
	ck_assert_uint_eq(v.cost.fields, 3);
	free(p);
	free(q);
}

struct bad {
	uint8_t type;
	const char *bytes;
	size_t n;
	const char *text;
};

#define BAD(type, bytes, text)                             \
	{                                                  \
		MSG_##type, bytes, sizeof(bytes) - 1, text \
	}
static const struct bad bad_inputs[] = {
	BAD(CANCEL, "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
	    "BAD_FIELD cancel.id: broken varint"),
	BAD(CANCEL, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
	    "BAD_FIELD cancel.id: broken varint"),
	BAD(CANCEL, "\x08", "BAD_FIELD cancel.id: broken varint"),
	BAD(CANCEL, "\x08\x80", "BAD_FIELD cancel.id: broken varint"),
	BAD(CANCEL, "\x08\x01\x08\x02", "BAD_FIELD cancel.id: twice in one message"),
	BAD(CANCEL, "\x10\x01", "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(CANCEL, "\x09\1\2\3\4\5\6\7\x08",
	    "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(CANCEL, "\x0b", "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(CANCEL, "\x00", "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(CANCEL, "\x88\x80\x80\x80\x80\x00\x01",
	    "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(CANCEL, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	    "BAD_FIELD cancel: it has an unknown field or a wrong wire type"),
	BAD(BYE, "\x0a\xff\xff\xff\xff\x0f", "BAD_FIELD bye.reason: longer than its message"),
	BAD(BYE, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	    "BAD_FIELD bye.reason: broken length"),
	BAD(BYE,
	    "\x0a\x81\x80\x80\x80\x80\x00"
	    "a",
	    "BAD_FIELD bye.reason: broken length"),
	BAD(BYE,
	    "\x0a\x05"
	    "abcd",
	    "BAD_FIELD bye.reason: longer than its message"),
	BAD(BYE, "\x0a\x02\xc0\xaf", "BAD_FIELD bye.reason: not UTF-8"),
	BAD(BYE, "\x0a\x03\xed\xa0\x80", "BAD_FIELD bye.reason: not UTF-8"),
	BAD(BYE,
	    "\x0a\x03"
	    "a\0b",
	    "BAD_FIELD bye.reason: has a control character"),
	BAD(BYE,
	    "\x0a\x03"
	    "a\x1b"
	    "b",
	    "BAD_FIELD bye.reason: has a control character"),
	BAD(BYE, "\x0a\x01\x7f", "BAD_FIELD bye.reason: has a control character"),
	BAD(BYE, "\x0a\x02\xc2\x9b", "BAD_FIELD bye.reason: has a control character"),
	BAD(REQUEST, "\x30\xff\xff\xff\xff\x07",
	    "BAD_FIELD request.policy: not one of the known values"),
	BAD(REQUEST, "\x30\x03", "BAD_FIELD request.policy: not one of the known values"),
	BAD(REQUEST, "\x10\x80\x80\x80\x80\x10", "BAD_FIELD request.tool: more than 32 bits"),
	BAD(REQUEST, "\x4a\x02\x01\x80", "BAD_FIELD request.action: broken varint"),
	BAD(REPLY, "\x30\x02", "BAD_FIELD reply.more: not a truth value"),
	BAD(REPLY, "\x1a\x04\x12\x02\xff\xff", "BAD_FIELD reply.entry.objects: not UTF-8"),
	BAD(REPLY,
	    "\x1a\x04\x12\x03"
	    "ab",
	    "BAD_FIELD reply.entry.objects: longer than its message"),
	BAD(REPLY, "\x22\x04\x1a\x02\x18\x01",
	    "BAD_FIELD reply.coverage.missing: it has an unknown field or a wrong wire type"),
	BAD(DIRECTORY, "\x1a\x02\x50\x07",
	    "BAD_FIELD directory.object.state: not one of the known values"),
};

TEST_EACH(a_bad_field_is_named_by_its_path, at, ARRAY_LEN(bad_inputs))
{
	const struct bad *b = &bad_inputs[at];
	struct verdict v = judge_type(b->type, b->bytes, b->n);
	struct msg *m = NULL;
	struct err e = { 0 };

	ck_assert_str_eq(v.e.text, b->text);
	ck_assert_int_eq(v.rc, -ERR_PROTO);
	/* The same by the public function, and nothing is stored. */
	ck_assert_int_eq(msg_get(b->type, (const uint8_t *)b->bytes, b->n, &m, &e), -ERR_PROTO);
	ck_assert_ptr_null(m);
	ck_assert_str_eq(e.text, b->text);
}

TEST(numbers_that_are_no_numbers_are_refused)
{
	uint8_t p[9] = { 0x21 };
	double bad[] = { NAN, INFINITY, -INFINITY };
	float f = NAN;

	for (size_t i = 0; i < 3; i++) {
		memcpy(p + 1, &bad[i], 8);
		ck_assert_str_eq(judge(&node_shape, p, 9).e.text,
				 "BAD_FIELD node.d: not a finite number");
	}
	bad[0] = 1.5;
	memcpy(p + 1, &bad[0], 8);
	ck_assert_int_eq(judge(&node_shape, p, 9).rc, 0);
	ck_assert_int_eq(judge(&node_shape, p, 8).rc, -ERR_PROTO);
	p[0] = 0x2d;
	memcpy(p + 1, &f, 4);
	ck_assert_str_eq(judge(&node_shape, p, 5).e.text, "BAD_FIELD node.f: not a finite number");
}

TEST(the_legal_neighbours_of_bad_input_pass)
{
	static const struct bad good[] = {
		BAD(CANCEL, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ""),
		BAD(CANCEL, "\x08\x81\x80\x00", ""),
		BAD(BYE, "\x0a\x00", ""),
		BAD(BYE,
		    "\x0a\x81\x80\x80\x80\x00"
		    "a",
		    ""),
		BAD(BYE, "\x0a\x02\xc2\xa0", ""),
		BAD(REQUEST, "\x30\x02", ""),
		BAD(REQUEST, "\x10\xff\xff\xff\xff\x0f", ""),
		BAD(REQUEST, "\x4a\x02\x01\x02", ""),
		BAD(REQUEST, "\x48\x01\x48\x02", ""), /* not packed */
		BAD(REQUEST, "\x4a\x00", ""),
		BAD(REPLY, "", ""),
		BAD(REPLY, "\x30\x01\x08\x07", ""), /* in any order */
		BAD(DIRECTORY, "\x1a\x02\x50\x06", ""),
		BAD(DIRECTORY, "\x1a\x02\x30\x01", ""),
		BAD(DIRECTORY, "\x1a\x0b\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", ""), /* -1 */
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct msg *m = NULL;
		struct err e = { 0 };

		ck_assert_msg(
			!msg_get(good[i].type, (const uint8_t *)good[i].bytes, good[i].n, &m, &e),
			"%zu: %s", i, e.text);
		msg_free(m);
	}
}

TEST(negative_numbers_fit_in_32_bits_or_are_refused)
{
	static const uint8_t low[] = "\x38\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01"; /* -2^31 */
	static const uint8_t over[] =
		"\x38\xff\xff\xff\xff\xf7\xff\xff\xff\xff\x01"; /* -2^31 - 1 */

	ck_assert_int_eq(judge(&node_shape, low, sizeof(low) - 1).rc, 0);
	ck_assert_str_eq(judge(&node_shape, over, sizeof(over) - 1).e.text,
			 "BAD_FIELD node.i: more than 32 bits");
}

TEST(texts_end_at_their_limit)
{
	for (int d = -1; d <= 1; d++) {
		size_t n = (size_t)(NAME_MAX_BYTES + d);
		uint8_t p[NAME_MAX_BYTES + 8] = { 0x22, (uint8_t)(n & 0x7f) | 0x80,
						  (uint8_t)(n >> 7) };

		memset(p + 3, 'x', n);
		ck_assert_int_eq(judge_type(MSG_HELLO, p, n + 3).rc, d > 0 ? -ERR_PROTO : 0);
	}
}

SUITE("guard")
