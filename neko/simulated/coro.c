/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/simulated/coro.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__CET__)
#define CORO_OWN 1
#else
#define CORO_OWN 0
#include <ucontext.h>
#endif

/*
 * Makes a page inaccessible: Linux 6.13 has a mark for that. In older kernels each such page splits
 * a mapping, and a process has at most 65530 mappings.
 */
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#define SPLITS_MAX 16384
#define CHUNK_STACKS 256

#if CORO_OWN
typedef void *coro_point; /* the top of a stack, with saved registers on it */
#else
typedef ucontext_t coro_point;
#endif

struct coro {
	coro_point here, outside;
	void (*fn)(void *);
	void *arg;
	uint64_t *lowest; /* lowest usable word of the stack; 0 until the stack is used */
	struct coro *next_free;
	size_t below_bytes; /* bytes of the guard area, which is inaccessible */
	bool has_returned, is_guarded;
};

/* Chunks are mapped as needed, and unmapped at the end. */
struct chunk {
	struct chunk *next;
	char *base;
	struct coro coro[CHUNK_STACKS];
};

struct coro_stacks {
	size_t stack_bytes, page;
	size_t nsplit; /* mappings that guards have split */
	struct chunk *chunks;
	struct coro *free;
};

#if CORO_OWN
/*
 * void coro_switch(void **from, void *to): saves the registers that a call must preserve by the
 * System V ABI on the stack. It does not save rounding modes: a caller that changes one restores it
 * before it waits. Two calls of swapcontext() make four system calls, and cost 20 times as much.
 */
void coro_switch(coro_point *from, coro_point to);
void coro_begin(void);
__asm__(".text\n"
	".globl coro_switch\n"
	".hidden coro_switch\n"
	".type coro_switch,@function\n"
	"coro_switch:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size coro_switch,.-coro_switch\n"
	/* Entry of a coroutine's first turn: r12 is the argument, r13 the function. */
	".globl coro_begin\n"
	".hidden coro_begin\n"
	".type coro_begin,@function\n"
	"coro_begin:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	movq %r12, %rdi\n"
	"	callq *%r13\n"
	"	ud2\n"
	"	.cfi_endproc\n"
	".size coro_begin,.-coro_begin\n");
#endif

struct coro_stacks *coro_stacks_new(size_t stack_bytes)
{
	struct coro_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	s->stack_bytes = (stack_bytes + s->page - 1) / s->page * s->page + s->page;
	return s;
}

void coro_stacks_free(struct coro_stacks *s)
{
	struct chunk *next;

	if (!s)
		return;
	for (struct chunk *c = s->chunks; c; c = next) {
		next = c->next;
		munmap(c->base, s->stack_bytes * CHUNK_STACKS);
		free(c);
	}
	free(s);
}

/* Protects the page below the lowest word, when a stack is used for the first time. */
static void guard(struct coro_stacks *s, struct coro *c)
{
	char *page = (char *)c->lowest - s->page;

	if (c->is_guarded)
		return;
	c->is_guarded = madvise(page, s->page, MADV_GUARD_INSTALL) == 0;
	if (c->is_guarded || s->nsplit == SPLITS_MAX)
		return;
	c->is_guarded = mprotect(page, s->page, PROT_NONE) == 0;
	s->nsplit += c->is_guarded;
}

static bool add_chunk(struct coro_stacks *s)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	c->base = mmap(NULL, s->stack_bytes * CHUNK_STACKS, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->base == MAP_FAILED) {
		free(c);
		return false;
	}
	for (unsigned i = CHUNK_STACKS; i-- > 0;) {
		c->coro[i].lowest = (uint64_t *)(void *)(c->base + i * s->stack_bytes + s->page);
		c->coro[i].next_free = s->free;
		s->free = &c->coro[i];
	}
	c->next = s->chunks;
	s->chunks = c;
	return true;
}

static void switch_out(struct coro *c)
{
#if CORO_OWN
	coro_switch(&c->here, c->outside);
#else
	swapcontext(&c->here, &c->outside);
#endif
}

/* Runs the function, then yields for ever. Never returns. */
static void whole_life(struct coro *c)
{
	c->fn(c->arg);
	c->has_returned = true;
	for (;;)
		switch_out(c);
}

#if CORO_OWN
/* Prepares a stack as coro_switch() would have left it, aligned to 16 bytes as calls require. */
static void prepare(struct coro *c, size_t bytes)
{
	uint64_t *top = c->lowest + bytes / sizeof(*top);

	*--top = 0;
	*--top = 0;
	*--top = (uint64_t)(uintptr_t)coro_begin;
	*--top = 0; /* rbp: end of the chain of frames */
	*--top = 0; /* rbx */
	*--top = (uint64_t)(uintptr_t)c; /* r12 */
	*--top = (uint64_t)(uintptr_t)whole_life; /* r13 */
	*--top = 0;
	*--top = 0;
	c->here = top;
}
#else
static void begin_split(unsigned high, unsigned low)
{
	whole_life((struct coro *)((uintptr_t)high << 32 | low));
}

static void prepare(struct coro *c, size_t bytes)
{
	uint64_t at = (uint64_t)(uintptr_t)c;

	getcontext(&c->here);
	c->here.uc_stack.ss_sp = c->lowest + 1;
	c->here.uc_stack.ss_size = bytes - sizeof(*c->lowest);
	c->here.uc_link = NULL;
	makecontext(&c->here, (void (*)(void))(void *)begin_split, 2, (unsigned)(at >> 32),
		    (unsigned)at);
}
#endif

struct coro *coro_new(struct coro_stacks *s, void (*fn)(void *), void *arg)
{
	struct coro *c;

	if (!s->free && !add_chunk(s))
		return NULL;
	c = s->free;
	s->free = c->next_free;
	guard(s, c);
	c->below_bytes = s->page;
	c->fn = fn;
	c->arg = arg;
	c->has_returned = false;
	prepare(c, s->stack_bytes - s->page);
	return c;
}

void coro_free(struct coro_stacks *s, struct coro *c)
{
	if (!c)
		return;
	c->next_free = s->free;
	s->free = c;
}

bool coro_turn(struct coro *c)
{
	if (c->has_returned)
		return false;
#if CORO_OWN
	coro_switch(&c->outside, c->here);
#else
	swapcontext(&c->outside, &c->here);
#endif
	return !c->has_returned;
}

void coro_yield(struct coro *c)
{
	switch_out(c);
}

bool coro_is_below(const struct coro *c, const void *address)
{
	uintptr_t end = (uintptr_t)c->lowest, at = (uintptr_t)address;

	return at < end && at >= end - c->below_bytes;
}

/* Reading allocates no memory, because pages that were never written share one page of zeros. */
bool coro_is_broken(const struct coro *c)
{
	return !c->is_guarded && *c->lowest;
}
