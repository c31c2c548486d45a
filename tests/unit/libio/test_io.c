/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers around the real calls of this program, with a segment's table that is only memory.
 */
#include "libio/io.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOVE(name, way, pars, args) ssize_t io_##name pars;
#define BOTH MOVE
#include "libio/moves.def"
int io_prctl(int option, ...);
long io_syscall(long number, ...);

static struct seg_mount *table;
static unsigned joins;
static const struct mount_side *joined;

/* In place of libomig: a child has a part of the memory of its own. */
int omig_app_mounts_join(const struct mount_side *side)
{
	if (!table)
		table = mmap(NULL, 2 * SEG_MOUNTS * sizeof(*table), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	joined = side;
	side->on_ready(table + (joins++ ? SEG_MOUNTS : 0));
	return 0;
}

static char path[] = "/tmp/omig-io-XXXXXX";
static int file;
static uint64_t key;

static void set_up(void)
{
	memset(table, 0, 2 * SEG_MOUNTS * sizeof(*table));
	joins = 1;
	io_table = table;
	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(io_write(file, "0123456789", 10), 10);
	key = table[0].key;
	ck_assert_uint_gt(key, SEG_MOUNT_OTHER);
	memset(table, 0, SEG_MOUNTS * sizeof(*table));
}

static void clean_up(void)
{
	close(file);
	unlink(path);
}

static struct seg_mount *row(void)
{
	return seg_mount_find(table, key);
}

TEST(each_way_of_reading_counts_once)
{
	char to[16], more[4];
	struct iovec v[2] = { { to, 3 }, { more, 4 } };

	ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	ck_assert_int_eq(io_read(file, to, 4), 4);
	ck_assert_int_eq(io_pread(file, to, 5, 1), 5);
	ck_assert_int_eq(io_pread64(file, to, 16, 8), 2);
	ck_assert_int_eq(io_preadv(file, v, 2, 0), 7);
	ck_assert_int_eq(io_preadv64(file, v, 2, 0), 7);
	ck_assert_int_eq(io_readv(file, v, 2), 6);
	ck_assert_int_eq(io_preadv2(file, v, 2, 0, 0), 7);
	ck_assert_int_eq(io_preadv64v2(file, v, 2, 0, 0), 7);
	ck_assert_int_eq(io_read(file, to, 4), 0); /* its end */
	ck_assert_uint_eq(row()->in.calls, 9);
	ck_assert_uint_eq(row()->in.bytes, 45);
	ck_assert_uint_eq(row()->out.calls, 0);
}

TEST(each_way_of_writing_counts_once)
{
	char a[] = "ab", b[] = "cde";
	struct iovec v[2] = { { a, 2 }, { b, 3 } };

	ck_assert_int_eq(io_write(file, a, 2), 2);
	ck_assert_int_eq(io_pwrite(file, a, 2, 1), 2);
	ck_assert_int_eq(io_pwrite64(file, a, 1, 1), 1);
	ck_assert_int_eq(io_writev(file, v, 2), 5);
	ck_assert_int_eq(io_pwritev(file, v, 2, 0), 5);
	ck_assert_int_eq(io_pwritev64(file, v, 2, 0), 5);
	ck_assert_int_eq(io_pwritev2(file, v, 2, 0, 0), 5);
	ck_assert_int_eq(io_pwritev64v2(file, v, 2, 0, 0), 5);
	ck_assert_uint_eq(row()->out.calls, 8);
	ck_assert_uint_eq(row()->out.bytes, 30);
	ck_assert_uint_eq(row()->in.calls, 0);
}

TEST(what_goes_from_one_to_another_counts_on_both)
{
	int pair[2], pipes[2];
	off_t at = 0;
	off64_t from = 0, to = 20;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(io_sendfile(pair[0], file, &at, 6), 6);
	ck_assert_int_eq(io_splice(file, &from, pipes[1], NULL, 8, 0), 8);
	from = 0;
	ck_assert_int_eq(io_copy_file_range(file, &from, file, &to, 9, 0), 9);
	ck_assert_uint_eq(row()->in.bytes, 6 + 8 + 9);
	ck_assert_uint_eq(row()->silent_in.bytes, 8);
	ck_assert_uint_eq(row()->out.bytes, 9);
	ck_assert_uint_eq(seg_mount_find(table, SEG_MOUNT_SOCKET)->out.bytes, 6);
	ck_assert_uint_eq(seg_mount_find(table, SEG_MOUNT_PIPE)->out.bytes, 8);
	ck_assert_uint_eq(seg_mount_find(table, SEG_MOUNT_PIPE)->silent_out.calls, 1);
	close(pair[0]);
	close(pair[1]);
	close(pipes[0]);
	close(pipes[1]);
}

/* The kernel is asked: a duplicate, and another file under the same number, are what they are. */
TEST(descriptors_are_what_they_are_now)
{
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(io_write(pipes[1], "abc", 3), 3);
	ck_assert_int_eq(dup2(file, pipes[1]), pipes[1]);
	ck_assert_int_eq(io_write(pipes[1], "abcd", 4), 4);
	ck_assert_uint_eq(seg_mount_find(table, SEG_MOUNT_PIPE)->out.bytes, 3);
	ck_assert_uint_eq(row()->out.bytes, 4);
	close(pipes[0]);
	close(pipes[1]);
}

TEST(errors_stay_as_they_are)
{
	char to[4];
	int only = open(path, O_WRONLY);

	errno = 0;
	ck_assert_int_eq(io_read(-1, to, 4), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_uint_eq(table[0].key, 0);
	ck_assert_int_eq(io_pread(file, to, 4, -1), -1);
	ck_assert_int_eq(errno, EINVAL);
	errno = E2BIG;
	ck_assert_int_eq(io_write(only, "a", 1), 1);
	ck_assert_int_eq(errno, E2BIG);
	close(only);
}

TEST(nothing_counts_while_it_is_off)
{
	io_table = NULL;
	ck_assert_int_eq(io_write(file, "abc", 3), 3);
	ck_assert_uint_eq(table[0].key, 0);
}

TEST(a_child_counts_in_a_table_of_its_own)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(io_write(file, "abc", 3) == 3 && io_write(file, "de", 2) == 2 ? (int)joins
										    : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 2);
	ck_assert_uint_eq(table[0].key, 0);
	ck_assert_uint_eq(seg_mount_find(table + SEG_MOUNTS, key)->out.bytes, 5);
}

/*
 * In strict mode the kernel kills a process at any call but read(), write() and its end. The table
 * is ready later, as by MPI_Init.
 */
static void restrict_and_write(bool by_prctl)
{
	if (by_prctl)
		io_prctl(PR_SET_SECCOMP, (long)SECCOMP_MODE_STRICT, 0L, 0L, 0L);
	else
		io_syscall(SYS_seccomp, (long)SECCOMP_SET_MODE_STRICT, 0L, 0L, 0L, 0L, 0L);
	joined->on_ready(table);
	io_write(file, "abc", 3);
	syscall(SYS_exit, table[0].key ? 1 : 42);
}

TEST(a_program_that_restricts_its_calls_is_left_alone)
{
	for (int by_prctl = 0; by_prctl < 2; by_prctl++) {
		int status;
		pid_t pid = fork();

		if (!pid)
			restrict_and_write(by_prctl);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
		ck_assert_int_eq(WEXITSTATUS(status), 42);
	}
	ck_assert_ptr_nonnull(io_table);
}

SUITE_WITH("io", set_up, clean_up)
