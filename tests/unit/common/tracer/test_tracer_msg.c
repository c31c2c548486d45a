/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between an lm and its lm-trace arrive unchanged, and no others do. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/tracer/syscalls.h"
#include "common/tracer/tracer_msg.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/syscall.h>

static struct tracer_msg in, out;
static struct buf b;

static void set_up(void)
{
	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	buf_init(&b, TRACER_MSG_MAX_BYTES);
}

static void clean_up(void)
{
	buf_done(&b);
}

static int pass(void)
{
	struct err e = { 0 };
	int rc;

	buf_clear(&b);
	rc = tracer_msg_encode(&b, &in);
	return rc ? rc : tracer_msg_decode(&out, b.p, b.n, &e);
}

static void create_message(void)
{
	in.type = TRACER_CREATE;
	in.nvalue = 3;
	in.value[0] = 2;
	in.value[1] = 1;
	in.value[2] = 1;
	in.ntext = 5;
	in.text[0] = "/bin/echo";
	in.text[1] = "echo";
	in.text[2] = "";
	in.text[3] = "A=\xff";
	in.text[4] = "/tmp/out";
}

TEST(all_fields_are_kept)
{
	create_message();
	in.id = 77;
	ck_assert_int_eq(pass(), 0);
	ck_assert_uint_eq(out.id, 77);
	ck_assert_uint_eq(out.ntext, 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(out.text[i], in.text[i]);
	in = (struct tracer_msg){ .type = TRACER_EVENT,
				  .pid = 5,
				  .tid = 6,
				  .start = UINT64_MAX,
				  .what = TRACER_SIGNAL,
				  .nvalue = 2,
				  .value = { 9, UINT64_MAX } };
	ck_assert_int_eq(pass(), 0);
	ck_assert_int_eq(out.pid, 5);
	ck_assert_int_eq(out.tid, 6);
	ck_assert_uint_eq(out.start, UINT64_MAX);
	ck_assert_uint_eq(out.value[1], UINT64_MAX);
}

TEST(bytes_come_through_up_to_their_limit)
{
	static uint8_t bytes[TRACER_BYTES_MAX + 1];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (size_t n = TRACER_BYTES_MAX - 1; n <= TRACER_BYTES_MAX + 1; n++) {
		in = (struct tracer_msg){ .type = TRACER_BYTES, .bytes = bytes, .nbytes = n };
		ck_assert_int_eq(pass(), n <= TRACER_BYTES_MAX ? 0 : -ERR_PROTO);
	}
	in = (struct tracer_msg){ .type = TRACER_WRITE_MEMORY,
				  .pid = 5,
				  .nvalue = 4,
				  .value = { 4096, 2, 4, 3 },
				  .bytes = bytes,
				  .nbytes = 6 };
	ck_assert_int_eq(pass(), 0);
	ck_assert_uint_eq(out.nbytes, 6);
	ck_assert_mem_eq(out.bytes, bytes, 6);
	in = (struct tracer_msg){ .type = TRACER_BYTES };
	ck_assert_int_eq(pass(), 0);
	ck_assert_uint_eq(out.nbytes, 0);
}

TEST(message_that_does_not_fit_its_type_is_refused)
{
	static const struct tracer_msg bad[] = {
		{ .type = 0 },
		{ .type = 63 },
		{ .type = 255 },
		{ .type = TRACER_BACKTRACE, .pid = 1, .tid = 5, .nvalue = 1 },
		{ .type = TRACER_BACKTRACE, .pid = -5, .tid = 5, .nvalue = 1 },
		{ .type = TRACER_BACKTRACE, .pid = 5, .tid = 0, .nvalue = 1 },
		{ .type = TRACER_BACKTRACE, .pid = 5, .tid = 5, .nvalue = 2 },
		{ .type = TRACER_READ_REGS, .pid = 5, .tid = 5, .nvalue = 2, .what = 2 },
		{ .type = TRACER_WRITE_REGS, .pid = 5, .tid = 5, .nvalue = 1 },
		{ .type = TRACER_WATCH, .pid = 5, .nvalue = 9, .what = 8 },
		{ .type = TRACER_EVENT, .pid = 5, .tid = 5, .nvalue = 2, .what = 3 },
		{ .type = TRACER_EVENT, .pid = 5, .tid = 5, .nvalue = 2, .what = 0 },
		{ .type = TRACER_FRAMES, .pid = 5, .tid = 5, .nvalue = 3 },
		{ .type = TRACER_FAILED, .what = ERR_OK, .ntext = 1, .text = { "" } },
		{ .type = TRACER_FAILED, .what = ERR_NCODES, .ntext = 1, .text = { "" } },
		{ .type = TRACER_DONE, .nbytes = 1, .bytes = (const uint8_t *)"x" },
		{ .type = TRACER_READ_MEMORY, .pid = 5, .nvalue = 4, .value = { 0, 0, 1, 1 } },
		{ .type = TRACER_READ_MEMORY, .pid = 5, .nvalue = 4, .value = { 0, 1, 1, 0 } },
		{ .type = TRACER_READ_MEMORY, .pid = 5, .nvalue = 4, .value = { 0, 2, 1, 1 } },
		{ .type = TRACER_READ_MEMORY,
		  .pid = 5,
		  .nvalue = 4,
		  .value = { UINT64_MAX, 1, 1, 1 } },
		{ .type = TRACER_READ_MEMORY,
		  .pid = 5,
		  .nvalue = 4,
		  .value = { 0, 1, INT64_MAX, 2 } },
		{ .type = TRACER_READ_MEMORY,
		  .pid = 5,
		  .nvalue = 4,
		  .value = { 0, TRACER_BYTES_MAX / 2 + 1, TRACER_BYTES_MAX, 2 } },
		{ .type = TRACER_READ_MEMORY,
		  .pid = 5,
		  .nvalue = 4,
		  .value = { 0, UINT64_MAX, UINT64_MAX, 2 } },
		{ .type = TRACER_WRITE_MEMORY,
		  .pid = 5,
		  .nvalue = 4,
		  .value = { 0, 1, 1, 2 },
		  .nbytes = 1,
		  .bytes = (const uint8_t *)"x" },
		{ .type = TRACER_CREATE, .nvalue = 3, .ntext = 1, .text = { "a" }, .value = { 1 } },
		{ .type = TRACER_CREATE,
		  .nvalue = 3,
		  .ntext = 1,
		  .text = { "a" },
		  .value = { UINT64_MAX, 1 } },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		in = bad[i];
		ck_assert_msg(pass() == -ERR_PROTO, "message %zu", i);
	}
}

TEST(streams_beyond_the_limit_are_refused)
{
	create_message();
	in.value[0] = in.value[1] = 0;
	for (in.value[2] = TRACER_STREAMS_MAX - 1; in.value[2] <= TRACER_STREAMS_MAX + 1;
	     in.value[2]++) {
		in.ntext = 1 + (size_t)in.value[2];
		for (size_t i = 0; i < in.ntext; i++)
			in.text[i] = "x";
		ck_assert_int_eq(pass(), in.value[2] <= TRACER_STREAMS_MAX ? 0 : -ERR_PROTO);
	}
}

TEST(the_longest_names_of_a_part_fit)
{
	static char name[TRACER_NAME_MAX_BYTES + 1];

	memset(name, 'x', TRACER_NAME_MAX_BYTES);
	in = (struct tracer_msg){ .type = TRACER_FRAMES,
				  .pid = 5,
				  .tid = 5,
				  .nvalue = TRACER_FRAMES_PART * TRACER_FRAME_VALUES,
				  .ntext = TRACER_FRAMES_PART * TRACER_FRAME_TEXTS };
	for (size_t i = 0; i < in.ntext; i++)
		in.text[i] = name;
	ck_assert_int_eq(pass(), 0);
}

TEST(every_cut_and_every_tail_is_refused)
{
	struct err e = { 0 };

	create_message();
	ck_assert_int_eq(pass(), 0);
	for (size_t n = 0; n < b.n; n++)
		ck_assert_int_eq(tracer_msg_decode(&out, b.p, n, &e), -ERR_PROTO);
	buf_putc(&b, 0);
	ck_assert_int_eq(tracer_msg_decode(&out, b.p, b.n, &e), -ERR_PROTO);
}

/* A changed message is refused, or is a message that could have been sent. */
TEST(flipped_bytes_never_make_an_invalid_message)
{
	struct buf again = BUF_INIT(TRACER_MSG_MAX_BYTES);
	struct err e = { 0 };
	struct rng rng;

	rng_init(&rng, suite_seed(20261122));
	create_message();
	for (unsigned i = 0; i < 20000; i++) {
		ck_assert_int_eq(pass(), 0);
		for (unsigned k = 0; k < 1 + i % 3; k++)
			b.p[rng_below(&rng, b.n)] = (uint8_t)rng_next(&rng);
		buf_clear(&again);
		if (!tracer_msg_decode(&out, b.p, b.n, &e))
			ck_assert_int_eq(tracer_msg_encode(&again, &out), 0);
		if (i == 10000)
			in = (struct tracer_msg){ .type = TRACER_WRITE_MEMORY,
						  .pid = 5,
						  .nvalue = 4,
						  .value = { 4096, 2, 4, 3 },
						  .nbytes = 6,
						  .bytes = (const uint8_t *)"123456" };
	}
	buf_done(&again);
}

/* --- each kind at its limits, and one step beyond them */

/* Limits of a kind in tracer_msg.h: maximum of `what`, minimum and maximum of values and texts. */
static const struct limits {
	uint8_t type;
	bool has_process, has_thread;
	uint32_t what;
	size_t values[2], texts[2];
} limits[] = {
	{ TRACER_BACKTRACE, true, true, 1, { 1, 1 }, { 0, 0 } },
	{ TRACER_READ_REGS, true, true, TRACER_REGS_FP, { 2, 2 }, { 0, 0 } },
	{ TRACER_WRITE_REGS, true, true, TRACER_REGS_FP, { 2, 128 }, { 0, 0 } },
	{ TRACER_GOTO, true, true, 0, { 1, 1 }, { 0, 0 } },
	{ TRACER_CALL, true, true, 0, { 1, 1 }, { 0, 0 } },
	{ TRACER_CREATE, false, false, 0, { 3, 3 }, { 1, 1024 } },
	{ TRACER_LET_GO, true, false, 0, { 0, 0 }, { 0, 0 } },
	{ TRACER_WATCH, true, false, 7, { 9, 9 }, { 0, 0 } },
	{ TRACER_READ_MEMORY, true, false, 0, { 4, 4 }, { 0, 0 } },
	{ TRACER_WRITE_MEMORY, true, false, 0, { 4, 4 }, { 0, 0 } },
	{ TRACER_MODULES, true, false, 0, { 0, 0 }, { 0, 0 } },
	{ TRACER_FILE, false, false, 0, { 2, 2 }, { 1, 1 } },
	{ TRACER_FRAMES, true, true, 1, { 0, 40 }, { 0, 30 } },
	{ TRACER_REGS, true, true, TRACER_REGS_FP, { 0, 128 }, { 0, 0 } },
	{ TRACER_DONE, false, false, 0, { 0, 0 }, { 0, 0 } },
	{ TRACER_CREATED, true, false, 0, { 0, 0 }, { 0, 0 } },
	{ TRACER_FAILED, false, false, ERR_NCODES - 1, { 0, 1 }, { 1, 1 } },
	{ TRACER_EVENT, true, true, TRACER_SIGNAL, { 2, 8 }, { 0, 0 } },
	{ TRACER_WATCH_ENDED, true, false, 0, { 0, 1 }, { 1, 1 } },
	{ TRACER_BYTES, false, false, 1, { 0, 0 }, { 0, 0 } },
	{ TRACER_MODULE, false, false, 0, { 6, 6 }, { 1, 1 } },
	{ TRACER_SOURCE, false, false, 0, { 1, TRACER_VALUES_MAX }, { 1, 1 } },
};

/* A good message of the kind with so many values and texts. */
static void message_of(const struct limits *k, size_t values, size_t texts)
{
	in = (struct tracer_msg){ .type = k->type,
				  .pid = k->has_process ? 2 : 0,
				  .tid = k->has_thread ? 2 : 0,
				  .what = k->what,
				  .nvalue = values,
				  .ntext = texts };
	for (size_t i = 0; i < texts && i < TRACER_TEXTS_MAX; i++)
		in.text[i] = "";
	if (k->type == TRACER_CREATE && texts)
		in.value[0] = texts - 1;
	if (k->type == TRACER_READ_MEMORY || k->type == TRACER_WRITE_MEMORY) {
		in.value[1] = in.value[2] = in.value[3] = 1;
		in.nbytes = k->type == TRACER_WRITE_MEMORY;
		in.bytes = (const uint8_t *)"x";
	}
}

static void is_taken(const struct limits *k, bool is_good, const char *of)
{
	int want = is_good ? 0 : -ERR_PROTO;

	ck_assert_msg(pass() == want, "kind %u, %s", k->type, of);
}

static void limits_of(const struct limits *k)
{
	for (int i = 0; i < 2; i++) {
		message_of(k, k->values[i], k->texts[i]);
		is_taken(k, true, i ? "most" : "least");
	}
	message_of(k, k->values[1] + 1, k->texts[1]);
	is_taken(k, false, "a value more");
	message_of(k, k->values[1], k->texts[1] + 1);
	is_taken(k, false, "a text more");
	if (k->values[0]) {
		message_of(k, k->values[0] - 1, k->texts[0]);
		is_taken(k, false, "a value less");
	}
	if (k->texts[0]) {
		message_of(k, k->values[0], k->texts[0] - 1);
		is_taken(k, false, "a text less");
	}
}

TEST(each_kind_has_its_numbers_of_values_and_texts)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		limits_of(&limits[i]);
}

TEST(the_field_what_has_limits_by_kind)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		const struct limits *k = &limits[i];

		message_of(k, k->values[0], k->texts[0]);
		in.what++;
		is_taken(k, false, "what");
		in.what = k->type == TRACER_EVENT    ? TRACER_SYSCALL_START
			  : k->type == TRACER_FAILED ? ERR_OK + 1
						     : 0;
		is_taken(k, true, "the least what");
	}
}

/* No helper may touch init, or what kill() takes for a group. */
TEST(each_kind_has_a_process_or_thread_where_it_needs_one)
{
	static const int32_t none[] = { 1, 0, -1, INT32_MIN };

	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		const struct limits *k = &limits[i];

		for (size_t n = 0; n < ARRAY_LEN(none); n++) {
			message_of(k, k->values[0], k->texts[0]);
			in.pid = none[n];
			is_taken(k, !k->has_process, "process");
			message_of(k, k->values[0], k->texts[0]);
			in.tid = none[n];
			is_taken(k, !k->has_thread, "thread");
		}
	}
}

TEST(only_kinds_with_bytes_have_some)
{
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		const struct limits *k = &limits[i];

		message_of(k, k->values[0], k->texts[0]);
		in.bytes = (const uint8_t *)"xy";
		in.nbytes++;
		is_taken(k, k->type == TRACER_BYTES || k->type == TRACER_SOURCE, "bytes");
	}
}

/* All blocks of memory are below 2^63, and one message can hold them. */
TEST(blocks_of_memory_reach_their_limits)
{
	static const struct {
		uint64_t addr, block, stride, n;
		bool is_good;
	} known[] = {
		{ 0, 1, 1, 1, true },
		{ 0, TRACER_BYTES_MAX, TRACER_BYTES_MAX, 1, true },
		{ 0, TRACER_BYTES_MAX + 1, TRACER_BYTES_MAX + 1, 1, false },
		{ 0, 1, 1, TRACER_BYTES_MAX, true },
		{ 0, 1, 1, TRACER_BYTES_MAX + 1, false },
		{ 0, 2, 2, TRACER_BYTES_MAX / 2, true },
		{ 0, 2, 2, TRACER_BYTES_MAX / 2 + 1, false },
		{ 0, 2, 1, 2, false },
		{ INT64_MAX - 1, 1, 1, 1, true },
		{ INT64_MAX, 1, 1, 1, false },
		{ (uint64_t)INT64_MAX + 1, 1, 1, 1, false },
		{ INT64_MAX - 6, 1, 3, 2, true },
		{ INT64_MAX - 6, 1, 4, 2, false },
		{ 0, 1, INT64_MAX, 1, true },
		{ 0, 1, (uint64_t)INT64_MAX + 1, 1, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		in = (struct tracer_msg){ .type = TRACER_READ_MEMORY, .pid = 2, .nvalue = 4 };
		in.value[0] = known[i].addr;
		in.value[1] = known[i].block;
		in.value[2] = known[i].stride;
		in.value[3] = known[i].n;
		ck_assert_msg(pass() == (known[i].is_good ? 0 : -ERR_PROTO), "geometry %zu", i);
	}
}

TEST(counts_of_a_program_and_of_frames_agree_with_the_texts)
{
	create_message();
	in.ntext = 4;
	ck_assert_int_eq(pass(), -ERR_PROTO);
	in.ntext = 5;
	in.text[5] = "";
	in.ntext = 6;
	ck_assert_int_eq(pass(), -ERR_PROTO);
	message_of(&limits[12], 4, 3);
	ck_assert_int_eq(pass(), 0);
	message_of(&limits[12], 5, 3);
	ck_assert_int_eq(pass(), -ERR_PROTO);
	message_of(&limits[12], 4, 2);
	ck_assert_int_eq(pass(), -ERR_PROTO);
	message_of(&limits[12], 8, 3);
	ck_assert_int_eq(pass(), -ERR_PROTO);
}

TEST(an_event_is_of_one_thing)
{
	in = (struct tracer_msg){ .type = TRACER_EVENT, .pid = 2, .tid = 2, .nvalue = 2 };
	for (in.what = 0; in.what <= TRACER_WATCH_ALL + 1; in.what++)
		ck_assert_int_eq(pass(), in.what == TRACER_SYSCALL_START ||
							 in.what == TRACER_SYSCALL_END ||
							 in.what == TRACER_SIGNAL
						 ? 0
						 : -ERR_PROTO);
}

/* Behind the head of a message without any. */
TEST(more_values_or_texts_than_there_is_room_for_are_refused)
{
	static const size_t places[] = { 25, 27 }; /* of their numbers, in a message */
	static const uint16_t numbers[] = { TRACER_VALUES_MAX + 1, TRACER_TEXTS_MAX + 1 };
	struct err e = { 0 };

	for (size_t i = 0; i < 2; i++) {
		in = (struct tracer_msg){ .type = TRACER_DONE };
		ck_assert_int_eq(pass(), 0);
		ck_assert_uint_eq(b.n, 29);
		b.p[places[i]] = (uint8_t)numbers[i];
		b.p[places[i] + 1] = (uint8_t)(numbers[i] >> 8);
		for (size_t k = 0; k < numbers[i]; k++)
			buf_put_u64le(&b, 0);
		ck_assert_int_eq(tracer_msg_decode(&out, b.p, b.n, &e), -ERR_PROTO);
		ck_assert_ptr_nonnull(strstr(e.text, "bytes makes no sense"));
	}
}

TEST(a_message_that_has_no_room_is_reported)
{
	struct buf small = BUF_INIT(20);

	create_message();
	ck_assert_int_eq(tracer_msg_encode(&small, &in), -ERR_LIMIT);
	buf_done(&small);
}

static void numbers_are(const char *name, int rc, int64_t number)
{
	int64_t n = -7;

	ck_assert_msg(syscall_read(name, &n) == rc, "%s", name);
	ck_assert_msg(rc || n == number, "%s", name);
}

TEST(a_system_call_has_a_name_or_a_number)
{
	numbers_are("", 0, SYSCALL_ALL);
	numbers_are("0", 0, 0);
	numbers_are("511", 0, 511);
	numbers_are("512", -ERR_NOTFOUND, 0);
	numbers_are("-1", -ERR_NOTFOUND, 0);
	numbers_are("write", 0, SYS_write);
	numbers_are("close_range", 0, SYS_close_range);
	numbers_are("writ", -ERR_NOTFOUND, 0);
	numbers_are("WRITE", -ERR_NOTFOUND, 0);
	numbers_are("write ", -ERR_NOTFOUND, 0);
}

SUITE_WITH("messages of lm-trace", set_up, clean_up)
