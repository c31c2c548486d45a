/* SPDX-License-Identifier: Apache-2.0 */
/* Hot code, which runs in the ranks. */
#include "common/ring/posted.h"

#define STEPS 64 /* steps of a search: in a half-full list it fails once in 2^64 */

static uint64_t state_of(uint32_t epoch, uint64_t before)
{
	return epoch | ((before >> 32) + 1) << 32;
}

static bool is_taken(uint64_t state, uint32_t epoch)
{
	return (uint32_t)state == epoch || (uint32_t)state == POSTED_CLAIMED;
}

/* The words may be written in any order, because a reader ignores an entry whose state changes. */
static void fill(struct seg_posted *to, const struct seg_posted *from)
{
	__atomic_store_n(&to->func, from->func, __ATOMIC_RELEASE);
	__atomic_store_n(&to->is_receive, from->is_receive, __ATOMIC_RELEASE);
	__atomic_store_n(&to->tag, from->tag, __ATOMIC_RELEASE);
	__atomic_store_n(&to->partner, from->partner, __ATOMIC_RELEASE);
	__atomic_store_n(&to->ticks, from->ticks, __ATOMIC_RELEASE);
	__atomic_store_n(&to->bytes, from->bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&to->comm, from->comm, __ATOMIC_RELEASE);
}

bool posted_put(struct seg_posted *table, uint32_t epoch, uint32_t hint, const struct seg_posted *e,
		struct posted_ref *out)
{
	if (!epoch || epoch == POSTED_CLAIMED)
		return false;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t place = (hint + i) % SEG_POSTED;
		struct seg_posted *p = &table[place];
		uint64_t was = __atomic_load_n(&p->state, __ATOMIC_RELAXED);

		if (is_taken(was, epoch) ||
		    !__atomic_compare_exchange_n(&p->state, &was, state_of(POSTED_CLAIMED, was),
						 false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		fill(p, e);
		*out = (struct posted_ref){ state_of(epoch, was), place };
		__atomic_store_n(&p->state, out->state, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void posted_take(struct seg_posted *table, struct posted_ref *ref)
{
	uint64_t was = ref->state;

	if (!was)
		return;
	ref->state = 0;
	__atomic_compare_exchange_n(&table[ref->place % SEG_POSTED].state, &was,
				    was & ~(uint64_t)UINT32_MAX, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}
