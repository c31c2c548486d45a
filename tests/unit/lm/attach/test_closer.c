/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of others are closed without waiting. */
#include "lm/attach/closer.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/hung_file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void wait_until_closed(int fd)
{
	for (int i = 0; i < PATIENCE_MS / 10 && is_open(fd); i++)
		poll(NULL, 0, 10);
	ck_assert(!is_open(fd));
}

TEST(memory_is_closed_at_once)
{
	struct closer *c = closer_new();
	int fd = memfd_create("of a test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert(closer_is_memory(fd));
	closer_close(c, fd);
	ck_assert(!is_open(fd));
	closer_free(c);
}

TEST(anything_else_is_closed_soon)
{
	struct closer *c = closer_new();
	int fd[2], null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct pollfd p;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	ck_assert(!closer_is_memory(fd[0]));
	ck_assert(!closer_is_memory(null));
	closer_close(c, fd[0]);
	p = (struct pollfd){ .fd = fd[1], .events = POLLIN };
	ck_assert_int_eq(poll(&p, 1, PATIENCE_MS), 1);
	ck_assert_int_ne(p.revents & POLLHUP, 0);
	closer_close(c, null);
	wait_until_closed(null);
	closer_close(c, -1);
	ck_assert(!closer_is_full(c));
	closer_free(c);
	close(fd[1]);
}

/* A thread waits for the file system; the caller and other descriptors do not. */
TEST(a_file_whose_close_waits_delays_nothing_else)
{
	char dir[] = "/tmp/omig-closer-XXXXXX", path[sizeof(dir) + sizeof(HUNG_CLOSING_FILE) + 1];
	struct closer *c = closer_new();
	int hung, null;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	if (!hung_file_mount(dir)) {
		printf("# no file system of one's own can be mounted here\n");
		rmdir(dir);
		closer_free(c);
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, HUNG_CLOSING_FILE);
	hung = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(hung, 0);
	ck_assert(!closer_is_memory(hung));
	closer_close(c, hung);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(null, 0);
	closer_close(c, null);
	wait_until_closed(null);
	closer_free(c); /* while the thread still waits */
	hung_file_end();
}

TEST(a_burst_is_closed_too)
{
	struct closer *c = closer_new();
	int fd[4 * CLOSER_QUEUE_MAX];
	unsigned n = ARRAY_LEN(fd), left = n;

	for (unsigned i = 0; i < n; i++)
		fd[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_int_ge(fd[i], 0);
		closer_close(c, fd[i]);
	}
	for (int i = 0; i < PATIENCE_MS / 10 && left; i++) {
		left = 0;
		for (unsigned k = 0; k < n; k++)
			left += is_open(fd[k]);
		poll(NULL, 0, left ? 10 : 0);
	}
	ck_assert_uint_eq(left, 0);
	closer_free(c);
}

SUITE("closer")
