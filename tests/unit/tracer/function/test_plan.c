/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of code: what is refused, and a function that runs with them. Without a decoder of
 * instructions each plan is refused with the remedy.
 */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tracer/function/decode.h"
#include "tracer/function/plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE 0x10000000u
#define PLACE 0x10100000u

static struct function_code *code;
static struct plan *plan;
static struct err e;

static void set_up(void)
{
	code = calloc(1, sizeof(*code));
	plan = calloc(1, sizeof(*plan));
	e = (struct err){ 0 };
}

static void clean_up(void)
{
	free(code);
	free(plan);
}

static int make(const char *bytes, size_t n, size_t padding)
{
	const struct plan_target t = { .enter = 1, .exit = 2, .place = PLACE, .id = 7 };

	code->part[0].at = BASE;
	code->part[0].n = n;
	code->part[0].padding = padding;
	memcpy(code->part[0].bytes, bytes, n + padding);
	return plan_make(code, &t, plan, &e);
}

static bool has_decoder(void)
{
	return make("\x90\x90\x90\x90\x90\xc3\x90\x90\x90\x90", 6, 4) == 0 ||
	       !strstr(e.text, "libzydis-dev");
}

#define CODE(s) s, sizeof(s) - 1

static const struct row {
	const char *bytes;
	size_t n, padding;
	const char *why;
} refused[] = {
	{ CODE("\xc3"), 0, "too short" },
	/* mov $1,%eax; ret, and no room behind */
	{ CODE("\x90\x90\x90\x90\x90\xeb\x00\xc3"), 0, "no room" },
	/* push %rbp; mov %rsp,%rbp; call +0; pop; ret */
	{ CODE("\x55\x48\x89\xe5\xe8\x00\x00\x00\x00\x90\x90\x90\x90\x90\x5d\xc3"), 0,
	  "entry cannot be moved" },
	/* a loop to the third byte */
	{ CODE("\x90\x90\x90\x90\x90\x90\x90\xeb\xf9\x90\x90\x90\x90\xc3"), 0,
	  "into the bytes that change" },
	/* a loop to the first byte */
	{ CODE("\x90\x90\x90\x90\x90\x90\x90\xeb\xf7\x90\x90\x90\x90\xc3"), 0,
	  "a loop begins at its entry" },
	/* jmp *%rax */
	{ CODE("\x90\x90\x90\x90\x90\xff\xe0\x90\x90\x90\x90\x90\xc3"), 0, "not known" },
	/* a jump into the middle of an instruction */
	{ CODE("\x90\x90\x90\x90\x90\x90\x90\x74\x01\xb8\x01\x00\x00\x00\xc3"), 0, "middle" },
	/* je to another function */
	{ CODE("\x90\x90\x90\x90\x90\x0f\x84\x00\x10\x00\x00\x90\x90\x90\x90\xc3"), 0,
	  "on a condition to another function" },
	/* an invalid instruction, and one that is cut */
	{ CODE("\x90\x90\x90\x90\x90\x06\x90\x90\x90\x90\xc3"), 0, "unknown instruction" },
	{ CODE("\x90\x90\x90\x90\x90\x90\x90\x90\x90\xb8\x01"), 0, "unknown instruction" },
	/* ud2 ends the flow: what follows is another way to the return */
	{ CODE("\x90\x90\x90\x90\x90\x90\x90\x31\xc0\x0f\x0b\x31\xc0\xc3"), 0, "no room" },
	/* int3 is a signal to a handler, jrcxz and xbegin have one form */
	{ CODE("\xcc\x90\x90\x90\x90\x31\xc0\x31\xc0\x31\xc0\xc3"), 0, "entry cannot be moved" },
	{ CODE("\xe3\x03\x90\x90\x90\x31\xc0\x31\xc0\x31\xc0\xc3"), 0, "entry cannot be moved" },
	{ CODE("\xc7\xf8\x03\x00\x00\x00\x90\x31\xc0\x31\xc0\x31\xc0\xc3"), 0,
	  "entry cannot be moved" },
	/* entry and exit share bytes */
	{ CODE("\x90\x90\x90\x90\x90\x90\xc3"), 0, "entry and exits meet" },
};

TEST_EACH(unproved_function_entry_is_refused, at, ARRAY_LEN(refused))
{
	const struct row *r = &refused[at];

	if (!has_decoder())
		return;
	ck_assert_int_eq(make(r->bytes, r->n, r->padding), -ERR_UNSUPPORTED);
	ck_assert_msg(strstr(e.text, r->why) != NULL, "%s: not %s", e.text, r->why);
}

TEST(nops_of_the_entry_are_a_sled)
{
	if (!has_decoder())
		return;
	ck_assert_int_eq(make("\x90\x90\x90\x90\x90\x31\xc0\xc3\xcc\xcc\xcc\xcc", 8, 4), 0);
	ck_assert_int_eq(plan->way, PLAN_ENTRY_SLED);
	ck_assert_uint_eq(plan->nsite, 2);
	ck_assert_uint_eq(plan->site[0].at, BASE + 7);
	ck_assert_uint_eq(plan->site[1].at, BASE);
}

/* xor %eax,%eax; ret, with fillers before and behind: led are offsets. */
static int make_led(uint64_t led)
{
	code->nled = 1;
	code->led[0] = BASE + led;
	return make("\x90\x90\x90\x90\x90\x90\x31\xc0\xc3\xcc\xcc\xcc\xcc", 9, 4);
}

TEST(other_code_may_jump_only_to_the_start_of_changed_bytes)
{
	if (!has_decoder())
		return;
	for (uint64_t led = 1; led < 5; led++) {
		ck_assert_int_eq(make_led(led), -ERR_UNSUPPORTED);
		ck_assert_ptr_nonnull(strstr(e.text, "elsewhere"));
	}
	for (uint64_t led = 5; led <= 8; led++)
		ck_assert_msg(!make_led(led), "%s", e.text);
}

TEST(jumps_and_calls_of_other_code_are_noted)
{
	/* jmp to +4; je to +8; ret; an invalid byte, and what is behind it */
	static const uint8_t other[] = { 0xeb, 0xf9, 0x0f, 0x84, 0xf7, 0xff,
					 0xff, 0xff, 0xc3, 0x06, 0xeb, 0xe8 };
	const struct file_code at = { BASE + 9, sizeof(other), other };

	if (!has_decoder())
		return;
	ck_assert_int_eq(make("\x90\x90\x90\x90\x90\x31\xc0\xc3\xcc", 9, 0), -ERR_UNSUPPORTED);
	code->part[0].n = 9;
	decode_led(&at, code);
	ck_assert_uint_eq(code->nled, 2);
	ck_assert_uint_eq(code->led[0], BASE + 4);
	ck_assert_uint_eq(code->led[1], BASE + 8);
}

TEST(code_out_of_reach_is_refused)
{
	const struct plan_target far = { .place = UINT64_C(0x7f0000000000) };

	if (!has_decoder())
		return;
	ck_assert_int_eq(make("\x90\x90\x90\x90\x90\x31\xc0\xc3\xcc\xcc\xcc\xcc", 8, 4), 0);
	ck_assert_int_eq(plan_make(code, &far, plan, &e), -ERR_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(e.text, "too far"));
}

/* The next function's code begins behind the last byte that is not 0. */
TEST(code_below_the_function_ends_with_no_zero)
{
	const struct plan_target below = { .place = BASE - 0x100000u, .id = 7 };

	if (!has_decoder())
		return;
	ck_assert_int_eq(make("\x90\x90\x90\x90\x90\x31\xc0\xc3\xcc\xcc\xcc\xcc", 8, 4), 0);
	ck_assert_msg(!plan_make(code, &below, plan, &e), "%s", e.text);
	ck_assert_uint_ne(plan->code[plan->n - 1], 0);
}

TEST(random_bytes_are_refused_or_planned_inside_of_the_function)
{
	struct rng rng;
	char bytes[48];

	rng_init(&rng, suite_seed(1));
	for (int i = 0; i < 20000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (char)(rng_below(&rng, 3) ? 0x90 : rng_below(&rng, 256));
		if (make(bytes, 40, 8))
			continue;
		ck_assert_uint_ge(plan->nsite, 1);
		for (size_t k = 0; k < plan->nsite; k++) {
			ck_assert_uint_ge(plan->site[k].at, BASE);
			ck_assert_uint_ge(plan->site[k].n, PLAN_JUMP_BYTES);
			ck_assert_uint_le(plan->site[k].at + plan->site[k].n, BASE + 48);
		}
	}
}

#if defined(__x86_64__)

/* All registers stay, as with the code of libomig. */
extern int entered, left;
void enter(void);
void leave(void);
__asm__(".bss\n"
	".p2align 2\n"
	"entered: .zero 4\n"
	"left: .zero 4\n"
	".text\n"
	"enter: incl entered(%rip)\n"
	"ret\n"
	"leave: incl left(%rip)\n"
	"ret\n");

/*
 * push %rbp; cmp $3,%edi; jle 1f; mov $5,%eax; pop %rbp; ret; 1: lea 7(%rdi),%eax; pop %rbp; ret.
 * It runs with the plan written over it; the code that is called returns to the code behind `id`.
 */
TEST(a_changed_function_computes_as_before)
{
	static const uint8_t function[] = { 0x55, 0x83, 0xff, 0x03, 0x7e, 0x07, 0xb8,
					    0x05, 0,	0,    0,    0x5d, 0xc3, 0x8d,
					    0x47, 0x07, 0x5d, 0xc3, 0xcc, 0xcc, 0xcc };
	uint8_t *p = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct plan_target t = { .place = (uintptr_t)p + 4096, .id = 7 };
	union {
		uint8_t *at;
		int (*call)(int n);
		void (*nothing)(void);
	} u = { .at = p };

	if (!has_decoder() || p == MAP_FAILED)
		return;
	u.nothing = enter;
	t.enter = (uintptr_t)u.at;
	u.nothing = leave;
	t.exit = (uintptr_t)u.at;
	code->part[0].at = (uintptr_t)p;
	code->part[0].n = sizeof(function) - 3;
	code->part[0].padding = 3;
	memcpy(code->part[0].bytes, function, sizeof(function));
	memcpy(p, function, sizeof(function));
	ck_assert_msg(!plan_make(code, &t, plan, &e), "%s", e.text);
	ck_assert_int_eq(plan->way, PLAN_ENTRY_MOVED);
	memcpy(p + 4096, plan->code, plan->n);
	for (size_t i = 0; i < plan->nsite; i++)
		memcpy(p + (plan->site[i].at - (uintptr_t)p), plan->site[i].bytes, plan->site[i].n);
	entered = left = 0;
	u.at = p;
	/* 9 leaves by the first return */
	ck_assert_int_eq(u.call(9), 5);
	ck_assert_int_eq(entered, 1);
	ck_assert_int_eq(left, 1);
	munmap(p, 1 << 16);
}

#endif

SUITE_WITH("plans for functions", set_up, clean_up)
