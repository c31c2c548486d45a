/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/archive/arloaded.h"
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(no_name_reaches_sql)
{
	static const char *const names[] = { "x'); DROP TABLE type;--",
					     "select",
					     "SELECT",
					     "Select",
					     "e_x",
					     "\"; --",
					     "\xff\xfe",
					     "a\nb",
					     "../../etc/passwd",
					     "\xc3\xa9",
					     "_",
					     " ",
					     "'",
					     "sqlite_master",
					     "type",
					     "; ATTACH 'x' AS y" };
	const unsigned n = ARRAY_LEN(names);
	char longest[NAME_MAX_BYTES + 1];
	struct archive *a;

	memset(longest, 'q', sizeof(longest));
	longest[NAME_MAX_BYTES] = '\0';
	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			stored_put(a, (struct stored_at){ .stream = 1, .number = i * n + k },
				   names[i], names[k], STR(names[k], (uint32_t)strlen(names[k])));
	stored_put(a, (struct stored_at){ .stream = 2, .number = 0 }, longest, longest, I32(1));
	longest[0] = 'r';
	stored_put(a, (struct stored_at){ .stream = 2, .number = 1 }, longest, longest, I32(1));
	longest[0] = 'q';
	longest[NAME_MAX_BYTES - 1] = '!';
	stored_put(a, (struct stored_at){ .stream = 2, .number = 2 }, longest, longest, I32(1));
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM type"), n + 3);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM row_all"), n * n + 3);
	ck_assert_int_eq(stored_number(a, "SELECT count(DISTINCT bytes) FROM type"), n + 3);
	ck_assert_int_eq(stored_number(a, "SELECT count(DISTINCT lower(tab)) FROM type"), n + 3);
	ck_assert_int_eq(
		stored_number(a, "SELECT count(*) FROM type WHERE tab GLOB '*[^a-z0-9_]*'"), 0);
	ck_assert_int_eq(
		stored_number(a, "SELECT count(*) FROM field WHERE col GLOB '*[^a-z0-9_]*'"), 0);
	ck_assert_int_eq(
		stored_number(
			a,
			"SELECT count(*) FROM e_select WHERE f_x_drop_table_type = 'x''); DROP TABLE type;--'"),
		1);
	archive_close(a);
	stored_remove();
}

TEST(values_of_another_class_have_a_column_of_their_own)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "v", I32(7));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 1 }, "x", "v", F64(0.5));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 2 }, "x", "v", F64(NAN));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 3 }, "x", "v", STR("seven", 5));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 4 }, "x", "v", STR("a\0b", 3));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 5 }, "x", "v", STR("\xc0'", 2));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 6 }, "x", "v", F64(INFINITY));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 7 }, "x", "v", I32(8));
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT sum(f_v) FROM e_x"), 15);
	ck_assert_int_eq(stored_number(a, "SELECT count(f_v_real) FROM e_x"), 2);
	ck_assert_int_eq(
		stored_number(a, "SELECT count(*) FROM e_x WHERE f_v_text IN ('nan', 'seven')"), 2);
	ck_assert_int_eq(
		stored_number(
			a, "SELECT count(*) FROM e_x WHERE hex(f_v_bytes) IN ('610062', 'C027')"),
		2);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM value WHERE name = 'v'"), 8);
	ck_assert_int_eq(
		stored_number(a, "SELECT n FROM baseline WHERE field = 'v' AND mean = 7.5"), 2);
	archive_close(a);
	stored_remove();
}

TEST(every_kind_and_edge_returns_in_the_classic_views)
{
	struct archive *a;
	struct event ev = { .type = &made_all, .stream = 3 };

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
	ck_assert_int_eq(
		stored_number(a,
			      "SELECT count(*) FROM event WHERE event = 'all.kinds' AND level = 4"),
		MADE_EDGES);
	ck_assert_int_eq(
		stored_number(
			a,
			"SELECT count(*) FROM value WHERE name = 'HOST' AND value = 'foo.lbl.gov'"),
		MADE_EDGES);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM value"),
			 MADE_EDGES * (int64_t)(made_all.nfield + made_all.nconst));
	ck_assert_int_eq(stored_number(a, "SELECT min(ts) FROM e_all_kinds"), INT64_MIN);
	ck_assert_int_eq(stored_number(a, "SELECT max(f_l) FROM e_all_kinds"), INT64_MAX);
	archive_close(a);
	stored_remove();
}

TEST(skipped_event_creates_no_stream)
{
	struct archive *a, *b;
	struct err e = { 0 };

	stored_new();
	a = stored_open(AR_WRITE);
	b = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = UINT64_MAX }, "x", "n", I32(1));
	ck_assert_msg(!archive_commit(a, &e), "%s", e.text);
	stored_put(b, (struct stored_at){ .stream = 2, .number = 0 }, "x", "n",
		   I32(1)); /* takes the next number of a stream */
	stored_close(b);
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM stream"), 1);
	archive_close(a);
	stored_remove();
}

/* --- files that are not archives */

static void made_by(const char *sql)
{
	sqlite3 *db;
	char *text = NULL;

	ck_assert_int_eq(sqlite3_open(stored_new(), &db), SQLITE_OK);
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &text) == SQLITE_OK, "%s: %s", sql, text);
	sqlite3_close(db);
}

static void is_refused(enum armode mode, const char *word)
{
	struct archive *a;
	struct err e = { 0 };

	ck_assert_int_lt(archive_open(stored_path(), mode, 0, &a, &e), 0);
	ck_assert_msg(strstr(e.text, word), "%s", e.text);
}

/* Bytes 18 and 19 of a database are its format: 1, unless it was made 2, which is WAL. */
static void is_not_touched(void)
{
	char head[20] = "";
	FILE *f = fopen(stored_path(), "rb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(head, 1, sizeof(head), f), sizeof(head));
	fclose(f);
	ck_assert_int_eq(head[18], 1);
	ck_assert_int_eq(head[19], 1);
}

TEST(other_databases_are_left_alone)
{
	static const char *const harm[] = {
		"CREATE TRIGGER t AFTER INSERT ON e_x BEGIN DELETE FROM e_x; END",
		"CREATE TABLE e_y (id INTEGER PRIMARY KEY, ts AS (id + 1))",
		"CREATE VIRTUAL TABLE v USING fts5(x)",
	};
	struct archive *a;

	made_by("CREATE TABLE books (id INTEGER)");
	is_refused(AR_WRITE, "not an archive of Omig");
	is_refused(AR_READ, "not an archive of Omig");
	is_not_touched();
	for (int i = 0; i < 3; i++) {
		sqlite3 *db;
		const char *path = stored_new();

		a = stored_open(AR_WRITE);
		stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
		stored_close(a);
		ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
		if (sqlite3_exec(db, harm[i], NULL, NULL, NULL) == SQLITE_OK) {
			is_refused(AR_WRITE, "triggers");
			is_refused(AR_READ, "triggers");
		}
		sqlite3_close(db);
	}
	stored_remove();
}

/* Fails at once: nothing is ever written to the pipe. */
TEST(only_a_regular_file_is_an_archive)
{
	const char *path = stored_new();

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	is_refused(AR_READ, "not a regular file");
	is_refused(AR_WRITE, "not a regular file");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	is_refused(AR_READ, "not a regular file");
	is_refused(AR_WRITE, "not a regular file");
	ck_assert_int_eq(rmdir(path), 0);
	stored_remove();
}

TEST(a_catalogue_that_lies_is_refused)
{
	static const char *const lies[] = {
		"UPDATE type SET tab = 'e_x; DROP TABLE type'",
		"UPDATE type SET tab = 'type'",
		"UPDATE field SET col = 'f_n\"'",
		"UPDATE field SET class = 9",
		"UPDATE field SET type = 7",
		"UPDATE type SET bytes = x'00'",
		"INSERT INTO type SELECT type + 1, tab, name, bytes, n, first_ns, last_ns FROM type",
		"UPDATE type SET n = 'many'",
		"UPDATE stream SET sid = -5",
		"UPDATE stream SET sid = 9223372036854775807",
		"UPDATE description SET d = 9223372036854775807",
		"UPDATE archive SET generation = 9223372036854775807",
		"UPDATE archive SET generation = -9223372036854775807",
	};

	for (unsigned i = 0; i < ARRAY_LEN(lies); i++) {
		const char *path = stored_new();
		struct archive *a = stored_open(AR_WRITE);
		sqlite3 *db;

		stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
		stored_close(a);
		ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
		ck_assert_int_eq(sqlite3_exec(db, lies[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		is_refused(AR_READ, "not an archive of Omig");
		is_refused(AR_WRITE, "not an archive of Omig");
	}
	stored_remove();
}

TEST(a_reader_changes_nothing)
{
	static const char *const words[] = { "DELETE FROM e_x",
					     "ATTACH '/tmp/omig-test-other.db' AS o",
					     "PRAGMA query_only=0",
					     "CREATE TEMP TABLE t (x)",
					     "VACUUM INTO '/tmp/omig-test-other.db'",
					     "SELECT load_extension('x')",
					     "SELECT 1; SELECT 2" };
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
	stored_close(a);
	a = stored_open(AR_READ);
	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		ck_assert_msg(arsql_do(archive_sql(a), words[i], NULL) < 0, "%s", words[i]);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 1);
	archive_close(a);
	stored_remove();
}

TEST(a_query_has_its_time)
{
	const char *path = stored_new();
	struct archive *a;
	struct err e = { 0 };

	stored_close(stored_open(AR_WRITE));
	ck_assert(!archive_open(path, AR_READ, 20 * NSEC_PER_MSEC, &a, &e));
	ck_assert_int_eq(
		arsql_do(
			archive_sql(a),
			"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
			&e),
		-ERR_TIMEOUT);
	archive_close(a);
	stored_remove();
}

/* --- ranges, against a bitmap, with everything stored and read back now and then */

#define BITS 300

TEST(ranges_are_what_was_added)
{
	struct rng r;
	struct archive *a;
	struct arloaded l;
	bool has[BITS] = { false };

	rng_init(&r, suite_seed(4));
	stored_new();
	a = stored_open(AR_WRITE);
	/* a sync for each statement would take long */
	ck_assert(!archive_sql(a)->ops->begin(archive_sql(a)->db, NULL));
	arloaded_init(&l);
	for (int i = 0; i < 3000; i++) {
		unsigned n = (unsigned)rng_below(&r, BITS);

		ck_assert_int_eq(arloaded_add(&l, n, NULL), !has[n]);
		has[n] = true;
		if (i % 400 == 399)
			memset(has, 0, sizeof(has));
		if (i % 400 == 399 || i % 7 == 0)
			ck_assert(!arloaded_save(&l, archive_sql(a), 1, NULL));
		if (i % 400 == 399) {
			ck_assert(!arsql_do(archive_sql(a), "DELETE FROM loaded", NULL));
			arloaded_done(&l);
		}
		if (i % 7 == 0) {
			arloaded_done(&l);
			ck_assert(!arloaded_load(&l, archive_sql(a), 1, NULL));
		}
		for (size_t k = 0; k + 1 < l.n; k++)
			ck_assert_int_lt(l.range[k].next, l.range[k + 1].first);
	}
	arloaded_done(&l);
	archive_sql(a)->ops->rollback(archive_sql(a)->db);
	archive_close(a);
	stored_remove();
}

SUITE("archive")
