/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. */
#include "libapp/hot/args.h"

#include "libapp/hot/app_state.h"
#include "libapp/hot/comm.h"
#include "libapp/hot/flavour.h"
#include "libapp/hot/listing.h"
#include "libapp/hot/wait.h"
#include "libapp/hot/waited.h"

#include <errno.h>
#include <string.h>

int64_t args_from_fortran(unsigned kind, const void *fint)
{
	int32_t f;

	if (!fint)
		return 0;
	memcpy(&f, fint, sizeof(f));
	return flavour ? (int64_t)flavour->from_fortran(kind, f) : f;
}

/* MPI's ints arrive as whole words with an undefined upper half; so do 4-byte handles. */
static void narrow_handles(struct hook_args *a)
{
	const struct call_desc *d = a->desc;

	if (flavour->handle_bytes != 4)
		return;
	for (unsigned i = 0; i < d->nparam; i++)
		if (d->param[i].kind == CALL_P_TYPE || d->param[i].kind == CALL_P_COMM ||
		    d->param[i].kind == CALL_P_WIN || d->param[i].kind == CALL_P_HANDLE)
			a->par[i] = (int64_t)(uint32_t)a->par[i];
}

static bool status_is_ignored(const struct hook_args *a)
{
	const void *status = (const void *)(uintptr_t)a->par[a->desc->status - 1];

	if (a->lang == LANG_C)
		return (uintptr_t)status == flavour->status_ignore;
	return flavour->f_status_is_ignored(status, a->lang);
}

/* Replaces an ignored status by ours: only the status has the received bytes and the sender. */
static void replace_status(struct hook_args *a)
{
	if (!a->desc->status || a->desc->class == CALL_COMPLETE || !status_is_ignored(a))
		return;
	memset(a->status, 0, sizeof(a->status));
	a->par[a->desc->status - 1] = (int64_t)(uintptr_t)a->status;
}

static bool begin_short(const struct hook *h, struct hook_args *a)
{
	return (h->word & HOOK_ARGS) == HOOK_MESSAGE && args_message_ops &&
	       args_message_ops->begin_short(a);
}

void hook_prepare(struct hook *h, struct hook_args *a)
{
	int saved;

	h->args = a;
	a->func = h->func;
	a->is_short = begin_short(h, a);
	if (a->is_short)
		return;
	saved = errno;
	a->desc = call_get(h->func);
	a->word = h->word;
	a->out = a->in = a->length = 0;
	a->span = 0;
	a->partner = a->partner_in = CALL_PARTNER_UNKNOWN;
	a->any_source = false;
	a->open[0].state = a->open[1].state = 0;
	if (flavour) {
		narrow_handles(a);
		replace_status(a);
		if (a->wait)
			wait_prepare(a);
		if (h->word & HOOK_MESSAGE && args_message_ops)
			args_message_ops->begin(a);
		if (h->word & (HOOK_EVENT_START | HOOK_ACTION_START)) {
			args_partner(a, CALL_START);
			args_volume(a, CALL_START);
			a->length = a->out ? a->out : a->in;
		}
		if (listing_is_wanted(a) && !call_posts(a->desc))
			listing_begin(a);
	}
	errno = saved;
}

static uint32_t kind_of(const struct call_desc *d)
{
	return d->class == CALL_SEND  ? SEG_FOR_SEND
	       : d->class == CALL_RMA ? SEG_FOR_ONESIDED
				      : SEG_FOR_RECEIVE;
}

/* A Sendrecv ends with its receive, unless its message is large. */
static void partners_finish(const struct hook *h, const struct hook_args *a)
{
	const struct call_desc *d = a->desc;
	unsigned source = args_source_place(d);
	struct partner_part part = { .partner = a->partner,
				     .out = a->out,
				     .in = source ? 0 : a->in,
				     .kind = kind_of(d),
				     .tag = d->tag ? listing_tag(a->par[d->tag - 1]) : -1,
				     .is_likely = !source || a->out > WAIT_EAGER_BYTES };
	struct partners p;

	if (d->class != CALL_RMA && d->class != CALL_RECV && d->class != CALL_SEND &&
	    d->class != CALL_PROBE)
		return;
	partners_begin(&p, h->func, d->class != CALL_PROBE);
	if (part.partner >= 0)
		partners_add(&p, &part);
	if (source && a->partner_in >= 0)
		partners_add(&p, &(struct partner_part){ .partner = a->partner_in,
							 .in = a->in,
							 .kind = SEG_FOR_RECEIVE,
							 .tag = listing_tag(a->par[source]),
							 .is_likely = true });
	partners_end(&p, a->span);
}

static bool marks_partitions(const struct call_desc *d)
{
	return d->volume >= CALL_V_PREADY && d->volume <= CALL_V_PREADY_LIST;
}

/* With HOOK_MESSAGE alone, most calls do not need the partner and the bytes. */
static bool needs_partner(const struct hook *h, const struct call_desc *d)
{
	return h->word & HOOK_ARGS & ~(uint32_t)HOOK_MESSAGE || call_posts(d);
}

void hook_finish(struct hook *h, int rc)
{
	struct hook_args *a = h->args;
	int saved;

	if (a->is_short) {
		args_message_ops->end_short(a, rc);
		return;
	}
	saved = errno;
	a->out = a->in = a->length = 0;
	listing_end(a);
	if (flavour && h->word & HOOK_MESSAGE && args_message_ops)
		args_message_ops->end(a, rc);
	if (flavour && !rc && needs_partner(h, a->desc)) {
		args_partner(a, CALL_END);
		args_volume(a, CALL_END);
	}
	a->length = a->out ? a->out : a->in;
	a->has_size = flavour && !rc && a->desc->end_length;
	if (flavour && a->wait)
		wait_finish(a, rc);
	if (flavour && !rc) {
		if (marks_partitions(a->desc))
			wait_ready(a);
		if (call_posts(a->desc))
			wait_posted(h, a);
		if (h->word & HOOK_PARTNER)
			partners_finish(h, a);
	}
	errno = saved;
}

void args_keep(struct hook_args *a)
{
	struct hook h = { .func = a->func };
	int saved = errno;

	a->desc = call_get(a->func);
	a->word = 0;
	a->span = 0;
	a->open[0].state = a->open[1].state = 0;
	if (flavour) {
		narrow_handles(a);
		args_partner(a, CALL_END);
		wait_posted(&h, a);
	}
	errno = saved;
}

void args_freed(const void *request, enum args_lang lang)
{
	int saved = errno;

	if (flavour)
		request_drop(handle_at(lang == LANG_C, request, 0, CALL_P_REQUEST));
	errno = saved;
}

/* Returns the world rank of `peer` in the communicator or window of the thread's current call. */
static int64_t noted_partner(const struct call_desc *d, const struct seg_current *c)
{
	unsigned kind = d->comm ? d->param[d->comm - 1].kind : CALL_P_COMM;
	uintptr_t comm = (uintptr_t)c->comm;

	if (c->peer == flavour->proc_null)
		return CALL_PARTNER_NONE;
	if (!d->comm || c->peer < 0)
		return CALL_PARTNER_UNKNOWN;
	if (c->word & SEG_CURRENT_FORTRAN)
		comm = flavour->from_fortran(kind, (int32_t)c->comm);
	else if (flavour->handle_bytes == 4)
		comm = (uint32_t)comm;
	return comm_world_rank(comm, kind == CALL_P_WIN, c->peer);
}

int64_t args_late_partner(uint32_t func)
{
	const struct call_desc *d = call_get(func);
	int saved = errno;
	int64_t partner =
		flavour && d->peer ? noted_partner(d, hook_thread.now) : CALL_PARTNER_UNKNOWN;

	errno = saved;
	return partner;
}

void args_late(uint32_t func, uint64_t span)
{
	const struct call_desc *d = call_get(func);
	int saved = errno;

	if (flavour && d->peer &&
	    (d->class == CALL_RMA || d->class == CALL_RECV || d->class == CALL_SEND))
		partner_late(func, noted_partner(d, hook_thread.now), span);
	else if (flavour && call_waits(d))
		waited_late(func, span);
	errno = saved;
}
