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

#include "common/ring/seg.h"

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
static inline uint32_t hook_sample(struct hook_thread *t, uint32_t word)
{
	uint32_t k = (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;

	t->random = t->random * UINT32_C(1664525) + UINT32_C(1013904223);
	return t->random >> (32 - k) ? word & ~(uint32_t)HOOK_TIME : word;
}

/* False: not to be watched (nested, silent, no block): make the real call and nothing else. */
static inline bool hook_enter(struct hook *h, uint32_t func, void *frame)
{
	uint32_t word = __atomic_load_n(&hook_word[func], __ATOMIC_RELAXED) & hook_mask;
	struct hook_thread *t = &hook_thread;
	struct seg_slot *slot;

	if (!word || (char *)frame < t->outer)
		return false;
	h->outer = t->outer;
	__atomic_store_n(&t->outer, frame, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__builtin_expect(!t->slots, 0) && !hook_claim(t)) {
		t->outer = h->outer;
		return false;
	}
	slot = t->slots + func;
	if (word & HOOK_COUNT)
		__atomic_store_n(&slot->count, slot->count + 1, __ATOMIC_RELAXED);
	if (word & HOOK_SAMPLE_MASK)
		word = hook_sample(t, word);
	h->word = word & ~(uint32_t)(HOOK_COUNT | HOOK_SAMPLE_MASK) ?
			  word & ~(uint32_t)HOOK_COUNT : 0;
	h->func = func;
	h->slot = slot;
	return true;
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
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&hook_thread.outer, h->outer, __ATOMIC_RELAXED);
}

#pragma GCC visibility pop

#endif
