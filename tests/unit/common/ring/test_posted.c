/* SPDX-License-Identifier: Apache-2.0 */
/* The list of open operations: as the rank writes it, as the lm reads it, and as an enemy leaves
 * it. */
#include "common/ring/posted.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct made m;
static struct segview *view;
static struct seg_posted *table;

static void open_view(void)
{
	struct err e = { 0 };

	made_init(&m, 1, SEG_RING_MIN_BYTES);
	ck_assert_msg(!segview_over(m.p, m.n, &view, &e), "%s", e.text);
	table = (struct seg_posted *)(void *)(m.p + m.plan.posted_offset);
}

static void close_view(void)
{
	segview_free(view);
	made_done(&m);
}

static uint32_t epoch(void)
{
	return ((struct seg_header *)(void *)m.p)->l.posted_epoch;
}

static struct seg_posted entry(int32_t tag)
{
	return (struct seg_posted){
		.func = 3, .tag = tag, .partner = tag + 1, .ticks = 7, .bytes = tag * 8, .comm = 9
	};
}

static unsigned listed(void)
{
	struct segview_posted p;
	unsigned n = 0;

	for (unsigned i = 0; i < SEG_POSTED; i++) {
		if (!segview_posted(view, i, &p))
			continue;
		ck_assert_int_eq(p.partner, p.tag + 1);
		ck_assert_int_eq(p.bytes, p.tag * 8);
		n++;
	}
	return n;
}

TEST(posted_receive_is_listed_until_it_is_taken)
{
	struct posted_ref a, b;
	struct segview_posted p;
	struct seg_posted e = entry(5), f = entry(6);

	ck_assert(!segview_posted_is_on(view));
	ck_assert(!posted_put(table, epoch(), 0, &e, &a)); /* no request yet */
	segview_posted_start(view);
	ck_assert(segview_posted_is_on(view));
	ck_assert(posted_put(table, epoch(), 100, &e, &a));
	ck_assert(posted_put(table, epoch(), 100, &f, &b));
	ck_assert_uint_eq(listed(), 2);
	ck_assert(segview_posted(view, a.place, &p));
	ck_assert_uint_eq(p.func, 3);
	ck_assert_int_eq(p.tag, 5);
	ck_assert_uint_eq(p.ticks, 7);
	ck_assert_uint_eq(p.comm, 9);
	posted_take(table, &a);
	posted_take(table, &a); /* none left */
	ck_assert_uint_eq(listed(), 1);
	ck_assert(!segview_posted(view, SEG_POSTED, &p));
}

TEST(a_new_list_is_empty_and_old_references_remove_nothing)
{
	struct seg_posted e = entry(5), f = entry(6);
	struct posted_ref old, now;

	segview_posted_start(view);
	ck_assert(posted_put(table, epoch(), 0, &e, &old));
	segview_posted_start(view);
	ck_assert_uint_eq(listed(), 0);
	ck_assert(posted_put(table, epoch(), 0, &f, &now));
	ck_assert_uint_eq(now.place, old.place);
	posted_take(table, &old);
	ck_assert_uint_eq(listed(), 1);
	posted_take(table, &now);
	ck_assert_uint_eq(listed(), 0);
}

TEST(a_full_list_refuses_and_has_room_again)
{
	static struct posted_ref ref[SEG_POSTED];
	struct seg_posted e = entry(1);
	struct posted_ref more;

	segview_posted_start(view);
	for (unsigned i = 0; i < SEG_POSTED; i++)
		ck_assert(posted_put(table, epoch(), i, &e, &ref[i]));
	ck_assert(!posted_put(table, epoch(), 3, &e, &more));
	ck_assert_uint_eq(listed(), SEG_POSTED);
	posted_take(table, &ref[10]);
	ck_assert(posted_put(table, epoch(), 3, &e, &more));
	ck_assert_uint_eq(more.place, 10);
}

TEST(malicious_contents_are_refused)
{
	struct segview_posted p;

	segview_posted_start(view);
	memset(table, 0xff, SEG_POSTED * sizeof(*table));
	ck_assert_uint_eq(listed(), 0);
	table[4] = (struct seg_posted){ .state = epoch(), .func = UINT16_MAX };
	ck_assert(!segview_posted(view, 4, &p));
	table[4] = (struct seg_posted){ .state = epoch(), .bytes = INT64_MIN };
	ck_assert(segview_posted(view, 4, &p));
	ck_assert_int_eq(p.bytes, 0);
	/* The number of the list is not requested again, but once for the next one. */
	((struct seg_header *)(void *)m.p)->l.posted_epoch = UINT32_MAX - 1;
	ck_assert(segview_posted(view, 4, &p));
	segview_posted_start(view);
	ck_assert_uint_eq(epoch(), 1);
}

static void *put_and_take(void *arg)
{
	int32_t tag = (int32_t)(intptr_t)arg;
	struct seg_posted e = entry(tag);
	struct posted_ref ref;

	for (int i = 0; i < ROUNDS; i++)
		if (posted_put(table, epoch(), 0, &e, &ref))
			posted_take(table, &ref);
	return NULL;
}

TEST(a_reader_sees_whole_entries_while_threads_write)
{
	pthread_t t[THREADS];

	segview_posted_start(view);
	for (intptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, put_and_take, (void *)(i * 1000)), 0);
	for (int i = 0; i < 200; i++)
		ck_assert_uint_le(listed(), SEG_POSTED);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	ck_assert_uint_eq(listed(), 0);
}

SUITE_WITH("posted", open_view, close_view)
