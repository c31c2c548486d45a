/* SPDX-License-Identifier: Apache-2.0 */
/* Written events are read: every kind and edge value, both byte orders, damage of every sort. */
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "eventlog/evbytes.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/eventlog/made.h"

#include <string.h>
#include <unistd.h>

static void is_next_edge(void *arg, const struct event *ev)
{
	size_t *i = arg;
	const struct evvalue *v = made_edge(*i);

	ck_assert(evtype_equal(ev->type, &made_all));
	ck_assert_int_eq(ev->stream_type->constant[0].value.i32, 4711);
	ck_assert_int_eq(ev->wall_ns, made_edge_time(*i));
	ck_assert_uint_eq(ev->number, *i);
	for (unsigned k = 0; k < made_all.nfield; k++)
		ck_assert_msg(evvalue_equal(&ev->value[k], &v[k]), "edge %zu, field %u", *i, k);
	++*i;
}

TEST(every_edge_value_returns_in_both_byte_orders)
{
	for (int swap = 0; swap < 2; swap++) {
		struct evread_report r;
		struct buf b;
		size_t i = 0;

		made_edges(&b, swap);
		made_read(&b, is_next_edge, &i, &r);
		ck_assert_uint_eq(i, MADE_EDGES);
		ck_assert(evread_is_clean(&r));
		ck_assert_uint_gt(r.blocks, 2);
		buf_done(&b);
	}
}

/* A stream that is read and written again, in either byte order, has the same bytes. */
struct copy {
	struct evwrite w;
	bool is_begun;
};

static void copy_event(void *arg, const struct event *ev)
{
	struct copy *c = arg;
	struct err e = { 0 };

	if (!c->is_begun) {
		ck_assert_int_eq(evwrite_define(&c->w, 0, ev->stream_type, &e), 0);
		ck_assert_int_eq(evwrite_define(&c->w, 1, ev->type, &e), 0);
		c->is_begun = true;
	}
	ck_assert_int_eq(evwrite_event(&c->w, 1, ev, &e), 0);
}

TEST(writing_what_was_read_is_the_identity)
{
	for (int i = 0; i < 4; i++) {
		struct copy c = { 0 };
		struct evread_report r;
		struct buf from, to;
		struct err e = { 0 };

		made_edges(&from, i & 1);
		made_edges(&to, i >> 1);
		evwrite_init(&c.w, MADE_STREAM, i >> 1, 512);
		made_read(&from, copy_event, &c, &r);
		ck_assert_int_eq(evwrite_cut(&c.w, true, &e), 0);
		ck_assert_uint_eq(c.w.out.n, to.n);
		ck_assert_mem_eq(c.w.out.p, to.p, to.n);
		evwrite_done(&c.w);
		buf_done(&from);
		buf_done(&to);
	}
}

/* OMIG_TEST_GOLDEN=write rewrites the files, after an intended change of the format. */
TEST(the_golden_files_are_what_is_written)
{
	static const char *const name[] = { "tests/golden/eventlog/little.olog",
					    "tests/golden/eventlog/big.olog" };
	const uint16_t one = 1;
	bool is_little = *(const uint8_t *)&one;

	for (int big = 0; big < 2; big++) {
		struct buf made, had = BUF_INIT(1 << 20);
		struct evread_report r;
		struct err e = { 0 };
		size_t i = 0;

		made_edges(&made, is_little == big);
		if (getenv("OMIG_TEST_GOLDEN"))
			ck_assert_int_eq(file_write_atomic(name[big], made.p, made.n, &e), 0);
		ck_assert_msg(!file_read(name[big], had.max, 0, &had, &e), "%s", e.text);
		ck_assert_uint_eq(had.n, made.n);
		ck_assert_mem_eq(had.p, made.p, made.n);
		ck_assert_mem_eq(had.p, big ? "OLOG" : "GOLO", 4);
		made_read(&had, is_next_edge, &i, &r);
		ck_assert(evread_is_clean(&r));
		buf_done(&made);
		buf_done(&had);
	}
}

TEST(the_event_of_table_1_takes_20_bytes)
{
	const struct evvalue v[] = { { .kind = EV_INT32 }, { .kind = EV_FLOAT } };

	ck_assert_uint_eq(evtype_record_bytes(&made_table1, v, 2), 20);
}

TEST(a_record_has_less_than_64_kb)
{
	static char text[70000];
	const struct evfield f = { "s", EV_STRING };
	const struct evtype t = { .name = "long", .nfield = 1, .field = &f };
	struct evvalue v = { .kind = EV_STRING, .s = text };
	struct evwrite w;
	struct err e = { 0 };

	evwrite_init(&w, 1, false, 0);
	ck_assert_int_eq(evwrite_define(&w, 1, &t, &e), 0);
	v.n = EV_RECORD_MAX_BYTES - EV_RECORD_HEAD_BYTES - 2;
	ck_assert_uint_eq(evtype_record_bytes(&t, &v, 1), EV_RECORD_MAX_BYTES);
	ck_assert_int_eq(
		evwrite_event(&w, 1, &(struct event){ .type = &t, .ticks = 0, .value = &v }, &e),
		0);
	v.n++;
	ck_assert_int_eq(
		evwrite_event(&w, 1, &(struct event){ .type = &t, .ticks = 0, .value = &v }, &e),
		-ERR_INVALID);
	evwrite_done(&w);
}

TEST(an_invalid_type_is_refused)
{
	char longest[257];
	struct evfield f = { "x", EV_INT32 };
	struct evtype t = { .name = "t", .nfield = 1, .field = &f };
	struct err e = { 0 };

	memset(longest, 'n', 256);
	longest[256] = '\0';
	ck_assert_int_eq(evtype_check(&t, false, &e), 0);
	t.level = EV_NLEVELS;
	ck_assert_int_eq(evtype_check(&t, false, &e), -ERR_INVALID);
	t.level = 0;
	t.nfield = EV_FIELDS_MAX + 1;
	ck_assert_int_eq(evtype_check(&t, false, &e), -ERR_LIMIT);
	t.nfield = 1;
	f.kind = (enum evkind)6;
	ck_assert_int_eq(evtype_check(&t, false, &e), -ERR_INVALID);
	f.kind = EV_INT32;
	f.name = longest;
	ck_assert_int_eq(evtype_check(&t, false, &e), -ERR_LIMIT);
	f.name = longest + 1;
	ck_assert_int_eq(evtype_check(&t, false, &e), 0);
	t.name = "";
	ck_assert_int_eq(evtype_check(&t, false, &e), -ERR_LIMIT);
}

/* --- losses and repetitions */

/* Bytes of the block that begins at p. */
static size_t block_bytes(const uint8_t *p)
{
	return ev_get32(p + 8, false);
}

TEST(a_lost_block_is_counted_by_its_events)
{
	struct evread_report r;
	struct buf b;
	size_t at, n;

	made_many(&b, 5, 0, 1000, 1024);
	at = block_bytes(b.p);
	n = block_bytes(b.p + at);
	memmove(b.p + at, b.p + at + n, b.n - at - n);
	b.n -= n;
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.lost_blocks, 1);
	ck_assert_uint_eq(r.lost_events, (n - EVBLOCK_HEAD_BYTES) / 20);
	ck_assert_uint_eq(r.events + r.lost_events, 1000);
	ck_assert_uint_eq(r.skipped_bytes, 0);
	ck_assert(!evread_is_clean(&r));
	buf_done(&b);
}

TEST(events_without_their_description_are_counted)
{
	struct evread_report r;
	struct buf b;

	made_many(&b, 5, 0, 1000, 1024);
	buf_drop_front(&b, block_bytes(b.p));
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.events, 0);
	ck_assert_uint_eq(r.lost_events + r.undescribed, 1000);
	buf_done(&b);
}

TEST(a_log_that_arrives_twice_is_read_once)
{
	struct evread_report r;
	struct buf b, other;
	size_t n;

	made_many(&b, 5, 0, 1000, 1024);
	n = b.n;
	ck_assert_int_eq(buf_put(&b, b.p, n), 0);
	made_many(&other, 6, 0, 10, 1024);
	ck_assert_int_eq(buf_put(&b, other.p, other.n), 0);
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.events, 1010);
	ck_assert_uint_gt(r.repeated_blocks, 10);
	ck_assert(evread_is_clean(&r));
	buf_done(&b);
	buf_done(&other);
}

TEST(reader_reports_events_dropped_by_the_sender)
{
	struct evwrite w;
	struct evread_report r;
	struct err e = { 0 };

	evwrite_init(&w, 9, false, 0);
	ck_assert_int_eq(evwrite_define(&w, 1, &made_all, &e), 0);
	evwrite_dropped(&w, 12);
	ck_assert_int_eq(evwrite_cut(&w, false, &e), 0);
	evwrite_dropped(&w, 30);
	ck_assert_int_eq(evwrite_cut(&w, true, &e), 0);
	made_read(&w.out, NULL, NULL, &r);
	ck_assert_uint_eq(r.dropped, 42);
	evwrite_done(&w);
}

/* A torn block in the middle of a file to which more was appended. */
TEST(reader_finds_blocks_behind_a_torn_block)
{
	struct evread_report r;
	struct buf b, other;

	made_many(&b, 5, 0, 500, 0);
	b.n -= 1000;
	made_many(&other, 6, 0, 700, 1024);
	ck_assert_int_eq(buf_put(&b, other.p, other.n), 0);
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.events, 700);
	ck_assert_uint_eq(r.torn_blocks, 1);
	ck_assert_uint_eq(r.first_bad, 0);
	buf_done(&b);
	buf_done(&other);
}

/* A new header over the contents. */
static void seal(uint8_t *p, uint16_t version)
{
	struct evblock b;
	uint32_t n = (uint32_t)block_bytes(p) - EVBLOCK_HEAD_BYTES;

	evblock_look(p, block_bytes(p), &b);
	b.version = version;
	b.crc = hash_crc32c(0, p + EVBLOCK_HEAD_BYTES, n);
	evblock_encode(&b, p);
}

TEST(a_head_is_the_same_looked_at_or_not)
{
	for (int swap = 0; swap <= 1; swap++) {
		uint8_t again[EVBLOCK_HEAD_BYTES];
		struct evblock looked, head;
		struct buf b;

		made_edges(&b, swap);
		ck_assert_int_eq(evblock_look(b.p, b.n, &looked), EVBLOCK_GOOD);
		evblock_head(b.p, &head);
		evblock_encode(&head, again);
		ck_assert_int_eq(memcmp(again, b.p, sizeof(again)), 0);
		ck_assert_int_eq(head.swap, looked.swap);
		ck_assert_int_eq(head.swap, swap);
		buf_done(&b);
	}
}

TEST(a_later_version_is_passed_over_whole)
{
	struct evread_report r;
	struct buf b;

	made_many(&b, 5, 0, 1000, 1024);
	seal(b.p, 2);
	made_read(&b, NULL, NULL, &r);
	ck_assert_uint_eq(r.future_blocks, 1);
	ck_assert_uint_eq(r.skipped_bytes, block_bytes(b.p));
	ck_assert_uint_eq(r.events, 0); /* the description was in it */
	buf_done(&b);
}

TEST(lengths_of_records_are_accepted_only_as_far_as_they_fit)
{
	static const uint16_t lengths[] = {
		0, 1, 2, 3, 4, 8, 18, 19, 21, 24, 1024, 0xfffc, 0xffff
	};

	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct evread_report r;
		struct buf b;
		size_t at;

		made_many(&b, 5, 0, 100, 1024);
		at = block_bytes(b.p) - 20;
		ev_set16(b.p + at + 2, lengths[i], false);
		seal(b.p, 1);
		made_read(&b, NULL, NULL, &r);
		ck_assert_uint_eq(r.events, 99);
		ck_assert_uint_ge(r.bad_records, 1);
		buf_done(&b);
	}
}

TEST(times_follow_the_declared_clock)
{
	struct ticks_scale s = { .base_ticks = 1000,
				 .base_ns = 5000000000,
				 .mult = 1,
				 .shift = 1,
				 .source = TICKS_TSC };
	struct evwrite w;
	struct evread_report r;
	struct err e = { 0 };
	struct evread *read = evread_new();
	struct event ev;
	size_t used;

	evwrite_init(&w, 9, true, 0);
	ck_assert_int_eq(evwrite_define(&w, 1, &made_all, &e), 0);
	ck_assert_int_eq(evwrite_clock(&w, &s, &e), 0);
	ck_assert_int_eq(
		evwrite_event(
			&w, 1,
			&(struct event){ .type = &made_all, .ticks = 1100, .value = made_edge(0) },
			&e),
		0);
	ck_assert_int_eq(evwrite_event(&w, 1,
				       &(struct event){ .type = &made_all,
							.ticks = (uint64_t)-1001,
							.value = made_edge(0) },
				       &e),
			 0);
	s.mult = 0;
	ck_assert_int_eq(evwrite_clock(&w, &s, &e), -ERR_INVALID);
	ck_assert_int_eq(evwrite_cut(&w, true, &e), 0);
	ck_assert_int_eq(evread_push(read, w.out.p, w.out.n, true, &used), EVREAD_BLOCK);
	ck_assert(evread_next(read, &ev));
	ck_assert_int_eq(ev.wall_ns, 5000000050);
	ck_assert(evread_next(read, &ev));
	ck_assert_int_eq(ev.wall_ns, 5000000000 - 1001); /* -2001 / 2, rounded down */
	r = *evread_report(read);
	ck_assert(evread_is_clean(&r));
	evread_free(read);
	evwrite_done(&w);
}

TEST(no_memory_loses_nothing_quietly)
{
	struct buf b;

	made_edges(&b, false);
	ALLOC_SWEEP (k) {
		struct evread *r = evread_new();
		struct event ev;
		size_t used = 0, at = 0, n = 0;
		int got = r ? 0 : -ERR_NOMEM;

		while (r &&
		       (got = evread_push(r, b.p + at, b.n - at, true, &used)) == EVREAD_BLOCK) {
			at += used;
			while (evread_next(r, &ev))
				n++;
		}
		alloc_sweep_pause();
		ck_assert(got == -ERR_NOMEM || got == EVREAD_END);
		if (r && got == EVREAD_END)
			ck_assert(n == MADE_EDGES || !evread_is_clean(evread_report(r)));
		evread_free(r);
	}
	buf_done(&b);
}

SUITE("evread")
