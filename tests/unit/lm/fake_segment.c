/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/lm/fake_segment.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/ring/calls.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t now(const struct fake_segment *s)
{
	return s->ticks ? s->ticks : ticks_now((enum ticks_source)s->h->w.tick_source);
}

void fake_segment_open(struct fake_segment *s, int32_t pid, int32_t rank, uint32_t tid)
{
	fake_segment_open_with(s, &(struct fake_rank){ .pid = pid, .rank = rank, .tid = tid });
}

static struct seg_probe *probe_at(const struct fake_segment *s, unsigned probe)
{
	return (struct seg_probe *)(void *)(s->base + s->h->probe_offset) + probe;
}

static void add_probes(struct fake_segment *s)
{
	*probe_at(s, FAKE_STEP) =
		(struct seg_probe){ .name = "step", .nparam = 1, .type = { SEG_I32 } };
	*probe_at(s, FAKE_REGION) = (struct seg_probe){ .name = "region_end",
							.nparam = 3,
							.type = { SEG_I64, SEG_F64, SEG_U64 } };
}

void fake_segment_open_with(struct fake_segment *s, const struct fake_rank *r)
{
	struct seg_header plan;

	memset(&plan, 0, sizeof(plan));
	seg_plan(&plan, call_count, r->threads ? r->threads : 2, r->ring_bytes);
	s->bytes = plan.segment_bytes;
	s->fd = memfd_create("omig-testtest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(s->fd, 0);
	ck_assert_int_eq(posix_fallocate(s->fd, 0, (off_t)s->bytes), 0);
	ck_assert_int_eq(fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
	s->base = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	ck_assert_ptr_ne(s->base, MAP_FAILED);
	s->h = (struct seg_header *)(void *)s->base;
	*s->h = plan;
	s->h->w = (struct seg_own){ .pid = r->pid,
				    .rank = r->rank,
				    .world_size = 4,
				    .flavour = SEG_FLAVOUR_MPICH,
				    .world = 0x44000000,
				    .f_world = 0x44000000,
				    .any_source = -2,
				    .proc_null = -1,
				    .counts_late = 1,
				    .tick_source = TICKS_MONOTONIC,
				    .state = SEG_RUNNING,
				    .pcontrol = 1 };
	str_copy(s->h->w.job, sizeof(s->h->w.job), "job-1");
	str_copy(s->h->w.program, sizeof(s->h->w.program), "/opt/bin/heat");
	fake_segment_thread(s, 0)->tid = r->tid;
	s->h->w.threads_used = 1;
	add_probes(s);
	s->h->magic = SEG_MAGIC;
}

void fake_segment_close(struct fake_segment *s)
{
	munmap(s->base, s->bytes);
	close(s->fd);
}

struct seg_thread *fake_segment_thread(const struct fake_segment *s, unsigned i)
{
	return (struct seg_thread *)(void *)(s->base + s->h->thread_offset +
					     i * s->h->thread_bytes);
}

static uint8_t *block(const struct fake_segment *s)
{
	return (uint8_t *)fake_segment_thread(s, 0);
}

static struct seg_slot *slot(const struct fake_segment *s, int func)
{
	return (struct seg_slot *)(void *)(block(s) + s->h->slot_offset) + func;
}

static uint32_t *hook(const struct fake_segment *s, int func)
{
	return (uint32_t *)(void *)(s->base + s->h->hook_offset) + func;
}

uint32_t fake_segment_hook(const struct fake_segment *s, const char *name)
{
	return *hook(s, call_find(name));
}

void fake_segment_set_hook(const struct fake_segment *s, const char *name, uint32_t word)
{
	*hook(s, call_find(name)) = word;
}

static void record(const struct fake_segment *s, const struct action_event *ev)
{
	struct seg_thread *t = fake_segment_thread(s, 0);
	struct ring ring = { block(s) + s->h->ring_offset, s->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };
	uint32_t bytes = (uint32_t)(sizeof(struct ring_call) + ev->npar * sizeof(int64_t));
	uint64_t memory[RING_RECORD_MAX_BYTES / 8] = { 0 };
	struct ring_call *call = (struct ring_call *)(void *)memory;

	call->word = RING_WORD(bytes, RING_CALL);
	call->ticks = ev->now;
	call->func = ev->func;
	call->phase = ev->phase;
	call->npar = (uint8_t)ev->npar;
	call->tid = t->tid;
	memcpy(call->par, ev->par, ev->npar * sizeof(int64_t));
	ring_put(&ring, memory, bytes);
}

static void run(const struct fake_segment *s, const struct action_event *ev)
{
	static struct cell_potential potentials[SEG_CELLS];
	struct action_tables t = {
		(const uint16_t *)(void *)(s->base + s->h->head_offset),
		(const struct seg_action *)(void *)(s->base + s->h->action_offset),
		(const int32_t *)(void *)(s->base + s->h->list_offset),
		(struct seg_cell *)(void *)(block(s) + s->h->cell_offset), potentials
	};

	action_run(&t, ev);
}

static void happen(const struct fake_segment *s, int func, enum call_phase phase,
		   const struct fake_call *c)
{
	const struct call_desc *d = call_get((unsigned)func);
	bool is_start = phase == CALL_START;
	unsigned length = is_start ? d->start_length : d->end_length;
	unsigned partner = is_start ? d->start_partner : d->end_partner;
	int64_t par[RING_PAR_MAX] = { s->h->w.rank };
	struct action_event ev = { .par = par,
				   .npar = is_start ? d->start_npar : d->end_npar,
				   .func = (uint16_t)func,
				   .phase = (uint8_t)phase,
				   .tid = fake_segment_thread(s, 0)->tid,
				   .now = now(s),
				   .partner = c->partner,
				   .bytes = length ? c->bytes_out + c->bytes_in : 0,
				   .any_source = is_start && partner && c->partner < 0 };
	uint32_t word = *hook(s, func);

	for (unsigned i = 1; i < ev.npar; i++)
		par[i] = 100 + i;
	if (!is_start)
		par[1] = c->result;
	if (length)
		par[length - 1] = ev.bytes;
	if (partner)
		par[partner - 1] = c->partner;
	if (word & (is_start ? HOOK_ACTION_START : HOOK_ACTION_END))
		run(s, &ev);
	if (word & (is_start ? HOOK_EVENT_START : HOOK_EVENT_END))
		record(s, &ev);
}

static struct seg_partner *partner_of(const struct fake_segment *s, int func, int64_t partner)
{
	struct seg_partner *p = (struct seg_partner *)(void *)(block(s) + s->h->partner_offset);
	uint64_t key = (uint64_t)(func + 1) << 32 | (uint32_t)partner;

	while (p->key && p->key != key)
		p++;
	p->key = key;
	p->count++;
	return p;
}

static void note_partner(const struct fake_segment *s, int func, uint32_t word,
			 const struct fake_call *c)
{
	struct seg_partner *p = partner_of(s, func, c->partner);

	p->bytes_out += (uint64_t)c->bytes_out;
	p->bytes_in += (uint64_t)c->bytes_in;
	p->delay += word & HOOK_TIME ? c->ticks : 0;
}

void fake_segment_wait(struct fake_segment *s, const char *name, uint64_t ticks,
		       const int32_t *partner, unsigned n)
{
	int func = call_find(name);

	slot(s, func)->count++;
	slot(s, func)->delay += ticks;
	for (unsigned i = 0; i < n; i++) {
		struct seg_partner *p = partner_of(s, func, partner[i]);

		p->kinds = SEG_FOR_RECEIVE;
		p->tag = 7;
		p->delay += n == 1 ? ticks : 0;
		p->shared += n == 1 ? 0 : ticks / n;
		p->possible += n == 1 ? 0 : ticks;
	}
}

void fake_segment_call(struct fake_segment *s, const struct fake_call *c)
{
	int func = call_find(c->name);
	struct seg_slot *to = slot(s, func);
	uint32_t word = *hook(s, func);

	happen(s, func, CALL_START, c);
	if (word & HOOK_COUNT)
		to->count++;
	if (word & HOOK_TIME) {
		to->delay += c->ticks;
		to->sampled++;
	}
	if (word & HOOK_VOLUME) {
		to->bytes_out += (uint64_t)c->bytes_out;
		to->bytes_in += (uint64_t)c->bytes_in;
	}
	if (word & HOOK_PARTNER && c->partner >= 0)
		note_partner(s, func, word, c);
	happen(s, func, CALL_END, c);
}

void fake_segment_enter(struct fake_segment *s, const char *name)
{
	struct seg_slot *to = slot(s, call_find(name));

	to->count++;
	to->begin = now(s);
}

void fake_segment_leave(struct fake_segment *s, const char *name)
{
	struct seg_slot *to = slot(s, call_find(name));

	to->delay += now(s) - to->begin;
	to->begin = 0;
}

void fake_segment_be_in(struct fake_segment *s, const char *name, int32_t peer)
{
	struct seg_current *c = &fake_segment_thread(s, 0)->current;

	c->frame = 0;
	if (!name)
		return;
	c->peer = peer;
	c->tag = 5;
	c->comm = s->h->w.world;
	c->word = (c->word & ~(uint64_t)(SEG_CURRENT_ONE - 1)) + SEG_CURRENT_ONE +
		  (unsigned)call_find(name) + 1;
	c->frame = 1;
}

uint32_t fake_segment_probe_word(const struct fake_segment *s, unsigned probe)
{
	const uint32_t *page = (const void *)(s->base + s->h->probe_word_offset +
					      probe / SEG_PROBES_EACH * SEG_PAGE_BYTES);

	return page[probe % SEG_PROBES_EACH];
}

static union seg_value read_one(const struct fake_segment *s, const struct seg_read *r)
{
	const struct seg_cell *cell =
		(const struct seg_cell *)(const void *)(block(s) + s->h->cell_offset) + r->cell;
	const uint16_t *func = (const void *)(s->base + s->h->read_func_offset);
	union seg_value v = { .u = 0 };

	if (r->kind == SEG_READ_COUNTER)
		v.i = cell->n;
	else if (r->kind == SEG_READ_INTEGRATOR)
		v.f = cell->integral;
	for (unsigned i = 0; r->kind >= SEG_READ_CALLS && i < r->count; i++) {
		const struct seg_slot *from = slot(s, func[r->first + i]);

		v.u += r->kind == SEG_READ_CALLS   ? from->count
		       : r->kind == SEG_READ_DELAY ? from->delay
						   : from->bytes_out;
	}
	return v;
}

static bool is_listed(const uint16_t *list, unsigned n, unsigned width, uint32_t word)
{
	for (unsigned i = 0; i < n; i++)
		if ((width == 2 ? list[2 * i] | (uint32_t)list[2 * i + 1] << 16 : list[i]) == word)
			return true;
	return false;
}

static union seg_value read_partners(const struct fake_segment *s, const struct seg_read *r)
{
	const struct seg_partner *p = (const void *)(block(s) + s->h->partner_offset);
	const uint16_t *func =
		(const uint16_t *)(const void *)(s->base + s->h->read_func_offset) + r->first;
	union seg_value v = { .u = 0 };

	for (unsigned i = 0; i < SEG_PARTNERS; i++, p++)
		if (p->key && is_listed(func, r->count, 1, (uint32_t)(p->key >> 32) - 1) &&
		    is_listed(func + r->count, r->ranks, 2, (uint32_t)p->key))
			v.u += r->kind == SEG_READ_PARTNER_CALLS   ? p->count
			       : r->kind == SEG_READ_PARTNER_DELAY ? p->delay
								   : p->bytes_out;
	return v;
}

static union seg_value read_any(const struct fake_segment *s, const struct seg_read *r)
{
	return SEG_IS_OF_PARTNERS(r->kind) ? read_partners(s, r) : read_one(s, r);
}

static void report_meter(struct fake_segment *s, unsigned i, bool ends, bool begins)
{
	const struct seg_meter *meter =
		(const struct seg_meter *)(const void *)(s->base + s->h->meter_offset) + i;
	struct seg_metered *m = (struct seg_metered *)(void *)(block(s) + s->h->metered_offset) + i;
	uint64_t figure = read_one(s, &meter->read).u;

	if (m->epoch != meter->epoch)
		*m = (struct seg_metered){ .epoch = meter->epoch };
	if (ends && m->state == SEG_METERED_INSIDE)
		m->sum += figure - m->begin;
	if (ends && m->state == SEG_METERED_UNKNOWN) {
		m->has_first_end = 1;
		m->first_end = figure;
	}
	m->state = ends ? SEG_METERED_OUTSIDE : m->state;
	if (begins && m->state != SEG_METERED_INSIDE) {
		m->begin = figure;
		m->state = SEG_METERED_INSIDE;
	}
}

static void report_meters(struct fake_segment *s, unsigned probe)
{
	const struct seg_edges *e =
		(const struct seg_edges *)(const void *)(s->base + s->h->edge_offset) + probe;

	for (unsigned i = 0; i < SEG_METERS; i++)
		if ((e->end | e->begin) >> i & 1)
			report_meter(s, i, e->end >> i & 1, e->begin >> i & 1);
}

static void put_probe(struct fake_segment *s, unsigned probe, const union seg_value *value)
{
	const struct seg_reads *reads =
		(const struct seg_reads *)(const void *)(s->base + s->h->read_offset) + probe;
	struct seg_thread *t = fake_segment_thread(s, 0);
	struct ring ring = { block(s) + s->h->ring_offset, s->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };
	unsigned npar = probe_at(s, probe)->nparam;
	union ring_record r = { .probe = { .ticks = now(s),
					   .probe = (uint16_t)probe,
					   .npar = (uint8_t)npar,
					   .tid = t->tid,
					   .seq = reads->seq,
					   .mask = reads->mask } };

	memcpy(RING_VALUE(&r), value, npar * sizeof(*value));
	for (unsigned i = 0; i < SEG_READS; i++)
		if (reads->mask >> i & 1)
			RING_VALUE(&r)[npar + r.probe.nread++] = read_any(s, &reads->slot[i]);
	r.probe.word = RING_WORD(sizeof(r.probe) + (npar + r.probe.nread) * 8, RING_PROBE);
	ring_put(&ring, &r, (uint32_t)r.probe.word);
}

unsigned fake_segment_announce(struct fake_segment *s, const void *definition, size_t n)
{
	struct seg_event *e = (struct seg_event *)(void *)(s->base + s->h->event_offset);
	unsigned number = s->h->w.events_used;

	e[number].offset = number ? e[number - 1].offset + e[number - 1].bytes : 0;
	e[number].bytes = (uint32_t)n;
	memcpy(s->base + s->h->event_text_offset + e[number].offset, definition, n);
	s->h->w.events_used = number + 1;
	return number;
}

unsigned fake_segment_announce_type(struct fake_segment *s, const struct evtype *type)
{
	struct buf b = BUF_INIT(1024);
	unsigned number;

	ck_assert_int_eq(evtype_encode(&b, 1, type, false, NULL), 0);
	number = fake_segment_announce(s, b.p, b.n);
	buf_done(&b);
	return number;
}

void fake_segment_event(struct fake_segment *s, unsigned number, const void *values, size_t n)
{
	const uint32_t *word = (const uint32_t *)(const void *)(s->base + s->h->event_word_offset);
	struct seg_event *e = (struct seg_event *)(void *)(s->base + s->h->event_offset);
	uint64_t r[RING_EVENT_MAX_BYTES / 8] = { 0 };
	uint32_t bytes = (uint32_t)((sizeof(struct ring_event) + n + 7) & ~7u);
	struct seg_thread *t = fake_segment_thread(s, 0);
	struct ring ring = { block(s) + s->h->ring_offset, s->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };

	if (word[number] == EVENT_REFUSE)
		e[number].lost++;
	if (!(word[number] & EVENT_RECORD))
		return;
	r[0] = RING_EVENT_WORD(bytes, number, bytes - sizeof(struct ring_event) - n);
	r[1] = now(s);
	memcpy(r + 2, values, n);
	if (!ring_put(&ring, r, bytes))
		e[number].lost++;
}

void fake_segment_probe(struct fake_segment *s, unsigned probe, const union seg_value *value)
{
	uint32_t word = fake_segment_probe_word(s, probe), floats = 0;
	const struct seg_probe *p = probe_at(s, probe);

	for (unsigned i = 0; i < p->nparam; i++)
		floats |= (uint32_t)SEG_IS_FLOAT(p->type[i]) << i;
	if (word & PROBE_RECORD)
		put_probe(s, probe, value);
	if (word & PROBE_EDGE)
		report_meters(s, probe);
	if (word & PROBE_ACTION)
		run(s, &(struct action_event){ .par = &value->i,
					       .npar = p->nparam,
					       .floats = floats,
					       .func = (uint16_t)(SEG_HOOKS + probe),
					       .phase = CALL_START,
					       .tid = fake_segment_thread(s, 0)->tid,
					       .now = now(s) });
}
