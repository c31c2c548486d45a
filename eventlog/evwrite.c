/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evwrite.h"

#include "common/base/hash.h"
#include "eventlog/evbytes.h"

#define OUT_MAX_BYTES (64u << 20) /* limit for a caller that never takes the output */
#define CLOCK_BYTES 36

void evwrite_init(struct evwrite *w, uint64_t stream, bool swap, size_t block_bytes)
{
	*w = (struct evwrite){
		.out = BUF_INIT(OUT_MAX_BYTES),
		.body = BUF_INIT(EVBLOCK_MAX_BYTES - EVBLOCK_HEAD_BYTES),
		.head = { .version = EVBLOCK_VERSION, .stream = stream, .swap = swap },
		.block_bytes = block_bytes ? block_bytes : EVWRITE_BLOCK_BYTES
	};
}

void evwrite_done(struct evwrite *w)
{
	buf_done(&w->out);
	buf_done(&w->body);
}

int evwrite_cut(struct evwrite *w, bool is_last, struct err *e)
{
	uint8_t head[EVBLOCK_HEAD_BYTES];

	if (!w->body.n && !is_last)
		return 0;
	w->head.flags = is_last ? EVBLOCK_LAST : 0;
	w->head.bytes = (uint32_t)(EVBLOCK_HEAD_BYTES + w->body.n);
	w->head.crc = hash_crc32c(0, w->body.p, w->body.n);
	evblock_encode(&w->head, head);
	if (buf_reserve(&w->out, w->head.bytes)) {
		w->out.failed = false;
		return err_nomem(e);
	}
	buf_put(&w->out, head, sizeof(head));
	buf_put(&w->out, w->body.p, w->body.n);
	w->head.seq++;
	w->head.first += w->head.events;
	w->head.events = 0;
	buf_clear(&w->body);
	return 0;
}

/* Makes room for n more bytes: closes the block if it would become too long. */
static int make_room(struct evwrite *w, size_t n, struct err *e)
{
	int rc;

	if (w->body.n + n <= w->block_bytes && w->body.n + n < w->body.cap)
		return 0; /* the usual case */
	rc = w->body.n && w->body.n + n > w->block_bytes ? evwrite_cut(w, false, e) : 0;
	if (rc || !buf_reserve(&w->body, n))
		return rc;
	w->body.failed = false;
	return err_nomem(e);
}

int evwrite_define(struct evwrite *w, unsigned number, const struct evtype *t, struct err *e)
{
	int rc = make_room(w, EV_RECORD_MAX_BYTES, e);

	return rc ? rc : evtype_encode(&w->body, number, t, w->head.swap, e);
}

int evwrite_clock(struct evwrite *w, const struct ticks_scale *s, struct err *e)
{
	bool swap = w->head.swap;
	int rc;

	if (!ticks_scale_is_sane(s))
		return err_set(e, ERR_INVALID, "a clock that ticks at no possible rate");
	rc = make_room(w, CLOCK_BYTES, e);
	if (rc)
		return rc;
	ev_put16(&w->body, EV_CLOCK, swap);
	ev_put16(&w->body, CLOCK_BYTES, swap);
	ev_put64(&w->body, s->base_ticks, swap);
	ev_put64(&w->body, (uint64_t)s->base_ns, swap);
	ev_put64(&w->body, s->mult, swap);
	ev_put32(&w->body, s->shift, swap);
	ev_put32(&w->body, s->source, swap);
	return 0;
}

int evwrite_event(struct evwrite *w, unsigned number, const struct event *ev, struct err *e)
{
	unsigned n = ev->type->nfield;
	size_t bytes = evtype_record_bytes(ev->type, ev->value, n), from;
	bool swap = w->head.swap;
	int rc;

	if (!bytes)
		return err_set(e, ERR_INVALID,
			       "values that do not fit '%.64s', or have 64 KB or more",
			       ev->type->name);
	rc = make_room(w, bytes, e);
	if (rc)
		return rc;
	from = w->body.n;
	ev_put16(&w->body, (uint16_t)number, swap);
	ev_put16(&w->body, (uint16_t)bytes, swap);
	ev_put64(&w->body, ev->ticks, swap);
	evtype_put_values(&w->body, ev->value, n, swap);
	ev_pad(&w->body, from);
	w->head.events++;
	return w->body.n >= w->block_bytes ? evwrite_cut(w, false, e) : 0;
}

int evwrite_record(struct evwrite *w, unsigned number, uint64_t time, struct bytes values,
		   struct err *e)
{
	size_t bytes = (EV_RECORD_HEAD_BYTES + values.n + 3) & ~(size_t)3;
	uint8_t *p;
	int rc;

	if (bytes > EV_RECORD_MAX_BYTES)
		return err_set(e, ERR_LIMIT, "an event of 64 KB or more");
	rc = make_room(w, bytes, e);
	if (rc)
		return rc;
	p = w->body.p + w->body.n;
	/* clears the padding before the values are written */
	ev_set32(p + bytes - 4, 0, false);
	ev_set16(p, (uint16_t)number, false);
	ev_set16(p + 2, (uint16_t)bytes, false);
	ev_set64(p + 4, time, false);
	memcpy(p + EV_RECORD_HEAD_BYTES, values.p, values.n);
	w->body.n += bytes;
	w->body.p[w->body.n] = 0;
	w->head.events++;
	return w->body.n >= w->block_bytes ? evwrite_cut(w, false, e) : 0;
}

void evwrite_dropped(struct evwrite *w, uint64_t n)
{
	w->head.dropped += n;
}
