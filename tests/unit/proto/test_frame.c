/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "proto/frame.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

static void put_frame(struct buf *b, uint8_t type, const void *p, size_t n)
{
	size_t mark = frame_begin(b, type);

	buf_put(b, p, n);
	ck_assert_int_eq(frame_end(b, mark), 0);
}

static void put_length(uint8_t out[4], uint32_t v)
{
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(v >> (24 - 8 * i));
}

TEST(a_frame_is_a_big_endian_length_a_type_and_the_payload)
{
	static const uint8_t want[] = { 0, 0, 0, 4, 7, 'a', 'b', 'c' };
	struct buf b = BUF_INIT(100);

	put_frame(&b, 7, "abc", 3);
	ck_assert_uint_eq(b.n, sizeof(want));
	ck_assert_mem_eq(b.p, want, sizeof(want));
	ck_assert_uint_eq(frame_bytes(b.p, b.n), sizeof(want));
	ck_assert_uint_eq(frame_bytes(b.p, b.n - 1), 0);
	ck_assert_uint_eq(frame_bytes(b.p, 4), 0);
	buf_done(&b);
}

/* Feeds the stream in pieces of at most `most` bytes and writes the frames as text. */
static void feed(const struct buf *in, size_t most, struct rng *rng, struct buf *out)
{
	struct frame_in f;
	struct frame fr;
	struct err e = { 0 };
	int rc;

	frame_in_init(&f, FRAME_MAX_BYTES);
	for (size_t at = 0; at < in->n;) {
		size_t n = 1 + (size_t)rng_below(rng, most);

		n = n < in->n - at ? n : in->n - at;
		ck_assert_int_eq(frame_in_add(&f, in->p + at, n, &e), 0);
		at += n;
		while ((rc = frame_in_next(&f, &fr, &e)) > 0)
			buf_printf(out, "%u:%zu:%.*s;", fr.type, fr.n, (int)fr.n,
				   (const char *)fr.p);
		ck_assert_int_eq(rc, 0);
	}
	ck_assert_uint_eq(frame_in_pending(&f), 0);
	frame_in_done(&f);
}

TEST(any_chunking_gives_the_same_frames)
{
	static const size_t most[] = { 1, 2, 3, 5, 7, 64, 4096, 1 << 20 };
	struct buf in = BUF_INIT(1 << 20), want = BUF_INIT(1 << 20);
	struct rng rng;

	rng_init(&rng, suite_seed(1));
	for (int i = 0; i < 200; i++) {
		char text[300];
		size_t n = (size_t)rng_below(&rng, sizeof(text));

		memset(text, 'a' + i % 26, n);
		put_frame(&in, (uint8_t)i, text, n);
		buf_printf(&want, "%u:%zu:%.*s;", (uint8_t)i, n, (int)n, text);
	}
	for (size_t i = 0; i < ARRAY_LEN(most); i++) {
		struct buf got = BUF_INIT(1 << 20);

		feed(&in, most[i], &rng, &got);
		ck_assert_str_eq(buf_str(&got), buf_str(&want));
		buf_done(&got);
	}
	buf_done(&in);
	buf_done(&want);
}

TEST(a_bad_length_is_reported_on_its_fourth_byte_and_for_ever)
{
	static const uint32_t bad[] = { 0, FRAME_MAX_BYTES + 1, 0x7fffffff, 0x80000000,
					0xffffffff };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct frame_in f;
		struct frame fr;
		struct err e = { 0 };
		uint8_t head[4];
		char text[40];

		put_length(head, bad[i]);
		frame_in_init(&f, FRAME_MAX_BYTES);
		for (int k = 0; k < 3; k++) {
			ck_assert_int_eq(frame_in_add(&f, head + k, 1, &e), 0);
			ck_assert_int_eq(frame_in_next(&f, &fr, &e), 0);
		}
		ck_assert_int_eq(frame_in_add(&f, head + 3, 1, &e), 0);
		ck_assert_int_eq(frame_in_next(&f, &fr, &e), -ERR_PROTO);
		snprintf(text, sizeof(text), "BAD_LENGTH %lu", (unsigned long)bad[i]);
		ck_assert_str_eq(e.text, text);
		ck_assert_uint_lt(f.buf.cap, 65536);
		ck_assert_int_eq(frame_in_add(&f, head, 4, &e), -ERR_PROTO);
		ck_assert_int_eq(frame_in_next(&f, &fr, &e), -ERR_PROTO);
		frame_in_done(&f);
	}
}

TEST(the_limit_is_exact_before_and_after_the_role_is_known)
{
	static const size_t maxima[] = { FRAME_PREAUTH_MAX_BYTES, FRAME_MAX_BYTES };

	for (size_t i = 0; i < 2; i++)
		for (int d = -1; d <= 1; d++) {
			struct frame_in f;
			struct frame fr;
			struct err e = { 0 };
			uint8_t head[5];

			put_length(head, (uint32_t)(maxima[i] + (size_t)d));
			head[4] = 1;
			frame_in_init(&f, maxima[i]);
			frame_in_add(&f, head, sizeof(head), &e);
			ck_assert_int_eq(frame_in_next(&f, &fr, &e), d > 0 ? -ERR_PROTO : 0);
			frame_in_done(&f);
		}
}

TEST(a_raised_limit_holds_for_the_frames_behind_it_in_one_chunk)
{
	static uint8_t large[FRAME_PREAUTH_MAX_BYTES + 100];
	struct buf in = BUF_INIT(1 << 20);
	struct frame_in f;
	struct frame fr;
	struct err e = { 0 };

	put_frame(&in, 1, "hello", 5);
	put_frame(&in, 2, large, sizeof(large));
	frame_in_init(&f, FRAME_PREAUTH_MAX_BYTES);
	frame_in_add(&f, in.p, in.n, &e);
	ck_assert_int_eq(frame_in_next(&f, &fr, &e), 1);
	frame_in_set_max(&f, FRAME_MAX_BYTES);
	ck_assert_int_eq(frame_in_next(&f, &fr, &e), 1);
	ck_assert_uint_eq(fr.n, sizeof(large));
	frame_in_done(&f);
	buf_done(&in);
}

TEST(memory_grows_with_what_arrived_never_to_what_was_announced)
{
	uint8_t head[5] = { 0, 0x10, 0, 0, 1 }; /* 1 MiB */
	struct frame_in f;
	struct frame fr;
	struct err e = { 0 };

	frame_in_init(&f, FRAME_MAX_BYTES);
	frame_in_add(&f, head, 5, &e);
	for (int i = 0; i < 1000; i++) {
		frame_in_add(&f, head, 1, &e);
		ck_assert_int_eq(frame_in_next(&f, &fr, &e), 0);
	}
	ck_assert_uint_le(f.buf.cap, 2 * 1005 + 64);
	ck_assert_uint_eq(frame_in_pending(&f), 1005);
	frame_in_done(&f);
}

TEST(an_empty_splitter_gives_large_memory_back)
{
	size_t n = FRAME_MAX_BYTES - 1;
	uint8_t *p = calloc(1, n);
	struct buf in = BUF_INIT(2 << 20);
	struct frame_in f;
	struct frame fr;
	struct err e = { 0 };

	put_frame(&in, 1, p, n);
	frame_in_init(&f, FRAME_MAX_BYTES);
	frame_in_add(&f, in.p, in.n, &e);
	ck_assert_int_eq(frame_in_next(&f, &fr, &e), 1);
	ck_assert_int_eq(frame_in_add(&f, in.p, 1, &e), 0);
	ck_assert_uint_le(f.buf.cap, 65536);
	frame_in_done(&f);
	buf_done(&in);
	free(p);
}

TEST(a_frame_that_is_too_large_leaves_the_buffer_as_it_was)
{
	size_t n = FRAME_MAX_BYTES;
	uint8_t *p = calloc(1, n);
	struct buf b = BUF_INIT(4 << 20);
	size_t mark;

	put_frame(&b, 1, "x", 1);
	mark = frame_begin(&b, 2);
	buf_put(&b, p, n - 1);
	ck_assert_int_eq(frame_end(&b, mark), 0);
	mark = frame_begin(&b, 2);
	buf_put(&b, p, n);
	ck_assert_int_eq(frame_end(&b, mark), -ERR_LIMIT);
	ck_assert_uint_eq(b.n, mark);
	buf_done(&b);
	free(p);
}

TEST(without_memory_the_stream_stays_whole)
{
	struct buf in = BUF_INIT(1000);

	put_frame(&in, 9, "0123456789012345678901234567890123456789012345678901234567890123456789",
		  70);
	ALLOC_SWEEP (k) {
		struct frame_in f;
		struct frame fr;
		struct err e = { 0 };
		bool added[2];

		frame_in_init(&f, FRAME_MAX_BYTES);
		for (size_t i = 0; i < 2; i++) {
			size_t half = in.n / 2;
			const uint8_t *p = in.p + i * half;
			size_t n = i ? in.n - half : half;

			/* A failed add may be made again. */
			added[i] = !frame_in_add(&f, p, n, &e);
			if (!added[i])
				added[i] = !frame_in_add(&f, p, n, &e);
		}
		alloc_sweep_pause();
		ck_assert(added[0] && added[1]);
		ck_assert_int_eq(frame_in_next(&f, &fr, &e), 1);
		ck_assert_uint_eq(fr.n, 70);
		frame_in_done(&f);
	}
	buf_done(&in);
}

SUITE("frame")
