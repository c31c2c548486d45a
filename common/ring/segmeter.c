/* SPDX-License-Identifier: Apache-2.0 */
/* The lm's functions for meters: counters that a rank adds up by region. */
#include "common/ring/segview_internal.h"

#include <stdlib.h>
#include <string.h>

/* passing a probe takes a microsecond: state that changes so often during a read is invalid */
#define LOOK_TRIES 64

static struct seg_meter *meter_at(const struct segview *v, unsigned number)
{
	return (struct seg_meter *)(void *)(v->base + v->plan.meter_offset) + number;
}

static uint64_t *edges_at(const struct segview *v, unsigned probe)
{
	return (uint64_t *)(void *)(v->base + v->plan.edge_offset) + probe;
}

static const struct seg_metered *metered_at(const struct segview *v, unsigned thread,
					    unsigned number)
{
	return (const struct seg_metered *)(const void *)(segview_block(v, thread) +
							  v->plan.metered_offset) +
	       number;
}

/* --- counters of meters */

static bool make_account(struct segview *v)
{
	if (v->meter)
		return true;
	v->meter = calloc(SEG_METERS, sizeof(*v->meter));
	/* Epochs continue, so that the state of a thread for an earlier lm has another epoch. */
	for (unsigned i = 0; v->meter && i < SEG_METERS; i++)
		v->meter[i].epoch = __atomic_load_n(&meter_at(v, i)->epoch, __ATOMIC_RELAXED);
	return v->meter != NULL;
}

static void write_edge(struct segview *v, unsigned probe)
{
	struct seg_edges e = { 0 };
	uint64_t word;

	for (unsigned i = 0; i < SEG_METERS; i++) {
		const struct seg_metering *m = &v->meter[i];

		e.end |= (uint32_t)(m->refs && m->end == probe) << i;
		e.begin |= (uint32_t)(m->refs && m->begin == probe) << i;
	}
	memcpy(&word, &e, sizeof(word));
	__atomic_store_n(edges_at(v, probe), word, __ATOMIC_RELEASE);
	segview_probe_edge(v, probe, (e.end | e.begin) != 0);
}

static void write_edges(struct segview *v, const struct seg_metering *m)
{
	write_edge(v, m->begin);
	write_edge(v, m->end);
}

static uint64_t quantity(const struct segview_call *c, unsigned kind)
{
	switch (kind) {
	case SEG_READ_CALLS:
		return c->count;
	case SEG_READ_DELAY:
		return c->delay + c->open_delay;
	case SEG_READ_OUT:
		return c->bytes_out;
	default:
		return c->bytes_in;
	}
}

/* --- counters of calls with some partners */

struct partners_sum {
	const struct segview *v;
	const struct seg_read *read;
	uint64_t sum;
};

static bool has_word(const struct segview *v, const struct seg_read *r, unsigned func)
{
	for (unsigned i = r->first; i < (unsigned)r->first + r->count; i++)
		if (v->read_func[i] == func)
			return true;
	return false;
}

static bool has_rank(const struct segview *v, const struct seg_read *r, int32_t rank)
{
	const uint16_t *list = v->read_func + r->first + r->count;

	for (unsigned i = 0; i < r->ranks; i++)
		if (((uint32_t)list[2 * i] | (uint32_t)list[2 * i + 1] << 16) == (uint32_t)rank)
			return true;
	return false;
}

static void on_partner(void *arg, const struct segview_partner *p)
{
	struct partners_sum *s = arg;

	if (p->rank < 0 || !has_rank(s->v, s->read, p->rank) || !has_word(s->v, s->read, p->func))
		return;
	switch (s->read->kind) {
	case SEG_READ_PARTNER_CALLS:
		s->sum += p->count;
		break;
	case SEG_READ_PARTNER_DELAY:
		s->sum += p->delay + p->shared;
		break;
	case SEG_READ_PARTNER_OUT:
		s->sum += p->bytes_out;
		break;
	default:
		s->sum += p->bytes_in;
	}
}

/*
 * Returns the counter of the thread so far, with the current call; without it for counters with
 * partners.
 */
static uint64_t figure_of(const struct segview *v, unsigned thread, const struct seg_read *r,
			  uint64_t now, bool *torn)
{
	struct partners_sum s = { v, r, 0 };
	struct segview_call c;
	uint64_t sum = 0;

	if (SEG_IS_OF_REGION(r->kind))
		return r->kind == SEG_READ_TICKS ? now : 0;
	if (SEG_IS_OF_PARTNERS(r->kind)) {
		segview_partners(v, thread, on_partner, &s);
		return s.sum;
	}
	for (unsigned i = r->first; i < (unsigned)r->first + r->count; i++)
		if (!segview_call(v, thread, v->read_func[i], now, &c)) {
			sum += quantity(&c, r->kind);
			*torn |= c.torn;
		}
	return sum;
}

/*
 * Stores the state at the begin of a meter. A thread may be inside of the region already, even
 * without a call, when it has no block yet. A thread that begins later is uncertain, too, until it
 * passes a probe. Its block does not show its start.
 */
static void note_start(const struct segview *v, struct seg_metering *m, uint64_t now)
{
	struct segview_thread t;
	bool torn = false;

	for (unsigned i = 0; i < v->plan.thread_count; i++) {
		if (segview_thread(v, i, &t))
			continue;
		m->start[i] = (struct seg_metering_start){ .is_in_doubt = true,
							   .generation = t.generation };
		if (t.tid || SEG_IS_OF_REGION(m->read.kind))
			m->start[i].figure = figure_of(v, i, &m->read, now, &torn);
	}
}

static bool is_same(const struct segview *v, const struct seg_metering *m,
		    const struct segview_meter *want)
{
	return m->refs && m->begin == want->begin && m->end == want->end &&
	       segview_same_read(v, &m->read, &want->read);
}

static bool is_fit(const struct segview *v, const struct segview_meter *want)
{
	if (!segview_probe(v, want->begin) || !segview_probe(v, want->end) ||
	    want->read.kind < SEG_READ_CALLS || want->read.kind >= SEG_READ_KINDS)
		return false;
	return SEG_IS_OF_REGION(want->read.kind) ? !want->read.nfunc && !want->read.nrank
						 : segview_read_fits(v, &want->read);
}

static int start(struct segview *v, unsigned at, const struct segview_meter *want, uint64_t now)
{
	struct seg_metering *m = &v->meter[at];
	struct seg_read read = { .kind = (uint8_t)want->read.kind };
	struct seg_meter *to = meter_at(v, at);
	uint64_t word;
	int rc = SEG_IS_OF_REGION(read.kind) ? 0 : segview_list_place(v, &want->read, &read);

	if (rc)
		return rc;
	m->start = calloc(v->plan.thread_count, sizeof(*m->start));
	if (!m->start)
		return -ERR_NOMEM;
	m->read = read;
	m->begin = want->begin;
	m->end = want->end;
	m->refs = 1;
	m->epoch = m->epoch + 1 ? m->epoch + 1 : 1;
	note_start(v, m, now);
	memcpy(&word, &read, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)&to->read, word, __ATOMIC_RELEASE);
	__atomic_store_n(&to->epoch, m->epoch, __ATOMIC_RELEASE);
	write_edges(v, m);
	return 0;
}

int segview_meter_add(struct segview *v, const struct segview_meter *want, uint64_t now,
		      unsigned *number)
{
	unsigned at = SEG_METERS;
	int rc;

	if (!is_fit(v, want))
		return -ERR_INVALID;
	if (!make_account(v) || !segview_reads_account(v))
		return -ERR_NOMEM;
	for (unsigned i = SEG_METERS; i-- > 0;) {
		if (is_same(v, &v->meter[i], want)) {
			v->meter[i].refs++;
			*number = i;
			return 0;
		}
		if (!v->meter[i].refs)
			at = i;
	}
	rc = at == SEG_METERS ? -ERR_LIMIT : start(v, at, want, now);
	if (!rc)
		*number = at;
	return rc;
}

void segview_meter_del(struct segview *v, unsigned number)
{
	struct seg_metering *m = v->meter && number < SEG_METERS ? &v->meter[number] : NULL;

	if (!m || !m->refs || --m->refs)
		return;
	write_edges(v, m);
	free(m->start);
	m->start = NULL;
}

bool segview_meters_use(const struct segview *v, unsigned probe)
{
	for (unsigned i = 0; v->meter && i < SEG_METERS; i++)
		if (v->meter[i].refs && (v->meter[i].begin == probe || v->meter[i].end == probe))
			return true;
	return false;
}

/* --- results */

static void copy(const struct seg_metered *from, struct seg_metered *to)
{
	to->seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);
	to->epoch = __atomic_load_n(&from->epoch, __ATOMIC_ACQUIRE);
	to->state = __atomic_load_n(&from->state, __ATOMIC_ACQUIRE);
	to->has_first_end = __atomic_load_n(&from->has_first_end, __ATOMIC_ACQUIRE);
	to->first_end = __atomic_load_n(&from->first_end, __ATOMIC_ACQUIRE);
	to->sum = __atomic_load_n(&from->sum, __ATOMIC_ACQUIRE);
	to->begin = __atomic_load_n(&from->begin, __ATOMIC_ACQUIRE);
}

struct look {
	struct seg_metered noted;
	uint64_t figure;
};

/*
 * Reads the state of a thread at one moment. Returns false if it was never consistent, or if the
 * thread was killed while writing.
 */
static bool look(const struct segview *v, unsigned thread, unsigned number, uint64_t now,
		 struct look *out)
{
	const struct seg_metered *at = metered_at(v, thread, number);
	bool torn = false;

	for (unsigned i = 0; i < LOOK_TRIES; i++) {
		torn = false;
		copy(at, &out->noted);
		out->figure = figure_of(v, thread, &v->meter[number].read, now, &torn);
		if (!(out->noted.seq & 1) &&
		    __atomic_load_n(&at->seq, __ATOMIC_ACQUIRE) == out->noted.seq)
			return !torn;
	}
	return false;
}

static bool is_in_doubt(const struct segview *v, const struct seg_metering *m, unsigned thread)
{
	struct segview_thread t;

	return m->start[thread].is_in_doubt && !segview_thread(v, thread, &t) &&
	       t.generation == m->start[thread].generation;
}

/* A thread whose first probe is an end was inside of the region when the meter began. */
static void add_thread(const struct segview *v, unsigned thread, unsigned number, uint64_t now,
		       struct segview_metered *out)
{
	const struct seg_metering *m = &v->meter[number];
	bool in_doubt = is_in_doubt(v, m, thread);
	struct look l;
	const struct seg_metered *s = &l.noted;

	if (!look(v, thread, number, now, &l))
		out->torn = true;
	if (s->epoch != m->epoch || s->state == SEG_METERED_UNKNOWN) {
		out->doubt += in_doubt ? l.figure - m->start[thread].figure : 0;
		return;
	}
	out->value += s->sum;
	if (s->state == SEG_METERED_INSIDE)
		out->value += l.figure - s->begin;
	if (s->has_first_end && in_doubt)
		out->value += s->first_end - m->start[thread].figure;
}

int segview_meter_read(const struct segview *v, unsigned number, uint64_t now,
		       struct segview_metered *out)
{
	*out = (struct segview_metered){ 0 };
	if (!v->meter || number >= SEG_METERS || !v->meter[number].refs)
		return -ERR_INVALID;
	for (unsigned i = 0; i < v->plan.thread_count; i++)
		if (__atomic_load_n(&segview_thread_head(v, i)->tid, __ATOMIC_RELAXED))
			add_thread(v, i, number, now, out);
	return 0;
}

const struct seg_read *segview_meters_each(const struct segview *v,
					   bool (*fn)(const struct segview *v,
						      const struct seg_read *l, const void *arg),
					   const void *arg)
{
	for (unsigned i = 0; v->meter && i < SEG_METERS; i++)
		if (v->meter[i].refs && fn(v, &v->meter[i].read, arg))
			return &v->meter[i].read;
	return NULL;
}

static void free_account(struct segview *v)
{
	for (unsigned i = 0; v->meter && i < SEG_METERS; i++)
		free(v->meter[i].start);
	free(v->meter);
	v->meter = NULL;
}

void segview_meters_reset(struct segview *v)
{
	for (unsigned i = 0; i < SEG_PROBES; i++)
		__atomic_store_n(edges_at(v, i), 0, __ATOMIC_RELEASE);
	free_account(v);
}

void segview_meters_free(struct segview *v)
{
	free_account(v);
}
