/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that can be read alone, and one after the other, whatever the order of their types. */
#include "eventlog/text/evalone.h"
#include "tests/suite.h"

#define TYPES 5

static struct evwrite w;
static struct evtypes types;
static struct evalone_said said;
static char name[TYPES][8];

static void set_up(void)
{
	evwrite_init(&w, 3, false, 0);
	evtypes_init(&types);
	memset(&said, 0, sizeof(said));
	for (int i = 0; i < TYPES; i++)
		snprintf(name[i], sizeof(name[i]), "t%d", i);
}

static void clean_up(void)
{
	evwrite_done(&w);
	evtypes_done(&types);
}

static int put(int nth, uint32_t bytes, struct err *e)
{
	static char text[EV_RECORD_MAX_BYTES];
	const struct evalone a = {
		.w = &w, .types = &types, .said = &said, .block_bytes = EVALONE_BLOCK_BYTES
	};
	const struct evfield field = { "s", EV_STRING };
	const struct evtype type = { .name = name[nth], .nfield = 1, .field = &field };
	const struct evvalue value = { .kind = EV_STRING, .s = text, .n = bytes };

	return evalone_event(&a, &(struct event){ .type = &type, .value = &value }, e);
}

static uint64_t read_all(const uint8_t *p, size_t n)
{
	struct evread *r = evread_new();
	struct event ev;
	uint64_t events = 0;
	size_t used;

	for (size_t at = 0; at < n; at += used) {
		ck_assert_int_ge(evread_push(r, p + at, n - at, true, &used), 0);
		while (evread_next(r, &ev))
			events += ev.type->name[0] == 't';
	}
	ck_assert_uint_eq(evread_report(r)->bad_records, 0);
	ck_assert_uint_eq(evread_report(r)->undescribed, 0);
	evread_free(r);
	return events;
}

TEST(each_block_has_the_descriptions_of_its_events)
{
	struct evblock head;
	uint64_t events = 0;
	unsigned blocks = 0;

	for (int round = 0; round < 200; round++)
		for (int i = 0; i < TYPES; i++)
			ck_assert_int_eq(put((round + i) % TYPES, 200 * (uint32_t)(i + 1), NULL),
					 0);
	ck_assert_int_eq(evwrite_cut(&w, true, NULL), 0);
	for (size_t at = 0; at < w.out.n; at += head.bytes, blocks++) {
		ck_assert_int_eq(evblock_look(w.out.p + at, w.out.n - at, &head), EVBLOCK_GOOD);
		ck_assert_uint_eq(read_all(w.out.p + at, head.bytes), head.events);
		events += head.events;
	}
	ck_assert_uint_eq(events, 200 * TYPES);
	ck_assert_uint_gt(blocks, 5);
	ck_assert_uint_eq(read_all(w.out.p, w.out.n), 200 * TYPES);
}

TEST(an_event_of_any_size_is_written_with_its_description)
{
	ck_assert_int_eq(put(0, 10, NULL), 0);
	ck_assert_int_eq(put(1, EV_RECORD_MAX_BYTES - 16, NULL), 0);
	ck_assert_int_eq(put(1, EV_RECORD_MAX_BYTES - 16, NULL), 0);
	ck_assert_int_ne(put(1, EV_RECORD_MAX_BYTES - 13, NULL), 0);
	ck_assert_int_eq(put(0, 10, NULL), 0);
	ck_assert_int_eq(evwrite_cut(&w, true, NULL), 0);
	ck_assert_uint_eq(read_all(w.out.p, w.out.n), 4);
}

SUITE_WITH("eventlog/text evalone", set_up, clean_up)
