/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that may not write beside the archive takes no locks. Programs that open an archive see
 * one state of it. */
#include "common/base/str.h"
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534 /* root may write everywhere: the test reads as another user */

static const char *in_closed_folder(void)
{
	static char folder[] = "/tmp/omig-test-XXXXXX", path[96];

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chmod(folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/a.db", folder);
	return path;
}

static struct archive *open_at(const char *path, enum armode mode)
{
	struct archive *a;
	struct err e = { 0 };

	ck_assert_msg(!archive_open(path, mode, 0, &a, &e), "%s", e.text);
	return a;
}

static void write_some(const char *path, unsigned from)
{
	struct archive *a = open_at(path, AR_WRITE);

	for (unsigned i = from; i < from + 1000; i++)
		stored_put(a, (struct stored_at){ .stream = 7, .number = i }, "x", "n",
			   I32((int)i));
	stored_close(a);
}

/* As root by another user id, else by the folder's mode. */
static void close_folder(const char *folder)
{
	ck_assert(!chmod(folder, 0555));
	ck_assert(geteuid() || !seteuid(NOBODY));
}

static void open_folder(const char *folder)
{
	ck_assert(getuid() || !seteuid(0));
	ck_assert(!chmod(folder, 0755));
}

TEST(a_reader_without_locks_notices_a_writer)
{
	const char *path = in_closed_folder();
	char folder[96];
	struct archive *a;
	struct err e = { 0 };
	int64_t n = 0;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	write_some(path, 0);
	close_folder(folder);
	a = open_at(path, AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 1000);
	open_folder(folder);
	write_some(path, 1000);
	ck_assert_int_eq(arsql_number(archive_sql(a), "SELECT count(*) FROM e_x", &n, &e),
			 -ERR_AGAIN);
	ck_assert_msg(strstr(e.text, "written"), "%s", e.text);
	archive_close(a);
	close_folder(folder);
	a = open_at(path, AR_READ);
	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_x"), 2000);
	archive_close(a);
	open_folder(folder);
	unlink(path);
	rmdir(folder);
}

/* --- a loader that commits while the archive is opened */

static struct archive *other;
static const char *before; /* the statement; NULL: it has committed */

static int on_statement(unsigned what, void *arg, void *st, void *text)
{
	struct err e = { 0 };

	if (!before || !str_has_prefix(sqlite3_sql(st), before))
		return 0;
	before = NULL;
	stored_put(other, (struct stored_at){ .stream = 9 }, "new", "n", I32(1));
	ck_assert_msg(archive_commit(other, &e) >= 0, "%s", e.text);
	return 0;
}

static int watch(sqlite3 *db, char **why, const struct sqlite3_api_routines *api)
{
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, NULL);
}

static struct archive *open_while(enum armode mode, const char *statement)
{
	struct archive *a;

	stored_new();
	other = stored_open(AR_WRITE);
	stored_put(other, (struct stored_at){ .stream = 7 }, "old", "n", I32(1));
	ck_assert(archive_commit(other, NULL) >= 0);
	before = statement;
	sqlite3_auto_extension((void (*)(void))watch);
	a = stored_open(mode);
	sqlite3_reset_auto_extension();
	ck_assert_ptr_null(before);
	return a;
}

TEST(a_type_added_during_an_open_keeps_the_archive_valid)
{
	struct archive *a = open_while(AR_READ, "SELECT type, place");

	ck_assert_int_eq(stored_number(a, "SELECT count(*) FROM e_new"), 1);
	archive_close(a);
	archive_close(other);
	stored_remove();
}

TEST(a_loader_sees_the_type_that_came_while_it_opened_the_archive)
{
	struct archive *a = open_while(AR_WRITE, "SELECT generation");

	stored_put(a, (struct stored_at){ .stream = 8 }, "new", "n", I32(2));
	stored_close(a);
	ck_assert_int_eq(stored_number(other, "SELECT count(*) FROM e_new"), 2);
	archive_close(other);
	stored_remove();
}

SUITE("archive reader")
