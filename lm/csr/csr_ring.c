/* SPDX-License-Identifier: Apache-2.0 */
/* Converts records in the rings of ranks to events of csrs. */
#include "common/base/limits.h"
#include "common/time/timebase.h"
#include "lm/csr/csr_internal.h"
#include "lm/instrument/events.h"
#include "lm/instrument/probe.h"
#include "lm/proc/tickbase.h"

#include <string.h>

struct drain {
	struct csrs *csrs;
	struct proc *proc;
	const struct ticks_scale *scale;
};

/* Returns the world rank of the other side, or CALL_PARTNER_X. */
static int64_t partner_of(const struct call_desc *d, const struct ring_call *r)
{
	unsigned k = r->phase == CALL_START ? d->start_partner : d->end_partner;

	return k && k <= r->npar ? r->par[k - 1] : CALL_PARTNER_NONE;
}

static int64_t length_of(const struct call_desc *d, const struct ring_call *r)
{
	unsigned k = r->phase == CALL_START ? d->start_length : d->end_length;

	return k && k <= r->npar ? r->par[k - 1] : 0;
}

/*
 * Tests the partner, and sets par of a matching call: $par1 is its length, $par2 is 0. If only the
 * end of the call shows the partner, they are 0 and 1. Returns false for another partner.
 */
static bool filter(const struct csr *c, const struct ring_call *r, int64_t par[2])
{
	const struct call_desc *d = call_get(r->func);
	int64_t partner = partner_of(d, r);
	bool may_come = r->phase == CALL_START && partner == CALL_PARTNER_UNKNOWN;

	par[0] = length_of(d, r);
	par[1] = may_come && c->npartner;
	if (may_come)
		par[0] = 0;
	return !c->npartner || may_come || csr_has_partner(c, partner);
}

static bool is_meant(const struct csr *c, const struct proc *p, const struct ring_call *r)
{
	if (c->func != r->func || c->phase != (enum call_phase)r->phase)
		return false;
	return csr_is_for_thread(c, p, proc_find_tid(p, (int32_t)r->tid));
}

/*
 * Converts to system time. A record of the future, from another core's clock or forged, gets the
 * time now.
 */
static nsec_t time_of(const struct drain *d, const struct ring_call *r)
{
	const struct csrs_conf *conf = &d->csrs->conf;
	uint64_t now = tickbase_now(conf->ticks, d->proc->own.tick_source);

	return timebase_at(conf->timebase,
			   ticks_to_nsec(d->scale, r->ticks < now ? r->ticks : now));
}

static void fire(struct csr *c, const struct csr_site *s, const struct drain *d,
		 const struct ring_call *r)
{
	bool skip[CSR_ACTIONS_MAX] = { false };
	struct happening h = { .proc = d->proc,
			       .thread = proc_find_tid(d->proc, (int32_t)r->tid),
			       .time = time_of(d, r),
			       .par = r->par,
			       .npar = r->npar,
			       .has_result = r->phase == CALL_END && r->npar > 1,
			       .skip = skip };
	int64_t par[2];

	for (size_t i = 0; i < c->prefix; i++)
		skip[i] = s->entry[i] >= 0;
	if (c->is_patop) {
		if (!filter(c, r, par))
			return;
		h.par = par;
		h.npar = r->phase == CALL_START ? 2 : 1;
		h.has_result = false;
	}
	csr_fire(c, &h);
}

static void on_record(void *arg, const struct ring_call *r)
{
	const struct drain *d = arg;

	list_each_safe (i, &d->csrs->all) {
		struct csr *c = list_entry(i, struct csr, link);
		struct csr_site *s = is_meant(c, d->proc, r) ? csr_find_site(c, d->proc) : NULL;

		if (s && s->records)
			fire(c, s, d, r);
	}
	list_each_safe (i, &d->proc->followers) {
		struct csr_site *s = list_entry(i, struct csr_site, following);

		csr_ops(s->csr)->site->on_call(s, r);
	}
}

static void on_event(void *arg, const struct segview_event *e)
{
	const struct drain *d = arg;

	events_count(d->proc, e->number);
	list_each_safe (i, &d->proc->followers) {
		struct csr_site *s = list_entry(i, struct csr_site, following);

		csr_ops(s->csr)->site->on_event(s, e);
	}
}

static void on_hit(void *arg, const struct segview_hit *h)
{
	const struct drain *d = arg;

	probes_on_hit(d->csrs->conf.probes, d->proc, h);
}

static void on_taken(void *arg)
{
	const struct drain *d = arg;

	list_each (i, &d->proc->followers) {
		struct csr_site *s = list_entry(i, struct csr_site, following);

		csr_ops(s->csr)->site->on_taken(s, d->csrs->ring_thread);
	}
}

/*
 * Reports lost events of a full ring to each csr that may have had one: which one is unknown.
 */
static void note_drops(struct csrs *s, struct proc *p, uint64_t dropped)
{
	list_each (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);
		struct csr_site *site = csr_find_site(c, p);

		if (!site || !site->records || csr_ops(c)->has_blocks ||
		    dropped <= site->ring_dropped)
			continue;
		csr_lose(c, dropped - site->ring_dropped);
		site->ring_dropped = dropped;
	}
}

static bool has_records(const struct csrs *s, const struct proc *p)
{
	if (probes_wants(p))
		return true;
	list_each (i, &s->all) {
		const struct csr_site *site = csr_find_site(list_entry(i, struct csr, link), p);

		if (site && site->records)
			return true;
	}
	return false;
}

bool csrs_drain(struct csrs *s, struct proc *p, unsigned max)
{
	bool has_more = false;
	struct drain d = { .csrs = s, .proc = p };
	struct segview_thread t;
	uint64_t dropped = 0;

	if (!p->seg)
		return false;
	d.scale = tickbase_scale(s->conf.ticks, p->own.tick_source);
	for (unsigned i = 0; i < segview_threads(p->seg); i++) {
		int n;

		if (segview_thread(p->seg, i, &t) || !t.tid)
			continue;
		s->ring_thread = i;
		s->ring_tid = t.tid;
		n = segview_take(p->seg, i, max,
				 &(struct segview_taker){ .on_call = on_record,
							  .on_hit = on_hit,
							  .on_event = on_event,
							  .on_taken = on_taken,
							  .place = &s->ring_place,
							  .arg = &d });
		if (n == -ERR_PROTO) {
			s->ring_place = 0;
			procs_detach(p, "an event ring is invalid");
			s->conf.corrupt(s->conf.arg, p, "an event ring is invalid");
			return false;
		}
		has_more |= n >= 0 && (unsigned)n == max;
		dropped += t.ring_dropped;
	}
	s->ring_place = 0;
	note_drops(s, p, dropped);
	return has_more;
}

void csr_drain(struct csr *c)
{
	list_each_safe (i, &c->sites)
		csrs_drain(c->owner, list_entry(i, struct csr_site, link)->proc, CSRS_ALL);
}

void csrs_arm_poll(struct csrs *s)
{
	bool wanted = probes_wants_any(s->conf.probes);

	list_each (i, &s->all)
		list_each (k, &list_entry(i, struct csr, link)->sites)
			wanted |= list_entry(k, struct csr_site, link)->records;
	if (!wanted)
		loop_timer_cancel(s->poll);
	else if (!loop_timer_is_armed(s->poll))
		loop_timer_arm(s->poll, CSRS_POLL_NS);
}

static void poll_events(struct csrs *s)
{
	nsec_t now = loop_now(s->conf.loop);

	list_each_safe (i, &s->all) {
		struct csr *c = list_entry(i, struct csr, link);

		const struct site_ops *site = csr_ops(c)->site;

		if (!site || !site->on_poll)
			continue;
		list_each_safe (k, &c->sites)
			site->on_poll(list_entry(k, struct csr_site, link), now);
	}
}

/*
 * True if events of p are stored in blocks: then the ring is always emptied, since events without
 * room in it are lost.
 */
static bool is_followed(const struct proc *p)
{
	return !list_is_empty(&p->followers);
}

void csrs_on_poll(void *arg)
{
	struct csrs *s = arg;
	bool has_more = false;

	list_each_safe (i, procs_all(s->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->seg && has_records(s, p))
			has_more |= csrs_drain(s, p, CSRS_RECORDS_MAX) && is_followed(p);
	}
	poll_events(s);
	csrs_arm_poll(s);
	if (has_more && loop_timer_is_armed(s->poll)) /* the loop has its turn in between */
		loop_timer_arm(s->poll, 0);
}
