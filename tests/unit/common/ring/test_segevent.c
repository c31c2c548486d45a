/* SPDX-License-Identifier: Apache-2.0 */
/* Events in a segment as the lm reads them: types, words, records, and invalid contents. */
#include "common/base/err.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/common/ring/made.h"

#include <string.h>

static struct made m;
static struct segview *v;

static void set_up(void)
{
	made_init(&m, 1, SEG_RING_MIN_BYTES);
	ck_assert_int_eq(segview_over(m.p, m.n, &v, NULL), 0);
}

static void clean_up(void)
{
	segview_free(v);
	made_done(&m);
}

static struct seg_header *header(void)
{
	return (struct seg_header *)(void *)m.p;
}

static struct seg_event *event_at(unsigned number)
{
	return (struct seg_event *)(void *)(m.p + m.plan.event_offset) + number;
}

struct seen {
	unsigned n, number;
	size_t bytes;
	uint8_t first;
};

static void on_event(void *arg, const struct segview_event *e)
{
	struct seen *s = arg;

	*s = (struct seen){ s->n + 1, e->number, e->n, e->n ? e->value[0] : 0 };
}

static int take(struct seen *s)
{
	return segview_take(v, 0, 100, &(struct segview_taker){ .on_event = on_event, .arg = s });
}

static void put_word(uint64_t word, uint32_t bytes)
{
	uint64_t r[RING_EVENT_MAX_BYTES / 8 + 8] = { word, 1, 0xab };
	struct ring ring = made_ring(&m, 0);

	made_thread(&m, 0)->tid = 7;
	ck_assert(ring_put(&ring, r, bytes));
}

TEST(types_are_those_that_are_announced)
{
	uint8_t out[64];

	memcpy(m.p + m.plan.event_text_offset, "definition", 10);
	*event_at(0) = (struct seg_event){ 0, 10, 3 };
	ck_assert_uint_eq(segview_event_count(v), 0);
	ck_assert_uint_eq(segview_event_definition(v, 0, out, sizeof(out)), 0);
	header()->w.events_used = 1;
	ck_assert_uint_eq(segview_event_definition(v, 0, out, sizeof(out)), 10);
	ck_assert_int_eq(memcmp(out, "definition", 10), 0);
	ck_assert_uint_eq(segview_event_definition(v, 0, out, 9), 0);
	ck_assert_uint_eq(segview_event_lost(v, 0), 3);
}

TEST(no_place_of_a_definition_is_outside)
{
	uint8_t out[64];

	header()->w.events_used = UINT32_MAX;
	ck_assert_uint_eq(segview_event_count(v), SEG_EVENTS);
	*event_at(1) = (struct seg_event){ SEG_EVENT_TEXT_BYTES - 8, 8, 0 };
	ck_assert_uint_eq(segview_event_definition(v, 1, out, sizeof(out)), 8);
	*event_at(1) = (struct seg_event){ SEG_EVENT_TEXT_BYTES - 8, 9, 0 };
	ck_assert_uint_eq(segview_event_definition(v, 1, out, sizeof(out)), 0);
	*event_at(1) = (struct seg_event){ UINT32_MAX, 8, 0 };
	ck_assert_uint_eq(segview_event_definition(v, 1, out, sizeof(out)), 0);
	ck_assert_uint_eq(segview_event_definition(v, SEG_EVENTS, out, sizeof(out)), 0);
	ck_assert_uint_eq(segview_event_lost(v, SEG_EVENTS), 0);
}

TEST(event_switches_are_set_and_reset)
{
	ck_assert_int_eq(segview_event_set(v, SEG_EVENTS - 1, EVENT_RECORD), 0);
	ck_assert_uint_eq(segview_event_get(v, SEG_EVENTS - 1), EVENT_RECORD);
	ck_assert_int_eq(segview_event_set(v, SEG_EVENTS, EVENT_RECORD), -ERR_INVALID);
	ck_assert_int_eq(segview_event_set(v, 0, EVENT_KNOWN + 1), -ERR_INVALID);
	segview_reset(v);
	ck_assert_uint_eq(segview_event_get(v, SEG_EVENTS - 1), 0);
}

TEST(a_record_has_its_bytes_without_the_padding)
{
	struct seen s = { 0 };

	header()->w.events_used = 3;
	put_word(RING_EVENT_WORD(24, 2, 5), 24);
	put_word(RING_EVENT_WORD(16, 1, 0), 16);
	ck_assert_int_eq(take(&s), 2);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_uint_eq(s.number, 1);
	ck_assert_uint_eq(s.bytes, 0);
	put_word(RING_EVENT_WORD(24, 2, 5), 24);
	ck_assert_int_eq(take(&s), 1);
	ck_assert_uint_eq(s.bytes, 3);
	ck_assert_uint_eq(s.first, 0xab);
}

TEST(malformed_event_records_are_protocol_errors)
{
	static const struct {
		uint64_t word;
		uint32_t bytes;
	} bad[] = {
		{ RING_EVENT_WORD(16, 0, 1), 16 }, /* padding that is not there */
		{ RING_EVENT_WORD(24, 0, 8), 24 },
		{ RING_EVENT_WORD(8, 0, 0), 8 },
		{ RING_EVENT_WORD(24, 3, 0), 24 }, /* never announced */
	};

	header()->w.events_used = 3;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct seen s = { 0 };

		put_word(bad[i].word, bad[i].bytes);
		ck_assert_int_eq(take(&s), -ERR_PROTO);
		ck_assert_uint_eq(s.n, 0);
	}
}

SUITE_WITH("events in a segment", set_up, clean_up)
