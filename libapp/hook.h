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
 * counter, so that a thread which leaves an MPI call by an exception or longjmp
 * is mended by its next call from further up. A signal handler that calls MPI while its thread is
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

enum { /* what needs the arguments of the call */
	HOOK_ARGS = HOOK_VOLUME | HOOK_PARTNER | HOOK_EVENT_START | HOOK_EVENT_END |
		    HOOK_ACTION_START | HOOK_ACTION_END | HOOK_QUEUE,
};

/*
 * What a thread knows of itself. `state` says in one word whether the short
 * ways may be taken: even = in no call, the address of its slots; odd = the
 * stack address of the outermost call that it is in, plus 1; HOOK_NEW = no block yet.
 */
struct hook_thread {
	uintptr_t state;
	/* state between calls: the slots, or HOOK_NEW where the short ways are not for us */
	uintptr_t idle;
	struct seg_slot *slots; /* of its block; NULL until claimed */
	struct seg_thread *block;
	uint64_t random; /* for sampling */
	uint32_t sample_word; /* of calls with that hook word */
	uint32_t skip; /* so many pass before the next one is measured */
	uint32_t index; /* of its block */
	uint32_t tid;
	bool lost; /* no block was free */
};
#define HOOK_NEW ((uintptr_t)1)
extern _Thread_local struct hook_thread hook_thread __attribute__((tls_model("initial-exec")));

struct hook_args;

#define HOOK_INLINE static inline __attribute__((always_inline))

/* One watched call, on its wrapper's stack. */
struct hook {
	uint32_t word; /* what is still to be done; 0 = counted and done */
	uint32_t func;
	struct seg_slot *slot;
	uint64_t begin; /* ticks */
	struct hook_args *args; /* set by hook_prepare() when word has one of HOOK_ARGS */
};

#define HOOK_IS_ON(func) \
	__builtin_expect(__atomic_load_n(&hook_word[func], __ATOMIC_RELAXED) != 0, 0)

/* False, and the call counted as lost, when no block is free. Out of line: once a thread. */
bool hook_claim(struct hook_thread *t);

/* The thread has left calls without returning from them: they are over. Out of line. */
void hook_mend(struct hook_thread *t);

void hook_begin_slow(struct hook *h);
void hook_leave_slow(struct hook *h, int rc);

/*
 * Sampling: true when the call is measured, which has the chance 2^-k for every
 * call, so that the scaled sum is unbiased. How many calls there are from one measured call to the
 * next is drawn evenly from 1 .. 2^(k+1)-1, with mean 2^k: a number counted down instead of a draw for
 * each call, and no pattern of calls, whatever its period, can keep step with it. A word that
 * is new to the thread finds a gap that has been running for ever (hook.c): words that
 * take turns have their share, too.
 */
bool hook_draw(struct hook_thread *t, uint32_t word);

/* An address in the caller's frame, made odd. Stacks grow down on all that we know. */
static inline __attribute__((always_inline)) uintptr_t hook_frame(void)
{
#if defined(__x86_64__)
	uintptr_t sp;

	__asm__ volatile("lea 1(%%rsp), %0" : "=r"(sp));
	return sp;
#else
	return (uintptr_t)__builtin_frame_address(0) | 1;
#endif
}

static inline uint32_t hook_read(uint32_t func)
{
	return __atomic_load_n(&hook_word[func], __ATOMIC_RELAXED);
}

/* The source is not asked: without an invariant TSC there are no short ways (claim.c). */
#define HOOK_TICKS TICKS_TSC
/* The compiler must not move work on slots across: from an odd state on, calls are nested. */
HOOK_INLINE void hook_set_state(struct hook_thread *t, uintptr_t state)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&t->state, state, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

HOOK_INLINE void hook_count(struct seg_slot *slot)
{
	__atomic_store_n(&slot->count, slot->count + 1, __ATOMIC_RELAXED);
}

/* False: not to be watched (nested, no block): make the real call and nothing else. */
static inline bool hook_enter(struct hook *h, uint32_t func, uintptr_t frame)
{
	struct hook_thread *t = &hook_thread;
	uint32_t word = hook_read(func);
	uintptr_t outer = t->state;

	if (!word || ((outer & 1) && frame < outer))
		return false;
	hook_set_state(t, frame);
	if (__builtin_expect(!t->slots, 0) && !hook_claim(t)) {
		hook_set_state(t, outer);
		return false;
	}
	if (__builtin_expect((outer & 1) && outer != HOOK_NEW, 0))
		hook_mend(t);
	h->func = func;
	h->slot = t->slots + func;
	if (word & HOOK_COUNT)
		hook_count(h->slot);
	if (word & HOOK_SAMPLE_MASK) {
		if (!hook_draw(t, word))
			word &= ~(uint32_t)HOOK_TIME;
	}
	h->word = word & ~(uint32_t)(HOOK_COUNT | HOOK_SAMPLE_MASK) ?
			  word & ~(uint32_t)HOOK_COUNT : 0;
	return true;
}

/*
 * The short ways, in line: only counting, or counting and timing, of a thread
 * that has its block and is in no other call. Nothing is called before the real
 * function, so its arguments stay where they are.
 */
enum hook_way { HOOK_WAY_LONG, HOOK_WAY_COUNT, HOOK_WAY_TIME };

/* *slot is set unless the way is long. */
HOOK_INLINE enum hook_way hook_way(uint32_t func, uint32_t word, struct seg_slot **slot)
{
	struct hook_thread *t = &hook_thread;
	uintptr_t state = t->state;
	uint32_t skip;

	if (__builtin_expect(state & 1, 0))
		return HOOK_WAY_LONG;
	*slot = (struct seg_slot *)state + func;
	if (word == HOOK_COUNT)
		return HOOK_WAY_COUNT;
	if (word == t->sample_word) {
		skip = t->skip;
		if (!skip)
			return HOOK_WAY_LONG;
		t->skip = skip - 1;
		return HOOK_WAY_COUNT;
	}
	return word == (HOOK_COUNT | HOOK_TIME) ? HOOK_WAY_TIME : HOOK_WAY_LONG;
}

HOOK_INLINE void hook_count_begin(struct seg_slot *slot, uintptr_t frame)
{
	hook_set_state(&hook_thread, frame);
	hook_count(slot);
}

HOOK_INLINE void hook_count_end(struct seg_slot *slot)
{
	hook_set_state(&hook_thread, hook_thread.idle);
}

HOOK_INLINE void hook_time_begin(struct seg_slot *slot, uintptr_t frame)
{
	hook_set_state(&hook_thread, frame);
	hook_count(slot);
	__atomic_store_n(&slot->begin, ticks_now(HOOK_TICKS), __ATOMIC_RELAXED);
}

/* One update that a reader sees whole: the delay grows, and the call is no longer open. */
HOOK_INLINE void slot_end(struct seg_slot *s, uint64_t span)
{
	__atomic_store_n(&s->delay, s->delay + span, __ATOMIC_RELEASE);
	__atomic_store_n(&s->sampled, s->sampled + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->begin, 0, __ATOMIC_RELEASE);
}

HOOK_INLINE void hook_time_end(struct seg_slot *s)
{
	uint64_t now = ticks_now(HOOK_TICKS), begin = s->begin;
	uint32_t seq = s->seq;

	__atomic_store_n(&s->seq, seq + 1, __ATOMIC_RELAXED);
	/* Mended away (0) when a handler of signals on another stack made a call meanwhile. */
	slot_end(s, begin && now > begin ? now - begin : 0);
	__atomic_store_n(&s->seq, seq + 2, __ATOMIC_RELEASE);
	hook_set_state(&hook_thread, hook_thread.idle);
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
	hook_set_state(&hook_thread, hook_thread.idle);
}

#pragma GCC visibility pop

#endif
