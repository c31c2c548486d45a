/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/eventlog/archive/each_database.h"

#include "common/base/array.h"
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

#include <math.h>
#include <string.h>

START_TEST(stream_loaded_twice_is_stored_once)
{
	struct archive *a;

	stored_new();
	for (int k = 0; k < 3; k++) {
		a = stored_open(AR_WRITE);
		for (unsigned i = 0; i < 500; i++)
			stored_put(a, (struct stored_at){ .stream = 7, .number = i }, "x", "n",
				   I32((int)i));
		stored_close(a);
	}
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 500);
	ck_assert_int_eq(stored_number(a, "SELECT n FROM type"), 500);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM loaded"), 1);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(parts_loaded_out_of_order_make_a_whole_stream)
{
	static const unsigned from[] = { 300, 0, 100, 500, 400, 200, 50 },
			      n[] = { 100, 100, 100, 100, 100, 100, 500 };
	struct archive *a;

	stored_new();
	for (int k = 0; k < 7; k++) {
		a = stored_open(AR_WRITE);
		for (unsigned i = from[k]; i < from[k] + n[k]; i++)
			stored_put(a, (struct stored_at){ .stream = UINT64_MAX, .number = i }, "x",
				   "n", I32((int)i));
		stored_close(a);
	}
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 600);
	ck_assert_int_eq(stored_number(a, "SELECT CAST(sum(f_n) AS BIGINT) FROM e_x"), 599 * 300);
	ck_assert_int_eq(stored_number(a, "SELECT next FROM loaded"), 600);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(two_loaders_take_turns)
{
	struct archive *a, *b;
	struct err e = { 0 };

	stored_new();
	a = stored_open(AR_WRITE);
	b = stored_open(AR_WRITE);
	for (unsigned i = 0; i < 40; i++) {
		struct archive *now = i % 3 ? a : b;
		char type[16];

		snprintf(type, sizeof(type), "t%u", i % 8);
		/* every event is sent twice, often by another sender */
		stored_put(now, (struct stored_at){ .stream = 1, .number = i / 2 }, type, "n",
			   I32(1));
		ck_assert_msg(!archive_commit(now, &e), "%s", e.text);
	}
	stored_close(a);
	stored_close(b);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM event"), 20);
	ck_assert_int_eq(stored_number(a, "SELECT CAST(sum(n) AS BIGINT) FROM type"), 20);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(uncommitted_events_are_not_stored)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
	ck_assert(!archive_commit(a, NULL));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 1 }, "x", "n", I32(1));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 2 }, "y", "n", I32(1));
	ck_assert_uint_eq(archive_report(a)->safe, 1);
	archive_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM event"), 1);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM type"), 1);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(fields_beyond_the_room_are_left_out_and_counted)
{
	struct archive *a;
	char name[16];

	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < AR_COLUMNS_MAX + 3; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		stored_put(a, (struct stored_at){ .stream = 1, .number = i }, "x", name, I32(1));
	}
	ck_assert_uint_eq(archive_report(a)->fields_left_out, 3);
	ck_assert_uint_eq(archive_report(a)->stored, AR_COLUMNS_MAX + 3);
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM row_all"), AR_COLUMNS_MAX + 3);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM value"), AR_COLUMNS_MAX);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(numbers_that_no_archive_has_are_left_out)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a,
		   (struct stored_at){ .stream = 1,
				       .number = (UINT64_C(1) << ARCHIVE_NUMBER_BITS) - 1 },
		   "x", "n", I32(1));
	stored_put(a,
		   (struct stored_at){ .stream = 1, .number = UINT64_C(1) << ARCHIVE_NUMBER_BITS },
		   "x", "n", I32(1));
	stored_put(a, (struct stored_at){ .stream = 1, .number = UINT64_MAX }, "x", "n", I32(1));
	ck_assert_uint_eq(archive_report(a)->unnumbered, 2);
	ck_assert_uint_eq(archive_report(a)->stored, 1);
	stored_close(a);
	stored_remove();
}
END_TEST

/* A text of n events, whose values are as `value` has them from event `from` on. The number of the
 * event at which it was refused, or n. */
static unsigned put_text(struct archive *a, unsigned n, unsigned from, double value)
{
	struct evfield f = { "x", EV_DOUBLE };
	struct evtype t = { .name = "x", .level = EV_INFO, .nfield = 1, .field = &f };

	archive_compare(a, true);
	for (unsigned i = 0; i < n; i++) {
		struct evvalue v = F64(i < from ? i : value);
		struct event ev = {
			.type = &t, .value = &v, .stream = 7, .number = i, .wall_ns = i
		};
		int rc = archive_put(a, &ev, NULL);

		if (rc == -ERR_EXISTS)
			return i;
		ck_assert_int_ge(rc, 0);
	}
	return archive_commit(a, NULL) ? n - 1 : n;
}

START_TEST(a_text_that_continues_otherwise_is_refused)
{
	static const double values[] = { -1, (double)NAN, (double)INFINITY };
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	ck_assert_uint_eq(put_text(a, 3000, 3000, 0), 3000);
	ck_assert_uint_eq(put_text(a, 3000, 3000, 0), 3000);
	ck_assert_uint_eq(put_text(a, 5000, 4000, (double)NAN), 5000);
	ck_assert_uint_eq(put_text(a, 5000, 4000, (double)NAN), 5000);
	for (unsigned i = 0; i < ARRAY_LEN(values); i++) {
		ck_assert_uint_eq(put_text(a, 100, 99, values[i]), 99);
		ck_assert_uint_lt(put_text(a, 3000, 1, values[i]), 1024);
		ck_assert_uint_lt(put_text(a, 6000, 1500, values[i]), 5000);
	}
	ck_assert_uint_eq(archive_report(a)->known, 3000 + 3000 + 5000);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 5000);
	stored_close(a);
	stored_remove();
}
END_TEST

/* A batch ends when its strings have 8 MB, however few events these are. */
START_TEST(strings_fill_a_batch)
{
	static char text[60000];
	const unsigned n = ARCHIVE_BATCH_BYTES / sizeof(text) + 1;
	struct archive *a;

	memset(text, 'x', sizeof(text));
	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < n; i++)
		ck_assert_int_eq(stored_put(a, (struct stored_at){ .stream = 1, .number = i }, "x",
					    "s", STR(text, sizeof(text))),
				 i == n - 1);
	ck_assert_uint_eq(archive_report(a)->safe, n);
	ck_assert_uint_eq(archive_report(a)->batches, 1);
	archive_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT min(length(f_s)) FROM e_x"), sizeof(text));
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), n);
	archive_close(a);
	stored_remove();
}
END_TEST

/* --- stored values are read back */

/* SQLite has no -0. */
static struct evvalue as_stored(struct evvalue v)
{
	if (v.kind == EV_FLOAT && v.f32 == 0)
		v.f32 = 0;
	if (v.kind == EV_DOUBLE && v.f64 == 0)
		v.f64 = 0;
	if (v.kind == EV_FLOAT && isnan(v.f32))
		v.f32 = NAN;
	if (v.kind == EV_DOUBLE && isnan(v.f64))
		v.f64 = (double)NAN;
	return v;
}

static const struct evconst host[] = { { "HOST", { .kind = EV_STRING, .n = 2, .s = "h\xff" } } };
static const struct evtype of_stream = { .name = "", .nconst = 1, .constant = host };

static int is_edge(void *arg, const struct event *ev)
{
	unsigned *n = arg;
	const struct evvalue *want = made_edge(ev->number);

	ck_assert(evtype_equal(ev->type, &made_all));
	ck_assert(evtype_equal(ev->stream_type, &of_stream));
	ck_assert_uint_eq(ev->stream, UINT64_MAX - 2);
	ck_assert_int_eq(ev->wall_ns, made_edge_time(ev->number));
	for (unsigned i = 0; i < made_all.nfield; i++) {
		struct evvalue v = as_stored(want[i]), got = as_stored(ev->value[i]);

		ck_assert_msg(evvalue_equal(&got, &v), "event %u, field %s", (unsigned)ev->number,
			      made_all.field[i].name);
	}
	(*n)++;
	return 0;
}

START_TEST(every_kind_and_edge_returns)
{
	struct archive *a;
	struct event ev = { .type = &made_all,
			    .stream_type = &of_stream,
			    .stream = UINT64_MAX - 2 };
	unsigned n = 0;

	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < MADE_EDGES; i++) {
		ev.number = i;
		ev.value = made_edge(i);
		ev.wall_ns = made_edge_time(i);
		ck_assert(archive_put(a, &ev, NULL) >= 0);
	}
	stored_close(a);
	a = stored_open(AR_READ);
	stored_read(a, NULL, is_edge, &n);
	ck_assert_uint_eq(n, MADE_EDGES);
	archive_close(a);
	stored_remove();
}
END_TEST

/*
 * The same name with a value of each class; fields of one name twice; no fields; bytes that are no
 * text.
 */
#define TURNS 6
static const struct evvalue turn_values[TURNS][3] = {
	{ I32(7) },
	{ F64((double)NAN) },
	{ STR("seven", 5) },
	{ STR("\xc0'", 2) },
	{ I32(1), STR("a\0b", 3), I32(3) },
};
static const struct evfield turn_fields[TURNS][3] = {
	{ { "v", EV_INT32 } },
	{ { "v", EV_DOUBLE } },
	{ { "v", EV_STRING } },
	{ { "v", EV_STRING } },
	{ { "v", EV_INT32 }, { "v", EV_STRING }, { "v", EV_INT32 } },
};
static const unsigned turn_n[TURNS] = { 1, 1, 1, 1, 3, 0 };

static struct evtype turn_type(uint64_t i)
{
	return (struct evtype){
		.name = "x", .level = (unsigned)i, .nfield = turn_n[i], .field = turn_fields[i]
	};
}

static int is_turn(void *arg, const struct event *ev)
{
	struct evtype want = turn_type(ev->number);

	ck_assert(evtype_equal(ev->type, &want));
	ck_assert(!ev->stream_type);
	for (unsigned i = 0; i < want.nfield; i++)
		ck_assert_msg(evvalue_equal(&ev->value[i], &turn_values[ev->number][i]),
			      "event %u, field %u", (unsigned)ev->number, i);
	++*(unsigned *)arg;
	return 0;
}

START_TEST(field_that_changes_its_type_keeps_its_values)
{
	struct archive *a;
	unsigned n = 0;

	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < TURNS; i++) {
		struct evtype t = turn_type(i);
		struct event ev = { .type = &t, .value = turn_values[i], .stream = 1, .number = i };

		ck_assert(archive_put(a, &ev, NULL) >= 0);
	}
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_uint_eq(stored_read(a, NULL, is_turn, &n).events, TURNS);
	ck_assert_uint_eq(n, TURNS);
	archive_close(a);
	stored_remove();
}
END_TEST

START_TEST(an_archive_of_another_version_is_refused)
{
	const char *where = stored_new();
	struct archive *a;
	struct err e = { 0 };

	ck_assert_int_eq(archive_open(where, AR_READ, 0, &a, &e) < 0, 1);
	a = stored_open(AR_WRITE);
	ck_assert(!arsql_do(archive_sql(a), "UPDATE archive SET version = 2", &e));
	archive_close(a);
	ck_assert_int_eq(archive_open(where, AR_READ, 0, &a, &e), -ERR_UNSUPPORTED);
	ck_assert_msg(strstr(e.text, "version 2"), "%s", e.text);
	ck_assert_int_eq(archive_open(where, AR_WRITE, 0, &a, &e), -ERR_UNSUPPORTED);
	stored_remove();
}
END_TEST

size_t add_tests_of_each_database(const TTest **list)
{
	const TTest *const all[] = {
		stream_loaded_twice_is_stored_once,
		parts_loaded_out_of_order_make_a_whole_stream,
		two_loaders_take_turns,
		uncommitted_events_are_not_stored,
		fields_beyond_the_room_are_left_out_and_counted,
		numbers_that_no_archive_has_are_left_out,
		a_text_that_continues_otherwise_is_refused,
		every_kind_and_edge_returns,
		field_that_changes_its_type_keeps_its_values,
		strings_fill_a_batch,
		an_archive_of_another_version_is_refused,
	};

	memcpy(list, all, sizeof(all));
	return ARRAY_LEN(all);
}
