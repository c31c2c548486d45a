/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a watched call. A wrapper with its hook off costs one load, one
 * test, one branch; everything below runs only when its word is not 0.
 *
 * Everything in here is hidden: no access goes through the global offset table.
 *
 * The law of this path: no malloc, no stdio, no lock, no system call, errno
 * as it was, no lazy TLS (initial-exec only), no unbounded loop; what is full
 * drops and counts. The one exception is the first watched call of a thread,
 * which claims its block (claim.c).
 *
 * Only the outermost call of a thread counts: Fortran entries call C ones, file
 * and collective layers call others. "Inside" is told by stack addresses, not by a
 * counter, so that a thread which leaves an MPI call by pthread_cancel or an
 * exception needs no repair. A signal handler that calls MPI while its thread is
 * inside is nested, so it never touches a record that is being written.
 */
#ifndef LIBAPP_HOOK_H
#define LIBAPP_HOOK_H

#include "common/base/clock.h"
#include "common/ring/seg.h"
#include "libapp/app_state.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Mapped over by the segment's hook page at set-up; page-aligned for that. */
extern uint32_t hook_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));

/* All ones, or 0 after MPI_Pcontrol(0). */
extern uint32_t hook_mask;

enum { /* what needs the arguments of the call */
	HOOK_ARGS = HOOK_VOLUME | HOOK_PARTNER | HOOK_EVENT_START | HOOK_EVENT_END |
		    HOOK_ACTION_START | HOOK_ACTION_END,
};

/* What a thread knows of itself. */
struct hook_thread {
	struct seg_slot *slots; /* of its block; NULL until claimed */
	char *outer; /* frame of the outermost call that it is in, or NULL */
	struct seg_thread *block;
	uint32_t random; /* for sampling */
	uint32_t index; /* of its block */
	uint32_t tid;
	bool lost; /* no block was free */
};
extern _Thread_local struct hook_thread hook_thread __attribute__((tls_model("initial-exec")));

struct hook_args;

/* One watched call, on its wrapper's stack. */
struct hook {
	uint32_t word; /* what is still to be done; 0 = counted and done */
	uint32_t func;
	struct seg_slot *slot;
	uint64_t begin; /* ticks */
	char *outer; /* what hook_thread.outer was */
	struct hook_args *args; /* set by hook_prepare() when word has one of HOOK_ARGS */
};

#define HOOK_IS_ON(func) \
	__builtin_expect(__atomic_load_n(&hook_word[func], __ATOMIC_RELAXED) != 0, 0)

/* False, and the call counted as lost, when no block is free. Out of line: once a thread. */
bool hook_claim(struct hook_thread *t);

void hook_begin_slow(struct hook *h);
void hook_leave_slow(struct hook *h, int rc);

/*
 * Decides for this call alone, with probability 2^-k, whether its delay is
 * measured: whatever the pattern of calls is, the scaled sum is unbiased.
 */
static inline uint32_t hook_random(const struct hook_thread *t)
{
	return t->random * UINT32_C(1664525) + UINT32_C(1013904223);
}

static inline bool hook_is_due(uint32_t random, uint32_t word)
{
	return !(random >> (32 - ((word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT)));
}

/* Any address in the caller's frame. */
static inline __attribute__((always_inline)) char *hook_frame(void)
{
#if defined(__x86_64__)
	char *sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return sp;
#else
	return __builtin_frame_address(0);
#endif
}

static inline uint32_t hook_read(uint32_t func)
{
	return __atomic_load_n(&hook_word[func], __ATOMIC_RELAXED) & hook_mask;
}

/* From here on calls of this thread are nested. The compiler must not move work on slots across. */
static inline __attribute__((always_inline)) void hook_close(struct hook_thread *t, char *outer)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->outer, outer, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline __attribute__((always_inline)) void hook_count(struct seg_slot *slot)
{
	__atomic_store_n(&slot->count, slot->count + 1, __ATOMIC_RELAXED);
}

/* False: not to be watched (nested, silent, no block): make the real call and nothing else. */
static inline bool hook_enter(struct hook *h, uint32_t func, char *frame)
{
	struct hook_thread *t = &hook_thread;
	uint32_t word = hook_read(func);

	if (!word || frame < t->outer)
		return false;
	h->outer = t->outer;
	hook_close(t, frame);
	if (__builtin_expect(!t->slots, 0) && !hook_claim(t)) {
		t->outer = h->outer;
		return false;
	}
	h->func = func;
	h->slot = t->slots + func;
	if (word & HOOK_COUNT)
		hook_count(h->slot);
	if (word & HOOK_SAMPLE_MASK) {
		t->random = hook_random(t);
		if (!hook_is_due(t->random, word))
			word &= ~(uint32_t)HOOK_TIME;
	}
	h->word = word & ~(uint32_t)(HOOK_COUNT | HOOK_SAMPLE_MASK) ?
			  word & ~(uint32_t)HOOK_COUNT : 0;
	return true;
}

/*
 * The short ways, in line: only counting, or counting and timing each call, of
 * a thread that has its block and is in no other call. Nothing is called before the
 * real function, so its arguments stay where they are.
 */
enum hook_way { HOOK_WAY_LONG, HOOK_WAY_COUNT, HOOK_WAY_TIME };

static inline __attribute__((always_inline)) enum hook_way hook_way(uint32_t func)
{
	struct hook_thread *t = &hook_thread;
	uint32_t word = hook_read(func), next;

	if (t->outer || !t->slots)
		return HOOK_WAY_LONG;
	if (word == HOOK_COUNT)
		return HOOK_WAY_COUNT;
	if (word == (HOOK_COUNT | HOOK_TIME))
		return app_state.ticks == TICKS_TSC ? HOOK_WAY_TIME : HOOK_WAY_LONG;
	if ((word & ~(uint32_t)HOOK_SAMPLE_MASK) != (HOOK_COUNT | HOOK_TIME))
		return HOOK_WAY_LONG;
	next = hook_random(t);
	if (hook_is_due(next, word)) /* drawn again on the long way, with the same result */
		return HOOK_WAY_LONG;
	t->random = next;
	return HOOK_WAY_COUNT;
}

static inline __attribute__((always_inline)) void hook_count_begin(uint32_t func, char *frame)
{
	struct hook_thread *t = &hook_thread;

	hook_close(t, frame);
	hook_count(t->slots + func);
}

static inline __attribute__((always_inline)) void hook_count_end(void)
{
	hook_close(&hook_thread, NULL);
}

static inline __attribute__((always_inline)) void hook_time_begin(uint32_t func, char *frame)
{
	struct hook_thread *t = &hook_thread;

	hook_close(t, frame);
	hook_count(t->slots + func);
	__atomic_store_n(&t->slots[func].begin, ticks_now(TICKS_TSC), __ATOMIC_RELAXED);
}

/* One update that a reader sees whole: the delay grows, and the call is no longer open. */
static inline __attribute__((always_inline)) void slot_end(struct seg_slot *s, uint64_t span)
{
	__atomic_store_n(&s->delay, s->delay + span, __ATOMIC_RELEASE);
	__atomic_store_n(&s->sampled, s->sampled + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->begin, 0, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) void hook_time_end(uint32_t func)
{
	uint64_t now = ticks_now(TICKS_TSC);
	struct seg_slot *s = hook_thread.slots + func;
	uint32_t seq = s->seq;

	__atomic_store_n(&s->seq, seq + 1, __ATOMIC_RELAXED);
	slot_end(s, now > s->begin ? now - s->begin : 0);
	__atomic_store_n(&s->seq, seq + 2, __ATOMIC_RELEASE);
	hook_close(&hook_thread, NULL);
}

static inline void hook_begin(struct hook *h)
{
	if (h->word)
		hook_begin_slow(h);
}

static inline void hook_leave(struct hook *h, int rc)
{
	if (h->word)
		hook_leave_slow(h, rc);
	hook_close(&hook_thread, h->outer);
}

#pragma GCC visibility pop

#endif
