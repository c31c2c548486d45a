/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first call of a thread, also if no tool watches: it takes a block of the segment. Only this
 * file makes system calls.
 */
#include "libapp/hot/app_state.h"
#include "libapp/hot/hook.h"
#include "libapp/hot/site.h"

#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct seg_thread *block_of(uint32_t index)
{
	return (struct seg_thread *)(void *)app_block(index);
}

static bool take(uint32_t index, uint32_t from, uint32_t tid)
{
	return __atomic_compare_exchange_n(&block_of(index)->tid, &from, tid, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool take_free(uint32_t tid, uint32_t *index)
{
	for (*index = 0; *index < app_state.plan.thread_count; ++*index) {
		if (take(*index, 0, tid)) {
			__atomic_fetch_add(&app_header()->w.threads_used, 1, __ATOMIC_RELAXED);
			return true;
		}
	}
	return false;
}

/* The duration of calls without a return is unknown: their time does not count. */
static void close_slots(struct seg_slot *slot)
{
	for (uint32_t i = 0; i < app_state.plan.func_count; i++) {
		__atomic_store_n(&slot[i].begin, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&slot[i].seq, slot[i].seq + (slot[i].seq & 1), __ATOMIC_RELEASE);
	}
}

void hook_mend(struct hook_thread *t)
{
	close_slots(t->slots);
}

/* Cleans the block of a thread that has ended, perhaps in the middle of a call. */
static void tidy_block(uint32_t index)
{
	__atomic_store_n(&block_of(index)->current.frame, 0, __ATOMIC_RELEASE);
	close_slots((void *)(app_block(index) + app_state.plan.slot_offset));
	__atomic_fetch_add(&block_of(index)->generation, 1, __ATOMIC_RELEASE);
}

/* Takes the block of a dead thread; its counts stay, and continue to add up. */
static bool take_over(uint32_t tid, uint32_t *index)
{
	pid_t pid = getpid();
	uint32_t owner;

	for (*index = 0; *index < app_state.plan.thread_count; ++*index) {
		owner = __atomic_load_n(&block_of(*index)->tid, __ATOMIC_ACQUIRE);
		if (owner != tid &&
		    (syscall(SYS_tgkill, pid, (pid_t)owner, 0) == 0 || errno != ESRCH))
			continue;
		if (take(*index, owner, tid)) {
			tidy_block(*index);
			return true;
		}
	}
	return false;
}

static bool claim(struct hook_thread *t)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), index;

	if (!take_free(tid, &index) && !take_over(tid, &index)) {
		__atomic_fetch_add(&app_header()->w.threads_lost, 1, __ATOMIC_RELAXED);
		t->lost = true;
		return false;
	}
	t->index = index;
	t->tid = tid;
	t->random = tid * UINT64_C(0x9e3779b97f4a7c15) + app_header()->w.start_ticks;
	/* a random start, because the table of partners may contain numbers of the former owner */
	t->many = (uint32_t)(t->random >> 32);
	t->block = block_of(index);
	t->slots = (struct seg_slot *)(void *)(app_block(index) + app_state.plan.slot_offset);
	t->now = &t->block->current;
	return true;
}

static void count_lost(bool is_on)
{
	if (is_on)
		__atomic_fetch_add(&app_header()->w.calls_lost, 1, __ATOMIC_RELAXED);
}

bool hook_claim(struct hook_thread *t, bool is_on)
{
	int saved = errno;
	bool done;

	/* this is a signal handler that has interrupted the claim: its call is nested */
	if (!app_state.base || t->is_claiming)
		return false;
	if (t->lost) {
		count_lost(is_on);
		return false;
	}
	t->is_claiming = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	done = claim(t);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->is_claiming = false;
	errno = saved;
	if (!done)
		count_lost(is_on);
	return done;
}

/*
 * Finds the end of a thread's stack. The kernel and the C library store data there: random bytes
 * for the first thread, a descriptor for another one. All pages between are requested once. Such a
 * stack exists as long as its thread, and only grows.
 */
#define PAGES_AT_ONCE 512
#define STACK_MAX_BYTES (64u << 20) /* some 30 system calls, once a thread */

/* Tests page by page: a hole is an error. */
static bool is_mapped(uintptr_t from, uintptr_t to, uintptr_t page)
{
	unsigned char in[PAGES_AT_ONCE];

	for (uintptr_t at = from; at < to; at += PAGES_AT_ONCE * page) {
		uintptr_t left = to - at, most = PAGES_AT_ONCE * page;

		if (mincore((void *)at, left < most ? left : most, in) != 0)
			return false;
	}
	return true;
}

bool site_stack(uintptr_t sp, uintptr_t *low, uintptr_t *end)
{
	bool is_first = syscall(SYS_gettid) == getpid();
	uintptr_t top = is_first ? (uintptr_t)getauxval(AT_RANDOM) : (uintptr_t)pthread_self();
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = sp & ~(page - 1);

	if (top <= sp || top - sp > STACK_MAX_BYTES || !is_mapped(from, top & ~(page - 1), page))
		return false;
	*low = from;
	*end = top & ~(uintptr_t)15;
	return true;
}
