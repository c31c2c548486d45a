/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that commands read: from a pipe whose writer is slow, up to a limit, or not there. */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/term/wholefile.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 500

static struct buf out;
static struct err e;

static bool is_asleep(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	return strstr(text, ") S ");
}

/* Writes the second half when the reader waits for it. */
static void write_slowly(int fd)
{
	pid_t reader = getppid();

	if (write(fd, "first,", 6) != 6)
		_exit(1);
	for (int i = 0; i < TRIES && !is_asleep(reader); i++)
		poll(NULL, 0, 10);
	_exit(write(fd, "second", 6) == 6 ? 0 : 1);
}

static int read_slow_stdin(int flags)
{
	int fd[2], saved = dup(STDIN_FILENO), rc, status = 0;
	pid_t child;

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[0], F_SETFL, flags), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(fd[0]);
		write_slowly(fd[1]);
	}
	close(fd[1]);
	dup2(fd[0], STDIN_FILENO);
	rc = wholefile_read("-", 64, &out, &e);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(fd[0]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	return rc;
}

START_TEST(standard_input_is_read_to_its_end_however_slow)
{
	out = BUF_INIT(1024);
	ck_assert_int_eq(read_slow_stdin(0), 0);
	ck_assert_str_eq(buf_str(&out), "first,second");
	buf_clear(&out);
	ck_assert_int_eq(read_slow_stdin(O_NONBLOCK), 0);
	ck_assert_str_eq(buf_str(&out), "first,second");
	buf_done(&out);
}
END_TEST

START_TEST(more_than_may_be_and_what_is_not_there_are_refused)
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
END_TEST

SUITE("tools wholefile", standard_input_is_read_to_its_end_however_slow,
      more_than_may_be_and_what_is_not_there_are_refused)
