/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes by file system: as threads write them, and as the lm reads them. */
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <pthread.h>

static struct made m;
static struct segview *view;
static struct seg_mount *table;

static void open_view(void)
{
	struct err e = { 0 };

	made_init(&m, 2, SEG_RING_MIN_BYTES);
	ck_assert_msg(!segview_over(m.p, m.n, &view, &e), "%s", e.text);
	table = (struct seg_mount *)(void *)(m.p + m.plan.mount_offset);
	table[SEG_MOUNTS - 1].key = SEG_MOUNT_OTHER;
}

static void close_view(void)
{
	segview_free(view);
	made_done(&m);
}

TEST(a_row_is_what_its_calls_have_moved)
{
	const uint64_t key = SEG_MOUNT_KEY(30, 8, 1);
	struct seg_mount got;

	seg_moved_add(&seg_mount_find(table, key)->out, 100);
	seg_moved_add(&seg_mount_find(table, SEG_MOUNT_PIPE)->in, 7);
	seg_moved_add(&seg_mount_find(table, key)->out, 11);
	seg_moved_add(&seg_mount_find(table, key)->silent_out, 11);
	ck_assert(segview_mount(view, 0, &got));
	ck_assert_uint_eq(got.key, key);
	ck_assert_uint_eq(got.out.calls, 2);
	ck_assert_uint_eq(got.out.bytes, 111);
	ck_assert_uint_eq(got.silent_out.bytes, 11);
	ck_assert_uint_eq(got.in.calls, 0);
	ck_assert(segview_mount(view, 1, &got));
	ck_assert_uint_eq(got.in.bytes, 7);
	ck_assert(!segview_mount(view, 2, &got));
	ck_assert(!segview_mount(view, SEG_MOUNTS, &got));
}

TEST(mounts_without_room_share_the_last_row)
{
	struct seg_mount got;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2 * SEG_MOUNTS; i++)
		seg_moved_add(&seg_mount_find(table, SEG_MOUNT_KEY(i, 0, 1))->in, 1);
	seg_moved_add(&seg_mount_find(table, SEG_MOUNT_OTHER)->in, 1);
	for (unsigned i = 0; i < SEG_MOUNTS; i++) {
		ck_assert(segview_mount(view, i, &got));
		sum += got.in.bytes;
	}
	ck_assert_uint_eq(sum, 2 * SEG_MOUNTS + 1);
	ck_assert_uint_eq(got.key, SEG_MOUNT_OTHER);
	ck_assert_uint_eq(got.in.bytes, SEG_MOUNTS + 2);
}

#define THREADS 4
#define ROUNDS 20000

static void *add(void *arg)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		seg_moved_add(&seg_mount_find(table, SEG_MOUNT_KEY(i % 8, 0, 1))->in, 3);
	return arg;
}

TEST(threads_lose_nothing)
{
	pthread_t t[THREADS];
	struct seg_mount got;
	uint64_t sum = 0;
	unsigned rows = 0;

	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, add, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(t[i], NULL), 0);
	for (unsigned i = 0; i < SEG_MOUNTS - 1; i++) {
		if (!segview_mount(view, i, &got))
			continue;
		rows++;
		sum += got.in.bytes;
	}
	ck_assert_uint_eq(rows, 8);
	ck_assert_uint_eq(sum, 3u * THREADS * ROUNDS);
}

SUITE_WITH("segmount", open_view, close_view)
