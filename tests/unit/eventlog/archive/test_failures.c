/* SPDX-License-Identifier: Apache-2.0 */
/* An archive on a disk that is full, in a program without memory, and after a failure. */
#include "common/base/file.h"
#include "eventlog/archive/arcompare.h"
#include "eventlog/archive/arquery.h"
#include "tests/alloc_sweep.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <string.h>

/* Acknowledged means synced. */
TEST(a_writer_has_its_settings)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(stored_number(a, "PRAGMA synchronous"), 2);
	ck_assert_int_eq(stored_number(a, "PRAGMA cache_size"), -65536);
	ck_assert_int_eq(stored_number(a, "PRAGMA wal_autocheckpoint"), 4000);
	archive_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM type"), 0);
	archive_close(a);
	stored_remove();
}

static int try_put(struct archive *a, uint64_t number, const char *type, struct err *e)
{
	const struct evfield f = { "n", EV_INT64 };
	const struct evtype t = { .name = type, .level = EV_INFO, .nfield = 1, .field = &f };
	const struct evvalue v = { .kind = EV_INT64, .i64 = INT64_MAX };
	const struct event ev = { .type = &t, .value = &v, .stream = 1, .number = number };

	return archive_put(a, &ev, e);
}

TEST(synced_blocks_stay_on_a_full_disk)
{
	char sql[60];
	struct err e = { 0 };
	struct archive *a;
	uint64_t n = 0;
	int rc = 0;

	stored_new();
	a = stored_open(AR_WRITE);
	for (; n < 100; n++)
		ck_assert_int_eq(try_put(a, n, "x", &e), 0);
	ck_assert_int_eq(archive_commit(a, &e), 0);
	snprintf(sql, sizeof(sql), "PRAGMA max_page_count=%lld",
		 (long long)stored_number(a, "PRAGMA page_count") + 2);
	stored_number(a, sql);
	while (!rc && n < 100000)
		rc = try_put(a, n++, "x", &e);
	ck_assert_int_eq(rc, -ERR_SYS);
	ck_assert_ptr_nonnull(strstr(e.text, "no space is left"));
	ck_assert_int_eq(try_put(a, n, "x", &e), -ERR_CLOSED);
	ck_assert_int_eq(archive_commit(a, &e), -ERR_CLOSED);
	ck_assert_uint_eq(archive_report(a)->safe, 100);
	archive_close(a);
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 100);
	ck_assert_int_eq(try_put(a, 100, "x", &e), 0);
	stored_close(a);
	stored_remove();
}

/* The tables of new types need pages too: each statement on the way may be the one that fails. */
TEST(a_new_type_that_has_no_room_is_a_failure)
{
	struct err e = { 0 };
	char sql[60], type[16];

	for (int room = 0; room < 12; room++) {
		struct archive *a;
		int rc = 0;

		stored_new();
		a = stored_open(AR_WRITE);
		ck_assert_int_eq(try_put(a, 0, "x", &e), 0);
		ck_assert_int_eq(archive_commit(a, &e), 0);
		snprintf(sql, sizeof(sql), "PRAGMA max_page_count=%lld",
			 (long long)stored_number(a, "PRAGMA page_count") + room);
		stored_number(a, sql);
		for (unsigned i = 1; !rc && i < 100; i++) {
			snprintf(type, sizeof(type), "y%u", i);
			rc = try_put(a, i, type, &e);
			rc = rc ? rc : archive_commit(a, &e);
		}
		ck_assert_int_eq(rc, -ERR_SYS);
		ck_assert_int_eq(try_put(a, 1000, "x", &e), -ERR_CLOSED);
		archive_close(a);
		a = stored_open(AR_READ);
		ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM row_all"),
				 stored_number(a, "SELECT sum(n) FROM type"));
		archive_close(a);
		stored_remove();
	}
}

TEST(a_type_without_events_is_one_and_less_than_none_is_not)
{
	const char *where = stored_new();
	struct archive *a = stored_open(AR_WRITE);
	struct err e = { 0 };

	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x", "n", I32(1));
	ck_assert_int_eq(archive_commit(a, NULL), 0);
	ck_assert_int_eq(arsql_do(archive_sql(a), "UPDATE type SET n = 0", NULL), 0);
	archive_close(a);
	archive_close(stored_open(AR_READ));
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(arsql_do(archive_sql(a), "UPDATE type SET n = -1", NULL), 0);
	archive_close(a);
	ck_assert_int_eq(archive_open(where, AR_READ, 0, &a, &e), -ERR_INVALID);
	stored_remove();
}

TEST(a_name_has_a_limit_of_bytes)
{
	char path[FILE_PATH_BYTES + 1];
	struct archive *a;
	struct err e = { 0 };

	memset(path, '%', sizeof(path)); /* in a URI each of them has three bytes */
	path[FILE_PATH_BYTES] = '\0';
	ck_assert_int_eq(archive_open(path, AR_READ, 0, &a, &e), -ERR_LIMIT);
	ck_assert_str_eq(e.text, "the name is too long");
	path[FILE_PATH_BYTES - 1] = '\0';
	ck_assert_int_eq(archive_open(path, AR_READ, 0, &a, &e), -ERR_SYS);
}

/* --- memory that ends anywhere */

static int no_row(void *arg, const struct arvalue *v, const char *const *names, unsigned n,
		  struct err *e)
{
	return 0;
}

static int no_event(void *arg, const struct event *ev)
{
	return 0;
}

static struct err why;

static int write_some(const char *where)
{
	struct archive *a;
	int got = archive_open(where, AR_WRITE, 0, &a, &why);

	if (got)
		return got;
	archive_compare(a, true);
	for (unsigned i = 0; i < 4 && got >= 0; i++)
		got = try_put(a, i, i % 2 ? "x.start" : "x.end", &why);
	got = got < 0 ? got : archive_commit(a, &why);
	archive_close(a);
	return got;
}

static int read_some(const char *where)
{
	const struct arcompare_options wish = { .least = 0.05, .level = 0.99 };
	struct arevents_report report;
	struct archange *change;
	struct archive *a;
	size_t n;
	int rc = archive_open(where, AR_READ, 0, &a, &why);

	if (rc)
		return rc;
	rc = arevents_read(a, NULL, &(struct arevents_taker){ no_event, NULL }, &report, &why);
	rc = rc ? rc : arquery_run(a, "count of x.* by n", no_row, NULL, &why);
	rc = rc ? rc : arquery_run(a, "x.start where n > 1", no_row, NULL, &why);
	if (!rc) {
		rc = arcompare_run(&(struct arcompared){ a, a }, &wish, &change, &n, &why);
		if (!rc)
			arcompare_free(change, n);
	}
	archive_close(a);
	return rc;
}

static void sweep(int (*work)(const char *where), bool is_new)
{
	const char *where = stored_new();

	if (!is_new)
		ck_assert_int_ge(write_some(where), 0);
	ALLOC_SWEEP (k) {
		int got = work(where);

		alloc_sweep_pause();
		ck_assert_msg(got == -ERR_NOMEM || (got >= 0 && !alloc_sweep_has_failed()),
			      "allocation %zu: %d, %s", k, got, why.text);
		if (is_new)
			stored_new();
	}
	stored_remove();
}

TEST(a_loader_without_memory_reports_that)
{
	sweep(write_some, true);
}

TEST(a_text_that_is_known_is_compared_or_memory_is_short)
{
	sweep(write_some, false);
}

TEST(a_reader_without_memory_reports_that)
{
	sweep(read_some, false);
}

SUITE("failures")
