/* SPDX-License-Identifier: Apache-2.0 */
/* Events into a library of this process that is only memory. */
#include "common/ring/event_link.h"
#include "common/ring/seg.h"
#include "eventlog/evwrite.h"
#include "tests/suite.h"
#include "tools/events/monitor_out.h"

#include <stdio.h>
#include <string.h>

#define FIELDS 255 /* the most that a type has */

static uint32_t word[SEG_EVENTS];
static unsigned types_max, ntypes;
static uint64_t taken;
static struct evtype *last_type; /* owned */
static uint8_t last[EV_RECORD_MAX_BYTES];
static size_t nlast;
static struct monitor_out *m;
static struct evwrite w;

static int announce(const void *definition, size_t bytes)
{
	unsigned number;

	if (ntypes >= types_max)
		return -1;
	free(last_type);
	ck_assert_int_eq(evtype_decode((struct bytes){ definition, bytes }, false, &number,
				       &last_type, NULL),
			 0);
	return (int)ntypes++;
}

static bool try_event(unsigned number, const void *record, size_t n)
{
	ck_assert_uint_lt(number, ntypes);
	memcpy(last, record, n);
	nlast = n;
	taken++;
	return true;
}

static int join(const struct event_side *side)
{
	static const struct event_link link = { .announce = announce, .word = word };

	side->on_ready(&link);
	return 0;
}

void *__wrap_dlsym(void *from, const char *name);
void *__wrap_dlsym(void *from, const char *name)
{
	__typeof__(omig_app_event_try) *put = try_event;
	__typeof__(omig_app_events_join) *fn = join;
	void *p = NULL;

	if (!strcmp(name, "omig_app_events_join"))
		memcpy(&p, &fn, sizeof(p));
	else if (!strcmp(name, "omig_app_event_try"))
		memcpy(&p, &put, sizeof(p));
	return p;
}

static void set_up(void)
{
	memset(word, 1, sizeof(word));
	types_max = SEG_EVENTS;
	ntypes = 0;
	taken = nlast = 0;
	evwrite_init(&w, 5, false, 0);
	ck_assert_int_eq(monitor_out_open(&m, NULL), 0);
}

static void clean_up(void)
{
	monitor_out_close(m);
	evwrite_done(&w);
	free(last_type);
	last_type = NULL;
}

/* A block with one event of the type. */
static int put(const struct evtype *type, const struct evvalue *value)
{
	const struct event ev = { .type = type, .value = value };
	struct evblock head;
	int rc;

	buf_clear(&w.out);
	ck_assert_int_eq(evwrite_define(&w, 1, type, NULL), 0);
	ck_assert_int_eq(evwrite_event(&w, 1, &ev, NULL), 0);
	ck_assert_int_eq(evwrite_cut(&w, false, NULL), 0);
	ck_assert_int_eq(evblock_look(w.out.p, w.out.n, &head), EVBLOCK_GOOD);
	rc = monitor_out_block(m, w.out.p, &head, NULL);
	return rc;
}

static int put_named(const char *name)
{
	static const struct evfield field = { "n", EV_INT32 };
	const struct evvalue value = { .kind = EV_INT32 };
	const struct evtype type = { .name = name, .nfield = 1, .field = &field };

	return put(&type, &value);
}

static uint64_t left_out(void)
{
	struct monitor_out_counts counts;

	monitor_out_counts(m, &counts);
	return counts.left_out;
}

/* The value of a field of the last event, as text. */
static const char *value_of(const char *name)
{
	static char text[256];
	static struct evvalue v[FIELDS];

	ck_assert(evtype_get_fields(last_type, last + EV_RECORD_HEAD_BYTES,
				    nlast - EV_RECORD_HEAD_BYTES, v));
	for (unsigned i = 0; i < last_type->nfield; i++)
		if (!strcmp(last_type->field[i].name, name)) {
			snprintf(text, sizeof(text), "%.*s", (int)v[i].n, v[i].s);
			return text;
		}
	return "none";
}

TEST(an_event_with_too_many_fields_is_counted_and_blocks_no_other)
{
	static char name[FIELDS][8];
	struct evfield field[FIELDS];
	struct evvalue value[FIELDS];
	const struct evtype type = { .name = "wide", .nfield = FIELDS, .field = field };

	for (int i = 0; i < FIELDS; i++) {
		snprintf(name[i], sizeof(name[i]), "f%d", i);
		field[i] = (struct evfield){ name[i], EV_INT32 };
		value[i] = (struct evvalue){ .kind = EV_INT32 };
	}
	ck_assert_int_eq(put(&type, value), 0);
	ck_assert_uint_eq(left_out(), 1);
	ck_assert_int_eq(put_named("narrow"), 0);
	ck_assert_uint_eq(taken, 1);
}

TEST(a_type_without_room_is_counted_and_blocks_no_other)
{
	types_max = 1;
	ck_assert_int_eq(put_named("a"), 0);
	ck_assert_int_eq(put_named("b"), 0);
	ck_assert_int_eq(put_named("b"), 0);
	ck_assert_int_eq(put_named("a"), 0);
	ck_assert_uint_eq(left_out(), 2);
	ck_assert_uint_eq(taken, 2);
}

TEST(known_types_have_their_events_when_no_other_type_has_room)
{
	char name[16];

	for (int i = 0; i <= SEG_EVENTS; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		ck_assert_int_eq(put_named(name), 0);
	}
	ck_assert_uint_eq(taken, SEG_EVENTS);
	ck_assert_uint_eq(left_out(), 1);
	ck_assert_int_eq(put_named("e0"), 0);
	ck_assert_uint_eq(taken, SEG_EVENTS + 1);
}

TEST(each_number_among_the_constants_is_a_text_of_its_own)
{
	static const struct evfield field = { "n", EV_INT32 };
	const struct evconst constant[] = {
		{ "HOST", { .kind = EV_INT64, .i64 = 1234567 } },
		{ "PID", { .kind = EV_INT32, .i32 = 42 } },
		{ "PROG", { .kind = EV_STRING, .n = 1, .s = "p" } },
		{ "x", { .kind = EV_INT32, .i32 = 9 } },
		{ "y", { .kind = EV_STRING, .n = 9, .s = "two words" } },
	};
	const struct evtype type = { .name = "c",
				     .nfield = 1,
				     .field = &field,
				     .nconst = ARRAY_LEN(constant),
				     .constant = constant };
	const struct evvalue value = { .kind = EV_INT32 };

	ck_assert_int_eq(put(&type, &value), 0);
	ck_assert_str_eq(value_of("origin.host"), "1234567");
	ck_assert_str_eq(value_of("origin.pid"), "42");
	ck_assert_str_eq(value_of("origin.program"), "p");
	ck_assert_str_eq(value_of("origin.more"), "x=9 y=\"two words\"");
}

SUITE_WITH("tools/events/monitor_out", set_up, clean_up)
