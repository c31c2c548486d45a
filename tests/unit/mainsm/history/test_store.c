/* SPDX-License-Identifier: Apache-2.0 */
/* Samples on a disk that fails, fills, forgets and is cut off at any moment. */
#include "common/loop/loop.h"
#include "mainsm/history/store.h"
#include "tests/suite.h"
#include "tests/unit/common/store/memdisk.h"
#include "tests/unit/mainsm/history/history_samples.h"

#include <errno.h>
#include <string.h>

#define N 24
#define EACH_BLOCK 3
#define TURNS_MAX 20000

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STRIDE 7
#else
#define STRIDE 1
#endif

static struct memdisk sim;
static struct loop *l;
static struct history_store *store;
static nsec_t wall_now;
static unsigned nseen, times[N];
static struct history_outcome outcome;
static bool is_done;

static nsec_t wall(void *arg)
{
	return wall_now;
}

static nsec_t soon(void *arg)
{
	return NSEC_PER_MSEC;
}

static const struct spooler_turns turns = { soon, NULL };

static void open_store(nsec_t keep)
{
	static uint64_t stream;
	const struct history_store_conf c = { .loop = l,
					      .path = "unused",
					      .max_bytes = HISTORY_MIN_BYTES,
					      .keep = keep,
					      .stream = ++stream,
					      .wall_now = wall,
					      .disk = &sim.disk,
					      .turns = &turns };
	struct err e = { 0 };

	ck_assert_msg(!history_store_open(&c, &store, &e), "%s", e.text);
	loop_advance(l, 10 * NSEC_PER_MSEC);
}

static void close_store(void)
{
	history_store_close(store);
	store = NULL;
}

static void set_up(void)
{
	l = loop_new_virtual();
	memdisk_init(&sim, 11);
	wall_now = SAMPLES_START + N * SAMPLES_EACH;
}

static void clean_up(void)
{
	close_store();
	memdisk_done(&sim);
	loop_free(l);
}

static void on_job(void *arg, const struct history_job *j)
{
	unsigned i = samples_check_job(j);

	ck_assert_uint_lt(i, N);
	times[i]++;
	nseen++;
}

static void on_done(void *arg, const struct history_outcome *o)
{
	outcome = *o;
	is_done = true;
}

static bool query(void)
{
	const struct history_visit visit = { .on_job = on_job };
	struct history_query *q;
	int rc;

	memset(times, 0, sizeof(times));
	nseen = 0;
	is_done = false;
	rc = history_query(store, &visit, on_done, &q, NULL);
	for (int i = 0; !rc && !is_done && i < TURNS_MAX; i++)
		loop_advance(l, NSEC_PER_MSEC);
	return !rc && is_done;
}

static uint64_t bytes(void)
{
	struct history_store_stats s;

	history_store_stats(store, &s);
	return s.bytes;
}

/* Writes samples from .. to. Returns the number that are certainly on the disk at the end. */
static unsigned write_samples(unsigned from, unsigned to)
{
	unsigned sure = from;
	uint64_t was = bytes();

	for (unsigned i = from; i < to; i++) {
		history_store_job(store, samples_job(i));
		if (i % EACH_BLOCK != EACH_BLOCK - 1)
			continue;
		history_store_cut(store);
		loop_advance(l, 5 * NSEC_PER_MSEC);
		if (bytes() > was && sure == i + 1 - EACH_BLOCK)
			sure = i + 1;
		was = bytes();
	}
	return sure;
}

TEST(history_query_finds_samples_after_a_restart)
{
	open_store(NSEC_PER_SEC * 86400);
	ck_assert_uint_eq(write_samples(0, N / 2), N / 2);
	history_store_job(store, samples_job(N / 2)); /* still in memory */
	ck_assert(query());
	ck_assert_uint_eq(nseen, N / 2 + 1);
	ck_assert(!outcome.is_partial);
	close_store();
	open_store(NSEC_PER_SEC * 86400);
	write_samples(N / 2 + 1, N);
	ck_assert(query());
	ck_assert_uint_eq(nseen, N);
}

/* The process or the machine ends in any operation: synced samples exist once and unchanged. */
TEST(a_crash_in_any_operation_costs_only_what_was_not_sure)
{
	unsigned crashes = 0;

	for (uint64_t at = 1; at < 2000; at += STRIDE) {
		unsigned sure;

		memdisk_done(&sim);
		memdisk_init(&sim, at);
		open_store(NSEC_PER_SEC * 86400);
		sim.fault_at = sim.ops + at;
		sim.times = 1;
		sim.fault = MEMDISK_CRASH;
		sure = write_samples(0, N);
		if (!sim.is_dead)
			break;
		crashes++;
		close_store();
		memdisk_crash(&sim, at % 2);
		sim.fault = MEMDISK_NONE;
		open_store(NSEC_PER_SEC * 86400);
		ck_assert(query());
		for (unsigned i = 0; i < sure; i++)
			ck_assert_msg(times[i] == 1, "sample %u: %u times, crash in %llu", i,
				      times[i], (unsigned long long)at);
		close_store();
	}
	ck_assert_uint_gt(crashes, 20 / STRIDE);
}

TEST(a_full_disk_costs_samples_which_are_counted)
{
	struct history_store_stats s;

	open_store(NSEC_PER_SEC * 86400);
	ck_assert_uint_eq(write_samples(0, 6), 6);
	sim.fault_at = sim.ops + 1;
	sim.times = UINT64_C(1) << 40;
	sim.fault = MEMDISK_FAIL;
	sim.error = ENOSPC;
	write_samples(6, 12);
	history_store_stats(store, &s);
	ck_assert(s.is_failing);
	ck_assert_uint_eq(s.samples, 12);
	close_store();
	sim.fault = MEMDISK_NONE;
	sim.fault_at = 0;
	open_store(NSEC_PER_SEC * 86400);
	ck_assert(query());
	ck_assert_uint_ge(nseen, 6);
}

TEST(a_disk_that_fails_does_not_hold_a_reader)
{
	open_store(NSEC_PER_SEC * 86400);
	write_samples(0, 6);
	sim.fault_at = sim.ops + 1;
	sim.times = UINT64_C(1) << 40;
	sim.fault = MEMDISK_FAIL;
	sim.error = EIO;
	write_samples(6, 9);
	ck_assert(query());
	ck_assert(outcome.is_partial);
}

TEST(damaged_bytes_cost_their_block_alone)
{
	struct buf *b;

	open_store(NSEC_PER_SEC * 86400);
	write_samples(0, N);
	close_store();
	b = memdisk_find(&sim, "0000000000000000.seg");
	ck_assert_ptr_nonnull(b);
	b->p[b->n / 2] ^= 0x55;
	open_store(NSEC_PER_SEC * 86400);
	ck_assert(query());
	ck_assert_uint_eq(nseen, N - EACH_BLOCK);
}

TEST(old_samples_expire_despite_a_wrong_clock)
{
	open_store(NSEC_PER_SEC * 86400);
	for (unsigned i = 0; i < 30000; i++)
		history_store_job(store, samples_job(i % N));
	history_store_cut(store);
	loop_advance(l, NSEC_PER_SEC);
	ck_assert(bytes() > HISTORY_MIN_BYTES / 2);
	wall_now += INT64_C(100) * 86400 * NSEC_PER_SEC; /* the wall clock is wrong for a moment */
	loop_advance(l, HISTORY_EXPIRE_NS + NSEC_PER_SEC);
	wall_now -= INT64_C(100) * 86400 * NSEC_PER_SEC;
	loop_advance(l, HISTORY_EXPIRE_NS + NSEC_PER_SEC);
	ck_assert(query());
	ck_assert_uint_gt(nseen, 1000);
	wall_now += INT64_C(100) * 86400 * NSEC_PER_SEC;
	for (int i = 0; i < 50; i++) {
		/* the acknowledgement reaches the disk with the next block */
		history_store_job(store, samples_job(N - 1));
		loop_advance(l, HISTORY_EXPIRE_NS);
	}
	ck_assert(query());
	ck_assert_uint_lt(nseen, 1000);
}

TEST(readers_are_bounded_and_may_go)
{
	const struct history_visit visit = { .on_job = on_job };
	struct history_query *q[HISTORY_QUERIES_MAX + 1];
	struct err e = { 0 };

	open_store(NSEC_PER_SEC * 86400);
	write_samples(0, N);
	for (int i = 0; i < HISTORY_QUERIES_MAX; i++)
		ck_assert_int_eq(history_query(store, &visit, on_done, &q[i], &e), 0);
	ck_assert_int_eq(history_query(store, &visit, on_done, &q[HISTORY_QUERIES_MAX], &e),
			 -ERR_AGAIN);
	for (int i = 0; i < HISTORY_QUERIES_MAX; i++)
		history_query_cancel(q[i]);
	ck_assert(query());
	ck_assert_uint_eq(nseen, N);
}

SUITE_WITH("history/store", set_up, clean_up)
