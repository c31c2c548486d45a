/* SPDX-License-Identifier: Apache-2.0 */
/* A reader that may not write beside the archive takes no locks. */
#include "tests/unit/eventlog/archive/stored.h"
#include "tests/unit/eventlog/made.h"

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

SUITE("archive reader")
