/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a call. A wrapper with its hook off stores the current call of its thread, and the
 * arguments that explain a hang. That takes a few stores into one cache line. Everything else below
 * runs only if the hook word is not 0. All symbols in here are hidden: no access uses the global
 * offset table.
 *
 * The rules of this path: no malloc, no stdio, no lock, no system call, no unbounded loop. errno is
 * preserved. TLS is initial-exec only, never lazy. A full table drops and counts. The one exception
 * is the first call of a thread, which claims its block (claim.c).
 *
 * Only the outermost call of a thread counts: Fortran entries call C ones, file and collective
 * layers call others. Stack addresses, not a counter, show what is nested. So a thread may leave
 * an MPI call by an exception or longjmp: its next call from a frame further up repairs the state.
 * A signal handler may call MPI while its thread is in a call. That call is nested, so it never
 * changes a record in progress.
 */
#ifndef LIBAPP_HOT_HOOK_H
#define LIBAPP_HOT_HOOK_H

#include "common/base/clock.h"
#include "common/ring/seg.h"
#include "libapp/hot/app_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The segment's hook page is mapped over it at set-up, so it is page-aligned. */
extern uint32_t hook_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));

enum {
	/*
	 * Never in a hook word: for calls that make and free persistent requests. These are tracked
	 * even before anything is measured. Such calls are rare, and their bytes count later.
	 */
	HOOK_KEEP = 1 << 16,
	/* Never in a hook word: the probe of the collective call is on (see below). */
	HOOK_KEYED = 1 << 17,
	/* bits that need the arguments of the call */
	HOOK_ARGS = HOOK_VOLUME | HOOK_PARTNER | HOOK_EVENT_START | HOOK_EVENT_END |
		    HOOK_ACTION_START | HOOK_ACTION_END | HOOK_QUEUE | HOOK_KEEP | HOOK_MESSAGE,
};

/*
 * State of a thread. now->frame tests in one word whether the fast paths apply. 0 = in no call;
 * otherwise the stack address of the outermost call (or record) in progress, plus 1.
 */
struct hook_thread {
	struct seg_current *now; /* in its block; hook_nowhere until claimed */
	struct seg_slot *slots; /* in its block; NULL until claimed */
	struct seg_thread *block;
	uint64_t random; /* for sampling */
	uint32_t sample_word; /* of calls with that hook word */
	uint32_t skip; /* calls to skip before the next measurement */
	uint32_t index; /* in its block */
	uint32_t tid;
	uint64_t begin; /* ticks, of its last call whose word requested time */
	uint32_t many; /* calls of many partners */
	uintptr_t caller, caller_frame; /* of the wrapper on the slow path: see HOOK_FROM_HERE */
	bool lost; /* no block was free */
	bool is_claiming;
};
extern struct seg_current hook_nowhere; /* always in a call, so that the fast paths are not taken */
extern _Thread_local struct hook_thread hook_thread __attribute__((tls_model("initial-exec")));

struct hook_args;

#define HOOK_INLINE static inline __attribute__((always_inline))

/* One watched call, on its wrapper's stack. */
struct hook {
	uint32_t word; /* remaining work; 0 = counted and done */
	uint32_t func;
	uint32_t seen; /* the hook word at the beginning */
	struct seg_slot *slot;
	uint64_t begin; /* ticks */
	struct hook_args *args; /* set by hook_prepare() when word has one of HOOK_ARGS */
	struct seg_site *site; /* NULL: no room, or not requested */
};

/*
 * The register that holds the frame address in programs with frame pointers. Wrappers are compiled
 * so that they preserve it (-ffixed-rbp); otherwise they have a frame of their own.
 */
HOOK_INLINE uintptr_t hook_caller_frame(void)
{
#if defined(__x86_64__) && defined(OMIG_FIXED_FRAME)
	uintptr_t frame;

	__asm__ volatile("mov %%rbp, %0" : "=r"(frame));
	return frame;
#else
	return *(const uintptr_t *)__builtin_frame_address(0);
#endif
}

/* Used in an exported wrapper, before its slow path. */
#define HOOK_FROM_HERE()                                                     \
	do {                                                                 \
		hook_thread.caller = (uintptr_t)__builtin_return_address(0); \
		hook_thread.caller_frame = hook_caller_frame();              \
	} while (0)

/*
 * Claims a block for the thread. Returns false if no block is free; the call counts as lost if
 * is_on. Out of line: once per thread.
 */
bool hook_claim(struct hook_thread *t, bool is_on);

/*
 * Ends a call of this thread whose hook word has changed since its start (`seen`). If time is
 * measured only since then, adds that part. Returns rc, so that the caller needs no register across
 * this call. Out of line.
 */
int hook_late(uint32_t func, uint32_t seen, int rc);

/*
 * Returns the ticks since when time counts for calls of the function that began earlier; 0: it does
 * not.
 */
uint64_t hook_late_since(uint32_t func);

/* Ends the calls that the thread has left without returning. Out of line. */
void hook_mend(struct hook_thread *t);

void hook_begin_slow(struct hook *h);
void hook_leave_slow(struct hook *h, int rc);

/*
 * Sampling: true if the call is measured. The probability is 2^-k for every call, so that the
 * scaled sum is unbiased. The distance between measured calls is drawn evenly from 1 .. 2^(k+1)-1,
 * with mean 2^k. So most calls only decrement a counter. No period of calls can stay in step with
 * it. A word that is new to the thread joins a gap in progress (hook.c). So alternating words get
 * their share, too.
 */
bool hook_draw(struct hook_thread *t, uint32_t word);

/* Returns an address in the caller's frame, made odd. Stacks grow down on all supported systems. */
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

/*
 * Returns the hook word, or a number above HOOK_KNOWN (a stack address): the thread is new or in a
 * call. 0: the fastest path applies.
 */
HOOK_INLINE uint64_t hook_busy(const struct seg_current *now, uint32_t func)
{
	return hook_read(func) | now->frame;
}

/* The clock source is not checked: without an invariant TSC time takes the slow path. */
#define HOOK_TICKS TICKS_TSC
/*
 * The compiler must not move accesses to slots across this: while a frame is set, calls are nested.
 */
HOOK_INLINE void hook_set_frame(struct seg_current *now, uintptr_t frame)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&now->frame, frame, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/*
 * The word noted for a call: the function, SEG_CURRENT_FORTRAN or 0, and the time bit of its hook
 * word.
 */
#define HOOK_CALL(func, fortran, word)              \
	((func) + 1 + SEG_CURRENT_ONE + (fortran) + \
	 ((word)&HOOK_TIME) * (SEG_CURRENT_TIMED / HOOK_TIME))

/* Marks the thread as in that call. Its arguments are noted already. */
HOOK_INLINE void hook_set_call(struct seg_current *now, uint32_t call, uintptr_t frame)
{
	__atomic_store_n(&now->word, (now->word & ~(uint64_t)(SEG_CURRENT_ONE - 1)) + call,
			 __ATOMIC_RELEASE);
	hook_set_frame(now, frame);
}

/* Marks the thread as writing a record, in no call. */
HOOK_INLINE void hook_set_record(struct seg_current *now, uintptr_t frame)
{
	__atomic_store_n(&now->word, now->word & ~(uint64_t)(SEG_CURRENT_ONE - 1),
			 __ATOMIC_RELEASE);
	hook_set_frame(now, frame);
}

/* Notes an argument of the call that the thread is about to enter, for observers. */
#define HOOK_NOTE(now, member, value) __atomic_store_n(&(now)->member, (value), __ATOMIC_RELAXED)

/* Returns the slot of the thread whose block contains `now`: an address without a load. */
HOOK_INLINE struct seg_slot *hook_slot(struct seg_current *now, uint32_t func)
{
	return (struct seg_slot *)(void *)((uint8_t *)now + sizeof(struct seg_thread) -
					   offsetof(struct seg_thread, current)) +
	       func;
}

/* Returns its extent: one load. */
HOOK_INLINE struct seg_extent *hook_extent(struct seg_current *now, uint32_t func)
{
	return (struct seg_extent *)(void *)((uint8_t *)now - offsetof(struct seg_thread, current) +
					     app_state.plan.extent_offset) +
	       func;
}

HOOK_INLINE void hook_count(struct seg_slot *slot)
{
	__atomic_store_n(&slot->count, slot->count + 1, __ATOMIC_RELAXED);
}

/* True if the thread has a block and is in no call. Ends calls that it left without returning. */
static inline bool hook_is_free(struct hook_thread *t, uintptr_t frame, bool is_on)
{
	uintptr_t outer = t->now->frame;

	if (__builtin_expect(!t->slots, 0))
		return hook_claim(t, is_on);
	if (outer && frame < outer)
		return false;
	if (__builtin_expect(outer != 0, 0))
		hook_mend(t);
	return true;
}

/*
 * Returns false if the call is nested or there is no block: make the real call and nothing else. If
 * the hook is off, h->word is 0.
 */
static inline bool hook_enter(struct hook *h, uint32_t func, uintptr_t frame)
{
	struct hook_thread *t = &hook_thread;
	uint32_t word = hook_read(func);

	if (!hook_is_free(t, frame, word != 0))
		return false;
	h->func = func;
	h->word = h->seen = word;
	h->slot = t->slots + func;
	return true;
}

/* As hook_enter(), for a call with HOOK_KEEP. */
static inline bool hook_enter_kept(struct hook *h, uint32_t func, uintptr_t frame)
{
	if (!hook_enter(h, func, frame))
		return false;
	h->word |= HOOK_KEEP;
	return true;
}

/* Begins the call, after hook_enter(). Its arguments are noted already. */
HOOK_INLINE void hook_watch(struct hook *h, struct seg_current *now, uint32_t call, uintptr_t frame)
{
	uint32_t word = h->word;

	hook_set_call(now, call, frame);
	if (word & HOOK_COUNT)
		hook_count(h->slot);
	if (word & HOOK_SAMPLE_MASK) {
		if (!hook_draw(&hook_thread, word))
			word &= ~(uint32_t)HOOK_TIME;
	}
	h->word = word & ~(uint32_t)(HOOK_COUNT | HOOK_SAMPLE_MASK) ? word & ~(uint32_t)HOOK_COUNT
								    : 0;
}

/*
 * The fast paths, inline: only counting, or counting and timing, for a thread that has its block
 * and is in no other call. No function is called before the real one, so its arguments stay in
 * place.
 */
enum hook_way {
	HOOK_WAY_LONG,
	HOOK_WAY_COUNT, /* word is HOOK_COUNT */
	HOOK_WAY_SKIP, /* counted, and not drawn to be measured */
	HOOK_WAY_TIME,
};

HOOK_INLINE enum hook_way hook_way(uint64_t word)
{
	struct hook_thread *t = &hook_thread;
	uint32_t skip;

	if (word == HOOK_COUNT)
		return HOOK_WAY_COUNT;
	if (word == t->sample_word) {
		skip = t->skip;
		if (!skip)
			return HOOK_WAY_LONG;
		t->skip = skip - 1;
		return HOOK_WAY_SKIP;
	}
	return word == (HOOK_COUNT | HOOK_TIME) && app_state.ticks == HOOK_TICKS ? HOOK_WAY_TIME
										 : HOOK_WAY_LONG;
}

/* Ends a call that was not timed: only counted, or its hook was off. Returns rc. */
HOOK_INLINE int hook_end(struct seg_current *now, uint32_t func, uint32_t seen, int rc)
{
	if (__builtin_expect(hook_read(func) != seen, 0))
		return hook_late(func, seen, rc);
	hook_set_frame(now, 0);
	return rc;
}

/* Called before the end of a call is noted whose time is measured or skipped. */
HOOK_INLINE void hook_check(uint32_t func, uint32_t seen)
{
	if (__builtin_expect(hook_read(func) != seen, 0))
		hook_late(func, seen, 0);
}

HOOK_INLINE void hook_time_begin(struct seg_slot *slot)
{
	hook_count(slot);
	__atomic_store_n(&slot->begin, ticks_now(HOOK_TICKS), __ATOMIC_RELAXED);
}

/* Adds to the delay and ends the call in one update that a reader sees as a whole. */
HOOK_INLINE void slot_end(struct seg_slot *s, uint64_t span)
{
	__atomic_store_n(&s->delay, s->delay + span, __ATOMIC_RELEASE);
	__atomic_store_n(&s->sampled, s->sampled + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&s->begin, 0, __ATOMIC_RELEASE);
}

/* Counts an ended call of that many ticks; 0: it was not measured. */
HOOK_INLINE void extent_add(struct seg_extent *e, uint64_t span)
{
	if (__builtin_expect(span > e->longest, 0))
		__atomic_store_n(&e->longest, span, __ATOMIC_RELAXED);
	if (__builtin_expect(~span > e->shortest_inverted && span, 0))
		__atomic_store_n(&e->shortest_inverted, ~span, __ATOMIC_RELAXED);
}

HOOK_INLINE void hook_time_end(struct seg_current *call, uint32_t func)
{
	struct seg_slot *s = hook_slot(call, func);
	uint64_t now = ticks_now(HOOK_TICKS), begin = s->begin, span;
	uint32_t seq = s->seq;

	/* 0 if a signal handler on another stack made a call meanwhile and so ended this one. */
	span = begin && now > begin ? now - begin : 0;
	__atomic_store_n(&s->seq, seq + 1, __ATOMIC_RELAXED);
	slot_end(s, span);
	__atomic_store_n(&s->seq, seq + 2, __ATOMIC_RELEASE);
	extent_add(hook_extent(call, func), span);
	hook_set_frame(call, 0);
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
	hook_end(hook_thread.now, h->func, h->seen, rc);
}

/* --- numbers of collective calls */

/*
 * Numbers of collective calls on MPI_COMM_WORLD (COLLECTIVES_EACH). They count from MPI_Init on,
 * whether the calls are measured or not: one compare and one add behind the call. Only a call that
 * has returned without an error counts. The threads of a process share the numbers. Calls on one
 * communicator must not be concurrent, so that needs no atomic addition.
 */
struct collective_state {
	/*
	 * MPI_COMM_WORLD in the forms of C and Fortran, as struct seg_current notes them. While
	 * calls are not numbered, these are forms that no handle has.
	 */
	uint64_t mask, world;
	uint64_t f_world;
	uint64_t count[COLLECTIVES];
};
extern struct collective_state numbered;
#define COLLECTIVE_NO_HANDLE UINT64_MAX

/* Words of their probes. The segment's page is mapped over it. */
extern uint32_t collective_word[SEG_PAGE_BYTES / 4] __attribute__((aligned(SEG_PAGE_BYTES)));
#define COLLECTIVE_WORD_OFFSET(plan) \
	((plan)->probe_word_offset + (SEG_PROBE_MODULES + 1) * (uint64_t)SEG_PAGE_BYTES)

/* Begins to number the calls; called in MPI_Init. Returns false if MPI's handles are not known. */
bool collective_open(void);

/* A call was not counted, because its thread has no block: no number is valid from now on. */
void collective_miss(void);

HOOK_INLINE uint32_t collective_read(unsigned k)
{
	return __atomic_load_n(&collective_word[k], __ATOMIC_RELAXED);
}

/* As hook_busy(). The bits of the probe are above those of hook words. */
HOOK_INLINE uint64_t collective_busy(const struct seg_current *now, uint32_t func, unsigned k)
{
	return hook_busy(now, func) | (uint64_t)collective_read(k) << 32;
}

/* Returns the number of the call that ends now, or 0: it has none. */
HOOK_INLINE uint64_t collective_number(const struct seg_current *now, unsigned k, int rc)
{
	uint64_t n;

	if ((now->comm & numbered.mask) != numbered.world || rc)
		return 0;
	n = __atomic_load_n(&numbered.count[k], __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&numbered.count[k], n, __ATOMIC_RELAXED);
	return n;
}

HOOK_INLINE uint64_t collective_f_number(const struct seg_current *now, unsigned k, int rc)
{
	uint64_t n;

	if ((now->comm & UINT32_MAX) != numbered.f_world || rc)
		return 0;
	n = __atomic_load_n(&numbered.count[k], __ATOMIC_RELAXED) + 1;
	__atomic_store_n(&numbered.count[k], n, __ATOMIC_RELAXED);
	return n;
}

/* Counts a call that is not recorded. Returns rc, so that the call is one expression. */
HOOK_INLINE int collective_ran(const struct seg_current *now, unsigned k, int rc)
{
	collective_number(now, k, rc);
	return rc;
}

HOOK_INLINE int collective_f_ran(const struct seg_current *now, unsigned k, int rc)
{
	collective_f_number(now, k, rc);
	return rc;
}

/* Requests the time at which the call begins, if its probe is on. After hook_watch(). */
HOOK_INLINE void collective_begin(struct hook *h, unsigned k)
{
	if (collective_read(k))
		h->word |= HOOK_KEYED;
}

#pragma GCC visibility pop

#endif
