/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/instrument/probe.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/time/timebase.h"
#include "lm/proc/tickbase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct probes {
	struct probes_conf conf;
	struct probes_ring ring;
	size_t nrecord; /* interests in records */
};

/* One probe of one process, while there is an interest in it. */
struct probe_site {
	struct list link; /* proc_probes.sites */
	struct proc *proc;
	unsigned number;
	struct list interests;
};

struct probe_interest {
	struct list link; /* probe_site.interests */
	struct probes *owner;
	struct probe_site *site;
	struct probe_interest **out;
	bool records, actions;
	void (*on_hit)(void *arg, const struct probe_hit *h);
	void *arg;
	unsigned nread;
	uint8_t slot[SEG_READS], kind[SEG_READS];
};

/* Probes of a process with interests; struct proc points to it. */
struct proc_probes {
	struct list sites;
	struct probe_site *by_number[SEG_PROBES];
	size_t nrecord;
};

struct probes *probes_new(const struct probes_conf *c)
{
	struct probes *s = calloc(1, sizeof(*s));

	if (s)
		s->conf = *c;
	return s;
}

void probes_free(struct probes *s)
{
	free(s);
}

void probes_set_ring(struct probes *s, const struct probes_ring *r)
{
	s->ring = *r;
}

bool probes_wants(const struct proc *p)
{
	return p->probes && p->probes->nrecord;
}

bool probes_wants_any(const struct probes *s)
{
	return s->nrecord != 0;
}

/* --- interests */

static void site_apply(const struct probe_site *site)
{
	uint32_t word = 0;

	list_each (i, &site->interests) {
		const struct probe_interest *w = list_entry(i, struct probe_interest, link);

		word |= (w->records ? PROBE_RECORD : 0) | (w->actions ? PROBE_ACTION : 0);
	}
	if (site->proc->seg)
		segview_probe_set(site->proc->seg, site->number, word);
}

static struct proc_probes *probes_of(struct proc *p)
{
	if (!p->probes) {
		p->probes = calloc(1, sizeof(*p->probes));
		if (p->probes)
			list_init(&p->probes->sites);
	}
	return p->probes;
}

static void forget_empty(struct proc *p)
{
	if (!p->probes || !list_is_empty(&p->probes->sites))
		return;
	free(p->probes);
	p->probes = NULL;
}

static struct probe_site *site_of(struct proc *p, unsigned number)
{
	struct proc_probes *all = probes_of(p);
	struct probe_site *site;

	if (!all || all->by_number[number])
		return all ? all->by_number[number] : NULL;
	site = calloc(1, sizeof(*site));
	if (!site) {
		forget_empty(p);
		return NULL;
	}
	site->proc = p;
	site->number = number;
	list_init(&site->interests);
	list_push_back(&all->sites, &site->link);
	all->by_number[number] = site;
	return site;
}

static void site_free_unused(struct probe_site *site)
{
	struct proc *p = site->proc;

	if (!list_is_empty(&site->interests))
		return;
	p->probes->by_number[site->number] = NULL;
	list_del(&site->link);
	free(site);
	forget_empty(p);
}

static void del_reads(struct probe_interest *w)
{
	struct proc *p = w->site->proc;

	for (unsigned i = 0; p->seg && i < w->nread; i++)
		segview_read_del(p->seg, w->site->number, w->slot[i]);
	w->nread = 0;
}

static int add_reads(struct probe_interest *w, const struct probe_ask *ask)
{
	unsigned slot;
	int rc;

	for (size_t i = 0; i < ask->nread; i++) {
		const struct probe_read *r = &ask->read[i];
		struct segview_read want = { r->kind, r->cell,
					     r->func, (unsigned)r->nfunc,
					     r->rank, (unsigned)r->nrank };

		rc = segview_read_add(w->site->proc->seg, w->site->number, &want, &slot);
		if (rc) {
			del_reads(w);
			return rc;
		}
		w->slot[w->nread] = (uint8_t)slot;
		w->kind[w->nread++] = (uint8_t)r->kind;
	}
	return 0;
}

static void count_records(struct probe_interest *w, int change)
{
	struct probes *s = w->owner;
	bool had = probes_wants_any(s);

	if (!w->records)
		return;
	s->nrecord += (size_t)change;
	w->site->proc->probes->nrecord += (size_t)change;
	if (had != probes_wants_any(s) && s->ring.changed)
		s->ring.changed(s->ring.arg);
}

static int set_interest(struct probes *s, struct probe_site *site, const struct probe_ask *ask,
			struct probe_interest **out)
{
	struct probe_interest *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return -ERR_NOMEM;
	*w = (struct probe_interest){ .owner = s,
				      .site = site,
				      .out = out,
				      .records = !ask->no_records,
				      .actions = ask->actions,
				      .on_hit = ask->on_hit,
				      .arg = ask->arg };
	rc = add_reads(w, ask);
	if (rc) {
		free(w);
		return rc;
	}
	list_push_back(&site->interests, &w->link);
	*out = w;
	count_records(w, 1);
	site_apply(site);
	return 0;
}

int probes_add_interest(struct probes *s, struct proc *p, const struct probe_ask *ask,
			struct probe_interest **out)
{
	struct probe_site *site;
	int number, rc;

	if (ask->nread > SEG_READS)
		return -ERR_LIMIT;
	if (p->seg && !ask->no_records && s->ring.drain)
		s->ring.drain(s->ring.arg, p);
	number = p->seg ? segview_probe_find(p->seg, ask->probe) : -1;
	if (number < 0)
		return -ERR_NOTFOUND;
	site = site_of(p, (unsigned)number);
	if (!site)
		return -ERR_NOMEM;
	rc = set_interest(s, site, ask, out);
	site_free_unused(site);
	return rc;
}

void probes_drop_interest(struct probe_interest **take)
{
	struct probe_interest *w = *take;

	if (!w)
		return;
	*w->out = NULL;
	*take = NULL;
	list_del(&w->link);
	del_reads(w);
	count_records(w, -1);
	site_apply(w->site);
	site_free_unused(w->site);
	free(w);
}

static struct probe_interest *any_interest(const struct proc *p)
{
	struct probe_site *site;

	if (!p->probes)
		return NULL;
	site = list_entry(list_first(&p->probes->sites), struct probe_site, link);
	return list_entry(list_first(&site->interests), struct probe_interest, link);
}

void probes_leave(struct probes *s, struct proc *p)
{
	struct probe_interest *w;

	while ((w = any_interest(p)) != NULL)
		probes_drop_interest(&w);
}

void probes_drain(struct probes *s)
{
	list_each_safe (i, procs_all(s->conf.procs)) {
		struct proc *p = list_entry(i, struct proc, link);

		if (p->seg && probes_wants(p))
			s->ring.drain(s->ring.arg, p);
	}
}

/* --- reports */

static double figure(unsigned kind, union seg_value v, double seconds_per_tick)
{
	switch (kind) {
	case SEG_READ_COUNTER:
		return (double)v.i;
	case SEG_READ_INTEGRATOR:
		return v.f * seconds_per_tick;
	case SEG_READ_DELAY:
	case SEG_READ_PARTNER_DELAY:
		return (double)v.u * seconds_per_tick;
	default:
		return (double)v.u;
	}
}

static void report(const struct probe_interest *w, const struct segview_hit *h,
		   struct probe_hit *hit, double seconds_per_tick)
{
	double read[SEG_READS];

	for (unsigned i = 0; i < w->nread; i++)
		read[i] = h->mask >> w->slot[i] & 1
				  ? figure(w->kind[i], h->read[w->slot[i]], seconds_per_tick)
				  : NAN;
	hit->read = read;
	hit->nread = w->nread;
	w->on_hit(w->arg, hit);
}

/* A record of the future, from another core's clock or forged, gets the time now. */
static nsec_t local_of(const struct probes *s, const struct proc *p, uint64_t ticks,
		       const struct ticks_scale *scale)
{
	uint64_t now = tickbase_now(s->conf.ticks, p->own.tick_source);

	return ticks_to_nsec(scale, ticks < now ? ticks : now);
}

void probes_on_hit(struct probes *s, struct proc *p, const struct segview_hit *h)
{
	struct probe_site *site = p->probes ? p->probes->by_number[h->probe] : NULL;
	const struct ticks_scale *scale = tickbase_scale(s->conf.ticks, p->own.tick_source);
	double seconds_per_tick = (double)scale->mult / (double)(UINT64_C(1) << scale->shift) / 1e9;
	const struct seg_probe *probe;
	struct probe_hit hit;

	if (!site)
		return;
	probe = segview_probe(p->seg, h->probe);
	hit = (struct probe_hit){ .proc = p,
				  .thread = proc_find_tid(p, (int32_t)h->tid),
				  .probe = probe->name,
				  .ticks = h->ticks,
				  .local = local_of(s, p, h->ticks, scale),
				  .vt = h->par[0].i,
				  .par = h->par,
				  .type = probe->type,
				  .npar = probe->nparam };
	hit.time = timebase_at(s->conf.timebase, hit.local);
	list_each_safe (i, &site->interests) {
		const struct probe_interest *w = list_entry(i, struct probe_interest, link);

		if (w->records)
			report(w, h, &hit, seconds_per_tick);
	}
}
