/* SPDX-License-Identifier: Apache-2.0 */
/* A call inserted into a thread that waits in the kernel: it is made, and nothing else changes. */
#include "tests/suite.h"
#include "tracer/thread/call.h"
#include "tracer/thread/regs.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static volatile int *calls;
static pid_t child;

/* Spoils what a function may spoil. */
static void called(void)
{
	__asm__ volatile("mov $1, %%rcx\n\tmov $2, %%r8\n\tpxor %%xmm3, %%xmm3"
			 :
			 :
			 : "rcx", "r8", "xmm3");
	++*calls;
}

static void set_up(void)
{
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child)
		return;
	for (;;)
		__asm__ volatile("mov $34, %%eax\n\tmov $0x88, %%r8\n\tmovq %%r8, %%xmm3\n\tsyscall"
				 :
				 :
				 : "rax", "rcx", "r8", "r11", "xmm3", "memory");
}

static void clean_up(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void stop(void)
{
	int status;

	ck_assert_int_eq(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	ck_assert_int_eq(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(child, &status, __WALL), child);
	ck_assert(WIFSTOPPED(status));
}

static void wait_for_pause(void)
{
	uint64_t v[2];

	for (int i = 0; i < 2000; i++) {
		stop();
		regs_get(child, 15, 1, v, NULL);
		if (v[0] == 34)
			return;
		ptrace(PTRACE_DETACH, child, NULL, NULL);
		usleep(1000);
	}
	ck_abort_msg("the child does not wait");
}

TEST(a_call_is_made_once_and_registers_are_restored)
{
	uint64_t before[REGS_INT_COUNT], after[REGS_INT_COUNT], xmm;
	struct err e = { 0 };

	for (int n = 1; n <= 3; n++) {
		wait_for_pause();
		regs_get(child, 0, REGS_INT_COUNT, before, NULL);
		ck_assert_msg(call_insert(child, child, (uint64_t)(uintptr_t)called, &e) == 0, "%s",
			      e.text);
		ptrace(PTRACE_DETACH, child, NULL, NULL);
		for (int i = 0; i < 5000 && *calls < n; i++)
			usleep(1000);
		ck_assert_int_eq(*calls, n);
		wait_for_pause();
		regs_get(child, 0, REGS_INT_COUNT, after, NULL);
		ck_assert_uint_eq(after[19], before[19]);
		ck_assert_uint_eq(after[9], 0x88);
		for (size_t i = 0; i < 6; i++)
			ck_assert_uint_eq(after[i], before[i]);
		fpregs_get(child, 8 + 2 * 3, 1, &xmm, NULL);
		ck_assert_uint_eq(xmm, 0x88);
		ptrace(PTRACE_DETACH, child, NULL, NULL);
	}
}

TEST(without_room_nothing_has_changed)
{
	uint64_t sp = 4096, back = 0, rip[2];
	struct err e = { 0 };

	wait_for_pause();
	regs_get(child, 16, 1, &rip[0], NULL);
	ck_assert_int_eq(regs_set(child, 19, 1, &sp, NULL), 0);
	ck_assert_int_lt(call_insert(child, child, (uint64_t)(uintptr_t)called, &e), 0);
	regs_get(child, 19, 1, &back, NULL);
	regs_get(child, 16, 1, &rip[1], NULL);
	ck_assert_uint_eq(back, sp);
	ck_assert_uint_eq(rip[0], rip[1]);
	ck_assert_int_eq(*calls, 0);
}

SUITE_WITH("calls", set_up, clean_up)

#else

TEST(elsewhere_there_are_none)
{
	ck_assert_int_eq(call_insert(1, 1, 0, NULL), -ERR_UNSUPPORTED);
}

SUITE("calls")

#endif
