/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/archive/arevents.h"

#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#define SEEN_MAX 4096

struct seen {
	unsigned n;
	uint64_t stream[SEEN_MAX], number[SEEN_MAX];
	int64_t at[SEEN_MAX];
	int end; /* result of the callee */
};

static int note(void *arg, const struct event *ev)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, SEEN_MAX);
	s->stream[s->n] = ev->stream;
	s->number[s->n] = ev->number;
	s->at[s->n++] = ev->wall_ns;
	return s->end;
}

/* --- order, and a part of the time */

static void put_many(struct archive *a, unsigned ntypes, unsigned n)
{
	struct rng r;

	rng_init(&r, suite_seed(7));
	for (unsigned i = 0; i < n; i++) {
		char type[16];

		snprintf(type, sizeof(type), "t%u", (unsigned)rng_below(&r, ntypes));
		stored_put(a,
			   (struct stored_at){ .stream = i % 3,
					       .number = i / 3,
					       .ts = (int64_t)rng_below(&r, 500) - 100 },
			   type, i % 2 ? "a" : "b", i % 2 ? I32((int)i) : F64(i));
	}
}

TEST(events_of_all_types_come_by_their_time)
{
	static struct seen all, some;
	const struct arevents_options w = { .from = 17, .to = 200 };
	struct archive *a;
	unsigned within = 0;

	stored_new();
	a = stored_open(AR_WRITE);
	put_many(a, 230, 3000); /* more than a part of the statement has */
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_uint_eq(stored_read(a, NULL, note, &all).events, 3000);
	for (unsigned i = 1; i < all.n; i++) {
		ck_assert_int_le(all.at[i - 1], all.at[i]);
		if (all.at[i - 1] == all.at[i] && all.stream[i - 1] == all.stream[i])
			ck_assert_uint_lt(all.number[i - 1], all.number[i]);
		within += all.at[i] >= w.from && all.at[i] <= w.to;
	}
	stored_read(a, &w, note, &some);
	ck_assert_uint_eq(some.n, within);
	ck_assert(some.at[0] >= w.from && some.at[some.n - 1] <= w.to);
	archive_close(a);
	stored_remove();
}

TEST(a_callback_can_end_the_read)
{
	static struct seen s = { .end = 5 };
	struct arevents_report r;
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	put_many(a, 3, 10);
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(arevents_read(a, NULL, &(struct arevents_taker){ note, &s }, &r, NULL), 5);
	ck_assert_uint_eq(s.n, 1);
	archive_close(a);
	stored_remove();
}

TEST(an_event_that_is_not_there_is_not_found)
{
	static const char *const names[] = { "t0", "nothing" };
	const struct arevents_options w = { INT64_MIN, INT64_MAX, names, 2 };
	static struct seen s;
	struct arevents_report r;
	struct archive *a;
	struct err e = { 0 };

	stored_new();
	a = stored_open(AR_WRITE);
	put_many(a, 1, 10);
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(arevents_read(a, &w, &(struct arevents_taker){ note, &s }, &r, &e),
			 -ERR_NOTFOUND);
	ck_assert_str_eq(e.text, "the archive has no event 'nothing'");
	archive_close(a);
	stored_remove();
}

TEST(an_archive_without_events_has_none)
{
	static struct seen s;
	struct archive *a;

	stored_new();
	stored_close(stored_open(AR_WRITE));
	a = stored_open(AR_READ);
	ck_assert_uint_eq(stored_read(a, NULL, note, &s).events, 0);
	archive_close(a);
	stored_remove();
}

/* --- foreign contents */

static void change(const char *path, const char *sql)
{
	sqlite3 *db;
	char *text = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &text) == SQLITE_OK, "%s: %s", sql, text);
	sqlite3_close(db);
}

static int is_x(void *arg, const struct event *ev)
{
	ck_assert_str_eq(ev->type->name, "x");
	return note(arg, ev);
}

/* Ten events, of which these statements spoil one each. */
TEST(rows_that_are_no_events_are_passed_over_and_counted)
{
	static const char *const harm[] = {
		"UPDATE e_x SET f_n = 3000000000 WHERE f_n = 5",
		"UPDATE e_x SET f_n = 'five' WHERE f_n = 5",
		"UPDATE e_x SET f_n = x'00' WHERE f_n = 5",
		"UPDATE e_x SET f_n = 5.5 WHERE f_n = 5",
		"UPDATE e_x SET d = 0 WHERE f_n = 5",
		"UPDATE e_x SET d = 'x' WHERE f_n = 5",
		"UPDATE e_x SET ts = 'now' WHERE f_n = 5",
		"UPDATE e_x SET id = -7 WHERE f_n = 5",
		"UPDATE e_x SET id = 7 WHERE f_n = 5",
	};
	struct archive *a;

	for (unsigned i = 0; i < ARRAY_LEN(harm); i++) {
		const char *path = stored_new();
		struct arevents_report r;
		struct seen s = { 0 };

		a = stored_open(AR_WRITE);
		for (unsigned k = 0; k < 10; k++)
			stored_put(a, (struct stored_at){ .stream = 1, .number = k }, "x", "n",
				   I32((int)k));
		stored_close(a);
		change(path, harm[i]);
		a = stored_open(AR_READ);
		r = stored_read(a, NULL, is_x, &s);
		ck_assert_msg(r.bad == 1 && r.events == 9 && s.n == 9, "%s: %u", harm[i],
			      (unsigned)r.bad);
		archive_close(a);
	}
	stored_remove();
}

TEST(a_description_that_lies_is_refused)
{
	static const char *const lies[] = {
		"UPDATE description SET bytes = x'00'",
		"UPDATE description SET bytes = 'text'",
		"UPDATE description SET bytes = zeroblob(70000)",
		"INSERT INTO description SELECT 0, type, level, hash, bytes FROM description",
		"UPDATE stream SET bytes = x'0102'",
		"UPDATE stream SET stream = 'one'",
		"UPDATE stream SET bytes = (SELECT bytes FROM description)",
	};

	for (unsigned i = 0; i < ARRAY_LEN(lies); i++) {
		const char *path = stored_new();
		struct archive *a = stored_open(AR_WRITE);
		struct arevents_report r;
		struct seen s = { 0 };
		struct err e = { 0 };

		stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
		stored_close(a);
		change(path, lies[i]);
		a = stored_open(AR_READ);
		ck_assert_msg(arevents_read(a, NULL, &(struct arevents_taker){ note, &s }, &r,
					    &e) == -ERR_INVALID,
			      "%s: %s", lies[i], e.text);
		archive_close(a);
	}
	stored_remove();
}

/* The archive had no room for a field: the event is stored without it. */
TEST(a_value_that_was_left_out_is_counted)
{
	const char *path = stored_new();
	struct archive *a = stored_open(AR_WRITE);
	static struct seen s;
	struct arevents_report r;

	for (unsigned k = 0; k < 10; k++)
		stored_put(a, (struct stored_at){ .stream = 1, .number = k }, "x", "n",
			   I32((int)k));
	stored_close(a);
	change(path, "UPDATE e_x SET f_n = NULL WHERE f_n < 3");
	a = stored_open(AR_READ);
	r = stored_read(a, NULL, is_x, &s);
	ck_assert_uint_eq(r.missing, 3);
	ck_assert_uint_eq(r.events, 10);
	archive_close(a);
	stored_remove();
}

TEST(a_view_in_a_tables_place_is_refused)
{
	const char *path = stored_new();
	struct archive *a = stored_open(AR_WRITE);
	struct err e = { 0 };

	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
	stored_close(a);
	change(path,
	       "ALTER TABLE e_x RENAME TO was; CREATE VIEW E_x AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) "
	       "SELECT n AS id, n AS ts, 1 AS d, n AS f_n FROM r");
	ck_assert_int_eq(archive_open(path, AR_READ, 0, &a, &e), -ERR_INVALID);
	ck_assert_msg(strstr(e.text, "views of events"), "%s", e.text);
	stored_remove();
}

/* Two events of a type, which has 400 columns then. */
static void put_wide(struct archive *a, const char *type, uint64_t number)
{
	struct evfield f[200];
	struct evvalue v[200];
	char names[200][8];
	const struct evtype t = { .name = type, .nfield = 200, .field = f };
	struct event ev = { .type = &t, .value = v, .stream = 1, .number = number };

	for (unsigned half = 0; half < 2; half++, ev.number++) {
		for (unsigned i = 0; i < 200; i++) {
			snprintf(names[i], sizeof(names[i]), "f%u", i + half * 200);
			f[i] = (struct evfield){ names[i], EV_INT32 };
			v[i] = I32(1);
		}
		ck_assert_int_ge(archive_put(a, &ev, NULL), 0);
	}
}

static int reading(struct err *e)
{
	struct archive *a = stored_open(AR_READ);
	struct arevents_report r;
	static struct seen s;
	int rc;

	s.n = 0;
	rc = arevents_read(a, NULL, &(struct arevents_taker){ note, &s }, &r, e);
	archive_close(a);
	return rc;
}

/* Each class has its columns beside those of the others. No loader makes 400 of each. */
TEST(columns_of_all_classes_have_a_limit)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	const char *path = stored_new();
	struct archive *a = stored_open(AR_WRITE);
	struct err e = { 0 };

	for (unsigned i = 0; i < 4; i++)
		put_wide(a, names[i], 2 * i);
	stored_close(a);
	change(path, "UPDATE field SET class = type WHERE type < 4 OR place < 397");
	ck_assert_int_eq(reading(&e), 0);
	change(path, "UPDATE field SET class = type");
	ck_assert_int_eq(reading(&e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "too many types of events to be read by time"));
	stored_remove();
}

/* 496 types of 403 columns are as many as one statement has. */
TEST(types_times_columns_have_a_limit)
{
	struct err e = { 0 };
	struct archive *a;
	char name[16];

	stored_new();
	a = stored_open(AR_WRITE);
	put_wide(a, "wide", 0);
	for (unsigned i = 2; i < 497; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		stored_put(a, (struct stored_at){ .stream = 1, .number = i }, name, "n", I32(1));
	}
	ck_assert_int_eq(archive_commit(a, NULL), 0);
	ck_assert_int_eq(reading(&e), 0);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 500 }, "more", "n", I32(1));
	stored_close(a);
	ck_assert_int_eq(reading(&e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "(497, 403 columns)"));
	stored_remove();
}

SUITE("arevents")
