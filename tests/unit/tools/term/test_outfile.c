/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/term/say.h"
#include "common/base/array.h"
#include "tools/term/outfile.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[80];

static void make_folder(void)
{
	snprintf(dir, sizeof(dir), "/tmp/omig-outfile-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/out", dir);
}

static void remove_folder(void)
{
	unlink(path);
	ck_assert_msg(!rmdir(dir), "something is left in %s", dir);
}

/* Returns the exit status of the first failure. */
static int write_text(const char *text, bool is_finished)
{
	struct buf b = BUF_INIT(4096);
	struct outfile o;
	int rc = outfile_open(&o, path);

	buf_puts(&b, text);
	rc = rc != CMD_OK ? rc : outfile_put(&o, &b, 1);
	if (rc == CMD_OK && is_finished)
		rc = outfile_finish(&o);
	outfile_close(&o);
	buf_done(&b);
	return rc;
}

static const char *text_of(int fd)
{
	static char text[64];
	ssize_t n = read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

TEST(the_old_file_remains_until_the_new_one_is_whole)
{
	ck_assert_int_eq(write_text("old", true), CMD_OK);
	ck_assert_int_eq(write_text("new", false), CMD_OK);
	ck_assert_str_eq(text_of(open(path, O_RDONLY)), "old");
	ck_assert_int_eq(write_text("new", true), CMD_OK);
	ck_assert_str_eq(text_of(open(path, O_RDONLY)), "new");
}

TEST(a_whole_output_is_written_and_stays_with_the_caller)
{
	struct buf b = BUF_INIT(4096);

	buf_puts(&b, "whole");
	ck_assert_int_eq(outfile_write(path, &b), CMD_OK);
	ck_assert_str_eq(text_of(open(path, O_RDONLY)), "whole");
	ck_assert_str_eq(buf_str(&b), "whole");
	buf_done(&b);
}

TEST(a_new_file_has_the_permissions_of_the_old_one)
{
	struct stat st;

	ck_assert_int_eq(write_text("old", true), CMD_OK);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(write_text("new", true), CMD_OK);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
}

/* As root, a page for /dev/null was the end of /dev/null. */
TEST(a_device_stays_one)
{
	struct stat st;

	ck_assert_int_eq(symlink("/dev/null", path), 0);
	ck_assert_int_eq(write_text("for nobody", true), CMD_OK);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
}

TEST(output_to_a_pipe_reaches_its_reader)
{
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write_text("for a reader", true), CMD_OK);
	ck_assert_str_eq(text_of(fd), "for a reader");
}

TEST(a_check_leaves_all_as_it_was)
{
	char missing[FILE_PATH_BYTES + 16];

	snprintf(missing, sizeof(missing), "%s.no/x", path);
	ck_assert_int_eq(outfile_check(NULL), CMD_OK);
	ck_assert_int_eq(outfile_check(path), CMD_OK);
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(outfile_check(missing), CMD_FAILURE);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(outfile_check(path), CMD_OK); /* does not wait for a reader */
}

SUITE_WITH("outfile", make_folder, remove_folder)
