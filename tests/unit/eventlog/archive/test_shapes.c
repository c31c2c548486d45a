/* SPDX-License-Identifier: Apache-2.0 */
/* Names, texts and files of an archive, and its limits. */
#include "common/base/array.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

TEST(a_name_in_sql_has_small_letters_digits_and_lines)
{
	static const struct {
		const char *name;
		bool is_one;
	} known[] = { { "a", true },   { "z", true },	 { "e_x2_9", true }, { "a0", true },
		      { "", false },   { "A", false },	 { "_a", false },    { "0a", false },
		      { "aB", false }, { "a-b", false }, { "a b", false },   { "a\"", false },
		      { "{", false },  { "`", false },	 { "a{", false },    { "a:", false } };
	char longest[AR_NAME_MAX + 1];

	for (unsigned i = 0; i < ARRAY_LEN(known); i++)
		ck_assert_msg(arsql_is_name(known[i].name, strlen(known[i].name)) ==
				      known[i].is_one,
			      "%s", known[i].name);
	memset(longest, 'q', sizeof(longest));
	ck_assert(arsql_is_name(longest, AR_NAME_MAX));
	ck_assert(!arsql_is_name(longest, AR_NAME_MAX + 1));
	ck_assert(arpg_is_url("postgresql://h/d") && arpg_is_url("postgres://"));
	ck_assert(!arpg_is_url("postgres:/x") && !arpg_is_url("x/postgresql://"));
}

TEST(bytes_that_are_no_text_are_shown_escaped)
{
	char scratch[20];
	struct arvalue v = arsql_shown("\xc3\xa9", 2, scratch, sizeof(scratch));

	ck_assert(v.class == AR_TEXT && v.n == 2 && !memcmp(v.s, "\xc3\xa9", 2));
	v = arsql_shown("a\0b", 3, scratch, sizeof(scratch));
	ck_assert(v.class == AR_TEXT && v.n == 6 && !memcmp(v.s, "a\\x00b", 6));
	v = arsql_shown("\xff", 1, scratch, sizeof(scratch));
	ck_assert(v.class == AR_TEXT && v.n == 4 && !memcmp(v.s, "\\xff", 4));
}

/* --- files */

static void fails(enum armode mode, int rc, const char *word)
{
	struct archive *a;
	struct err e = { 0 };
	int got = archive_open(stored_path(), mode, 0, &a, &e);

	ck_assert_msg(got == rc && strstr(e.text, word), "%d, %s", got, e.text);
}

static void overwrite(const char *with, size_t n, off_t at)
{
	int fd = open(stored_path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, with, n, at), n);
	close(fd);
}

TEST(a_file_that_is_no_database_or_damaged_is_refused)
{
	static char junk[8192];
	struct archive *a;
	struct err e = { 0 };
	int64_t n;

	memset(junk, 'x', sizeof(junk));
	stored_new();
	fails(AR_READ, -ERR_NOTFOUND, "cannot be opened: No such file");
	overwrite(junk, sizeof(junk), 0);
	fails(AR_READ, -ERR_INVALID, "is not an archive");
	fails(AR_WRITE, -ERR_INVALID, "is not an archive");
	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < 5000; i++)
		stored_put(a, (struct stored_at){ .stream = 1, .number = i }, "x", "n",
			   I32((int)i));
	stored_close(a);
	a = stored_open(AR_READ);
	n = stored_number(a, "SELECT rootpage FROM sqlite_master WHERE name = 'e_x'");
	archive_close(a);
	overwrite(junk, 4096, (off_t)(n - 1) * 4096);
	a = stored_open(AR_READ);
	ck_assert_int_eq(arsql_number(archive_sql(a), "SELECT count(*) FROM e_x", &n, &e),
			 -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "the archive is damaged"));
	archive_close(a);
	stored_remove();
}

TEST(a_database_of_another_program_with_a_stamp_is_refused)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_number(a, "PRAGMA application_id=7");
	archive_close(a);
	fails(AR_READ, -ERR_INVALID, "is a database, but not an archive of Omig");
	fails(AR_WRITE, -ERR_INVALID, "is a database, but not an archive of Omig");
	stored_remove();
}

/* --- batches */

TEST(a_batch_has_as_many_events_as_were_chosen)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	archive_set_batch(a, 10);
	for (unsigned i = 0; i < 25; i++)
		ck_assert_int_eq(stored_put(a, (struct stored_at){ .stream = 1, .number = i }, "x",
					    "n", I32(1)),
				 i == 9 || i == 19);
	ck_assert_uint_eq(archive_report(a)->batches, 2);
	ck_assert_uint_eq(archive_report(a)->safe, 20);
	ck_assert_uint_eq(archive_report(a)->stored, 25);
	archive_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 20);
	archive_close(a);
	stored_remove();
}

/* --- the classic views */

TEST(an_event_has_a_stage_and_a_status)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	stored_put(a, (struct stored_at){ .stream = 1, .number = 0 }, "x.start", "status",
		   F64(0.5));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 1 }, "x.end", "status", I32(-3));
	stored_put(a, (struct stored_at){ .stream = 1, .number = 2 }, "x.more", "n", I32(7));
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT startend FROM event WHERE event = 'x.start'"), 0);
	ck_assert_int_eq(stored_number(a, "SELECT startend FROM event WHERE event = 'x.end'"), 1);
	ck_assert_int_eq(stored_number(a, "SELECT startend FROM event WHERE event = 'x.more'"), 2);
	ck_assert_int_eq(stored_number(a, "SELECT status FROM event WHERE event = 'x.end'"), -3);
	ck_assert_int_eq(stored_number(a, "SELECT count(status) FROM event"), 1);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM ident"), 0);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM value"), 3);
	archive_close(a);
	stored_remove();
}

/* --- texts that begin with the same events */

/* The first of n events is of that type, and has that field and value. */
static int put_text(struct archive *a, const char *type, const char *field, struct evvalue v)
{
	struct err e = { 0 };
	int got = 0;

	archive_compare(a, true);
	for (unsigned i = 0; i < 3 && got >= 0; i++) {
		const struct evfield f = { i ? "n" : field, i ? EV_INT32 : v.kind };
		const struct evtype t = {
			.name = i ? "x" : type, .level = EV_INFO, .nfield = 1, .field = &f
		};
		const struct evvalue value = i ? I32((int)i) : v;
		const struct event ev = {
			.type = &t, .value = &value, .stream = 1, .number = i, .wall_ns = i
		};

		got = archive_put(a, &ev, &e);
	}
	return got < 0 ? got : archive_commit(a, &e);
}

TEST(a_text_with_another_type_field_or_value_is_another)
{
	struct archive *a;

	stored_new();
	a = stored_open(AR_WRITE);
	ck_assert_int_eq(put_text(a, "x", "s", STR("word", 4)), 0);
	ck_assert_int_eq(put_text(a, "x", "s", STR("word", 4)), 0);
	ck_assert_int_eq(put_text(a, "x", "s", STR("more", 4)), -ERR_EXISTS);
	ck_assert_int_eq(put_text(a, "x", "s", STR("wor", 3)), -ERR_EXISTS);
	ck_assert_int_eq(put_text(a, "x", "t", STR("word", 4)), -ERR_EXISTS);
	ck_assert_int_eq(put_text(a, "x", "s", I32(4)), -ERR_EXISTS);
	ck_assert_int_eq(put_text(a, "y", "s", STR("word", 4)), -ERR_EXISTS);
	ck_assert_int_eq(put_text(a, "x", "s", STR("word", 4)), 0);
	ck_assert_uint_eq(archive_report(a)->stored, 3);
	stored_close(a);
	stored_remove();
}

/* --- limits */

TEST(types_beyond_the_room_are_left_out_and_counted)
{
	struct archive *a;
	char name[16];

	stored_new();
	a = stored_open(AR_WRITE);
	for (unsigned i = 0; i < AR_TYPES_MAX + 2; i++) {
		snprintf(name, sizeof(name), "t%u", i);
		stored_put(a, (struct stored_at){ .stream = 1, .number = i }, name, "n", I32(1));
	}
	stored_put(a, (struct stored_at){ .stream = 1, .number = AR_TYPES_MAX + 2 }, "t0", "n",
		   I32(1));
	ck_assert_uint_eq(archive_report(a)->left_out, 2);
	ck_assert_uint_eq(archive_report(a)->stored, AR_TYPES_MAX + 1);
	stored_close(a);
	a = stored_open(AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM type"), AR_TYPES_MAX);
	ck_assert_int_eq(stored_number(a, "SELECT sum(n) FROM type"), AR_TYPES_MAX + 1);
	ck_assert_int_eq(stored_number(a, "SELECT next FROM loaded"), AR_TYPES_MAX + 3);
	archive_close(a);
	stored_remove();
}

SUITE("shapes")
