/* SPDX-License-Identifier: Apache-2.0 */
/* Events of calls: records and in-rank actions. Hot: the rules of hook.h. */
#include "libapp/hot/app_state.h"
#include "libapp/hot/args.h"

static struct cell_potential potential[SEG_THREADS_MAX][SEG_CELLS];

/* $par1 .. of the start: rank, arguments, length, partner. */
static unsigned start_pars(const struct hook_args *a, int64_t *par)
{
	const struct call_desc *d = a->desc;
	unsigned n = 0;

	par[n++] = app_state.rank;
	for (unsigned i = 0; i < d->nparam; i++)
		if (d->param[i].kind != CALL_P_STATUS)
			par[n++] = a->par[i];
	if (d->start_length)
		par[n++] = a->length;
	if (d->start_partner)
		par[n++] = a->partner;
	return n;
}

static unsigned end_pars(const struct hook_args *a, int64_t *par, int rc)
{
	const struct call_desc *d = a->desc;
	unsigned n = 0;

	par[n++] = app_state.rank;
	par[n++] = rc;
	if (d->end_partner)
		par[n++] = a->partner;
	if (d->end_length)
		par[n++] = a->length;
	return n;
}

static unsigned event_fill(union ring_record *r, const struct hook *h, enum call_phase phase,
			   uint64_t now, int rc)
{
	unsigned n = phase == CALL_START ? start_pars(h->args, RING_PAR(r))
					 : end_pars(h->args, RING_PAR(r), rc);

	r->call.word = RING_WORD(sizeof(r->call) + n * 8, RING_CALL);
	r->call.ticks = now;
	r->call.func = (uint16_t)h->func;
	r->call.phase = (uint8_t)phase;
	r->call.npar = (uint8_t)n;
	r->call.tid = hook_thread.tid;
	return n;
}

void event_put(const struct hook *h, enum call_phase phase, uint64_t now, int rc)
{
	struct ring ring = event_ring(hook_thread.block);
	union ring_record r;
	unsigned n = event_fill(&r, h, phase, now, rc);

	if (!ring_put(&ring, &r, (uint32_t)(sizeof(r.call) + n * 8)))
		__atomic_store_n(&h->slot->dropped, h->slot->dropped + 1, __ATOMIC_RELAXED);
}

void event_run(const struct action_event *e)
{
	struct action_tables tables = {
		.heads = (void *)(app_state.base + app_state.plan.head_offset),
		.actions = (void *)(app_state.base + app_state.plan.action_offset),
		.lists = (void *)(app_state.base + app_state.plan.list_offset),
		.cells = (void *)((uint8_t *)hook_thread.block + app_state.plan.cell_offset),
		.potentials = potential[hook_thread.index],
	};
	unsigned skipped = action_run(&tables, e);

	if (skipped)
		__atomic_fetch_add(&app_header()->w.actions_skipped, skipped, __ATOMIC_RELAXED);
}

void event_act(const struct hook *h, enum call_phase phase, uint64_t now, int rc)
{
	union ring_record r;
	struct action_event e = { .par = RING_PAR(&r), .func = (uint16_t)h->func, .now = now };

	e.npar = event_fill(&r, h, phase, now, rc);
	e.phase = (uint8_t)phase;
	e.tid = hook_thread.tid;
	e.partner = h->args->partner;
	e.any_source = h->args->any_source;
	e.bytes = h->args->length;
	event_run(&e);
}

void event_begin_late(const struct hook *h)
{
	uint64_t begin = h->word & HOOK_ACTION_START ? h->begin : 0;
	const struct action_event e = { .func = (uint16_t)h->func,
					.phase = CALL_START,
					.tid = hook_thread.tid,
					.now = __atomic_load_n(&app_header()->w.speaks_since,
							       __ATOMIC_RELAXED),
					.partner = h->args->partner,
					.late = begin + 1 };

	if (begin <= __atomic_load_n(&app_header()->l.actions_since, __ATOMIC_ACQUIRE))
		event_run(&e);
}

void event_late(uint32_t func, int64_t partner, uint64_t begin, uint64_t now)
{
	struct action_event e = { .func = (uint16_t)func,
				  .phase = CALL_START,
				  .tid = hook_thread.tid,
				  .partner = partner,
				  .late = begin + 1 };

	e.now = __atomic_load_n(&app_header()->w.speaks_since, __ATOMIC_RELAXED);
	event_run(&e);
	e.now = now;
	e.phase = CALL_END;
	event_run(&e);
}
