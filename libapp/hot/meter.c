/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by regions: what the calls of a thread add between two probes of that thread. Hot: the
 * rules of hook.h.
 */
#include "libapp/hot/meter.h"

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

/* --- of calls with some partners: sums of calls that have ended, each of which is whole */

static const uint16_t *lists(void)
{
	return (const void *)(app_state.base + app_state.plan.read_func_offset);
}

static uint16_t word_at(const uint16_t *list, uint32_t i)
{
	return __atomic_load_n(&list[i], __ATOMIC_RELAXED);
}

static bool has_func(const struct seg_read *r, uint32_t func)
{
	const uint16_t *list = lists() + r->first;

	for (uint32_t i = 0; i < r->count; i++)
		if (word_at(list, i) == func)
			return true;
	return false;
}

/* Searches the ranks, which ascend, in bounded time. */
static bool has_rank(const struct seg_read *r, uint32_t rank)
{
	const uint16_t *list = lists() + r->first + r->count;
	uint32_t from = 0, to = r->ranks;

	while (from < to) {
		uint32_t i = (from + to) / 2;
		uint32_t at = word_at(list, 2 * i) | (uint32_t)word_at(list, 2 * i + 1) << 16;

		if (at == rank)
			return true;
		if (at < rank)
			from = i + 1;
		else
			to = i;
	}
	return false;
}

static uint64_t partner_figure(const struct seg_partner *p, unsigned kind)
{
	if (kind == SEG_READ_PARTNER_DELAY)
		return load(&p->delay) + load(&p->shared);
	return load(kind == SEG_READ_PARTNER_CALLS ? &p->count
		    : kind == SEG_READ_PARTNER_OUT ? &p->bytes_out
						   : &p->bytes_in);
}

uint64_t meter_partners(const uint8_t *block, const struct seg_read *r)
{
	const struct seg_partner *p = (const void *)(block + app_state.plan.partner_offset);
	uint64_t sum = 0;

	for (const struct seg_partner *last = p + SEG_PARTNERS; p < last; p++) {
		uint64_t key = load(&p->key);

		if (key && has_rank(r, (uint32_t)key) && has_func(r, (uint32_t)(key >> 32) - 1))
			sum += partner_figure(p, r->kind);
	}
	return sum;
}

/* The thread is in no call: its own slots are consistent. */
static uint64_t own_value(const struct seg_slot *s, unsigned kind)
{
	switch (kind) {
	case SEG_READ_CALLS:
		return s->count;
	case SEG_READ_DELAY:
		return s->delay;
	case SEG_READ_OUT:
		return s->bytes_out;
	default:
		return s->bytes_in;
	}
}

static uint64_t own_figure(const struct hook_thread *t, const struct seg_read *r)
{
	const uint16_t *list = (const void *)(app_state.base + app_state.plan.read_func_offset);
	uint64_t sum = 0;

	if (SEG_IS_OF_PARTNERS(r->kind))
		return r->first + r->count + 2u * r->ranks > SEG_READ_FUNCS
			       ? 0
			       : meter_partners((const uint8_t *)t->block, r);
	if (r->first > SEG_READ_FUNCS || r->count > SEG_READ_FUNCS - r->first)
		return 0;
	for (uint32_t i = r->first; i < (uint32_t)r->first + r->count; i++) {
		uint16_t func = __atomic_load_n(&list[i], __ATOMIC_RELAXED);

		if (func < app_state.plan.func_count)
			sum += own_value(&t->slots[func], r->kind);
	}
	return sum;
}

static void put(uint64_t *to, uint64_t v)
{
	__atomic_store_n(to, v, __ATOMIC_RELEASE);
}

static void put_word(uint32_t *to, uint32_t v)
{
	__atomic_store_n(to, v, __ATOMIC_RELEASE);
}

/* A call of a probe at which a meter begins or ends. */
struct meter_edge {
	uint64_t now;
	bool ends, begins;
	bool is_again; /* the thread is inside already: one more pass begins */
};

static void begin_epoch(struct seg_metered *m, uint32_t epoch)
{
	put_word(&m->epoch, epoch);
	put_word(&m->state, SEG_METERED_UNKNOWN);
	put_word(&m->has_first_end, 0);
	put(&m->sum, 0);
}

static void go_out(struct seg_metered *m, uint64_t figure)
{
	if (m->state == SEG_METERED_INSIDE)
		put(&m->sum, m->sum + figure - m->begin);
	if (m->state == SEG_METERED_UNKNOWN) {
		put(&m->first_end, figure);
		put_word(&m->has_first_end, 1);
	}
	put_word(&m->state, SEG_METERED_OUTSIDE);
}

/* Begins a pass. A thread that is inside already keeps the `begin` of its first entry. */
static void go_in(struct seg_metered *m, uint64_t figure)
{
	if (m->state == SEG_METERED_INSIDE)
		return;
	put(&m->begin, figure);
	put_word(&m->state, SEG_METERED_INSIDE);
}

union read_copy {
	uint64_t word;
	struct seg_read r;
};

/* Returns the value of a meter of regions. A pass counts where it begins. */
static uint64_t figure_of(const struct hook_thread *t, const struct seg_read *r, uint64_t now)
{
	switch (r->kind) {
	case SEG_READ_TICKS:
		return now;
	case SEG_READ_PASSES:
		return 0;
	default:
		return own_figure(t, r);
	}
}

static void report(const struct hook_thread *t, unsigned number, const struct meter_edge *edge)
{
	const struct seg_meter *meter =
		(const struct seg_meter *)(const void *)(app_state.base +
							 app_state.plan.meter_offset) +
		number;
	struct seg_metered *m = (struct seg_metered *)(void *)((uint8_t *)t->block +
							       app_state.plan.metered_offset) +
				number;
	uint32_t epoch = __atomic_load_n(&meter->epoch, __ATOMIC_ACQUIRE);
	const union read_copy read = { .word = load((const uint64_t *)(const void *)&meter->read) };
	uint64_t figure;

	if (!epoch || __atomic_load_n(&meter->epoch, __ATOMIC_RELAXED) != epoch)
		return;
	figure = figure_of(t, &read.r, edge->now);
	__atomic_store_n(&m->seq, m->seq + 1, __ATOMIC_RELAXED);
	if (m->epoch != epoch)
		begin_epoch(m, epoch);
	if (edge->ends)
		go_out(m, figure);
	if (edge->begins && read.r.kind == SEG_READ_PASSES)
		put(&m->sum, m->sum + 1);
	if (edge->begins && !edge->is_again)
		go_in(m, figure);
	__atomic_store_n(&m->seq, m->seq + 1, __ATOMIC_RELEASE);
}

union edges_copy {
	uint64_t word;
	struct seg_edges e;
};

void meter_probe(const struct hook_thread *t, unsigned number, uint64_t now, bool is_again)
{
	const union edges_copy e = {
		.word = load((const uint64_t *)(const void *)(app_state.base +
							      app_state.plan.edge_offset) +
			     number)
	};

	for (uint32_t left = e.e.end | e.e.begin; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctz(left);

		report(t, i,
		       &(struct meter_edge){ .now = now,
					     .ends = e.e.end >> i & 1,
					     .begins = e.e.begin >> i & 1,
					     .is_again = is_again });
	}
}
