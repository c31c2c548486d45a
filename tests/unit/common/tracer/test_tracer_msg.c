/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between an lm and its lm-trace arrive unchanged, and no others do. */
#include "common/base/rng.h"
#include "common/tracer/tracer_msg.h"
#include "tests/suite.h"

#include <string.h>

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
	return rc < 0 ? rc : tracer_msg_decode(&out, b.p, b.n, &e);
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

START_TEST(all_fields_come_through)
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
END_TEST

START_TEST(bytes_come_through_up_to_their_limit)
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
END_TEST

START_TEST(what_does_not_fit_its_kind_is_refused)
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

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		in = bad[i];
		ck_assert_msg(pass() == -ERR_PROTO, "message %zu", i);
	}
}
END_TEST

START_TEST(a_program_has_as_many_streams_as_the_limit_says)
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
END_TEST

START_TEST(the_longest_names_of_a_part_fit)
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
END_TEST

START_TEST(every_cut_and_every_tail_is_refused)
{
	struct err e = { 0 };

	create_message();
	ck_assert_int_eq(pass(), 0);
	for (size_t n = 0; n < b.n; n++)
		ck_assert_int_eq(tracer_msg_decode(&out, b.p, n, &e), -ERR_PROTO);
	buf_putc(&b, 0);
	ck_assert_int_eq(tracer_msg_decode(&out, b.p, b.n, &e), -ERR_PROTO);
}
END_TEST

/* Whatever is flipped: it is refused, or what came out is a message that could be said. */
START_TEST(flipped_bytes_never_make_what_could_not_be_said)
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
		if (tracer_msg_decode(&out, b.p, b.n, &e) == 0)
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
END_TEST

SUITE_WITH("messages of lm-trace", set_up, clean_up, all_fields_come_through,
	   bytes_come_through_up_to_their_limit, what_does_not_fit_its_kind_is_refused,
	   a_program_has_as_many_streams_as_the_limit_says, the_longest_names_of_a_part_fit,
	   every_cut_and_every_tail_is_refused, flipped_bytes_never_make_what_could_not_be_said)
