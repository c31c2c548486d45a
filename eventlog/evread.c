/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evread.h"

#include "common/base/array.h"
#include "common/container/map.h"
#include "eventlog/evbytes.h"
#include "eventlog/evgap.h"

#include <stdlib.h>

/*
 * If the records of a block do not match its header, the search continues directly behind the
 * header. Other blocks may have been appended to a torn one. Crafted headers that are nested in
 * each other would cause all bytes to be read again for each. So such useless reading is limited to
 * this factor of the input.
 */
#define VAIN_PER_BYTE 8
#define VAIN_FREE_BYTES (1u << 20)

/* The stream of one sender. Its types are owned. After its last block only the counts remain. */
struct stream {
	uint64_t id, seq, first, dropped; /* expected values of the next block */
	struct evtype **type; /* types by number; owned */
	size_t cap;
	struct ticks_scale clock;
	bool has_clock;
};

struct evread {
	struct map streams; /* id -> struct stream *, owned */
	struct evread_report report;
	size_t nstream, type_bytes;
	uint64_t vain;
	struct stream *of; /* stream of the block that is being read; NULL = none */
	struct evblock block;
	const uint8_t *p; /* its records */
	size_t n, at;
	uint64_t number; /* number of the next event */
	struct evvalue value[EV_FIELDS_MAX];
};

bool evread_is_clean(const struct evread_report *r)
{
	return !(r->skipped_bytes | r->torn_blocks | r->future_blocks | r->bad_records |
		 r->undescribed | r->lost_blocks | r->lost_events);
}

struct evread *evread_new(void)
{
	struct evread *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	map_init(&r->streams);
	r->report.first_bad = UINT64_MAX;
	return r;
}

static void forget_types(struct stream *s)
{
	for (size_t i = 0; i < s->cap; i++)
		free(s->type[i]);
	free(s->type);
	s->type = NULL;
	s->cap = 0;
}

void evread_free(struct evread *r)
{
	struct map_iter i = { 0 };

	if (!r)
		return;
	while (map_next(&r->streams, &i)) {
		forget_types(i.value);
		free(i.value);
	}
	map_done(&r->streams);
	free(r);
}

const struct evread_report *evread_report(const struct evread *r)
{
	return &r->report;
}

/* --- streams */

static struct stream *stream_of(struct evread *r, const struct evblock *b, int *rc)
{
	struct stream *s = map_find(&r->streams, b->stream);

	*rc = 0;
	if (s || r->nstream >= EVREAD_STREAMS_MAX)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s || map_put(&r->streams, b->stream, s, NULL)) {
		free(s);
		*rc = -ERR_NOMEM;
		return NULL;
	}
	s->id = b->stream;
	r->nstream++;
	return s;
}

/*
 * Counts losses of the stream before `seq` and `first`, and the events that its sender dropped
 * before.
 */
static void come_to(struct evread *r, struct stream *s, uint64_t seq, uint64_t first,
		    uint64_t dropped)
{
	r->report.lost_blocks += seq - s->seq;
	if (first > s->first)
		r->report.lost_events += first - s->first;
	if (dropped > s->dropped) {
		r->report.dropped += dropped - s->dropped;
		s->dropped = dropped;
	}
	s->seq = seq;
	s->first = first;
}

/*
 * Counts the losses that a block reports. A gap reports blocks that will not arrive. Returns false
 * if the block was counted before. If a gap has grown, only its new part counts.
 */
static bool count_block(struct evread *r, struct stream *s, const uint8_t *p,
			const struct evblock *b)
{
	struct evgap g;
	bool is_gap = evgap_of(p, b, &g);

	if (is_gap ? g.end_seq <= s->seq : b->seq < s->seq) {
		r->report.repeated_blocks++;
		return false;
	}
	if (is_gap) {
		come_to(r, s, g.end_seq, g.end_first, g.dropped);
	} else {
		come_to(r, s, b->seq, b->first, b->dropped);
		s->seq++;
		s->first += b->events;
	}
	r->report.blocks++;
	return true;
}

/* --- finding blocks */

static void skip(struct evread *r, size_t n)
{
	if (n && r->report.first_bad == UINT64_MAX)
		r->report.first_bad = r->report.bytes;
	r->report.skipped_bytes += n;
	r->report.bytes += n;
}

/*
 * Returns how many bytes to skip after a torn block: its header, or the whole block if too many
 * bytes were read in vain.
 */
static size_t past_torn(struct evread *r, const struct evblock *b)
{
	r->report.torn_blocks++;
	if (r->vain > VAIN_FREE_BYTES + VAIN_PER_BYTE * r->report.bytes)
		return b->bytes;
	r->vain += b->bytes;
	return EVBLOCK_HEAD_BYTES;
}

/*
 * Examines a good block at p. Returns 1 if its events are to be read, 0 if it is skipped. Fails
 * with ERR_NOMEM.
 */
static int begin(struct evread *r, const uint8_t *p, const struct evblock *b)
{
	int rc;
	struct stream *s = stream_of(r, b, &rc);

	if (rc)
		return rc;
	if (!s) {
		skip(r, b->bytes);
		return 0;
	}
	r->report.bytes += b->bytes;
	if (!count_block(r, s, p, b))
		return 0;
	r->of = s;
	r->block = *b;
	r->p = p + EVBLOCK_HEAD_BYTES;
	r->n = b->bytes - EVBLOCK_HEAD_BYTES;
	r->at = 0;
	r->number = b->first;
	return 1;
}

/* Skips invalid bytes, and complete blocks that cannot be read. */
static size_t pass(struct evread *r, enum evblock_look look, const struct evblock *b,
		   const uint8_t *p, size_t n)
{
	size_t far;

	if (look == EVBLOCK_FUTURE) {
		r->report.future_blocks++;
		far = b->bytes;
	} else if (look == EVBLOCK_NONE) {
		far = evblock_seek(p, n, 1);
	} else {
		/* TORN, or SHORT at the end of the input with a good header */
		far = past_torn(r, b);
	}
	if (far > n)
		far = n;
	skip(r, far);
	return far;
}

static void finish(struct evread *r)
{
	if (r->of && r->block.flags & EVBLOCK_LAST)
		forget_types(r->of);
	r->of = NULL;
}

int evread_push(struct evread *r, const uint8_t *p, size_t n, bool is_last, size_t *used)
{
	struct evblock b;
	size_t at = 0;
	int got;

	for (finish(r); at < n;) {
		enum evblock_look look = evblock_look(p + at, n - at, &b);

		if (look == EVBLOCK_SHORT && !is_last)
			break;
		if (look == EVBLOCK_SHORT && !b.bytes) { /* the bytes are shorter than a header */
			skip(r, 1);
			at++;
			continue;
		}
		if (look != EVBLOCK_GOOD) {
			at += pass(r, look, &b, p + at, n - at);
			continue;
		}
		got = begin(r, p + at, &b);
		if (got < 0)
			return got;
		at += b.bytes;
		if (got) {
			*used = at;
			return EVREAD_BLOCK;
		}
	}
	*used = at;
	return is_last && at == n ? EVREAD_END : EVREAD_MORE;
}

/* --- records */

static void take_definition(struct evread *r, const uint8_t *p, size_t n)
{
	struct stream *s = r->of;
	struct evtype *t;
	size_t had = s->cap;
	unsigned number;

	if (r->type_bytes > EVREAD_TYPES_MAX_BYTES ||
	    evtype_decode(bytes_at(p, n), r->block.swap, &number, &t, NULL)) {
		r->report.bad_records++;
		return;
	}
	if (array_grow(&s->type, &s->cap, number + 1, sizeof(struct evtype *),
		       (size_t)EV_TYPE_LAST + 1)) {
		r->report.bad_records++;
		free(t);
	} else if (!s->type[number]) {
		s->type[number] = t;
		r->type_bytes += sizeof(*t) + 2 * n + sizeof(struct evtype *) * (s->cap - had);
	} else { /* a repeated definition is permitted if it is equal */
		r->report.bad_records += !evtype_equal(s->type[number], t);
		free(t);
	}
}

static void take_clock(struct evread *r, const uint8_t *p, size_t n)
{
	struct evcur c = { .p = p, .n = n, .at = 4, .swap = r->block.swap };
	struct ticks_scale s = { .base_ticks = evcur_64(&c) };

	s.base_ns = (int64_t)evcur_64(&c);
	s.mult = evcur_64(&c);
	s.shift = evcur_32(&c);
	s.source = evcur_32(&c);
	if (c.failed || c.at != n || !ticks_scale_is_sane(&s)) {
		r->report.bad_records++;
		return;
	}
	r->of->clock = s;
	r->of->has_clock = true;
}

/* Handles records that are not events. Unknown kinds are skipped. */
static void take_other(struct evread *r, unsigned type, const uint8_t *p, size_t n)
{
	if (type == EV_DEFINITION)
		take_definition(r, p, n);
	else if (type == EV_CLOCK)
		take_clock(r, p, n);
	else if (type == 0)
		r->report.bad_records++;
}

/* Computes with signed times, because a time before t0 is possible. */
static nsec_t wall_of(const struct ticks_scale *c, uint64_t ticks)
{
	uint64_t shift = (uint64_t)1 << 63;
	struct ticks_scale of_signed = *c;

	of_signed.base_ticks += shift;
	return ticks_to_nsec(&of_signed, ticks + shift);
}

static bool take_event(struct evread *r, unsigned number, const uint8_t *p, size_t n,
		       struct event *out)
{
	struct stream *s = r->of;
	const struct evtype *t = number < s->cap ? s->type[number] : NULL;

	if (!t) {
		r->report.undescribed++;
		return false;
	}
	if (n < EV_RECORD_HEAD_BYTES || !evtype_get_values(t, p, n, r->block.swap, r->value)) {
		r->report.bad_records++;
		return false;
	}
	out->type = t;
	out->stream_type = s->type[0];
	out->value = r->value;
	out->stream = s->id;
	out->ticks = ev_get64(p + 4, r->block.swap);
	out->wall_ns = s->has_clock ? wall_of(&s->clock, out->ticks) : (int64_t)out->ticks;
	r->report.events++;
	return true;
}

/*
 * Returns the next record of the block; false if there is none, or if the bytes are not a record.
 */
static bool next_record(struct evread *r, unsigned *type, const uint8_t **p, size_t *n)
{
	size_t bytes;

	if (!r->of || r->at == r->n)
		return false;
	*p = r->p + r->at;
	bytes = r->n - r->at < 4 ? 0 : ev_get16(*p + 2, r->block.swap);
	if (bytes < 4 || bytes % 4 || bytes > r->n - r->at) {
		r->report.bad_records++;
		r->at = r->n;
		return false;
	}
	*type = ev_get16(*p, r->block.swap);
	*n = bytes;
	r->at += bytes;
	return true;
}

bool evread_next(struct evread *r, struct event *out)
{
	const uint8_t *p;
	unsigned type;
	size_t n;

	while (next_record(r, &type, &p, &n)) {
		bool is_event = type >= EV_TYPE_FIRST && type <= EV_TYPE_LAST;

		if (!is_event) {
			take_other(r, type, p, n);
			continue;
		}
		out->number = r->number++;
		if (take_event(r, type, p, n, out))
			return true;
	}
	return false;
}
