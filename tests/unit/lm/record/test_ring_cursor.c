/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors of rings in their file: the next lm finds them, and accepts no other file. */
#include "common/base/file.h"
#include "common/base/str.h"
#include "lm/record/ring_cursor.h"
#include "tests/suite.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[96], bad[104];

static void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/rows", dir);
	snprintf(bad, sizeof(bad), "%s.bad", path);
}

static void clean_up(void)
{
	unlink(path);
	unlink(bad);
	ck_assert_int_eq(rmdir(dir), 0);
}

static bool lives(void *arg, uint64_t segment)
{
	return true;
}

static struct ring_cursors *opened(void)
{
	struct ring_cursors *rs = NULL;
	struct err e = { 0 };

	ck_assert_msg(!ring_cursors_open(NULL, path, &rs, &e), "%s", e.text);
	return rs;
}

static void leave_one(void)
{
	struct ring_cursors *rs = opened();
	struct ring_cursor *r =
		ring_cursors_add(rs, &(struct ring_cursor_key){ 7, 9, 0 }, lives, NULL);

	ck_assert_ptr_nonnull(r);
	ring_cursor_set(r, &(struct ring_cursor_state){ .place = 5, .events = 3 });
	ring_cursors_free(rs);
}

static bool is_known(void)
{
	struct ring_cursors *rs = opened();
	bool is = ring_cursors_knows(rs, 7) && ring_cursors_place(rs, 7, 0) == 5;

	ring_cursors_free(rs);
	return is;
}

TEST(the_next_lm_finds_the_cursor_of_the_ring)
{
	ck_assert(!is_known());
	leave_one();
	ck_assert(is_known());
	ck_assert(is_known());
}

/* An lm may die before its new file has a magic, or a machine before the file is complete. */
TEST(a_file_that_was_not_made_whole_is_taken_up)
{
	ck_assert_int_eq(file_write_atomic(path, "", 0, NULL), 0);
	leave_one();
	ck_assert_int_eq(truncate(path, 4096), 0);
	ck_assert(is_known());
	ck_assert_int_ne(access(bad, F_OK), 0);
}

TEST(a_file_of_another_version_is_renamed)
{
	static const char other[] = "KEPROW99, and what that had";
	struct buf b = BUF_INIT(64);

	ck_assert_int_eq(file_write_atomic(path, other, strlen(other), NULL), 0);
	ck_assert(!is_known());
	ck_assert_int_eq(file_read(bad, 64, FILE_SECRET, &b, NULL), 0);
	ck_assert_str_eq(buf_str(&b), other);
	buf_done(&b);
	leave_one();
	ck_assert(is_known());
}

TEST(a_file_that_others_may_read_is_refused)
{
	struct ring_cursors *rs = NULL;
	struct err e = { 0 };

	leave_one();
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(ring_cursors_open(NULL, path, &rs, &e), -ERR_DENIED);
	ck_assert_msg(strstr(e.text, path) && strstr(e.text, "chmod 600"), "%s", e.text);
}

SUITE_WITH("lm ring cursors", set_up, clean_up)
