/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of a real child: their numbers are those that the header names. */
#include "tests/suite.h"
#include "tracer/thread/regs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

static pid_t child;

/* Stands in a trap with known values in its registers. */
static void be_known(void)
{
	static const double seven = 7.5;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	__asm__ volatile("mov $0x1515, %%r15\n\tmov $0x1111, %%rcx\n\tmov $0x1212, %%rdx\n\t"
			 "mov $0x1414, %%rdi\n\tmovsd %0, %%xmm3\n\tfldl %0\n\tint3"
			 :
			 : "m"(seven)
			 : "r15", "rcx", "rdx", "rdi", "xmm3", "memory");
	_exit(0);
}

static void set_up(void)
{
	int status;

	child = fork();
	if (child == 0)
		be_known();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSTOPPED(status));
}

static void clean_up(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

TEST(numbers_are_those_of_the_list)
{
	uint64_t v[REGS_INT_COUNT];

	ck_assert_int_eq(regs_get(child, 0, REGS_INT_COUNT, v, NULL), 0);
	ck_assert_uint_eq(v[0], 0x1515);
	ck_assert_uint_eq(v[11], 0x1111);
	ck_assert_uint_eq(v[12], 0x1212);
	ck_assert_uint_eq(v[14], 0x1414);
}

TEST(written_registers_are_read_back)
{
	uint64_t v[2] = { 5, 6 }, back[4];

	ck_assert_int_eq(regs_set(child, 1, 2, v, NULL), 0);
	ck_assert_int_eq(regs_get(child, 0, 4, back, NULL), 0);
	ck_assert_uint_eq(back[0], 0x1515);
	ck_assert_uint_eq(back[1], 5);
	ck_assert_uint_eq(back[2], 6);
	ck_assert_int_eq(regs_goto(child, 0x4242, NULL), 0);
	ck_assert_int_eq(regs_get(child, 15, 2, back, NULL), 0);
	ck_assert_uint_eq(back[0], UINT64_MAX);
	ck_assert_uint_eq(back[1], 0x4242);
}

static double as_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

TEST(floating_point_is_both_stacks)
{
	uint64_t v[REGS_FP_COUNT], two;
	double d = 2.25;

	ck_assert_int_eq(fpregs_get(child, 0, REGS_FP_COUNT, v, NULL), 0);
	ck_assert_double_eq(as_double(v[0]), 7.5);
	ck_assert_double_eq(as_double(v[8 + 2 * 3]), 7.5);
	memcpy(&two, &d, sizeof(two));
	ck_assert_int_eq(fpregs_set(child, 0, 1, &two, NULL), 0);
	ck_assert_int_eq(fpregs_set(child, 39, 1, &two, NULL), 0);
	ck_assert_int_eq(fpregs_get(child, 0, REGS_FP_COUNT, v, NULL), 0);
	ck_assert_double_eq(as_double(v[0]), 2.25);
	ck_assert_double_eq(as_double(v[39]), 2.25);
	ck_assert_double_eq(as_double(v[8 + 2 * 3]), 7.5);
}

TEST(beyond_the_last_there_is_none)
{
	uint64_t v[REGS_FP_COUNT + 1];

	ck_assert_int_eq(regs_get(child, REGS_INT_COUNT - 1, 1, v, NULL), 0);
	ck_assert_int_eq(regs_get(child, REGS_INT_COUNT, 1, v, NULL), -ERR_INVALID);
	ck_assert_int_eq(regs_get(child, 1, REGS_INT_COUNT, v, NULL), -ERR_INVALID);
	ck_assert_int_eq(fpregs_get(child, REGS_FP_COUNT - 1, 1, v, NULL), 0);
	ck_assert_int_eq(fpregs_get(child, REGS_FP_COUNT, 1, v, NULL), -ERR_INVALID);
}

SUITE_WITH("registers", set_up, clean_up)

#else

TEST(elsewhere_there_are_none)
{
	uint64_t v;

	ck_assert_int_eq(regs_get(1, 0, 1, &v, NULL), -ERR_UNSUPPORTED);
}

SUITE("registers")

#endif
