/* SPDX-License-Identifier: Apache-2.0 */
/* Each function compared with the one of the C library that it replaces. */
#include "common/base/anywhere.h"
#include "common/base/array.h"
#include "tests/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void same_file(const struct stat *a, const struct stat *b)
{
	ck_assert_uint_eq(a->st_dev, b->st_dev);
	ck_assert_uint_eq(a->st_ino, b->st_ino);
	ck_assert_uint_eq(a->st_mode, b->st_mode);
	ck_assert_uint_eq(a->st_uid, b->st_uid);
	ck_assert_int_eq(a->st_size, b->st_size);
	ck_assert_int_eq(a->st_mtim.tv_nsec, b->st_mtim.tv_nsec);
}

TEST(files_look_the_same)
{
	struct stat a, b;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(stat("/proc/self/exe", &a), 0);
	ck_assert_int_eq(anywhere_stat("/proc/self/exe", &b), 0);
	same_file(&a, &b);
	ck_assert_int_eq(anywhere_fstat(fd, &b), 0);
	same_file(&a, &b);
	ck_assert_int_eq(lstat("/proc/self/exe", &a), 0);
	ck_assert_int_eq(anywhere_lstat("/proc/self/exe", &b), 0);
	ck_assert(S_ISLNK(b.st_mode));
	ck_assert_uint_eq(a.st_ino, b.st_ino);
	close(fd);
	errno = 0;
	ck_assert_int_eq(anywhere_stat("/nothing here", &b), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(anywhere_fstat(fd, &b), -1);
	ck_assert_int_eq(errno, EBADF);
}

TEST(a_file_in_memory_is_made)
{
	int fd = anywhere_memfd_create("here", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

TEST(random_bytes_differ)
{
	uint64_t a = 0, b = 0;

	ck_assert_int_eq(anywhere_getrandom(&a, sizeof(a), 0), sizeof(a));
	ck_assert_int_eq(anywhere_getrandom(&b, sizeof(b), 0), sizeof(b));
	ck_assert_uint_ne(a, b);
}

TEST(an_array_that_overflows_is_refused)
{
	int *p = anywhere_reallocarray(NULL, 4, sizeof(*p));

	ck_assert_ptr_nonnull(p);
	p[3] = 5;
	errno = 0;
	ck_assert_ptr_null(anywhere_reallocarray(p, SIZE_MAX / 2, sizeof(*p)));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_int_eq(p[3], 5);
	free(p);
}

TEST(anywhere_strerror_r_returns_the_texts_of_libc)
{
	char a[64], b[64], tiny[4];

	for (int code = 1; code < 140; code++)
		ck_assert_str_eq(anywhere_strerror_r(code, a, sizeof(a)),
				 strerror_r(code, b, sizeof(b)));
	ck_assert_uint_lt(strlen(anywhere_strerror_r(ENOENT, tiny, sizeof(tiny))), sizeof(tiny));
}

TEST(the_mask_of_signals_is_the_threads)
{
	sigset_t set, old, now;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	ck_assert_int_eq(anywhere_pthread_sigmask(SIG_BLOCK, &set, &old), 0);
	ck_assert_int_eq(sigismember(&old, SIGUSR1), 0);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &old, &now), 0);
	ck_assert_int_eq(sigismember(&now, SIGUSR1), 1);
	errno = 0;
	ck_assert_int_eq(anywhere_pthread_sigmask(77, &set, NULL), EINVAL);
	ck_assert_int_eq(errno, 0);
}

static int forked;

static void in_child(void)
{
	forked = 3;
}

TEST(a_fork_is_seen_by_the_child)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(anywhere_atfork(NULL, NULL, in_child), 0);
	pid = fork();
	if (pid == 0)
		_exit(forked);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_assert_int_eq(forked, 0);
}

TEST(bytes_are_copied_set_and_wiped)
{
	char a[8] = "abcdefg", b[8];

	ck_assert_ptr_eq(anywhere_memcpy_chk(b, a, sizeof(a), sizeof(b)), b);
	ck_assert_str_eq(b, "abcdefg");
	anywhere_memmove_chk(b + 1, b, 6, 7);
	ck_assert_str_eq(b, "aabcdef");
	anywhere_memset_chk(b, 'x', 7, sizeof(b));
	ck_assert_str_eq(b, "xxxxxxx");
	anywhere_explicit_bzero_chk(b, sizeof(b), sizeof(b));
	ck_assert_mem_eq(b, "\0\0\0\0\0\0\0\0", 8);
	ck_assert_int_eq(
		anywhere_snprintf_chk(b, sizeof(b), 1, sizeof(b), "%d of %s", 12, "twenty"), 12);
	ck_assert_str_eq(b, "12 of t");
}

TEST(a_read_goes_as_far_as_it_may)
{
	char b[4] = "";
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(write(fd[1], "abc", 3), 3);
	ck_assert_int_eq(anywhere_read_chk(fd[0], b, sizeof(b), sizeof(b)), 3);
	ck_assert_str_eq(b, "abc");
	close(fd[0]);
	close(fd[1]);
	fd[0] = memfd_create("file", MFD_CLOEXEC);
	ck_assert_int_eq(write(fd[0], "abcdef", 6), 6);
	ck_assert_int_eq(anywhere_pread_chk(fd[0], b, 3, 2, sizeof(b)), 3);
	ck_assert_str_eq(b, "cde");
	close(fd[0]);
	ck_assert_int_eq(anywhere_readlink_chk("/proc/self/exe", b, sizeof(b), sizeof(b)),
			 sizeof(b));
	ck_assert_int_eq(b[0], '/');
}

TEST(a_line_is_printed)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	ck_assert_int_eq(anywhere_fprintf_chk(f, 1, "%d %s\n", 7, "lines"), 8);
	fclose(f);
	ck_assert_str_eq(text, "7 lines\n");
	free(text);
}

static void copy_too_much(void)
{
	char b[4];

	anywhere_memcpy_chk(b, "too much", 8, sizeof(b));
}

static void move_too_much(void)
{
	char b[4];

	anywhere_memmove_chk(b, "too much", 8, sizeof(b));
}

static void set_too_much(void)
{
	char b[4];

	anywhere_memset_chk(b, 0, 8, sizeof(b));
}

static void wipe_too_much(void)
{
	char b[4];

	anywhere_explicit_bzero_chk(b, 8, sizeof(b));
}

static void read_too_much(void)
{
	char b[4];

	anywhere_read_chk(-1, b, 8, sizeof(b));
}

static void pread_too_much(void)
{
	char b[4];

	anywhere_pread_chk(-1, b, 8, 0, sizeof(b));
}

static void follow_too_much(void)
{
	char b[4];

	anywhere_readlink_chk("/", b, 8, sizeof(b));
}

static void print_too_much(void)
{
	char b[4];

	anywhere_snprintf_chk(b, 8, 1, sizeof(b), "x");
}

TEST(a_write_beyond_the_end_ends_the_process)
{
	static void (*const bad[])(void) = { copy_too_much,   move_too_much, set_too_much,
					     wipe_too_much,   read_too_much, pread_too_much,
					     follow_too_much, print_too_much };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			bad[i]();
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

SUITE("anywhere")
