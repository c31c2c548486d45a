/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the program: each is handled by its word in the segment, as its lm writes it. */
#include "common/ring/event_link.h"
#include "common/ring/ring.h"
#include "tests/suite.h"
#include "tests/unit/libapp/rank.h"

#include <string.h>

/* a word that an lm after this one may write, which this library does not know */
#define NOT_KNOWN 4u

static const struct event_link *app;

static void on_ready(const struct event_link *l)
{
	app = l;
}

static const struct event_side side = { EVENT_LINK_VERSION, on_ready };

static void count(void *arg, const struct segview_event *e)
{
	++*(unsigned *)arg;
}

static unsigned taken(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < segview_threads(rank_view); i++)
		ck_assert_int_ge(
			segview_take(rank_view, i, 100,
				     &(struct segview_taker){ .on_event = count, .arg = &n }),
			0);
	return n;
}

/* A record of an event log: type and length, its ticks, one value. */
static void put(unsigned number, unsigned times)
{
	uint8_t record[4 + 2 * sizeof(uint64_t)] = { 0 };

	while (times--)
		app->put(number, record, sizeof(record));
}

static unsigned begin(void)
{
	int number;

	ck_assert_int_eq(omig_app_events_join(&side), 0);
	ck_assert_ptr_null(app); /* no segment yet */
	rank_up();
	ck_assert_ptr_nonnull(app);
	number = app->announce("tick", 4);
	ck_assert_int_eq(number, 0);
	ck_assert_uint_eq(segview_event_count(rank_view), 1);
	return (unsigned)number;
}

TEST(one_that_is_refused_is_counted_and_makes_no_record)
{
	unsigned number = begin();

	ck_assert_int_eq(segview_event_set(rank_view, number, EVENT_RECORD), 0);
	put(number, 3);
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 0);
	ck_assert_int_eq(segview_event_set(rank_view, number, EVENT_REFUSE), 0);
	/* a writer sees the request, and calls this */
	ck_assert_uint_ne(app->word[number], 0);
	put(number, 5);
	ck_assert_uint_eq(taken(), 0);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 5);
	ck_assert_int_eq(segview_event_set(rank_view, number, EVENT_RECORD), 0);
	put(number, 2);
	ck_assert_uint_eq(taken(), 2);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 5);
	rank_down();
}

/* Another request for it: without room, its records are counted. */
TEST(one_that_is_requested_and_refused_makes_a_record)
{
	unsigned number = begin();

	ck_assert_int_eq(segview_event_set(rank_view, number, EVENT_RECORD | EVENT_REFUSE), 0);
	put(number, 3);
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 0);
	rank_down();
}

/* Words of a newer lm: unknown bits make records, and no data are lost. */
TEST(unknown_bits_of_a_switch_make_records)
{
	unsigned number = begin();
	uint32_t *word = (uint32_t *)(uintptr_t)app->word;

	word[number] = NOT_KNOWN;
	put(number, 3);
	ck_assert_uint_eq(taken(), 3);
	word[number] = NOT_KNOWN | EVENT_REFUSE;
	put(number, 3);
	ck_assert_uint_eq(taken(), 3);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 0);
	rank_down();
}

TEST(one_that_found_no_room_before_is_counted)
{
	unsigned number = begin();

	ck_assert_int_eq(segview_event_set(rank_view, number, EVENT_RECORD), 0);
	app->put(number, NULL, 0);
	ck_assert_uint_eq(taken(), 0);
	ck_assert_uint_eq(segview_event_lost(rank_view, number), 1);
	rank_down();
}

TEST(of_two_that_join_one_is_there)
{
	static const struct event_side next = { EVENT_LINK_VERSION + 1, on_ready };

	ck_assert_int_eq(omig_app_events_join(&next), -1);
	ck_assert_int_eq(omig_app_events_join(&side), 0);
	ck_assert_int_eq(omig_app_events_join(&side), -1);
}

SUITE("events")
