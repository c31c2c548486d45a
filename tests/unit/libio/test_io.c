/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers around the real calls of this program, with a segment's table that is only memory.
 */
#include "libio/io.h"
#include "tests/suite.h"
#include "tests/unit/libio/onboard.h"

#include <errno.h>
#include <fcntl.h>
#include <arpa/inet.h>
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
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <termios.h>
#include <unistd.h>

#define MOVE(name, way, pars, args) ssize_t io_##name pars;
#define BOTH MOVE
#define TALK MOVE
#include "libio/moves.def"
int io_socketpair(int domain, int type, int protocol, int fd[2]);
pid_t io_waitpid(pid_t of, int *status, int options);
pid_t io_wait(int *status);
int io_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int io_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		    const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
_Noreturn void io__exit(int status);
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

/* --- interactions */

TEST(both_ends_of_a_pipe_count_the_same_bytes)
{
	struct board *b = board_on();
	struct board_record r;
	int pipes[2];
	char to[8];

	ck_assert_int_eq(pipe(pipes), 0);
	errno = E2BIG;
	ck_assert_int_eq(io_write(pipes[1], "abc", 3), 3);
	ck_assert_int_eq(io_write(pipes[1], "defg", 4), 4);
	ck_assert_int_eq(io_read(pipes[0], to, 5), 5);
	ck_assert_int_eq(io_write(file, "abc", 3), 3);
	close(pipes[1]);
	ck_assert_int_eq(io_read(pipes[0], to, 8), 2);
	ck_assert_int_eq(io_read(pipes[0], to, 8), 0);
	ck_assert_int_eq(errno, E2BIG);
	r = next(b, BOARD_WRITE);
	ck_assert_uint_eq(r.end, 3);
	ck_assert_int_eq(r.pid, getpid());
	ck_assert_uint_eq(next(b, BOARD_WRITE).id, r.id);
	r.end = next(b, BOARD_READ).end;
	ck_assert_uint_eq(r.end, 5);
	for (int i = 0; i < 2; i++) { /* the rest, and the end */
		struct board_record last = next(b, BOARD_READ);

		ck_assert_uint_eq(last.end, 7);
		ck_assert_uint_eq(last.id, r.id);
		ck_assert_uint_le(last.began, last.ns);
		ck_assert_uint_eq(last.flags, 0);
	}
	no_more(b);
	close(pipes[0]);
	board_off(b);
}

/* The real calls are those of a program that is not watched. */
TEST(bytes_that_others_read_or_write_make_the_stream_uncertain)
{
	struct board *b = board_on();
	int pipes[2];
	char to[8];

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(io_write(pipes[1], "abcdef", 6), 6);
	ck_assert_int_eq(read(pipes[0], to, 2), 2);
	ck_assert_int_eq(io_read(pipes[0], to, 2), 2);
	ck_assert_int_eq(next(b, BOARD_WRITE).flags, 0);
	ck_assert_int_eq(next(b, BOARD_READ).flags, BOARD_UNCERTAIN);
	ck_assert_int_eq(io_write(pipes[1], "x", 1), 1);
	ck_assert_int_eq(next(b, BOARD_WRITE).flags, BOARD_UNCERTAIN);
	close(pipes[0]);
	close(pipes[1]);
	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(write(pipes[1], "abc", 3), 3);
	ck_assert_int_eq(io_read(pipes[0], to, 3), 3);
	ck_assert_int_eq(next(b, BOARD_READ).flags, BOARD_UNCERTAIN | BOARD_UNSENT);
	close(pipes[0]);
	close(pipes[1]);
	board_off(b);
}

TEST(a_call_that_moves_nothing_is_no_message)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct board *b = board_on();
	int pipes[2];
	char to[8] = "";

	ck_assert_int_eq(pipe2(pipes, O_NONBLOCK), 0);
	ck_assert_int_eq(io_read(pipes[0], to, 8), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(pipes[0]);
	sigaction(SIGPIPE, &ignore, NULL);
	ck_assert_int_eq(io_write(pipes[1], to, 8), -1);
	ck_assert_int_eq(errno, EPIPE);
	close(pipes[1]);
	no_more(b);
	board_off(b);
}

TEST(a_fork_records_its_child_and_the_wait_its_end)
{
	struct board *b = board_on();
	siginfo_t info;
	int status;
	pid_t pid = fork();

	if (!pid)
		io__exit(3);
	ck_assert_int_eq(io_waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(io_waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 3);
	ck_assert_int_eq(next(b, BOARD_SPAWN).child, pid);
	ck_assert_int_eq(next(b, BOARD_EXIT).pid, pid);
	ck_assert_int_eq(next(b, BOARD_REAP).child, pid);
	ck_assert_int_eq(io_waitpid(-1, NULL, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
	no_more(b);
	board_off(b);
}

/* The kernel refuses an address that is not the program's. */
TEST(a_wait_with_a_wrong_address_fails_as_it_does)
{
	struct board *b = board_on();
	pid_t pid = fork();

	if (!pid)
		io__exit(0);
	ck_assert_int_eq(io_waitpid(pid, (int *)(uintptr_t)8, 0), -1);
	ck_assert_int_eq(errno, EFAULT);
	next(b, BOARD_SPAWN);
	next(b, BOARD_EXIT);
	no_more(b);
	board_off(b);
}

TEST(a_spawn_records_its_child)
{
	struct board *b = board_on();
	char name[] = "false", *argv[] = { name, NULL }, none[] = "/no/such/program";
	siginfo_t info;
	pid_t pid;

	ck_assert_int_eq(io_posix_spawnp(NULL, name, NULL, NULL, argv, NULL), 0);
	ck_assert_int_eq(io_wait(NULL) > 0, 1);
	pid = next(b, BOARD_SPAWN).child;
	ck_assert_int_eq(next(b, BOARD_REAP).child, pid);
	ck_assert_int_eq(io_posix_spawnp(&pid, name, NULL, NULL, argv, NULL), 0);
	ck_assert_int_eq(io_waitid(P_PID, (id_t)pid, &info, WEXITED), 0);
	ck_assert_int_eq(next(b, BOARD_SPAWN).child, pid);
	ck_assert_int_eq(next(b, BOARD_REAP).child, pid);
	ck_assert_int_eq(io_posix_spawnp(&pid, none, NULL, NULL, argv, NULL), ENOENT);
	no_more(b);
	board_off(b);
}

TEST(streams_of_the_library_are_seen)
{
	struct board *b;
	FILE *in, *out;
	int pipes[2];
	char line[16];

	if (!io_stdio_begin())
		return; /* another C library */
	b = board_on();
	ck_assert_int_eq(pipe(pipes), 0);
	in = fdopen(pipes[0], "r");
	out = fdopen(pipes[1], "w");
	fprintf(out, "line %d\n", 1);
	ck_assert_int_eq(fflush(out), 0);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), in));
	ck_assert_str_eq(line, "line 1\n");
	ck_assert_uint_eq(next(b, BOARD_WRITE).end, 7);
	ck_assert_uint_eq(next(b, BOARD_READ).end, 7);
	no_more(b);
	fclose(in);
	fclose(out);
	board_off(b);
}

/* A connected pair: of IPv4, whose server listens for IPv6, too. */
static void connect_tcp(int fd[2])
{
	struct sockaddr_in6 all = { .sin6_family = AF_INET6 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t n = sizeof(all);
	int listener = socket(AF_INET6, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&all, sizeof(all)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&all, &n), 0);
	to.sin_port = all.sin6_port;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(connect(fd[0], (struct sockaddr *)&to, sizeof(to)), 0);
	fd[1] = accept(listener, NULL, NULL);
	ck_assert_int_ge(fd[1], 0);
	close(listener);
}

/* Bytes that others have moved count, too: the kernel has the number. */
TEST(both_ends_of_a_connection_have_the_same_place)
{
	struct board *b = board_on();
	struct board_record w, r;
	char to[16];
	int fd[2];

	connect_tcp(fd);
	ck_assert_int_eq(write(fd[0], "unseen", 6), 6);
	ck_assert_int_eq(io_send(fd[0], "abc", 3, 0), 3);
	ck_assert_int_eq(io_recv(fd[1], to, 4, MSG_PEEK), 4);
	ck_assert_int_eq(io_recv(fd[1], to, 7, 0), 7);
	ck_assert_int_eq(io_read(fd[1], to, 7), 2);
	w = next(b, BOARD_WRITE);
	ck_assert_uint_eq(w.end, 9);
	r = next(b, BOARD_READ);
	ck_assert_uint_eq(r.end, 7);
	ck_assert_uint_eq(r.id, w.id);
	ck_assert_uint_eq(next(b, BOARD_READ).end, 9);
	ck_assert_int_eq(io_write(fd[1], "xy", 2), 2);
	shutdown(fd[1], SHUT_WR);
	ck_assert_int_eq(io_recvfrom(fd[0], to, 7, 0, NULL, NULL), 2);
	ck_assert_int_eq(io_read(fd[0], to, 7), 0);
	w = next(b, BOARD_WRITE);
	ck_assert_uint_ne(w.id, r.id);
	ck_assert_uint_eq(w.end, 2);
	for (int i = 0; i < 2; i++) { /* the bytes, and the end */
		r = next(b, BOARD_READ);
		ck_assert_uint_eq(r.id, w.id);
		ck_assert_uint_eq(r.end, 2);
		ck_assert_uint_eq(r.flags, 0);
	}
	no_more(b);
	close(fd[0]);
	close(fd[1]);
	board_off(b);
}

/* Behind the error the call returns 0, and the kernel has counted no end of the stream. */
TEST(a_connection_that_is_reset_has_no_place_before_its_begin)
{
	const struct linger at_once = { .l_onoff = 1 };
	struct board *b = board_on();
	struct board_record r;
	char to[4];
	int fd[2];

	connect_tcp(fd);
	ck_assert_int_eq(io_recv(fd[0], to, 1, MSG_DONTWAIT), -1);
	setsockopt(fd[1], SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd[1]);
	ck_assert_int_eq(io_read(fd[0], to, 1), -1);
	ck_assert_int_eq(errno, ECONNRESET);
	ck_assert_int_eq(io_read(fd[0], to, 1), 0);
	r = next(b, BOARD_READ);
	ck_assert_uint_eq(r.end, 0);
	close(fd[0]);
	board_off(b);
}

TEST(a_pair_of_sockets_has_two_streams)
{
	struct board *b = board_on();
	struct board_record w[2];
	char to[16];
	int fd[2];

	ck_assert_int_eq(io_socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	ck_assert_int_eq(io_write(fd[0], "abc", 3), 3);
	ck_assert_int_eq(io_write(fd[1], "de", 2), 2);
	ck_assert_int_eq(io_read(fd[1], to, 16), 3);
	ck_assert_int_eq(io_read(fd[0], to, 16), 2);
	w[0] = next(b, BOARD_WRITE);
	w[1] = next(b, BOARD_WRITE);
	ck_assert_uint_ne(w[0].id, w[1].id);
	ck_assert_uint_eq(next(b, BOARD_READ).id, w[0].id);
	ck_assert_uint_eq(next(b, BOARD_READ).id, w[1].id);
	no_more(b);
	close(fd[0]);
	close(fd[1]);
	board_off(b);
}

/* The terminal echoes what its master writes, and makes a line of several writes. */
TEST(a_read_of_a_terminal_ends_all_writes_before_it)
{
	struct board *b = board_on();
	struct board_record w, echo, r;
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char to[32];

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master) | unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	ck_assert_int_ge(slave, 0);
	ck_assert_int_eq(io_write(master, "a", 1), 1);
	ck_assert_int_eq(io_write(master, "b\n", 2), 2);
	w = next(b, BOARD_WRITE);
	echo = next(b, BOARD_WRITE);
	ck_assert_uint_eq(next(b, BOARD_WRITE).id, w.id);
	ck_assert_uint_eq(next(b, BOARD_WRITE).id, echo.id);
	ck_assert_int_eq(io_read(slave, to, 32), 3);
	r = next(b, BOARD_READ);
	ck_assert_uint_eq(r.id, w.id);
	ck_assert_uint_eq(r.end, 2);
	ck_assert_int_gt(io_read(master, to, 32), 0);
	ck_assert_uint_eq(next(b, BOARD_READ).id, echo.id);
	ck_assert_int_eq(io_write(slave, "date\n", 5), 5);
	w = next(b, BOARD_WRITE);
	ck_assert_uint_eq(w.id, echo.id);
	ck_assert_uint_eq(w.end, 3);
	no_more(b);
	board_off(b);
	b = board_on();
	ck_assert_int_eq(write(master, "c\n", 2), 2); /* from outside */
	ck_assert_int_eq(io_read(slave, to, 32), 2);
	ck_assert_int_eq(next(b, BOARD_READ).flags, BOARD_UNSENT);
	no_more(b);
	close(slave);
	close(master);
	board_off(b);
}

SUITE_WITH("io", set_up, clean_up)
