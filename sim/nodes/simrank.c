/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/nodes/simrank.h"

#include "common/base/array.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/ring/action.h"
#include "common/ring/calls.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"
#include "eventlog/evtype.h"
#include "sim/world/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MEASURING (HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER)

/* The state after one call of the rank. */
struct past {
	nsec_t at; /* time of the world */
	uint64_t volume;
};

struct simrank {
	int fd, send; /* send: number of MPI_Send in the table of calls */
	uint8_t *base;
	size_t bytes;
	struct seg_header *h;
	const struct loop *loop; /* loop of its host */
	uint64_t calls, volume, events;
	struct past *past; /* an entry for each call; owned */
	size_t npast, cappast;
	struct cell_potential potential[SEG_CELLS];
};

static struct seg_thread *thread_of(const struct simrank *r)
{
	return (struct seg_thread *)(void *)(r->base + r->h->thread_offset);
}

static void *in_thread(const struct simrank *r, uint64_t offset)
{
	return r->base + r->h->thread_offset + offset;
}

/*
 * The memory is sparse: unused pages cost nothing. It is sealed, so that no process can shrink it.
 */
static int map(struct simrank *r, const char *name, struct err *e)
{
	r->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r->fd < 0 || ftruncate(r->fd, (off_t)r->bytes) < 0 ||
	    fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return err_sys(e, "a segment");
	r->base = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->base == MAP_FAILED) {
		r->base = NULL;
		return err_sys(e, "a segment");
	}
	r->h = (struct seg_header *)(void *)r->base;
	return 0;
}

static void fill(struct simrank *r, const struct seg_header *plan, const struct simrank_conf *c)
{
	*r->h = *plan;
	r->h->w = (struct seg_own){ .pid = c->pid,
				    .rank = c->rank,
				    .world_size = c->world_size,
				    .flavour = SEG_FLAVOUR_MPICH,
				    .tick_source = TICKS_MONOTONIC,
				    .state = SEG_RUNNING,
				    .pcontrol = 1,
				    .threads_used = 1 };
	str_copy(r->h->w.job, sizeof(r->h->w.job), c->job);
	str_copy(r->h->w.program, sizeof(r->h->w.program), c->program);
	thread_of(r)->tid = (uint32_t)c->pid;
	*(struct seg_probe *)(void *)(r->base + r->h->probe_offset) =
		(struct seg_probe){ .name = SIMRANK_PROBE, .nparam = 1, .type = { SEG_I64 } };
	r->h->magic = SEG_MAGIC;
}

static struct seg_event *event_of(const struct simrank *r)
{
	return (struct seg_event *)(void *)(r->base + r->h->event_offset);
}

static int announce(struct simrank *r, struct err *e)
{
	static const struct evfield field[] = { { "number", EV_INT64 }, { "more", EV_STRING } };
	static const struct evtype type = {
		.name = SIMRANK_EVENT, .level = EV_INFO, .nfield = 2, .field = field
	};
	struct buf b = BUF_INIT(1024);
	int rc = evtype_encode(&b, EV_TYPE_FIRST, &type, false, e);

	if (!rc) {
		memcpy(r->base + r->h->event_text_offset, b.p, b.n);
		event_of(r)->bytes = (uint32_t)b.n;
		r->h->w.events_used = 1;
	}
	buf_done(&b);
	return rc;
}

int simrank_new(const struct simrank_conf *c, struct simrank **out, struct err *e)
{
	struct simrank *r = calloc(1, sizeof(*r));
	struct seg_header plan = { 0 };
	int rc;

	if (!r)
		return err_nomem(e);
	seg_plan(&plan, call_count, 1, 0);
	r->bytes = plan.segment_bytes;
	r->send = call_find("MPI_Send");
	r->loop = c->loop;
	rc = map(r, c->memfd, e);
	if (!rc) {
		fill(r, &plan, c);
		rc = announce(r, e);
	}
	if (rc) {
		simrank_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

void simrank_free(struct simrank *r)
{
	if (!r)
		return;
	if (r->base)
		munmap(r->base, r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	free(r->past);
	free(r);
}

int simrank_fd(const struct simrank *r)
{
	return r->fd;
}

static void record(struct simrank *r, const struct action_event *ev)
{
	struct seg_thread *t = thread_of(r);
	struct ring ring = { in_thread(r, r->h->ring_offset), r->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };
	uint32_t bytes = (uint32_t)(sizeof(struct ring_call) + ev->npar * sizeof(int64_t));
	union ring_record rec = { 0 };

	rec.call = (struct ring_call){ .word = RING_WORD(bytes, RING_CALL),
				       .ticks = ev->now,
				       .func = ev->func,
				       .phase = ev->phase,
				       .npar = (uint8_t)ev->npar,
				       .tid = t->tid };
	memcpy(RING_PAR(&rec), ev->par, ev->npar * sizeof(int64_t));
	if (!ring_put(&ring, &rec, bytes))
		((struct seg_slot *)in_thread(r, r->h->slot_offset))[ev->func].dropped++;
}

void simrank_step(struct simrank *r, int64_t vt)
{
	const uint32_t *word = (const uint32_t *)(void *)(r->base + r->h->probe_word_offset);
	struct seg_thread *t = thread_of(r);
	struct ring ring = { in_thread(r, r->h->ring_offset), r->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };
	union ring_record rec = {
		.probe = { .ticks = (uint64_t)loop_now(r->loop), .npar = 1, .tid = t->tid }
	};

	if (!(*word & PROBE_RECORD))
		return;
	rec.probe.word = RING_WORD(sizeof(rec.probe) + sizeof(union seg_value), RING_PROBE);
	RING_VALUE(&rec)->i = vt;
	if (!ring_put(&ring, &rec, (uint32_t)rec.probe.word))
		((struct seg_probe *)(void *)(r->base + r->h->probe_offset))->dropped++;
}

static uint32_t event_word(const struct simrank *r)
{
	return *(const uint32_t *)(void *)(r->base + r->h->event_word_offset);
}

/* True if a tool has subscribed to the events of the rank. */
static bool simrank_is_eventful(const struct simrank *r)
{
	return event_word(r) != 0;
}

static uint32_t record_bytes(const struct simrank *r, const uint8_t *ring, uint64_t at)
{
	const uint64_t *header = (const void *)(ring + at % r->h->ring_bytes);

	return (uint32_t)*header;
}

uint64_t simrank_untaken(const struct simrank *r)
{
	const struct seg_thread *t = thread_of(r);
	const uint8_t *ring = in_thread(r, r->h->ring_offset);
	uint64_t n = event_of(r)->lost;

	for (uint64_t at = t->ring_tail; at < t->ring_head; at += record_bytes(r, ring, at))
		n++;
	return n;
}

uint64_t simrank_events(const struct simrank *r)
{
	return r->events;
}

void simrank_event(struct simrank *r, size_t bytes)
{
	const struct {
		int64_t number;
		uint16_t n;
	} head = { (int64_t)r->events + 1, (uint16_t)bytes };
	uint64_t rec[RING_EVENT_MAX_BYTES / sizeof(uint64_t)] = { 0 };
	size_t n = sizeof(head.number) + sizeof(head.n) + bytes;
	uint32_t room = (uint32_t)((sizeof(struct ring_event) + n + 7) & ~(size_t)7);
	struct seg_thread *t = thread_of(r);
	struct ring ring = { in_thread(r, r->h->ring_offset), r->h->ring_bytes, &t->ring_head,
			     &t->ring_tail, &t->ring_dropped };
	uint8_t *value = (uint8_t *)(rec + sizeof(struct ring_event) / sizeof(uint64_t));

	if (!simrank_is_eventful(r))
		return;
	r->events++;
	rec[0] = RING_EVENT_WORD(room, 0, room - sizeof(struct ring_event) - n);
	rec[1] = (uint64_t)loop_now(r->loop);
	memcpy(value, &head.number, sizeof(head.number));
	memcpy(value + sizeof(head.number), &head.n, sizeof(head.n));
	memset(value + sizeof(head.number) + sizeof(head.n), '.', bytes);
	if (event_word(r) == EVENT_REFUSE || !ring_put(&ring, rec, room))
		event_of(r)->lost++;
}

static void act(struct simrank *r, const struct action_event *ev)
{
	const struct action_tables t = { (const uint16_t *)(void *)(r->base + r->h->head_offset),
					 (const struct seg_action *)(void *)(r->base +
									     r->h->action_offset),
					 (const int32_t *)(void *)(r->base + r->h->list_offset),
					 in_thread(r, r->h->cell_offset), r->potential };

	action_run(&t, ev);
}

static void happen(struct simrank *r, enum call_phase phase, int64_t bytes, uint32_t word)
{
	const struct call_desc *d = call_get((unsigned)r->send);
	bool is_start = phase == CALL_START;
	unsigned length = is_start ? d->start_length : d->end_length;
	unsigned partner = is_start ? d->start_partner : d->end_partner;
	int64_t par[RING_PAR_MAX] = { r->h->w.rank };
	const struct action_event ev = { .par = par,
					 .npar = is_start ? d->start_npar : d->end_npar,
					 .func = (uint16_t)r->send,
					 .phase = (uint8_t)phase,
					 .tid = thread_of(r)->tid,
					 .now = (uint64_t)loop_now(r->loop),
					 .partner = 0,
					 .bytes = length ? bytes : 0 };

	if (length)
		par[length - 1] = bytes;
	if (partner)
		par[partner - 1] = 0;
	if (word & (is_start ? HOOK_ACTION_START : HOOK_ACTION_END))
		act(r, &ev);
	if (word & (is_start ? HOOK_EVENT_START : HOOK_EVENT_END))
		record(r, &ev);
}

/*
 * Stores the state after a call. Without memory the entry is missing, so that a comparison finds a
 * value that is too high. The run fails then anyway.
 */
static void remember(struct simrank *r)
{
	const struct loop *world = simclock_loop();

	if (!array_grow(&r->past, &r->cappast, r->npast + 1, sizeof(*r->past), SIZE_MAX))
		r->past[r->npast++] = (struct past){ world ? loop_now(world) : 0, r->volume };
}

struct simrank_sent simrank_sent_by(const struct simrank *r, nsec_t t)
{
	size_t from = 0, to = r->npast;

	while (from < to) {
		size_t i = (from + to) / 2;

		if (r->past[i].at <= t)
			from = i + 1;
		else
			to = i;
	}
	return (struct simrank_sent){ from, from ? r->past[from - 1].volume : 0 };
}

void simrank_send(struct simrank *r, int64_t bytes, uint64_t took_ticks)
{
	struct seg_slot *s = (struct seg_slot *)in_thread(r, r->h->slot_offset) + r->send;
	uint32_t word = ((uint32_t *)(void *)(r->base + r->h->hook_offset))[r->send];

	r->calls++;
	r->volume += (uint64_t)bytes;
	remember(r);
	happen(r, CALL_START, bytes, word);
	if (word & HOOK_COUNT)
		s->count++;
	if (word & HOOK_TIME) {
		s->delay += took_ticks;
		s->sampled++;
	}
	if (word & HOOK_VOLUME)
		s->bytes_out += (uint64_t)bytes;
	happen(r, CALL_END, bytes, word);
}

uint64_t simrank_calls(const struct simrank *r)
{
	return r->calls;
}

size_t simrank_switched_on(const struct simrank *r, bool without_measuring)
{
	uint32_t bits = without_measuring ? ~(uint32_t)(MEASURING | HOOK_SAMPLE_MASK) : UINT32_MAX;
	const uint32_t *hook = (const uint32_t *)(void *)(r->base + r->h->hook_offset);
	size_t n = 0;

	for (unsigned i = 0; i < r->h->hook_count; i++)
		n += (hook[i] & bits) != 0;
	return n + simrank_is_eventful(r);
}
