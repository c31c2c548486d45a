/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "neko/core/limits.h"
#include "neko/simulated/simnet.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#define MS INT64_C(1000000)
#define N 20000

static struct simnet_conf constant(nsec_t delay)
{
	return (struct simnet_conf){
		.name = "n", .delay = { .kind = DELAY_CONSTANT, .a = (double)delay / 1e9 }
	};
}

static struct simnet *made(const struct simnet_conf *c)
{
	struct simnet *n = NULL;
	struct err e = { 0 };

	ck_assert_msg(simnet_new(c, 10, 3, &n, &e) == 0, "%s", e.text);
	return n;
}

TEST(messages_are_lost_doubled_and_held_as_often_as_requested)
{
	struct simnet_conf c = constant(5 * MS);
	unsigned none = 0, two = 0, late = 0;
	nsec_t at[SIMNET_COPIES_MAX];
	struct simnet *n;
	int got;

	c.loss = 0.2;
	c.duplicate = 0.1;
	c.reorder = 0.3;
	c.reorder_by = 7 * MS;
	n = made(&c);
	for (int i = 0; i < N; i++) {
		got = simnet_pass(n, 0, (struct simnet_frame){ 1, 2, 10 }, at);
		none += got == 0;
		two += got == 2;
		for (int k = 0; k < got; k++) {
			ck_assert(at[k] == 5 * MS || at[k] == 12 * MS);
			late += at[k] == 12 * MS;
		}
	}
	/* Six deviations of each, for the fixed seed of this network. */
	ck_assert(none > 0.183 * N && none < 0.217 * N);
	ck_assert(two > 0.068 * N && two < 0.092 * N);
	ck_assert(late > 0.24 * N && late < 0.29 * N);
	ck_assert_uint_eq(simnet_counts(n)->lost, none);
	ck_assert_uint_eq(simnet_counts(n)->doubled, two);
	simnet_free(n);
}

/* A bit in thirty years, then messages for as long as there are times: none arrives before it was
 * sent. */
TEST(message_later_than_the_last_time_is_dropped)
{
	struct simnet_conf c = constant(5 * MS);
	nsec_t at[SIMNET_COPIES_MAX];
	struct simnet *n;
	int i;

	c.bits_per_s = 1e-9;
	n = made(&c);
	ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 1, 2, 100 }, at), 0);
	ck_assert_uint_eq(simnet_counts(n)->dropped, 1);
	simnet_free(n);
	c.bits_per_s = 1e-6;
	n = made(&c);
	for (i = 0; i < 100 &&
		    simnet_pass(n, NEKO_TIME_MAX / 2, (struct simnet_frame){ 1, 2, 10 }, at) == 1;
	     i++)
		ck_assert(at[0] >= NEKO_TIME_MAX / 2 + 5 * MS && at[0] <= NEKO_TIME_MAX + 5 * MS);
	ck_assert(i > 0 && i < 100);
	simnet_free(n);
}

TEST(where_order_is_kept_nothing_overtakes)
{
	struct simnet_conf c = { .name = "n", .is_fifo = true };
	nsec_t at[SIMNET_COPIES_MAX], last[11] = { 0 };
	unsigned waited = 0;
	struct simnet *n;

	c.delay = (struct delay){ .kind = DELAY_EXPONENTIAL, .a = 0.02 };
	n = made(&c);
	for (int i = 0; i < 5000; i++) {
		uint32_t to = 1 + (uint32_t)i % 10;

		ck_assert_int_eq(
			simnet_pass(n, i * MS / 10, (struct simnet_frame){ 1, to, 10 }, at), 1);
		ck_assert(at[0] >= last[to]);
		waited += at[0] == last[to];
		last[to] = at[0];
	}
	ck_assert_uint_gt(waited, 1000);
	simnet_free(n);
}

/* Half of all sendings are lost: 0.2 s later each second time, 0.6 s each fourth, 1.4 s each
 * eighth. */
TEST(resent_messages_are_late_and_never_lost)
{
	struct simnet_conf c = constant(5 * MS);
	unsigned n_at[4] = { 0 };
	nsec_t at[SIMNET_COPIES_MAX];
	struct simnet *n;

	c.loss = 0.5;
	c.resend = 200 * MS;
	n = made(&c);
	for (unsigned i = 0; i < 10000; i++) {
		ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 1, 2, 10 }, at), 1);
		for (unsigned k = 0; k < 4; k++)
			n_at[k] += at[0] == 5 * MS + 200 * MS * ((1 << k) - 1);
	}
	ck_assert_uint_eq(simnet_counts(n)->lost, 0);
	for (unsigned i = 0; i < 4; i++) /* five deviations */
		ck_assert_double_eq_tol(n_at[i], 5000 >> i, 250);
	simnet_free(n);
}

/* 1000 bytes on 8 Mbit/s take a millisecond; the queue holds three of them, the one on the line
 * too. */
TEST(a_line_is_sequential_and_drops_beyond_its_queue)
{
	struct simnet_conf c = constant(5 * MS);
	nsec_t at[SIMNET_COPIES_MAX];
	struct simnet *n;

	c.bits_per_s = 8e6;
	c.header_bytes = 40;
	c.queue_bytes = 3000;
	n = made(&c);
	for (int i = 1; i <= 3; i++) {
		ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 1, 2, 960 }, at), 1);
		ck_assert_int_eq(at[0], i * MS + 5 * MS);
	}
	ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 1, 3, 960 }, at), 0);
	ck_assert_uint_eq(simnet_counts(n)->dropped, 1);
	ck_assert_int_eq(simnet_pass(n, 0, (struct simnet_frame){ 2, 3, 960 }, at),
			 1); /* the line of another sender */
	ck_assert_int_eq(at[0], 6 * MS);
	ck_assert_int_eq(simnet_pass(n, 2 * MS, (struct simnet_frame){ 1, 2, 960 }, at), 1);
	ck_assert_int_eq(at[0], 9 * MS);
	simnet_free(n);
}

TEST(a_partition_parts_groups_for_its_time)
{
	static const struct {
		nsec_t now;
		uint32_t from, to;
		int passes;
	} want[] = {
		{ 9999, 1, 4, 1 },  { 10000, 1, 4, 0 }, { 19999, 4, 1, 0 }, { 20000, 1, 4, 1 },
		{ 15000, 1, 3, 1 }, { 15000, 7, 2, 1 }, { 15000, 8, 9, 1 }, { 15000, 8, 1, 0 },
	};
	nsec_t at[SIMNET_COPIES_MAX];
	struct simnet_conf c = constant(MS);
	struct err e = { 0 };
	struct simcut cut;
	struct simnet *n;

	ck_assert_msg(simcut_parse("10s..20s: 1-3, 7 | 4-6", 10, &cut, &e) == 0, "%s", e.text);
	c.cut = &cut;
	c.ncut = 1;
	n = made(&c);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		ck_assert_msg(simnet_pass(n, want[i].now * MS,
					  (struct simnet_frame){ want[i].from, want[i].to, 1 },
					  at) == want[i].passes,
			      "row %zu", i);
	simnet_free(n);
}

TEST(an_invalid_partition_is_refused)
{
	static const char *const bad[] = { "",
					   "1-3 | 4",
					   "10s..20s",
					   "20s..10s: 1 | 2",
					   "10s..20s: 1-11 | 2",
					   "10s..20s: 0 | 2",
					   "10s..20s: 1-3 | 3-4",
					   "10s..20s: 3-1",
					   "10s: 1 | 2",
					   "-1s..20s: 1 | 2",
					   "10s..20s: a | b",
					   "10s..20s: |" };
	struct simcut cut;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };

		ck_assert_msg(simcut_parse(bad[i], 10, &cut, &e) < 0, "'%s'", bad[i]);
		ck_assert_msg(e.text[0], "'%s'", bad[i]);
	}
}

TEST(without_memory_there_is_no_network)
{
	struct simnet_conf c = constant(MS);
	struct simcut cut = { .until = 1 };

	c.bits_per_s = 1;
	c.cut = &cut;
	c.ncut = 1;
	ALLOC_SWEEP (k) {
		struct simnet *n = NULL;
		int rc = simnet_new(&c, 10, 3, &n, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		simnet_free(n);
	}
}

SUITE("simnet")
