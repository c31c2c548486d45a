/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a batch: written batches are read unchanged, and nothing else is accepted. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/flow/batch/batch.h"
#include "common/flow/batch/batch_format.h"
#include "common/flow/graph/graph_limits.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

#define MOST_BYTES (16 * 1024 * 1024)

static void check_token(const struct flow_token *got, const struct flow_token *want)
{
	ck_assert_int_eq(got->key, want->key);
	ck_assert(isnan(want->value) ? isnan(got->value) : got->value == want->value);
	ck_assert(signbit(want->value) == signbit(got->value) || isnan(want->value));
	ck_assert(got->error == want->error);
	ck_assert_int_eq(got->time, want->time);
	ck_assert_int_eq(got->oldest, want->oldest);
	ck_assert_int_eq(got->newest, want->newest);
	ck_assert_uint_eq(got->k, want->k);
	ck_assert_uint_eq(got->n, want->n);
	ck_assert_uint_eq(got->flags, want->flags);
}

/* Each has another part of the format; the third and the fourth follow their neighbours. */
static const struct flow_token all_parts[] = {
	{ .key = 5, .value = 3, .time = 9, .oldest = 9, .newest = 9 },
	{ .key = 9, .value = -7, .time = 4, .oldest = 4, .newest = 4, .k = 1, .n = 2 },
	{ .key = 10, .value = 0.5, .time = 4, .oldest = 4, .newest = 4, .k = 1, .n = 2 },
	{ .key = 11, .value = -0.0, .time = 50, .oldest = 20, .newest = 50, .k = 2, .n = 2 },
	{ .key = 12, .value = 1, .error = 2.5, .time = 50, .oldest = 50, .newest = 90, .n = 2 },
	{ .key = 3, .value = NAN, .time = 8, .oldest = 8, .newest = 8, .n = 1, .flags = 64 },
	{ .key = -8, .value = INFINITY, .error = INFINITY, .time = -6, .oldest = -9, .newest = -1 },
	{ .key = -7, .value = 9007199254740991., .time = 1, .oldest = 1, .newest = 1 },
	{ .key = -6, .value = 9007199254740992., .time = 1, .oldest = 1, .newest = 1 },
	{ .key = -5, .value = -1e300, .time = 1, .oldest = 1, .newest = 1, .flags = 1023 },
};
#define NPARTS ARRAY_LEN(all_parts)

static void check_round(struct flow_batch *in)
{
	struct flow_batch_room room = { 0 };
	struct buf b = BUF_INIT(MOST_BYTES);
	struct flow_batch out;
	struct err e = { 0 };

	flow_batch_encode(&b, in);
	ck_assert(!b.failed);
	ck_assert_int_eq(flow_batch_decode(&room, b.p, b.n, &out, &e), 0);
	ck_assert_uint_eq(out.measurement, in->measurement);
	ck_assert_str_eq(out.link, in->link);
	ck_assert_int_eq(out.read, in->read);
	ck_assert_int_eq(out.domain, in->domain);
	ck_assert_uint_eq(out.lost, in->lost);
	ck_assert_uint_eq(out.rest, in->rest);
	ck_assert_uint_eq(out.rest_sum, in->rest_sum);
	ck_assert(!out.partial && !out.a);
	ck_assert_uint_eq(out.n, in->n);
	for (uint32_t i = 0; i < out.n; i++) {
		check_token(&out.t[i], &in->t[i]);
		ck_assert_uint_eq(out.t[i].requester, in->domain == FLOW_VT ? 0 : 77);
	}
	flow_batch_room_done(&room);
	ck_assert(!room.t && !room.t_cap);
	buf_done(&b);
}

TEST(tokens_are_read_back_unchanged)
{
	struct flow_batch in = { .measurement = 77,
				 .link = "up",
				 .read = 5,
				 .domain = FLOW_VT,
				 .lost = 300,
				 .n = NPARTS,
				 .t = all_parts };

	check_round(&in);
	in.domain = FLOW_READ;
	check_round(&in);
	in.n = 1;
	in.rest = 4;
	in.rest_sum = UINT64_C(0x8877665544332211);
	check_round(&in);
}

/* A value that follows from the token before takes no byte. */
TEST(a_token_omits_values_that_follow_from_the_previous_one)
{
	static const struct {
		struct flow_token t;
		size_t n;
		const char *bytes;
	} cases[] = {
		{ { .key = 5, .value = 3 }, 3, "\2\0\6" },
		{ { .key = 5, .value = -3, .time = 1, .oldest = 1, .newest = 1 }, 3, "\2\2\5" },
		{ { .key = 6, .value = 3 }, 4, "\3\0\4\6" },
		{ { .key = 5, .value = 3, .k = 1, .n = 2 }, 5, "\42\0\6\1\2" },
		{ { .key = 5, .value = 3, .n = 2 }, 5, "\42\0\6\0\2" },
		{ { .key = 5, .value = NAN, .flags = 64 }, 3, "\20\0\100" },
		{ { .key = 5, .value = 3, .oldest = -1 }, 5, "\102\0\6\2\0" },
		{ { .key = 5, .value = 3, .newest = 2 }, 5, "\102\0\6\0\4" },
		{ { .key = 5, .value = 3, .error = 1 }, 11, "\12\0\6\0\0\0\0\0\0\360\77" },
		{ { .key = 5, .value = 0.5 }, 10, "\4\0\0\0\0\0\0\0\340\77" },
		{ { .key = 5, .value = INFINITY }, 10, "\4\0\0\0\0\0\0\0\360\177" },
	};
	static const uint8_t head[] = "\1\0\0\115\5\2up\0\1";

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct flow_batch in = {
			.measurement = 77, .link = "up", .read = 5, .n = 1, .t = &cases[i].t
		};
		struct buf b = BUF_INIT(1000);

		flow_batch_encode(&b, &in);
		ck_assert_uint_eq(b.n, sizeof(head) - 1 + cases[i].n);
		ck_assert_mem_eq(b.p, head, sizeof(head) - 1);
		ck_assert_mem_eq(b.p + sizeof(head) - 1, cases[i].bytes, cases[i].n);
		buf_done(&b);
	}
}

/* --- partial ones */

struct one {
	struct agg a;
	union agg_room room;
};

static void fill(struct one *o, enum agg_kind kind, unsigned how)
{
	static const double values[] = { 0.1, 1e17, -3, 0, 7.25, 1e-3 };

	agg_init(&o->a, kind, &o->room);
	for (size_t i = 0; how & 1 && i < ARRAY_LEN(values); i++)
		if (agg_kind_is_of_pairs(kind))
			agg_add_pair(&o->a, values[i], how & 4 ? 0.5 : 0, 2 - values[i],
				     how & 4 ? 0.25 : 0);
		else if (agg_kind_is_of_objects(kind))
			agg_add_who(&o->a, &(struct who){ values[i], how & 4 ? 0.5 : 0,
							  who_pack(i % 2 ? "p_3_ev8wva" : "n_1") });
		else
			agg_add(&o->a, values[i], how & 4 ? 0.5 : 0);
	if (how & 2 && !agg_kind_is_of_pairs(kind) && !agg_kind_is_of_objects(kind)) {
		agg_add(&o->a, INFINITY, 0);
		agg_add(&o->a, INFINITY, 0);
		agg_add(&o->a, -INFINITY, 0);
	}
}

/* The doubled sum of parts has the same low digits: none are lost in transit. */
static void check_agg(const struct agg *got, const struct agg *want)
{
	double wanted_error = 0, error = 0, value, wanted;

	ck_assert_int_eq(got->kind, want->kind);
	ck_assert_uint_eq(got->n, want->n);
	ck_assert_uint_eq(got->pinf, want->pinf);
	ck_assert_uint_eq(got->ninf, want->ninf);
	ck_assert(got->error == want->error);
	if (agg_kind_is_of_pairs(got->kind))
		ck_assert(got->pairs.error == want->pairs.error);
	wanted = agg_value(want, 0.5, &wanted_error);
	value = agg_value(got, 0.5, &error);
	ck_assert(isnan(wanted) ? isnan(value) : value == wanted);
	ck_assert(isnan(wanted) || error == wanted_error);
}

TEST(aggregates_are_read_back_unchanged)
{
	static const struct flow_token t[2] = {
		{ .key = 5, .value = 0, .time = 9, .oldest = 9, .newest = 9, .k = 3, .n = 4 },
		{ .key = 6, .value = 0, .time = 9, .oldest = 9, .newest = 9, .k = 3, .n = 4 },
	};

	for (unsigned i = 0; i < AGG_NKINDS * 8; i++) {
		struct flow_batch in = {
			.measurement = 77, .link = "up", .read = 5, .n = 2, .t = t
		};
		struct flow_batch_room room = { 0 };
		struct buf b = BUF_INIT(100000), again = BUF_INIT(100000);
		struct flow_batch out;
		struct one made[2];
		struct agg a[2];
		struct err e = { 0 };

		in.partial = true;
		in.agg = (enum agg_kind)(i / 8);
		fill(&made[0], in.agg, i % 8);
		fill(&made[1], in.agg, 7 - i % 8);
		a[0] = made[0].a;
		a[1] = made[1].a;
		in.a = a;
		flow_batch_encode(&b, &in);
		ck_assert_int_eq(flow_batch_decode(&room, b.p, b.n, &out, &e), 0);
		ck_assert(out.partial && out.agg == in.agg && out.n == 2);
		for (unsigned j = 0; j < 2; j++) {
			check_token(&out.t[j], &t[j]);
			check_agg(&out.a[j], &in.a[j]);
		}
		flow_batch_encode(&again, &out);
		ck_assert_uint_eq(again.n, b.n);
		ck_assert_mem_eq(again.p, b.p, b.n);
		flow_batch_room_done(&room);
		ck_assert(!room.a && !room.a_cap && !room.room && !room.room_cap);
		buf_done(&b);
		buf_done(&again);
	}
}

/* Each kind sends its sums, and low parts only if there are any. */
TEST(sums_are_sent_with_their_low_parts)
{
	static const struct flow_token t = { .key = 5 };

	for (unsigned kind = 0; kind < AGG_NKINDS; kind++) {
		unsigned n = agg_kind_sums((enum agg_kind)kind);

		for (unsigned has_low = 0; n && has_low < 2; has_low++) {
			struct agg a;
			const struct flow_batch in = { .measurement = 77,
						       .link = "up",
						       .read = 5,
						       .n = 1,
						       .t = &t,
						       .partial = true,
						       .agg = (enum agg_kind)kind,
						       .a = &a };
			struct buf b = BUF_INIT(1000);

			agg_init(&a, in.agg, NULL);
			if (agg_kind_is_of_pairs(in.agg)) {
				agg_add_pair(&a, 1, 0, 2, 0);
				a.pairs.of.xy.lo = has_low;
			} else {
				agg_add(&a, 1, 0);
				*(n > 1 ? &a.powers.m2.lo : &a.sum.lo) = has_low;
			}
			flow_batch_encode(&b, &in);
			ck_assert_uint_eq(b.n, 10 + 2 + 2 + 8 * n * (1 + has_low));
			buf_done(&b);
		}
	}
}

/* --- bytes of a peer */

#define HEAD(bits, agg, n) "\1" bits agg "\7\3\2up\0" n
#define COUNTED HEAD("\0", "\0", "\1")
#define PARTIAL(agg) HEAD("\2", agg, "\1") "\0\0"
#define MAX62 "\377\377\377\377\377\377\377\377"
#define MIN62 "\200\200\200\200\200\200\200\200"
#define ONE "\0\0\0\0\0\0\360\77"
#define LESS "\0\0\0\0\0\0\360\277"
#define NO_NUMBER "\1\0\0\0\0\0\360\177"
#define INFINITE "\0\0\0\0\0\0\360\177"
#define ZERO "\0\0\0\0\0\0\0\0"
#define NODE_1 "\0\0\0\100\0\0\0\200"
#define B(s) sizeof(s) - 1, s

static const struct hostile {
	int rc;
	size_t n;
	const char *bytes;
} hostile[] = {
	{ 0, B(COUNTED "\2\0\6") },
	{ -ERR_PROTO, B("\2\0\0\7\3\2up\0\1\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\10", "\0", "\1") "\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\0", "\23", "\1") "\2\0\6") },
	{ 0, B(HEAD("\0", "\22", "\1") "\2\0\6") },
	/* the measurement */
	{ 0, B("\1\0\0\377\377\377\377\17\3\2up\0\1\2\0\6") },
	{ -ERR_PROTO, B("\1\0\0\200\200\200\200\20\3\2up\0\1\2\0\6") },
	/* the read */
	{ 0, B("\1\0\0\7" MAX62 "\77\2up\0\1\2\0\6") },
	{ -ERR_PROTO, B("\1\0\0\7" MIN62 "\100\2up\0\1\2\0\6") },
	/* the link */
	{ -ERR_PROTO, B("\1\0\0\7\3\0\0\1\2\0\6") },
	{ -ERR_PROTO, B("\1\0\0\7\3\2u\n\0\1\2\0\6") },
	/* lost values */
	{ 0, B("\1\0\0\7\3\2up" MAX62 "\77\1\2\0\6") },
	{ -ERR_PROTO, B("\1\0\0\7\3\2up" MIN62 "\100\1\2\0\6") },
	/* how many there are */
	{ 0, B(HEAD("\0", "\0", "\0")) },
	{ -ERR_LIMIT, B(HEAD("\0", "\0", "\1") "\2") },
	{ -ERR_LIMIT, B(HEAD("\0", "\0", "\2") "\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\0", "\0", "\2") "\2\0\6\2") },
	{ -ERR_LIMIT, B(HEAD("\0", "\0", "\377\377\377\377\17") "\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\0", "\0", "\200\200\200\200\20") "\2\0\6") },
	/* the rest */
	{ 0, B(HEAD("\4", "\0", "\1") "\1\0\0\0\0\0\0\0\0\2\0\6") },
	{ 0, B(HEAD("\4", "\0", "\1") "\200\200\1\0\0\0\0\0\0\0\0\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\4", "\0", "\1") "\201\200\1\0\0\0\0\0\0\0\0\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\4", "\0", "\1") "\0\0\0\0\0\0\0\0\0\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\5", "\0", "\1") "\1\0\0\0\0\0\0\0\0\2\0\6") },
	{ -ERR_PROTO, B(HEAD("\4", "\0", "\2") "\1\0\0\0\0\0\0\0\0\2\0\6\2\0\6") },
	/* tokens: unknown bits, two values, none without a reason */
	{ -ERR_PROTO, B(COUNTED "\202\0\6") },
	{ -ERR_PROTO, B(COUNTED "\6\0\6\0\0\0\0\0\0\0\0") },
	{ -ERR_PROTO, B(COUNTED "\0\0") },
	{ -ERR_PROTO, B(COUNTED "\4\0" NO_NUMBER) },
	{ 0, B(COUNTED "\4\0" INFINITE) },
	/* coverage */
	{ 0, B(COUNTED "\42\0\6\1\1") },
	{ -ERR_PROTO, B(COUNTED "\42\0\6\2\1") },
	{ 0, B(COUNTED "\42\0\6\300\204\75\300\204\75") },
	{ -ERR_PROTO, B(COUNTED "\42\0\6\1\301\204\75") },
	{ -ERR_PROTO, B(COUNTED "\42\0\6\301\204\75\300\204\75") },
	/* flags */
	{ 0, B(COUNTED "\20\0\377\7") },
	{ -ERR_PROTO, B(COUNTED "\20\0\200\10") },
	/* bounds */
	{ 0, B(COUNTED "\12\0\6" ONE) },
	{ 0, B(COUNTED "\12\0\6\0\0\0\0\0\0\0\0") },
	{ -ERR_PROTO, B(COUNTED "\12\0\6" LESS) },
	{ -ERR_PROTO, B(COUNTED "\12\0\6" NO_NUMBER) },
	/* times */
	{ 0, B(COUNTED "\2\376\377\377\377\377\377\377\377\77\6") },
	{ 0, B(COUNTED "\2\375\377\377\377\377\377\377\377\77\6") },
	{ -ERR_PROTO, B(COUNTED "\2" MIN62 "\100\6") },
	{ -ERR_PROTO, B(COUNTED "\2" MAX62 "\77\6") },
	{ 0, B(COUNTED "\102\0\6\2\2") },
	{ -ERR_PROTO, B(COUNTED "\102\0\6" MIN62 "\100\2") },
	{ -ERR_PROTO, B(COUNTED "\102\0\6\2" MIN62 "\100") },
	/* aggregates */
	{ 0, B(PARTIAL("\0") "\0\5") },
	{ -ERR_PROTO, B(HEAD("\2", "\0", "\1") "\2\0\6\0\5") },
	{ -ERR_PROTO, B(HEAD("\2", "\0", "\1") "\10\0" ONE "\0\5") },
	{ -ERR_PROTO, B(PARTIAL("\0") "\4\5") },
	{ -ERR_PROTO, B(PARTIAL("\0") "\10\5") },
	{ 0, B(PARTIAL("\0") "\1\5\377\377\377\377\17\377\377\377\377\17") },
	{ -ERR_PROTO, B(PARTIAL("\0") "\1\5\200\200\200\200\20\0") },
	{ -ERR_PROTO, B(PARTIAL("\0") "\1\5\0\200\200\200\200\20") },
	{ 0, B(PARTIAL("\0") "\2\5" ONE) },
	{ -ERR_PROTO, B(PARTIAL("\0") "\2\5" LESS) },
	{ 0, B(PARTIAL("\1") "\4\1" ONE ONE) },
	{ -ERR_PROTO, B(PARTIAL("\1") "\4\1" ONE INFINITE) },
	{ 0, B(PARTIAL("\2") "\0\1" ONE) },
	{ -ERR_PROTO, B(PARTIAL("\2") "\0\1" INFINITE) },
	{ 0, B(PARTIAL("\7") "\0\1" LESS ONE) },
	{ -ERR_PROTO, B(PARTIAL("\7") "\0\1" ONE LESS) },
	{ 0, B(PARTIAL("\4") "\0\1\0\0\0\0\0\0\340\77\0\0\0\0\0\0\0\340\77\0") },
	{ -ERR_PROTO, B(PARTIAL("\4") "\0\1" ONE "\0\0\0\0\0\0\0\340\77\0") },
	{ -ERR_PROTO, B(PARTIAL("\4") "\0\1\0\0\0\0\0\0\340\77\0" ONE "\0") },
	/* sketches: level, zeros, buckets */
	{ 0, B(PARTIAL("\10") "\0\3\12\3\0") },
	{ -ERR_PROTO, B(PARTIAL("\10") "\0\3\13\3\0") },
	{ -ERR_PROTO, B(PARTIAL("\10") "\0\3\0\2\0") },
	{ 0, B(PARTIAL("\10") "\0\3\0\1\1\200\377\7\2") },
	{ -ERR_PROTO, B(PARTIAL("\10") "\0\3\0\1\201\4") },
	{ -ERR_PROTO, B(PARTIAL("\10") "\0\3\0\1\1\200\200\200\200\40\2") },
	/* objects: value, bound, object; none, infinite, no number, a bad bound, no object */
	{ 0, B(PARTIAL("\20") "\0\0") },
	{ 0, B(PARTIAL("\20") "\0\1" ONE ZERO NODE_1) },
	{ 0, B(PARTIAL("\21") "\0\1" INFINITE ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\20") "\0\1" NO_NUMBER ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\20") "\0\1" ONE LESS NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\20") "\0\1" ONE ZERO ZERO) },
	{ -ERR_PROTO, B(PARTIAL("\20") "\0\1" ONE ZERO "\1\0\0\100\0\0\0\200") },
	{ -ERR_PROTO, B(PARTIAL("\20") "\1\1\1\0" ONE ZERO NODE_1) },
	/* lists: as many as there are, up to 16, in order */
	{ 0, B(PARTIAL("\22") "\0\2\2" ONE ZERO NODE_1 LESS ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\22") "\0\2\2" LESS ZERO NODE_1 ONE ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\22") "\0\2\1" ONE ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\22") "\0\21\21" ONE ZERO NODE_1) },
	{ -ERR_PROTO, B(PARTIAL("\22") "\0\1\377\377\377\377\17" ONE ZERO NODE_1) },
};

TEST(bytes_of_a_peer_are_checked)
{
	struct flow_batch_room room = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		const struct hostile *h = &hostile[i];
		struct flow_batch out = { .n = 999 };
		struct err e = { 0 };
		int rc = flow_batch_decode(&room, h->bytes, h->n, &out, &e);

		ck_assert_msg(rc == h->rc, "case %zu: %d: %s", i, rc, e.text);
		if (rc)
			ck_assert_uint_eq(out.n, 999);
	}
	flow_batch_room_done(&room);
}

TEST(a_part_of_a_batch_is_none)
{
	const struct flow_batch in = { .measurement = 77,
				       .link = "up",
				       .read = 5,
				       .domain = FLOW_VT,
				       .n = NPARTS,
				       .t = all_parts };
	struct flow_batch_room room = { 0 };
	struct buf b = BUF_INIT(1000);
	struct flow_batch out;
	struct err e = { 0 };

	flow_batch_encode(&b, &in);
	for (size_t n = 0; n < b.n; n++)
		ck_assert_int_lt(flow_batch_decode(&room, b.p, n, &out, &e), 0);
	ck_assert_int_eq(flow_batch_decode(&room, b.p, b.n, &out, &e), 0);
	buf_putc(&b, 0);
	ck_assert_int_eq(flow_batch_decode(&room, b.p, b.n, &out, &e), -ERR_PROTO);
	buf_done(&b);
	flow_batch_room_done(&room);
}

/* That number of tokens, each of two bytes and the minimum of the kind. */
static int decode_many(uint32_t n, bool partial, enum agg_kind kind)
{
	struct flow_token *t = calloc(n, sizeof(*t));
	struct agg *a = calloc(n, sizeof(*a));
	struct flow_batch in = { .measurement = 7, .link = "up", .read = 1, .n = n, .t = t };
	struct flow_batch_room room = { 0 };
	struct buf b = BUF_INIT(MOST_BYTES);
	union agg_room none;
	struct flow_batch out;
	struct err e = { 0 };
	int rc;

	ck_assert(t && a);
	for (uint32_t i = 0; i < n; i++) {
		t[i] = (struct flow_token){ .key = (int64_t)i + 1, .value = 1 };
		agg_init(&a[i], kind, &none);
	}
	in.partial = partial;
	in.agg = kind;
	in.a = partial ? a : NULL;
	flow_batch_encode(&b, &in);
	rc = flow_batch_decode(&room, b.p, b.n, &out, &e);
	flow_batch_room_done(&room);
	buf_done(&b);
	free(t);
	free(a);
	return rc;
}

TEST(a_batch_has_as_many_tokens_as_there_is_room_for)
{
	const uint32_t sketches = FLOW_STATE_MAX_BYTES / FLOW_SKETCH_BYTES;

	ck_assert_int_eq(decode_many(FLOW_WINDOW_MAX, false, AGG_COUNT), 0);
	ck_assert_int_eq(decode_many(FLOW_WINDOW_MAX + 1, false, AGG_COUNT), -ERR_LIMIT);
	ck_assert_int_eq(decode_many(FLOW_WINDOW_MAX, true, AGG_COUNT), 0);
	ck_assert_int_eq(decode_many(sketches, true, AGG_QUANTILE), 0);
	ck_assert_int_eq(decode_many(sketches + 1, true, AGG_QUANTILE), -ERR_LIMIT);
	ck_assert_int_eq(decode_many(sketches + 1, true, AGG_TOP), -ERR_LIMIT);
	ck_assert_int_eq(decode_many(sketches + 1, false, AGG_QUANTILE), 0);
	ck_assert_int_eq(decode_many(sketches + 1, true, AGG_SUM), 0);
}

TEST(without_memory_nothing_is_read)
{
	static const char bytes[] = PARTIAL("\10") "\0\3\12\3\0";

	ALLOC_SWEEP (k) {
		struct flow_batch_room room = { 0 };
		struct flow_batch out;
		struct err e = { 0 };
		int rc = flow_batch_decode(&room, bytes, sizeof(bytes) - 1, &out, &e);

		alloc_sweep_pause();
		ck_assert_int_eq(rc, alloc_sweep_has_failed() ? -ERR_NOMEM : 0);
		flow_batch_room_done(&room);
	}
}

SUITE("batch_bytes")
