/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/sim/plant.h"

#include "common/store/store.h"
#include "common/flow/engine/flow_internal.h"
#include "common/net/chan.h"
#include "common/ring/ring.h"
#include "common/time/timebase.h"
#include "eventlog/evwrite.h"

#include <string.h>

static enum plant planted;
static unsigned chances;

int __real_ring_take(const struct ring *r, unsigned max, const struct ring_taker *t);
int __wrap_ring_take(const struct ring *r, unsigned max, const struct ring_taker *t);

void plant_set(enum plant p)
{
	planted = p;
	chances = 0;
}

int plant_shows(enum plant p, unsigned n)
{
	return planted == p && ++chances % n == 0;
}

struct swapping {
	const struct ring_taker *to;
	union ring_record first;
	int has_first;
};

static void put_aside(void *arg, const struct ring_call *c)
{
	struct swapping *w = arg;

	if (!w->has_first) {
		memcpy(&w->first, c, sizeof(*c) + c->npar * sizeof(int64_t));
		w->has_first = 1;
		return;
	}
	w->to->on_call(w->to->arg, c);
	w->to->on_call(w->to->arg, &w->first.call);
	w->has_first = 0;
}

static void pass_probe(void *arg, const struct ring_probe *p)
{
	const struct swapping *w = arg;

	w->to->on_probe(w->to->arg, p);
}

static void pass_event(void *arg, unsigned number, const struct ring_event *e, uint32_t n)
{
	const struct swapping *w = arg;

	w->to->on_event(w->to->arg, number, e, n);
}

static void pass_taken(void *arg)
{
	const struct swapping *w = arg;

	w->to->on_taken(w->to->arg);
}

int __wrap_ring_take(const struct ring *r, unsigned max, const struct ring_taker *t)
{
	struct swapping w = { .to = t };
	const struct ring_taker swapped = { .on_call = put_aside,
					    .on_probe = t->on_probe ? pass_probe : NULL,
					    .on_event = t->on_event ? pass_event : NULL,
					    .on_taken = t->on_taken ? pass_taken : NULL,
					    .place = t->place,
					    .arg = &w };
	int rc;

	if (!plant_shows(PLANT_MISSORTED_TIME, 2))
		return __real_ring_take(r, max, t);
	rc = __real_ring_take(r, max, &swapped);
	if (w.has_first)
		t->on_call(t->arg, &w.first.call);
	return rc;
}

int __real_store_write(struct store *s, const struct buf *body, struct err *e);
int __wrap_store_write(struct store *s, const struct buf *body, struct err *e);

int __wrap_store_write(struct store *s, const struct buf *body, struct err *e)
{
	const struct store_kind *is = s->kind;
	struct store_kind unsynced = *is;
	int rc;

	unsynced.ends_with_boot = true;
	if (strstr(s->path, "/tokens") && plant_shows(PLANT_FORGOTTEN_SYNC, 1))
		s->kind = &unsynced;
	rc = __real_store_write(s, body, e);
	s->kind = is;
	return rc;
}

void __real_chan_set_cap(struct chan *c, size_t bytes);
void __wrap_chan_set_cap(struct chan *c, size_t bytes);

void __wrap_chan_set_cap(struct chan *c, size_t bytes)
{
	__real_chan_set_cap(c, plant_shows(PLANT_UNBOUNDED_QUEUE, 1) ? SIZE_MAX : bytes);
}

nsec_t __real_timebase_error(const struct timebase *t, nsec_t local_now);
nsec_t __wrap_timebase_error(const struct timebase *t, nsec_t local_now);

nsec_t __wrap_timebase_error(const struct timebase *t, nsec_t local_now)
{
	nsec_t error = __real_timebase_error(t, local_now);

	return error != TIMEBASE_UNKNOWN_NS && plant_shows(PLANT_BOLD_CLOCK, 1) ? error / 10
										: error;
}

void __real_evwrite_dropped(struct evwrite *w, uint64_t n);
void __wrap_evwrite_dropped(struct evwrite *w, uint64_t n);

void __wrap_evwrite_dropped(struct evwrite *w, uint64_t n)
{
	__real_evwrite_dropped(w, n && plant_shows(PLANT_COUNTED_TWICE, 10) ? 2 * n : n);
}

/* --- faults in measurements */

void __real_partial_fold(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
			 enum partial_over over);
void __wrap_partial_fold(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
			 enum partial_over over);

/* An object that WHERE has left out contributes. */
void __wrap_partial_fold(struct flow_partial *p, const struct flow_token *t, const struct agg *a,
			 enum partial_over over)
{
	struct flow_token empty = *t;

	if (!flow_token_has_value(t) && plant_shows(PLANT_EMPTY_CONTRIBUTOR, 1))
		empty.flags |= FLOW_EXCLUDED;
	__real_partial_fold(p, &empty, a, over);
}

int __real_flow_take(struct flow *f, const struct flow_batch *b, struct err *e);
int __wrap_flow_take(struct flow *f, const struct flow_batch *b, struct err *e);

int __wrap_flow_take(struct flow *f, const struct flow_batch *b, struct err *e)
{
	const struct fmeas *m = flow_meas(f, b->measurement);
	uintptr_t place = m ? (uintptr_t)smap_find(&m->link, b->link) : 0;

	if (place && plant_shows(PLANT_DOUBLED_BATCH, 1))
		f->node[place - 1].batch_seen = 0;
	return __real_flow_take(f, b, e);
}

void __real_reads_take(struct fnode *n, int64_t last_read, const struct flow_batch *b);
void __wrap_reads_take(struct fnode *n, int64_t last_read, const struct flow_batch *b);

void __wrap_reads_take(struct fnode *n, int64_t last_read, const struct flow_batch *b)
{
	struct flow_token *t = &n->reads.part[(last_read + 1) % FLOW_READS_OPEN].t;

	__real_reads_take(n, last_read, b);
	if (b->n && b->read <= last_read && t->flags & FLOW_LATE &&
	    plant_shows(PLANT_LATE_CONTRIBUTOR, 1))
		t->k = b->t[0].k;
}
