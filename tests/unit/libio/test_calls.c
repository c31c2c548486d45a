/* SPDX-License-Identifier: Apache-2.0 */
/* Calls between whose begin and end much may happen: vfork(), and the end of the board. */
#include "tests/suite.h"
#include "tests/unit/libio/onboard.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
pid_t io_vfork(void) __attribute__((returns_twice));
pid_t io_waitpid(pid_t of, int *status, int options);
_Noreturn void io__exit(int status);

/* The child returns from the function that has called it: its stack is the parent's. */
static __attribute__((noinline)) pid_t fork_in_place(void)
{
	pid_t pid = io_vfork();

	if (!pid)
		io__exit(5);
	return pid;
}

TEST(a_vfork_returns_twice_and_records_its_child)
{
	struct board *b = board_on();
	int status;
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		errno = E2BIG;
		pid = fork_in_place();
		ck_assert_int_eq(errno, E2BIG);
		ck_assert_int_eq(io_waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(WEXITSTATUS(status), 5);
		ck_assert_int_eq(next(b, BOARD_EXIT).pid, pid);
		ck_assert_int_eq(next(b, BOARD_SPAWN).child, pid);
		ck_assert_int_eq(next(b, BOARD_REAP).child, pid);
	}
	board_off(b);
	pid = fork_in_place();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 5);
}

/* Without the stack, which its grandparent uses at the same time. */
static _Noreturn void kill_and_end(long parent)
{
	register long number __asm__("rax") = SYS_kill;
	register long of __asm__("rdi") = parent;
	register long signal __asm__("rsi") = SIGKILL;

	__asm__ volatile("syscall\n\t"
			 "movl %1, %%eax\n\t"
			 "xorl %%edi, %%edi\n\t"
			 "syscall"
			 : "+r"(number)
			 : "i"(SYS_exit), "r"(of), "r"(signal)
			 : "rcx", "r11", "memory");
	__builtin_unreachable();
}

static __attribute__((noinline)) int fork_twice(pid_t *child)
{
	volatile long pid;

	*child = io_vfork();
	if (*child)
		return 1;
	pid = syscall(SYS_getpid);
	if (!io_vfork())
		kill_and_end(pid);
	return 2; /* the child is over */
}

TEST(a_child_that_is_killed_in_a_vfork_of_its_own_returns_nowhere)
{
	struct board *b = board_on();
	pid_t child;
	int status;

	ck_assert_int_eq(fork_twice(&child), 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	board_off(b);
}
#endif

TEST(a_call_that_ends_while_the_board_is_off_is_left_alone)
{
	struct board *b = board_on();
	struct io_call c;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	io_before(&c, pipes[1], IO_OUT);
	ck_assert_ptr_nonnull(c.s);
	io_board = NULL;
	io_after(&c, pipes[1], 3);
	ck_assert_uint_eq(c.s->writers, 0);
	ck_assert_uint_eq(c.s->written, 0);
	no_more(b);
	close(pipes[0]);
	close(pipes[1]);
	board_off(b);
}

SUITE("io")
