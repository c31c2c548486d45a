/* SPDX-License-Identifier: Apache-2.0 */
/* Replies in messages and back, in as many parts as it takes; refusals. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "tests/suite.h"
#include "tree/refusal.h"
#include "tree/wire.h"

#include <string.h>

#define HEAD_BYTES 5 /* of a frame: length and type */

/* The messages of the reply, put together again; *parts: how many there were. */
static struct reply *there_and_back(const struct reply *r, unsigned *parts)
{
	struct buf b = BUF_INIT(64 << 20);
	struct reply *into = reply_new();
	bool more = true;

	*parts = 0;
	ck_assert_int_eq(wire_put_reply(&b, r), 0);
	for (size_t at = 0; at < b.n;) {
		size_t n = frame_bytes(b.p + at, b.n - at);
		struct msg *m = NULL;

		ck_assert(more);
		ck_assert_uint_gt(n, HEAD_BYTES);
		ck_assert_int_eq(
			msg_get(MSG_REPLY, b.p + at + HEAD_BYTES, n - HEAD_BYTES, &m, NULL), 0);
		ck_assert_int_eq(wire_add_reply(into, &m->reply), 0);
		more = m->reply.more;
		ck_assert(more == (m->reply.coverage == NULL) || !m->reply.coverage);
		msg_free(m);
		at += n;
		++*parts;
	}
	ck_assert(!more);
	buf_done(&b);
	return into;
}

static void same(const struct reply *a, const struct reply *b)
{
	ck_assert_uint_eq(a->id, b->id);
	ck_assert_uint_eq(a->kind, b->kind);
	ck_assert_str_eq(a->csr, b->csr);
	ck_assert_uint_eq(a->nentry, b->nentry);
	for (size_t i = 0; i < a->nentry; i++) {
		ck_assert_uint_eq(a->entry[i].action, b->entry[i].action);
		ck_assert_str_eq(a->entry[i].objects, b->entry[i].objects);
		ck_assert_uint_eq(a->entry[i].status, b->entry[i].status);
		ck_assert_uint_eq(a->entry[i].nvalue, b->entry[i].nvalue);
		ck_assert_mem_eq(a->entry[i].value, b->entry[i].value, a->entry[i].nvalue);
	}
	ck_assert_uint_eq(a->coverage.asked, b->coverage.asked);
	ck_assert_uint_eq(a->coverage.answered, b->coverage.answered);
	ck_assert_uint_eq(a->coverage.nmissing, b->coverage.nmissing);
	ck_assert_int_eq(a->coverage.oldest_ns, b->coverage.oldest_ns);
	ck_assert_int_eq(a->coverage.newest_ns, b->coverage.newest_ns);
	for (size_t i = 0; i < a->coverage.nmissing; i++) {
		ck_assert_str_eq(a->coverage.missing[i].object, b->coverage.missing[i].object);
		ck_assert_str_eq(a->coverage.missing[i].reason, b->coverage.missing[i].reason);
	}
}

static void goes_in(struct reply *r, unsigned want)
{
	unsigned parts;
	struct reply *back = there_and_back(r, &parts);

	ck_assert_uint_eq(parts, want);
	same(r, back);
	reply_free(back);
	reply_free(r);
}

TEST(a_small_reply_is_one_message)
{
	struct reply *r = reply_new();

	r->id = 77;
	r->kind = 1;
	ck_assert_int_eq(reply_set_csr(r, "c_12"), 0);
	reply_add_n(r, 1, "n_1,n_2", STATUS_OK, bytes_at("a\0b", 3));
	reply_add(r, 2, "", STATUS_NO_PERMISSION, "no");
	r->coverage.asked = 5;
	r->coverage.answered = 3;
	reply_add_missing(r, "n_3", "silent");
	reply_add_missing(r, "n_4", "lost");
	reply_add_time(r, 1000, 2000);
	goes_in(r, 1);
	goes_in(reply_new(), 1);
}

TEST(many_entries_go_in_parts)
{
	struct reply *r = reply_new();

	for (unsigned i = 0; i < WIRE_PART_ENTRIES; i++)
		reply_add(r, i + 1, "n_1", STATUS_OK, "1");
	r->coverage.asked = 1;
	goes_in(r, 1);
	r = reply_new();
	for (unsigned i = 0; i < 2 * WIRE_PART_ENTRIES + 1; i++)
		reply_add(r, i + 1, "n_1", STATUS_OK, "1");
	r->coverage.answered = r->coverage.asked = 9;
	reply_add_missing(r, "n_3", "silent");
	goes_in(r, 3);
}

/* Values and names count together. */
TEST(large_entries_go_in_parts)
{
	static char value[WIRE_PART_BYTES / 4];
	struct reply *r = reply_new();

	memset(value, 'x', sizeof(value));
	for (unsigned i = 0; i < 4; i++)
		reply_add_n(r, i, "", STATUS_OK, bytes_at(value, sizeof(value)));
	goes_in(r, 1);
	r = reply_new();
	for (unsigned i = 0; i < 4; i++)
		reply_add_n(r, i, "n", STATUS_OK, bytes_at(value, sizeof(value)));
	goes_in(r, 2);
	r = reply_new();
	for (unsigned i = 0; i < 9; i++)
		reply_add_n(r, i, "", STATUS_OK, bytes_at(value, sizeof(value)));
	goes_in(r, 3);
}

TEST(an_entry_that_no_message_could_hold_reports_that)
{
	static char large[FRAME_MAX_BYTES - 4096 + 1];
	struct reply *r = reply_new(), *back;
	struct msg_entry out[2];
	unsigned parts;

	memset(large, 'x', sizeof(large) - 1);
	reply_add_n(r, 1, "", STATUS_OK, bytes_at(large, sizeof(large) - 1));
	reply_add_n(r, 2, "", STATUS_OK, bytes_at(large, sizeof(large)));
	reply_add_n(r, 3, "n", STATUS_OK, bytes_at(large, sizeof(large) - 1));
	back = there_and_back(r, &parts);
	ck_assert_uint_eq(back->nentry, 3);
	ck_assert_uint_eq(back->entry[0].status, STATUS_OK);
	ck_assert_uint_eq(back->entry[0].nvalue, sizeof(large) - 1);
	for (int i = 1; i < 3; i++) {
		ck_assert_uint_eq(back->entry[i].status, STATUS_UNSPECIFIED_ERROR);
		ck_assert_str_eq(back->entry[i].value, "the value is larger than a message may be");
	}
	ck_assert_str_eq(back->entry[2].objects, "n");
	ck_assert_uint_eq(wire_entries(r, 1, out, ARRAY_LEN(out)), 2);
	ck_assert_uint_eq(out[0].action, 2);
	ck_assert_uint_eq(wire_entries(r, 2, out, ARRAY_LEN(out)), 1);
	ck_assert_uint_eq(wire_entries(r, 3, out, ARRAY_LEN(out)), 0);
	ck_assert_uint_eq(wire_entries(r, 0, out, 1), 1);
	reply_free(r);
	reply_free(back);
}

TEST(a_reply_that_does_not_fit_leaves_the_buffer_as_it_was)
{
	static char value[1000];
	struct buf b = BUF_INIT(3000);
	struct reply *r = reply_new();

	memset(value, 'x', sizeof(value));
	buf_puts(&b, "before");
	for (int i = 0; i < 4; i++)
		reply_add_n(r, 1, "", STATUS_OK, bytes_at(value, sizeof(value)));
	ck_assert_int_lt(wire_put_reply(&b, r), 0);
	ck_assert_uint_eq(b.n, 6);
	buf_done(&b);
	reply_free(r);
}

TEST(a_refusal_is_one_entry_with_what_was_refused)
{
	const struct msg_request request = { .id = 5 };
	const struct msg_arm arm = { .csr = "c_3", .version = 8 };
	const struct msg_flow_load load = { .measurement = 4, .version = 6 };
	struct refusal r;
	struct reply *reply = refusal_reply(9, STATUS_OS_ERROR, "why");
	const struct msg *m = refusal_of_request(&r, &request, STATUS_NO_PERMISSION, "denied");

	ck_assert_uint_eq(m->type, MSG_REPLY);
	ck_assert_uint_eq(m->reply.id, 5);
	ck_assert_uint_eq(m->reply.nentry, 1);
	ck_assert_uint_eq(m->reply.entry->status, STATUS_NO_PERMISSION);
	ck_assert_mem_eq(m->reply.entry->value.p, "denied", 6);
	ck_assert_uint_eq(m->reply.entry->value.n, 6);
	ck_assert_str_eq(m->reply.entry->objects, "");
	ck_assert_ptr_nonnull(m->reply.coverage);
	m = refusal_of_arm(&r, &arm, STATUS_SYNTAX_ERROR, "no");
	ck_assert_uint_eq(m->type, MSG_ARM_ACK);
	ck_assert_str_eq(m->arm_ack.csr, "c_3");
	ck_assert_uint_eq(m->arm_ack.version, 8);
	ck_assert_uint_eq(m->arm_ack.nentry, 1);
	ck_assert_uint_eq(m->arm_ack.entry->status, STATUS_SYNTAX_ERROR);
	m = refusal_of_load(&r, &load, STATUS_NO_MEMORY, "no");
	ck_assert_uint_eq(m->type, MSG_FLOW_ACK);
	ck_assert_uint_eq(m->flow_ack.measurement, 4);
	ck_assert_uint_eq(m->flow_ack.version, 6);
	ck_assert_uint_eq(m->flow_ack.nentry, 1);
	ck_assert_uint_eq(m->flow_ack.entry->status, STATUS_NO_MEMORY);
	ck_assert_uint_eq(reply->id, 9);
	ck_assert_uint_eq(reply->nentry, 1);
	ck_assert_uint_eq(reply->entry[0].action, 0);
	ck_assert_str_eq(reply->entry[0].value, "why");
	reply_free(reply);
}

SUITE("tree wire")
