/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. */
#include "libapp/hot/hook.h"

#include "libapp/hot/app_state.h"
#include "libapp/hot/args.h"
#include "libapp/hot/site.h"

enum {
	START = HOOK_EVENT_START | HOOK_ACTION_START,
	END = HOOK_EVENT_END | HOOK_ACTION_END,
};

static void add_u64(uint64_t *to, uint64_t n)
{
	__atomic_store_n(to, *to + n, __ATOMIC_RELEASE);
}

/* Draws a number from 0 to n - 1; n <= 2^32. The upper half of Knuth's 64-bit generator. */
static uint64_t draw(struct hook_thread *t, uint64_t n)
{
	t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (t->random >> 32) * n >> 32;
}

/*
 * Draws the rest of a gap at a random observation: long gaps are met more often, at any position.
 * That is the smaller of two different numbers below 2^(k+1).
 */
static uint32_t draw_rest(struct hook_thread *t, uint64_t n)
{
	uint64_t a = draw(t, n), b = (a + 1 + draw(t, n - 1)) % n;

	return (uint32_t)(a < b ? a : b);
}

bool hook_draw(struct hook_thread *t, uint32_t word)
{
	uint32_t k = (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;

	/* A word that never uses the fast path must not reset the gap of one that does. */
	if ((word & ~(uint32_t)HOOK_SAMPLE_MASK) != (HOOK_COUNT | HOOK_TIME))
		return draw(t, UINT64_C(1) << k) == 0;
	if (word != t->sample_word) {
		t->sample_word = word;
		t->skip = draw_rest(t, UINT64_C(2) << k);
	}
	if (t->skip) {
		t->skip--;
		return false;
	}
	t->skip = (uint32_t)draw(t, (UINT64_C(2) << k) - 1);
	return true;
}

void hook_begin_slow(struct hook *h)
{
	uint64_t now;

	h->site = h->word & HOOK_SITE ? site_find(h->func) : NULL;
	if (!(h->word & (HOOK_TIME | HOOK_KEYED | START)))
		return;
	now = ticks_now(app_state.ticks);
	h->begin = hook_thread.begin = now;
	if (h->word & HOOK_EVENT_START)
		event_put(h, CALL_START, now, 0);
	if (h->word & HOOK_ACTION_START)
		event_act(h, CALL_START, now, 0);
	if (h->word & HOOK_TIME)
		__atomic_store_n(&h->slot->begin, now, __ATOMIC_RELAXED);
}

/* Returns the time that the call adds to a delay. */
static uint64_t span_of(const struct hook *h, uint64_t now)
{
	uint32_t k = (h->word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;

	return h->word & HOOK_TIME && now > h->begin ? (now - h->begin) << k : 0;
}

/* Adds to the delay and ends the call in one update that a reader sees as a whole. */
static void slot_close(struct hook *h, uint64_t span)
{
	struct seg_slot *s = h->slot;

	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
	if (h->word & HOOK_TIME)
		slot_end(s, span);
	if (h->word & HOOK_VOLUME) {
		add_u64(&s->bytes_out, (uint64_t)h->args->out);
		add_u64(&s->bytes_in, (uint64_t)h->args->in);
	}
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
}

static uint32_t shift_of(const struct hook *h)
{
	return (h->word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;
}

static void site_leave(const struct hook *h, uint64_t span)
{
	bool has_bytes = h->word & HOOK_VOLUME;

	site_add(h->site, &(struct site_call){ .span = span,
					       .one = span >> shift_of(h),
					       .out = has_bytes ? h->args->out : 0,
					       .in = has_bytes ? h->args->in : 0 });
}

void hook_leave_slow(struct hook *h, int rc)
{
	uint64_t now = h->word & (HOOK_TIME | END) ? ticks_now(app_state.ticks) : 0;
	uint64_t span = span_of(h, now);

	if (h->word & HOOK_ARGS) {
		h->args->span = span;
		hook_finish(h, rc);
	}
	if (h->word & (HOOK_TIME | HOOK_VOLUME))
		slot_close(h, span);
	if (h->word & HOOK_TIME)
		extent_add(hook_extent(hook_thread.now, h->func), span >> shift_of(h));
	if (h->word & HOOK_VOLUME && h->args->has_size)
		size_add(h->func, h->args->out, h->args->in, span);
	if (h->word & HOOK_SITE && h->site)
		site_leave(h, span);
	if (h->word & HOOK_EVENT_END)
		event_put(h, CALL_END, now, rc);
	if (h->word & HOOK_ACTION_END) {
		event_begin_late(h);
		event_act(h, CALL_END, now, rc);
	}
}

uint64_t hook_late_since(uint32_t func)
{
	const uint64_t *table = (const void *)(app_state.base + app_state.plan.since_offset);
	uint64_t on = __atomic_load_n(&table[func], __ATOMIC_ACQUIRE);
	uint64_t speaks = __atomic_load_n(&app_header()->w.speaks_since, __ATOMIC_RELAXED);

	return on && speaks > on ? speaks : on;
}

/*
 * Ends the delay and the call in one update: a reader adds the time of a call in progress itself.
 */
static void late_close(struct seg_slot *s, uint64_t span)
{
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
	add_u64(&s->delay, span);
	__atomic_store_n(&hook_thread.now->frame, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
}

/* Integrators that begin and end with the call: see struct seg_action. */
static void late_act(uint32_t func, uint32_t seen, uint32_t word)
{
	uint64_t begin = seen & HOOK_ACTION_START ? hook_thread.begin : 0;

	if (word & ~seen & HOOK_ACTION_END)
		event_late(func, args_late_partner(func), begin, ticks_now(app_state.ticks));
}

int hook_late(uint32_t func, uint32_t seen, int rc)
{
	uint32_t word = hook_read(func);
	uint64_t since = (seen & HOOK_TIME) || !(word & HOOK_TIME) ? 0 : hook_late_since(func);
	uint64_t now = since ? ticks_now(app_state.ticks) : 0;

	late_act(func, seen, word);
	if (now > since && word & HOOK_PARTNER)
		args_late(func, now - since);
	if (now > since)
		late_close(&hook_thread.slots[func], now - since);
	hook_set_frame(hook_thread.now, 0);
	return rc;
}
