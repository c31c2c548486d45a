/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is started from inside a process which does not see it. */
#include "common/base/array.h"
#include "common/inproc/apart.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static volatile sig_atomic_t signals;

static void on_child(int number)
{
	(void)number;
	signals++;
}

/* The output of /bin/sh -c TEXT with a pipe as its descriptor 1; up to its end. */
static size_t said(const char *text, char *out, size_t room)
{
	const char *const argv[] = { "sh", "-c", text, NULL };
	struct apart a = { .path = "/bin/sh", .argv = argv, .fd = { -1, 0, -1 }, .nfd = 3 };
	struct pollfd p = { .events = POLLIN };
	size_t n = 0;
	ssize_t got;
	int end[2];

	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	a.fd[1] = apart_dup(end[1]);
	ck_assert_int_ge(a.fd[1], APART_FDS_MAX);
	close(end[1]);
	ck_assert_int_eq(apart_start(&a), 0);
	close(a.fd[1]);
	p.fd = end[0];
	do {
		ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
		got = read(end[0], out + n, room - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	} while (got > 0 && n < room - 1);
	close(end[0]);
	out[n] = 0;
	return n;
}

TEST(the_process_gets_no_child_and_no_signal)
{
	const struct sigaction count = { .sa_handler = on_child };
	char out[64];

	ck_assert_int_eq(sigaction(SIGCHLD, &count, NULL), 0);
	said("echo here", out, sizeof(out));
	ck_assert_str_eq(out, "here\n");
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_eq(signals, 0);
}

TEST(the_program_has_three_descriptors_and_no_preloaded_library)
{
	int open_one = open("/dev/null", O_RDONLY);
	char out[256];

	ck_assert_int_ge(open_one, 0);
	setenv("LD_PRELOAD", "/none/libx.so", 1);
	setenv("APART_TEST", "kept", 1);
	said("echo ${LD_PRELOAD-none} $APART_TEST; for n in 0 1 2 3 4 5 6 7 8 9; do "
	     "[ ! -e /proc/$$/fd/$n ] || echo $n; done",
	     out, sizeof(out));
	unsetenv("LD_PRELOAD");
	ck_assert_str_eq(out, "none kept\n0\n1\n2\n");
	close(open_one);
}

TEST(a_program_is_found_beside_its_library)
{
	char path[4096];
	const struct apart_wanted none = { NULL, "omig-none", "here" },
				  set = { "/bin/sh", "x", "" }, bad = { "/none/x", "x", "" };

	ck_assert(!apart_find(path, sizeof(path), &none));
	ck_assert(!apart_find(path, sizeof(path), &bad));
	ck_assert(apart_find(path, sizeof(path), &set));
	ck_assert_str_eq(path, "/bin/sh");
	ck_assert(!apart_find(path, 3, &set));
}

SUITE("common/inproc/apart")
