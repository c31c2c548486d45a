/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/hot/waited.h"

#include "libapp/hot/flavour.h"
#include "libapp/hot/listing.h"

bool waited_is_done(uintptr_t request)
{
	return flavour->is_done(request);
}

/* CALL_PARTNER_NONE: it waits for no process. */
static int64_t partner_of(const struct wait_entry *e)
{
	if (e->request.active == REQUEST_IDLE)
		return CALL_PARTNER_NONE;
	switch (call_table[e->request.func].class) {
	case CALL_SEND:
	case CALL_RECV:
	case CALL_RMA:
		return e->partner;
	case CALL_IO:
		return CALL_PARTNER_NONE;
	default:
		return CALL_PARTNER_ALL;
	}
}

static uint32_t kind_of(const struct request *r)
{
	switch (call_table[r->func].class) {
	case CALL_SEND:
		return SEG_FOR_SEND;
	case CALL_RECV:
		return SEG_FOR_RECEIVE;
	case CALL_RMA:
		return SEG_FOR_ONESIDED;
	default:
		return SEG_FOR_COLLECTIVE;
	}
}

static void add(struct partners *p, const struct wait_entry *e)
{
	struct partner_part part = { .partner = partner_of(e),
				     .kind = kind_of(&e->request),
				     .tag = e->request.tag };

	if (part.partner == CALL_PARTNER_NONE)
		return;
	if (part.kind == SEG_FOR_COLLECTIVE)
		part.tag = -1;
	part.is_likely = part.kind != SEG_FOR_SEND || e->request.bytes > WAIT_EAGER_BYTES;
	partners_add(p, &part);
}

static void add_unknown(struct partners *p)
{
	partners_add(p, &(struct partner_part){
				.partner = CALL_PARTNER_UNKNOWN, .tag = -1, .is_likely = true });
}

void waited_add(const struct hook_args *a, enum waited waited)
{
	const struct wait_set *w = a->wait;
	struct partners p;

	partners_begin(&p, a->func, false);
	for (unsigned i = 0; i < w->n; i++)
		if (waited == WAITED_ALL || w->entry[i].has_ended)
			add(&p, &w->entry[i]);
	if (w->has_unknown && waited != WAITED_ENDED)
		add_unknown(&p);
	partners_end(&p, a->span);
}

void waited_late(uint32_t func, uint64_t span)
{
	struct partners p;

	partners_begin(&p, func, false);
	add_unknown(&p);
	partners_end(&p, span);
}

void waited_note(const struct hook_args *a)
{
	const struct wait_set *w = a->wait;
	struct seg_current *now = hook_thread.now;
	int64_t one = CALL_PARTNER_NONE;

	for (unsigned i = 0; i < w->n; i++) {
		int64_t partner = partner_of(&w->entry[i]);

		if (partner == CALL_PARTNER_NONE)
			continue;
		if (one != CALL_PARTNER_NONE && partner != one)
			return;
		one = partner;
	}
	if (w->has_unknown || one < 0)
		return;
	__atomic_store_n(&now->wait_word, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&now->wait_partner, one, __ATOMIC_RELEASE);
	__atomic_store_n(&now->wait_word, now->word, __ATOMIC_RELEASE);
}
