/* SPDX-License-Identifier: Apache-2.0 */
/* Requested events in one process, and their blocks. */
#include "lm/record/record.h"

#include "lm/record/recorder.h"
#include "lm/record/record_types.h"
#include "common/base/rng.h"
#include "common/time/timebase.h"
#include "eventlog/evbytes.h"
#include "eventlog/evwhere.h"
#include "eventlog/evwrite.h"
#include "lm/instrument/events.h"
#include "lm/proc/hooks.h"
#include "lm/instrument/probe.h"
#include "lm/proc/tickbase.h"

#include <stdlib.h>
#include <string.h>

/* Numbers that types have in all our blocks: events, then probes, then calls by function and
 * phase. */
#define FIRST_EVENT 1
#define FIRST_PROBE (FIRST_EVENT + SEG_EVENTS)
#define FIRST_CALL (FIRST_PROBE + SEG_PROBES)
#define NUMBERS (FIRST_CALL + 2 * SEG_HOOKS)

/* A type that is requested in one process. */
struct asked {
	struct events_site *site;
	unsigned number;
	const struct evtype *type; /* `own`, or of events.c */
	struct evtype *own; /* owned */
	struct evtests tests;
	size_t bytes; /* size of its values; 0: not fixed */
	uint64_t lost; /* as seen last */
	struct probe_interest *interest;
};

/* The stream of one thread. */
struct stream {
	uint32_t tid;
	struct evwrite w;
	nsec_t since; /* the first record of the block that is filled */
	struct ring_cursor *row; /* NULL: no stored cursor */
	bool is_dirty; /* the row does not have its last record yet */
	uint64_t lost; /* losses in its blocks, of those that the segment counts */
	uint8_t said[NUMBERS / 8 + 1]; /* types that are described in this block */
};

struct events_site {
	struct csr_site *site;
	struct events_site *before; /* the site that it replaces, during its creation; NULL: none */
	struct asked *asked[NUMBERS]; /* owned */
	unsigned nlooked; /* types of events that were examined */
	struct stream **stream; /* owned, by block of the segment */
	unsigned nstream;
	uint64_t lost; /* losses that no block has counted yet, in the segment's counting */
	uint64_t failed; /* likewise, events without memory or with invalid data */
	bool is_refused; /* without room: events are counted only */
	bool is_closed; /* replaced: further events belong to the replacement */
};

static struct events_site *own(const struct csr_site *s)
{
	return s->own;
}

/* --- requested events of a process */

static const struct ticks_scale *scale_of(const struct events_site *es)
{
	return tickbase_scale(es->site->csr->owner->conf.ticks, es->site->proc->own.tick_source);
}

static uint64_t lost_of(const struct events_site *es, unsigned number)
{
	const struct segview *seg = es->site->proc->seg;

	if (number < FIRST_PROBE)
		return segview_event_lost(seg, number - FIRST_EVENT);
	if (number < FIRST_CALL)
		return segview_probe_dropped(seg, number - FIRST_PROBE);
	return segview_call_dropped(seg, (number - FIRST_CALL) / 2);
}

/*
 * Losses that the replaced site has reported are not reported again, and losses in between are
 * kept.
 */
static uint64_t lost_so_far(const struct events_site *es, unsigned number)
{
	const struct asked *a = es->before ? es->before->asked[number] : NULL;

	return a ? a->lost : lost_of(es, number);
}

/* Consumes own. Returns NULL if it is not requested (or there is no memory: *rc). */
static struct asked *ask(struct events_site *es, unsigned number, const struct evtype *type,
			 struct evtype *own, int *rc)
{
	struct asked *a = NULL;
	struct evtests tests;

	if (!type) {
		*rc = -ERR_NOMEM;
	} else if (evwhere_bind(record_where(es->site->csr), type, &tests)) {
		a = calloc(1, sizeof(*a));
		if (!a)
			*rc = -ERR_NOMEM;
	}
	if (!a) {
		free(own);
		return NULL;
	}
	*a = (struct asked){ .site = es,
			     .number = number,
			     .type = type,
			     .own = own,
			     .tests = tests,
			     .bytes = evtype_fixed_bytes(type) };
	a->lost = lost_so_far(es, number);
	es->asked[number] = a;
	return a;
}

static int ask_call(struct events_site *es, unsigned func, enum call_phase phase)
{
	const struct call_desc *d = call_get(func);
	struct evtype *t;
	int rc = 0;

	t = record_type_of_call(d, phase);
	if (!t || record_names(es->site->csr, t->name) || record_names(es->site->csr, d->name))
		ask(es, FIRST_CALL + 2 * func + phase, t, t, &rc);
	else
		free(t);
	return rc;
}

static int ask_calls(struct events_site *es)
{
	struct csr_site *s = es->site;
	int rc = 0;

	for (unsigned i = 0; !rc && i < segview_funcs(s->proc->seg); i++) {
		uint32_t bits = 0;

		for (int phase = CALL_START; !rc && phase <= CALL_END; phase++) {
			rc = ask_call(es, i, (enum call_phase)phase);
			if (es->asked[FIRST_CALL + 2 * i + (unsigned)phase])
				bits |= phase == CALL_START ? HOOK_EVENT_START : HOOK_EVENT_END;
		}
		if (!rc && bits) {
			rc = hooks_add_interest(s->proc, HOOKS_CSR(s->csr->number), (int)i, bits,
						0);
			hooks_apply(s->proc, (int)i);
		}
	}
	return rc;
}

static void on_hit(void *arg, const struct probe_hit *h);

static int ask_probe(struct events_site *es, unsigned number)
{
	struct csr_site *s = es->site;
	const struct seg_probe *p = segview_probe(s->proc->seg, number);
	struct evtype *t;
	struct asked *a;
	int rc = 0;

	if (!p || !record_names(s->csr, p->name))
		return 0;
	t = record_type_of_probe(p);
	a = ask(es, FIRST_PROBE + number, t, t, &rc);
	if (!a)
		return rc;
	rc = probes_add_interest(
		s->csr->owner->conf.probes, s->proc,
		&(struct probe_ask){ .probe = p->name, .on_hit = on_hit, .arg = a }, &a->interest);
	return rc == -ERR_NOTFOUND ? 0 : rc; /* same name as another process's type */
}

/*
 * In the program a refused event has no record; a call or a probe still has one, which is counted
 * here.
 */
static void set_interest(const struct events_site *es, unsigned number, bool is_refused, int change)
{
	struct proc *p = es->site->proc;

	if (is_refused)
		events_refuse(p, number - FIRST_EVENT, change);
	else
		events_add_interest(p, number - FIRST_EVENT, change);
}

/* Switches on the types of events that the process has announced since the last call. */
static int ask_events(struct events_site *es)
{
	struct proc *p = es->site->proc;
	unsigned n = events_poll(p), first = es->nlooked;
	int rc = 0;

	for (; !rc && es->nlooked < n; es->nlooked++) {
		const struct evtype *t = events_type(p, es->nlooked);

		if (t && record_names(es->site->csr, t->name) &&
		    ask(es, FIRST_EVENT + es->nlooked, t, NULL, &rc))
			set_interest(es, FIRST_EVENT + es->nlooked, es->is_refused, 1);
	}
	if (first < es->nlooked)
		events_notify(p);
	return rc;
}

/* Matches the sums of note_lost(): a call's counter covers both of its events. */
static bool is_counted(const struct events_site *es, unsigned i)
{
	return es->asked[i] &&
	       !(i >= FIRST_CALL && (i - FIRST_CALL) % 2 == CALL_END && es->asked[i - 1]);
}

/* Losses are counted in the next block, of any thread: the thread that lost them is unknown. */
static void note_lost(struct events_site *es)
{
	for (unsigned i = 0; es->site->proc->seg && i < NUMBERS; i++) {
		struct asked *a = es->asked[i];
		uint64_t lost = a ? lost_of(es, i) : 0;

		if (!is_counted(es, i))
			continue;
		es->lost += lost > a->lost ? lost - a->lost : 0;
		a->lost = lost;
	}
}

static uint64_t lost_in_all(const struct events_site *es)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < NUMBERS; i++)
		sum += is_counted(es, i) ? es->asked[i]->lost : 0;
	return sum;
}

/* Sets the number of losses that an earlier lm has reported: this lm reports later ones. */
static void count_from(struct events_site *es, struct ring_cursors *rows,
		       const struct events_site *before, bool goes_on)
{
	uint64_t segment = es->site->proc->seg_key, sum = lost_in_all(es),
		 reported = ring_cursors_lost(rows, segment);

	if (goes_on && !before)
		es->lost += sum > reported ? sum - reported : 0;
	else
		ring_cursors_set_lost(rows, segment, sum - (before ? before->lost : 0));
}

static int ask_all(struct events_site *es)
{
	struct csr_site *s = es->site;
	int rc = ask_events(es);

	rc = rc ? rc : ask_calls(es);
	/*
	 * Adding an interest reads the ring, so events are first. An invalid ring removes the site.
	 */
	for (unsigned i = 0; !rc && i < SEG_COLLECTIVE_FIRST; i++) {
		rc = ask_probe(es, i);
		if (csr_find_site(s->csr, s->proc) != s || !s->proc->seg)
			return 0;
	}
	es->before = NULL;
	return rc;
}

static int watch(struct csr_site *s, uint32_t bits)
{
	struct events_site *es = calloc(1, sizeof(*es)), *before;
	struct ring_cursors *rows = recorder_cursors(s->csr);
	bool goes_on = recorder_knows(s->csr, s->proc);
	int rc;

	if (!es)
		return -ERR_NOMEM;
	s->own = es;
	es->is_refused = record_keep(s->csr) && keep_is_full(record_keep(s->csr));
	list_push_back(&s->proc->followers, &s->following);
	es->site = s;
	es->nstream = segview_threads(s->proc->seg);
	es->stream = calloc(es->nstream, sizeof(struct stream *));
	if (!es->stream)
		return -ERR_NOMEM;
	before = es->before = recorder_site_before(s);
	if (before) {
		note_lost(before);
		before->is_closed = true;
	}
	rc = ask_all(es);
	if (rows && s->proc->seg && csr_find_site(s->csr, s->proc) == s)
		count_from(es, rows, before, goes_on);
	return rc;
}

void record_refuse(struct csr_site *s, bool is_refused)
{
	struct events_site *es = own(s);

	if (!es || es->is_refused == is_refused)
		return;
	es->is_refused = is_refused;
	for (unsigned i = FIRST_EVENT; i < FIRST_PROBE; i++) {
		if (!es->asked[i])
			continue;
		set_interest(es, i, is_refused, 1);
		set_interest(es, i, !is_refused, -1);
	}
	events_notify(s->proc);
}

/* --- blocks */

static void fire(struct events_site *es, const uint8_t *block, size_t n)
{
	struct csr_site *s = es->site;
	const struct csrs_conf *conf = &s->csr->owner->conf;

	if (record_keep(s->csr)) {
		recorder_append(record_keep(s->csr), block);
		return;
	}
	csr_fire(s->csr,
		 &(struct happening){ .proc = s->proc,
				      .time = timebase_at(conf->timebase, loop_now(conf->loop)),
				      .own_name = "block",
				      .own_bytes = block,
				      .own_nbytes = n,
				      .never_holds = true });
}

/*
 * Saves the cursor before the block is passed on: events before it are stored or in the spool,
 * whenever the lm is killed.
 */
static void remember(struct stream *st, uint64_t place)
{
	struct ring_cursor_state s;

	if (!st->row)
		return;
	ring_cursor_get(st->row, &s);
	s.place = place > s.place ? place : s.place;
	s.events = st->w.head.first + st->w.head.events;
	s.dropped = st->w.head.dropped;
	s.lost = st->lost;
	ring_cursor_set(st->row, &s);
	st->is_dirty = false;
}

static void cut(struct events_site *es, struct stream *st, bool is_last)
{
	evwrite_dropped(&st->w, es->lost + es->failed);
	st->lost += es->lost;
	es->lost = es->failed = 0;
	evwrite_cut(&st->w, is_last, NULL); /* without memory: with the next record */
	remember(st, es->site->csr->owner->ring_place);
	if (st->w.out.n)
		fire(es, st->w.out.p, st->w.out.n);
	buf_clear(&st->w.out);
}

/* Each block can be read alone: a lost one does not affect the others. */
static void begin_block(struct events_site *es, struct stream *st)
{
	const struct csrs_conf *conf = &es->site->csr->owner->conf;
	struct ticks_scale scale = *scale_of(es);

	memset(st->said, 0, sizeof(st->said));
	st->since = loop_now(conf->loop);
	scale.base_ns = record_time(es->site->csr, scale.base_ns);
	record_describe_stream(&st->w, es->site->proc, recorder_of(es->site->csr)->host_name,
			       st->tid);
	evwrite_clock(&st->w, &scale, NULL);
}

static struct stream *stream_of(struct events_site *es, unsigned thread, uint32_t tid)
{
	struct stream *st = es->stream[thread];
	uint64_t id;

	if (st && st->tid == tid)
		return st;
	if (!st)
		st = es->stream[thread] = calloc(1, sizeof(*st));
	else
		cut(es, st, true); /* another thread has the block of the old one */
	if (!st || rng_fill_random(&id, sizeof(id), NULL))
		return NULL;
	evwrite_done(&st->w);
	evwrite_init(&st->w, id, false, 0);
	st->tid = tid;
	st->lost = 0;
	st->row = recorder_cursor(es->site, thread, id);
	return st;
}

static void add(struct asked *a, uint64_t ticks, const void *values, size_t n)
{
	struct events_site *es = a->site;
	struct csrs *s = es->site->csr->owner;
	struct stream *st;

	if (es->is_closed || (a->tests.n && !evtests_pass(&a->tests, a->type, values, n)))
		return;
	st = stream_of(es, s->ring_thread, s->ring_tid);
	if (!st) {
		es->failed++;
		return;
	}
	st->is_dirty = true;
	if (es->is_refused) {
		evwrite_dropped(&st->w, 1);
		return;
	}
	if (!st->w.body.n)
		begin_block(es, st);
	if (!(st->said[a->number / 8] >> a->number % 8 & 1) &&
	    !evwrite_define(&st->w, a->number, a->type, NULL))
		st->said[a->number / 8] |= (uint8_t)(1 << a->number % 8);
	if (evwrite_record(&st->w, a->number, ticks, bytes_at(values, n), NULL))
		es->failed++;
	if (st->w.body.n >= (record_keep(es->site->csr) ? EVENTS_KEPT_BYTES : EVENTS_BLOCK_BYTES))
		cut(es, st, false);
}

static void on_call(struct csr_site *s, const struct ring_call *r)
{
	struct asked *a = own(s)->asked[FIRST_CALL + 2u * r->func + r->phase];

	if (a)
		add(a, r->ticks, r->par, r->npar * sizeof(r->par[0]));
}

static void on_hit(void *arg, const struct probe_hit *h)
{
	struct asked *a = arg;

	add(a, h->ticks, h->par, h->npar * sizeof(h->par[0]));
}

static void on_event(struct csr_site *s, const struct segview_event *e)
{
	struct asked *a = own(s)->asked[FIRST_EVENT + e->number];

	if (!a)
		return;
	if (a->bytes ? ev_is_padded(a->bytes, e->n) : evtype_fits_values(a->type, e->value, e->n))
		add(a, e->ticks, e->value, e->n);
	else
		own(s)->failed++; /* the program has overwritten its own memory */
}

static void on_taken(struct csr_site *s, unsigned thread)
{
	struct stream *st = own(s)->stream[thread];

	if (st && st->is_dirty)
		remember(st, s->csr->owner->ring_place);
}

static void on_poll(struct csr_site *s, nsec_t now)
{
	struct events_site *es = own(s);

	recorder_save_again(s->csr, now);
	if (s->proc->seg && segview_event_count(s->proc->seg) > es->nlooked)
		ask_events(es);
	for (unsigned i = 0; i < es->nstream; i++) {
		struct stream *st = es->stream[i];

		if (!st || !st->w.body.n || now - st->since < EVENTS_CUT_NS)
			continue;
		note_lost(es);
		cut(es, st, false);
	}
}

/* --- the end */

static void finish(struct events_site *es)
{
	if (!es->is_closed)
		note_lost(es);
	/* Losses without a later event are reported, too. */
	if (es->lost + es->failed && es->nstream && !es->stream[0])
		stream_of(es, 0, 0);
	for (unsigned i = 0; i < es->nstream; i++)
		if (es->stream[i])
			cut(es, es->stream[i], true);
}

static void forget(struct events_site *es, struct asked *a)
{
	if (a->number < FIRST_PROBE)
		set_interest(es, a->number, es->is_refused, -1);
	else if (a->number < FIRST_CALL)
		probes_drop_interest(&a->interest);
	free(a->own);
	free(a);
}

static void end(struct csr_site *s)
{
	struct events_site *es = own(s);

	s->own = NULL;
	list_del(&s->following);
	if (es->stream)
		finish(es);
	for (unsigned i = 0; i < NUMBERS; i++)
		if (es->asked[i])
			forget(es, es->asked[i]);
	events_notify(s->proc);
	for (unsigned i = 0; es->stream && i < es->nstream; i++) {
		if (es->stream[i])
			evwrite_done(&es->stream[i]->w);
		free(es->stream[i]);
	}
	free(es->stream);
	free(es);
}

static void unwatch(struct csr_site *s)
{
	if (own(s))
		end(s);
	if (hooks_drop_interests(s->proc, HOOKS_CSR(s->csr->number)))
		hooks_apply(s->proc, HOOKS_ALL);
}

static bool find(struct csr_site *s)
{
	return true;
}

const struct site_ops record_site = { .find = find,
				      .watch = watch,
				      .unwatch = unwatch,
				      .goes_on = recorder_goes_on,
				      .on_call = on_call,
				      .on_event = on_event,
				      .on_taken = on_taken,
				      .on_poll = on_poll };
