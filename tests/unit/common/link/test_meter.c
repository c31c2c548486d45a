/* SPDX-License-Identifier: Apache-2.0 */
/* A peer that sends too much is read later, and no other peer is. */
#include "common/base/limits.h"
#include "common/link/meter.h"
#include "tests/suite.h"
#include "tests/unit/common/link/world.h"

#define RATE 1000
#define BURST (RATE / 10)

static struct world w;
static struct meter *meter;

static void open_metered(int64_t rate)
{
	world_open(&w, ROLE_LM);
	meter = meter_new(w.loop);
	meter_set_rate(meter, rate);
	w.top_conf.meter = meter;
	ck_assert_ptr_nonnull(world_connect(&w, "lm"));
	loop_advance(w.loop, SEC / 2);
	ck_assert_uint_eq(w.b.ups, 1);
	w.b.msgs = 0;
}

static void close_metered(void)
{
	link_close(w.a.link, "the end");
	w.a.link = NULL;
	loop_advance(w.loop, 60 * SEC);
	meter_free(meter);
	world_done(&w);
}

static void flood(unsigned n)
{
	const struct msg m = { .type = MSG_DIRECTORY, .directory = { .full = true, .node = 7 } };

	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(link_send(w.a.link, &m), 0);
}

static struct meter_stats stats(void)
{
	struct meter_stats s;

	meter_get_stats(meter, &s);
	return s;
}

TEST(a_flood_is_read_at_the_rate_and_nothing_is_lost)
{
	open_metered(RATE);
	flood(5 * RATE);
	loop_advance(w.loop, SEC);
	ck_assert_uint_ge(w.b.msgs, RATE - BURST);
	ck_assert_uint_le(w.b.msgs, RATE + 2 * BURST);
	ck_assert_uint_gt(stats().pauses, 0);
	loop_advance(w.loop, 5 * SEC);
	ck_assert_uint_eq(w.b.msgs, 5 * RATE);
	ck_assert_uint_eq(w.b.downs + w.a.downs, 0);
	ck_assert(!stats().is_paused);
	ck_assert_int_gt(stats().paused, SEC);
	close_metered();
}

TEST(one_turn_reads_no_more_than_a_burst)
{
	open_metered(RATE);
	flood(5 * RATE);
	loop_advance(w.loop, MS);
	ck_assert_uint_le(w.b.msgs, BURST + 1);
	close_metered();
}

TEST(a_peer_below_the_rate_is_never_delayed)
{
	open_metered(RATE);
	for (int i = 0; i < 100; i++) {
		flood(BURST / 20);
		loop_advance(w.loop, 10 * MS);
	}
	ck_assert_uint_eq(w.b.msgs, 100 * (BURST / 20));
	ck_assert_uint_eq(stats().pauses, 0);
	close_metered();
}

TEST(without_a_rate_it_only_counts)
{
	open_metered(0);
	flood(5 * RATE);
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.msgs, 5 * RATE);
	ck_assert_uint_ge(stats().frames, 5 * RATE);
	ck_assert_uint_eq(stats().pauses, 0);
	close_metered();
}

TEST(a_higher_rate_counts_at_once)
{
	open_metered(METER_RATE_MIN);
	flood(5 * RATE);
	loop_advance(w.loop, 10 * MS);
	ck_assert(stats().is_paused);
	meter_set_rate(meter, 0);
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.msgs, 5 * RATE);
	close_metered();
}

TEST(a_flood_that_lasts_does_not_look_like_silence)
{
	open_metered(METER_RATE_MIN);
	flood(3000);
	loop_advance(w.loop, 25 * SEC);
	ck_assert_uint_eq(w.b.downs + w.a.downs, 0);
	ck_assert_uint_ge(w.b.msgs, 20 * METER_RATE_MIN);
	close_metered();
}

TEST(a_paused_peer_does_not_count_as_silent)
{
	open_metered(0);
	link_pause_reading(w.b.link, true);
	loop_advance(w.loop, 30 * SEC);
	ck_assert_uint_eq(w.b.downs + w.a.downs, 0);
	link_pause_reading(w.b.link, false);
	flood(1);
	loop_advance(w.loop, 30 * SEC);
	ck_assert_uint_eq(w.b.msgs, 1);
	ck_assert_uint_eq(w.b.downs + w.a.downs, 0);
	close_metered();
}

SUITE("meter")
