/* SPDX-License-Identifier: Apache-2.0 */
/* Sums per (function, partner), in the thread's own table. Hot: the law of hook.h. */
#include "libapp/hot/app_state.h"
#include "libapp/hot/args.h"

#define PROBES 32 /* steps of one search */

static struct seg_partner *find(uint64_t key)
{
	struct seg_partner *table =
		(void *)(app_block(hook_thread.index) + app_state.plan.partner_offset);
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;
	struct seg_partner *p;

	for (unsigned i = 0; i < PROBES; i++) {
		p = &table[(at + i) % SEG_PARTNERS];
		if (p->key == key)
			return p;
		if (!p->key) {
			__atomic_store_n(&p->key, key, __ATOMIC_RELEASE);
			return p;
		}
	}
	return NULL;
}

/* Counts the loss when there is no room. */
static struct seg_partner *entry_of(uint32_t func, int64_t partner)
{
	struct seg_thread *block = hook_thread.block;
	struct seg_partner *p = find((uint64_t)(func + 1) << 32 | (uint32_t)partner);

	if (!p)
		__atomic_store_n(&block->partner_lost, block->partner_lost + 1, __ATOMIC_RELAXED);
	return p;
}

static void add(uint32_t func, int64_t partner, unsigned calls, int64_t out, int64_t in,
		uint64_t span)
{
	struct seg_partner *p = partner < 0 ? NULL : entry_of(func, partner);

	if (!p)
		return;
	__atomic_store_n(&p->count, p->count + calls, __ATOMIC_RELAXED);
	__atomic_store_n(&p->bytes_out, p->bytes_out + (uint64_t)out, __ATOMIC_RELAXED);
	__atomic_store_n(&p->bytes_in, p->bytes_in + (uint64_t)in, __ATOMIC_RELAXED);
	__atomic_store_n(&p->delay, p->delay + span, __ATOMIC_RELAXED);
}

void partner_add(uint32_t func, int64_t partner, int64_t out, int64_t in, uint64_t span)
{
	add(func, partner, 1, out, in, span);
}

void partner_add_once(uint32_t func, int64_t partner, uint64_t call, uint64_t span)
{
	struct seg_partner *p = partner < 0 ? NULL : entry_of(func, partner);
	bool is_new = p && p->call != call;

	if (!p)
		return;
	p->call = call;
	add(func, partner, is_new, 0, 0, is_new ? span : 0);
}

void partner_bytes(uint32_t func, int64_t partner, int64_t out, int64_t in)
{
	add(func, partner, 0, out, in, 0);
}

void partner_late(uint32_t func, int64_t partner, uint64_t span)
{
	struct seg_thread *block = hook_thread.block;

	if (partner == CALL_PARTNER_UNKNOWN)
		__atomic_store_n(&block->partner_unknown, block->partner_unknown + span,
				 __ATOMIC_RELAXED);
	add(func, partner, 0, 0, 0, span);
}
