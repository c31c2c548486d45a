/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites of this rank: distinguished by where calls return to, and by callers with frames. */
#include "common/base/array.h"
#include "common/ring/calls_id.h"
#include "libapp/hot/site.h"
#include "tests/suite.h"
#include "tests/unit/libapp/fake_mpi.h"
#include "tests/unit/libapp/rank.h"

#include <pthread.h>
#include <string.h>

#define FRAMED __attribute__((noinline, optimize("no-omit-frame-pointer")))

static int buf[16];

static struct {
	struct segview_site of[SEG_SITES];
	unsigned n;
} seen;

static void on_site(void *arg, const struct segview_site *s)
{
	if (s->func == CALL_ID_Send && s->count)
		seen.of[seen.n++] = *s;
}

static void look(void)
{
	seen.n = 0;
	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		segview_sites(rank_view, i, on_site, NULL);
}

FRAMED static void send_here(void)
{
	MPI_Send(buf, 3, FAKE_INT, 2, 5, FAKE_WORLD);
	__asm__ volatile("");
}

FRAMED static void by_way_a(void)
{
	send_here();
	__asm__ volatile("");
}

FRAMED static void by_way_b(void)
{
	send_here();
	__asm__ volatile("");
}

static void hooks_and_depth(uint32_t word, unsigned depth)
{
	segview_site_depth_set(rank_view, depth);
	rank_hooks(word);
}

TEST(each_place_that_calls_is_a_site_with_calls_time_and_bytes)
{
	hooks_and_depth(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_SITE, 1);
	for (int i = 0; i < 3; i++)
		send_here();
	MPI_Send(buf, 1, FAKE_INT, 2, 5, FAKE_WORLD);
	look();
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_ne(seen.of[0].pc[0], seen.of[1].pc[0]);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t each = seen.of[i].count == 3 ? 12 : 4;

		ck_assert_uint_eq(seen.of[i].depth, 1);
		ck_assert_uint_eq(seen.of[i].bytes_out, seen.of[i].count * each);
		ck_assert_uint_ge(seen.of[i].delay, seen.of[i].longest);
		ck_assert_uint_gt(seen.of[i].longest, 0);
	}
	hooks_and_depth(HOOK_COUNT | HOOK_TIME | HOOK_VOLUME, 1);
	send_here();
	look();
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.of[0].count + seen.of[1].count, 4);
}

TEST(callers_distinguish_sites_on_request)
{
	hooks_and_depth(HOOK_COUNT | HOOK_SITE, 2);
	by_way_a();
	by_way_b();
	by_way_b();
	look();
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.of[0].depth, 2);
	ck_assert_uint_eq(seen.of[0].pc[0], seen.of[1].pc[0]);
	ck_assert_uint_ne(seen.of[0].pc[1], seen.of[1].pc[1]);
	ck_assert_uint_eq(seen.of[0].count + seen.of[1].count, 3);
}

TEST(a_depth_that_makes_no_sense_is_one)
{
	hooks_and_depth(HOOK_COUNT | HOOK_SITE, 99);
	send_here();
	look();
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.of[0].depth, 1);
}

/* Any value in the register that is the frame pointer of other programs. */
static void send_with_frame(uintptr_t frame)
{
	struct seg_site *s;

	hook_thread.caller = (uintptr_t)send_here;
	hook_thread.caller_frame = frame;
	s = site_find(CALL_ID_Send);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_le(s->depth, 2);
}

TEST(registers_of_programs_without_frames_are_followed_nowhere)
{
	static const uintptr_t odd[] = { 0, 1, 8, UINTPTR_MAX, UINTPTR_MAX - 7, 0x1000 };
	uintptr_t words[8] = { 0 };

	hooks_and_depth(HOOK_COUNT | HOOK_SITE, 4);
	send_here();
	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		send_with_frame(odd[i]);
	send_with_frame((uintptr_t)buf); /* not of the stack */
	send_with_frame((uintptr_t)&words[0]); /* not code */
	words[0] = (uintptr_t)&words[0]; /* a circle */
	words[1] = (uintptr_t)by_way_a;
	send_with_frame((uintptr_t)&words[0]);
	send_with_frame((uintptr_t)&words[1] + 1);
}

static void *send_in_thread(void *arg)
{
	by_way_a();
	return NULL;
}

TEST(threads_have_tables_of_their_own)
{
	pthread_t t;

	hooks_and_depth(HOOK_COUNT | HOOK_SITE, 2);
	ck_assert_int_eq(pthread_create(&t, NULL, send_in_thread, NULL), 0);
	pthread_join(t, NULL);
	by_way_a();
	look();
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(seen.of[0].depth, 2);
	ck_assert_uint_eq(seen.of[1].depth, 2);
	ck_assert_uint_eq(seen.of[0].pc[1], seen.of[1].pc[1]);
}

TEST(a_full_table_counts_what_it_loses)
{
	struct segview_thread t;

	hooks_and_depth(HOOK_COUNT | HOOK_SITE, 1);
	send_here();
	for (uintptr_t i = 1; i < 4 * SEG_SITES; i++) {
		hook_thread.caller = i;
		site_find(CALL_ID_Send);
	}
	ck_assert_int_eq(segview_thread(rank_view, hook_thread.index, &t), 0);
	ck_assert_uint_gt(t.site_lost, 2 * SEG_SITES);
	send_here(); /* sites with a place continue to count */
	look();
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.of[0].count, 2);
}

TEST(files_with_code_are_noted_with_this_program_among_them)
{
	uint64_t at = (uint64_t)(uintptr_t)by_way_a;
	struct seg_module m;
	bool found = false;

	for (unsigned i = 0; i < SEG_MODULES; i++)
		found |= segview_module(rank_view, i, &m) && at >= m.start && at < m.end &&
			 strstr(m.path, "test_sites");
	ck_assert(found);
}

SUITE_WITH("sites", rank_up, rank_down)
