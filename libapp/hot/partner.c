/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partner of a call, from its arguments and status; and the sums per (function, partner) in the
 * thread's own table. Hot: the rules of hook.h.
 */
#include "libapp/hot/app_state.h"
#include "libapp/hot/args.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"

#include <string.h>

#define PROBES 32 /* steps of one search */

static int64_t world_rank(const struct hook_args *a, int64_t rank)
{
	const struct call_desc *d = a->desc;

	if (rank == flavour->proc_null)
		return CALL_PARTNER_NONE;
	if (!d->comm || rank < 0)
		return CALL_PARTNER_UNKNOWN;
	return comm_world_rank((uintptr_t)a->par[d->comm - 1],
			       d->param[d->comm - 1].kind == CALL_P_WIN, rank);
}

static bool may_be_any(const struct call_desc *d)
{
	return d->class == CALL_RECV || d->class == CALL_PROBE;
}

static int64_t source_arrived(const struct hook_args *a)
{
	struct status_view v;

	flavour->status_read((const void *)(uintptr_t)a->par[a->desc->status - 1], &v);
	return v.source;
}

/* True if the status identifies the rank. False for a probe that may have found nothing. */
static bool uses_status(const struct call_desc *d)
{
	return d->status && (d->class == CALL_RECV || d->class == CALL_SEND ||
			     strcmp(d->name, "MPI_Probe") == 0);
}

void args_partner(struct hook_args *a, enum call_phase phase)
{
	const struct call_desc *d = a->desc;
	unsigned source = args_source_place(d);
	int64_t rank;

	a->partner = a->partner_in = CALL_PARTNER_UNKNOWN;
	a->any_source = false;
	if (!flavour || !d->peer)
		return;
	rank = a->par[d->peer - 1];
	if (may_be_any(d) && rank == flavour->any_source) {
		a->any_source = phase == CALL_START || !d->status;
		if (phase == CALL_START || !uses_status(d))
			return;
		rank = source_arrived(a);
	}
	a->partner = world_rank(a, rank);
	if (!source || phase == CALL_START)
		return;
	rank = a->par[source - 1];
	if (rank == flavour->any_source && d->status)
		rank = source_arrived(a);
	a->partner_in = world_rank(a, rank);
}

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

/* Counts the loss if there is no room. */
static struct seg_partner *entry_of(uint32_t func, int64_t partner)
{
	struct seg_thread *block = hook_thread.block;
	struct seg_partner *p = find((uint64_t)(func + 1) << 32 | (uint32_t)partner);

	if (!p)
		__atomic_store_n(&block->partner_lost, block->partner_lost + 1, __ATOMIC_RELAXED);
	return p;
}

static void grow(uint64_t *sum, uint64_t by)
{
	__atomic_store_n(sum, *sum + by, __ATOMIC_RELAXED);
}

static void grow_all(struct seg_partner *p, unsigned calls, int64_t out, int64_t in)
{
	grow(&p->count, calls);
	grow(&p->bytes_out, (uint64_t)out);
	grow(&p->bytes_in, (uint64_t)in);
}

static struct seg_partner *entry_if_known(uint32_t func, int64_t partner)
{
	return partner < 0 ? NULL : entry_of(func, partner);
}

void partner_add(uint32_t func, int64_t partner, int64_t out, int64_t in, uint64_t span)
{
	struct seg_partner *p = entry_if_known(func, partner);

	if (!p)
		return;
	grow_all(p, 1, out, in);
	grow(&p->delay, span);
}

uint32_t partner_call(void)
{
	return ++hook_thread.many;
}

void partner_add_once(uint32_t func, int64_t partner, uint32_t call, uint64_t span)
{
	struct seg_partner *p = entry_if_known(func, partner);
	bool is_new = p && p->call != call;

	if (!p)
		return;
	p->call = call;
	grow_all(p, is_new, 0, 0);
	grow(&p->delay, is_new ? span : 0);
}

void partner_bytes(uint32_t func, int64_t partner, int64_t out, int64_t in)
{
	struct seg_partner *p = entry_if_known(func, partner);

	if (p)
		grow_all(p, 0, out, in);
}

void partner_late(uint32_t func, int64_t partner, uint64_t span)
{
	struct seg_thread *block = hook_thread.block;
	struct seg_partner *p = entry_if_known(func, partner);

	if (partner == CALL_PARTNER_UNKNOWN)
		__atomic_store_n(&block->partner_unknown, block->partner_unknown + span,
				 __ATOMIC_RELAXED);
	if (p)
		grow(&p->delay, span);
}

/* --- the time of one call, divided among its partners */

void partners_begin(struct partners *p, uint32_t func, bool counts)
{
	p->counts = counts;
	p->n = p->likely = 0;
	p->func = func;
}

/* Describes the awaited partner; a tag that differs from the one before becomes "several". */
static void describe(struct seg_partner *to, const struct partner_part *part)
{
	bool is_first = !to->kinds;
	int32_t tag = is_first || to->tag == part->tag ? part->tag : SEG_TAG_SEVERAL;

	__atomic_store_n(&to->tag, tag, __ATOMIC_RELAXED);
	__atomic_store_n(&to->kinds, to->kinds | part->kind, __ATOMIC_RELAXED);
}

void partners_add(struct partners *p, const struct partner_part *part)
{
	struct seg_partner *to = entry_of(p->func, part->partner);

	if (!to)
		return;
	if (to->place >= p->n || p->at[to->place] != to) {
		if (p->n == PARTNERS_MAX)
			return;
		to->place = p->n;
		p->is_likely[p->n] = false;
		p->at[p->n++] = to;
		grow_all(to, p->counts, 0, 0);
	}
	p->likely += part->is_likely && !p->is_likely[to->place];
	p->is_likely[to->place] |= part->is_likely;
	grow_all(to, 0, part->out, part->in);
	describe(to, part);
}

void partners_end(const struct partners *p, uint64_t span)
{
	unsigned parts = p->likely ? p->likely : p->n;
	uint64_t rest = parts ? span % parts : 0;

	if (p->n == 1)
		grow(&p->at[0]->delay, span);
	for (unsigned i = 0; p->n > 1 && span && i < p->n; i++) {
		grow(&p->at[i]->possible, span);
		if (p->likely && !p->is_likely[i])
			continue;
		__atomic_store_n(&p->at[i]->shared, p->at[i]->shared + span / parts + rest,
				 __ATOMIC_RELEASE);
		rest = 0;
	}
}
