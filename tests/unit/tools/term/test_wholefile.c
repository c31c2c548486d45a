/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that commands read: from a pipe whose writer is slow, up to a limit, or missing. */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tests/unit/tools/term/slow_stdin.h"
#include "tools/term/wholefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct buf out;
static struct err e;

static int read_all(void *arg)
{
	return wholefile_read("-", 64, &out, &e);
}

static int read_slow_stdin(int flags)
{
	return with_slow_stdin(flags, "first,", "second", read_all, NULL);
}

TEST(standard_input_is_read_to_its_end_however_slow)
{
	out = BUF_INIT(1024);
	ck_assert_int_eq(read_slow_stdin(0), 0);
	ck_assert_str_eq(buf_str(&out), "first,second");
	buf_clear(&out);
	ck_assert_int_eq(read_slow_stdin(O_NONBLOCK), 0);
	ck_assert_str_eq(buf_str(&out), "first,second");
	buf_done(&out);
}

TEST(more_than_may_be_and_what_is_not_there_are_refused)
{
	char path[] = "/tmp/omig-wholefile-XXXXXX";
	int fd = mkstemp(path);

	out = BUF_INIT(1024);
	ck_assert_int_eq(write(fd, "0123456789", 10), 10);
	close(fd);
	ck_assert_int_eq(wholefile_read(path, 10, &out, &e), 0);
	ck_assert_str_eq(buf_str(&out), "0123456789");
	ck_assert_int_eq(wholefile_read(path, 9, &out, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "larger than 9 bytes"));
	unlink(path);
	ck_assert_int_eq(wholefile_read(path, 10, &out, &e), -ERR_NOTFOUND);
	ck_assert_int_eq(wholefile_read("/tmp", 10, &out, &e), -ERR_SYS);
	ck_assert_str_eq(wholefile_name("-"), "stdin");
	ck_assert_str_eq(wholefile_name(path), path);
	buf_done(&out);
}

SUITE("tools wholefile")
