/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. */
#include "libapp/hot/listing.h"

#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"

static uint32_t next; /* start of the next search; entries are not found by key */

static struct seg_posted *table(void)
{
	return (struct seg_posted *)(void *)(app_state.base + app_state.plan.posted_offset);
}

static void count_lost(void)
{
	__atomic_fetch_add(&app_header()->w.posted_lost, 1, __ATOMIC_RELAXED);
}

static void put(const struct seg_posted *e, struct posted_ref *out)
{
	uint32_t epoch = __atomic_load_n(&app_header()->l.posted_epoch, __ATOMIC_ACQUIRE);
	uint32_t hint = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);

	if (!posted_put(table(), epoch, hint, e, out))
		count_lost();
}

int32_t listing_tag(int64_t tag)
{
	int32_t narrow = (int32_t)tag; /* an int in a whole word, with an undefined upper half */

	return narrow >= 0 ? narrow : -1;
}

static int32_t partner_of(int64_t world_rank)
{
	return world_rank >= 0 && world_rank <= INT32_MAX ? (int32_t)world_rank : -1;
}

bool listing_is_wanted(const struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	return a->word & HOOK_QUEUE && flavour && d->peer && d->comm &&
	       (d->class == CALL_SEND || d->class == CALL_RECV);
}

/* Lists the receive of a Sendrecv; its parameters are next to its source. */
static void begin_second(struct hook_args *a, const struct seg_posted *first)
{
	unsigned source = a->desc->volume == CALL_V_SENDRECV	       ? 8
			  : a->desc->volume == CALL_V_SENDRECV_REPLACE ? 5
								       : 0;
	struct seg_posted e = *first;

	if (!source || (int32_t)a->par[source] == flavour->proc_null)
		return;
	e.is_receive = 1;
	e.partner = partner_of(comm_world_rank((uintptr_t)e.comm, false, (int32_t)a->par[source]));
	e.tag = listing_tag(a->par[source + 1]);
	if (a->desc->volume == CALL_V_SENDRECV)
		e.bytes = args_block(a, source - 2, source - 1);
	put(&e, &a->open[1]);
}

void listing_begin(struct hook_args *a)
{
	const struct call_desc *d = a->desc;
	struct seg_posted e = { .func = (uint16_t)a->func,
				.ticks = ticks_now(app_state.ticks),
				.comm = (uint64_t)a->par[d->comm - 1],
				.tag = listing_tag(a->par[d->peer]),
				.bytes = args_posted(a) };

	args_partner(a, CALL_START);
	e.partner = partner_of(a->partner);
	if ((int32_t)a->par[d->peer - 1] != flavour->proc_null)
		put(&e, &a->open[0]);
	begin_second(a, &e);
}

void listing_end(struct hook_args *a)
{
	for (unsigned i = 0; i < 2; i++)
		if (a->open[i].state)
			posted_take(table(), &a->open[i]);
}

void listing_put(struct request *r)
{
	const struct seg_posted e = { .func = (uint16_t)r->func,
				      .ticks = ticks_now(app_state.ticks),
				      .comm = r->comm,
				      .tag = r->tag,
				      .partner = partner_of(r->partner),
				      .bytes = r->room };

	put(&e, &r->open);
}

void listing_take(struct request *r)
{
	if (r->open.state)
		posted_take(table(), &r->open);
}

void listing_lose(struct request *r)
{
	if (r->open.state)
		count_lost();
	listing_take(r);
}
