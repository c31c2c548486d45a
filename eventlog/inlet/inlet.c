/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/inlet/inlet_internal.h"

#include "common/base/rng.h"
#include "eventlog/send/evsend_hello.h"

#include <stdlib.h>
#include <string.h>

#define HELLO_BYTES (sizeof(EVSEND_HELLO) - 1)
#define GUESS_BYTES 4096 /* bytes of comments and blank lines before the first event */

struct inlet *inlet_new(const struct inlet_conf *conf)
{
	struct inlet *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->conf = *conf;
	evwrite_init(&i->w, conf->stream, false, 0);
	evtypes_init(&i->types);
	return i;
}

void inlet_free(struct inlet *i)
{
	if (!i)
		return;
	evread_free(i->read);
	evwrite_done(&i->w);
	evtypes_done(&i->types);
	free(i);
}

const struct inlet_report *inlet_report(const struct inlet *i)
{
	return &i->report;
}

bool inlet_acknowledges(const struct inlet *i)
{
	return i->form == INLET_BLOCKS;
}

bool inlet_is_known(const struct inlet *i)
{
	return i->is_known;
}

bool inlet_has_rest(const struct inlet *i)
{
	return i->w.head.events > 0 || i->w.out.n;
}

/* --- the stream of this inlet */

/* Ends the stream and begins another one. */
static int renew(struct inlet *i, struct err *e)
{
	struct buf out;
	uint64_t stream;
	int rc = rng_fill_random(&stream, sizeof(stream), e);

	rc = rc ? rc : evwrite_cut(&i->w, true, e);
	if (rc)
		return rc;
	out = i->w.out;
	buf_init(&i->w.out, 0);
	evwrite_done(&i->w);
	evtypes_done(&i->types);
	evwrite_init(&i->w, stream, false, 0);
	evtypes_init(&i->types);
	i->w.out = out;
	i->types_bytes = 0;
	return 0;
}

static int put_whole(struct inlet *i, const struct event *ev, const struct evtype *t, struct err *e)
{
	const struct evalone alone = {
		.w = &i->w, .types = &i->types, .said = &i->said, .block_bytes = EVALONE_BLOCK_BYTES
	};
	const struct event whole = { .type = t,
				     .ticks = (uint64_t)ev->wall_ns,
				     .value = ev->value };
	unsigned before;
	int rc = 0;

	if (i->types.n >= INLET_TYPES_MAX || i->types_bytes >= INLET_TYPES_MAX_BYTES)
		rc = renew(i, e);
	before = i->types.n;
	rc = rc ? rc : evalone_event(&alone, &whole, e);
	if (i->types.n > before)
		i->types_bytes += i->types.scratch.n;
	return rc;
}

int inlet_put(struct inlet *i, const struct event *ev, struct err *e)
{
	const struct evtype *t = evtypes_whole(&i->whole, ev);
	int rc = t ? put_whole(i, ev, t, e) : -ERR_LIMIT;

	i->is_known = true;
	i->report.events++;
	if (!rc)
		return 0;
	evwrite_dropped(&i->w, 1);
	return rc == -ERR_NOMEM ? rc : 0;
}

/* Passes complete blocks of the stream to on_block(). */
static int give_out(struct inlet *i)
{
	struct buf *b = &i->w.out;
	struct evblock head;
	size_t at = 0;
	int rc = 0;

	while (!rc && at < b->n) {
		evblock_head(b->p + at, &head);
		rc = i->conf.on_block(i->conf.arg, b->p + at, &head, 0);
		at += rc ? 0 : head.bytes;
	}
	if (at)
		buf_drop_front(b, at);
	return rc;
}

int inlet_flush(struct inlet *i, struct err *e)
{
	int rc = i->w.head.events ? evwrite_cut(&i->w, false, e) : 0;

	return rc ? rc : give_out(i);
}

/* --- forms */

/* True for the first record of a TLS handshake. No form of an event log begins with these bytes. */
static bool is_tls(const uint8_t *p, size_t n)
{
	return n >= 2 && p[0] == 0x16 && p[1] == 0x03;
}

static bool is_log(const uint8_t *p)
{
	return evblock_seek(p, sizeof(uint32_t), 0) == 0;
}

static int begin_log(struct inlet *i, struct err *e)
{
	i->read = evread_new();
	i->form = INLET_LOG;
	return i->read ? 1 : err_nomem(e);
}

/* Returns 1 if the form of the input was found. */
static int find_form(struct inlet *i, struct err *e)
{
	const uint8_t *p = i->window + i->at;
	size_t same = i->n < HELLO_BYTES ? i->n : HELLO_BYTES;

	if (!memcmp(p, EVSEND_HELLO, same) && !i->is_last && same < HELLO_BYTES)
		return 0;
	if (same == HELLO_BYTES && !memcmp(p, EVSEND_HELLO, same)) {
		i->form = INLET_BLOCKS;
		i->is_known = true;
		inlet_drop(i, HELLO_BYTES);
		return 1;
	}
	if (is_tls(p, i->n))
		return err_set(e, ERR_PROTO, "the peer begins with TLS, at an address without it");
	if (i->n >= sizeof(uint32_t) && is_log(p))
		return begin_log(i, e);
	if (!i->is_last && i->n < GUESS_BYTES && !memchr(p, '\n', i->n))
		return 0;
	/* Comments and blank lines may precede the first event. */
	if (evline_guess(p, i->n, &i->line_form) && !i->is_last && i->n < GUESS_BYTES &&
	    memchr("# \t\r\n", *p, 5))
		return 0;
	i->form = INLET_TEXT;
	return 1;
}

static int step_blocks(struct inlet *i, struct err *e)
{
	const uint8_t *p = i->window + i->at;
	struct evblock head;
	enum evblock_look look = evblock_look(p, i->n, &head);
	int rc;

	if (look == EVBLOCK_SHORT && !i->is_last)
		return 0;
	if (look == EVBLOCK_SHORT) {
		i->report.skipped_bytes += i->n;
		inlet_drop(i, i->n);
		return 0;
	}
	if (look != EVBLOCK_GOOD)
		return err_set(e, ERR_PROTO, "bytes that are not a block");
	rc = i->conf.on_block(i->conf.arg, p, &head, i->place + head.bytes);
	if (rc)
		return rc;
	i->place += head.bytes;
	inlet_drop(i, head.bytes);
	return 1;
}

/* Counts losses of the event log as losses of the stream. */
static void take_losses(struct inlet *i)
{
	const struct evread_report *r = evread_report(i->read);
	uint64_t lost = r->dropped + r->lost_events + r->undescribed;

	i->report.skipped_bytes = r->skipped_bytes;
	evwrite_dropped(&i->w, lost - i->report.lost);
	i->report.lost = lost;
}

static int step_log(struct inlet *i, struct err *e)
{
	struct event ev;
	size_t used = 0;
	int got = evread_push(i->read, i->window + i->at, i->n, i->is_last, &used), rc = 0;

	if (got < 0)
		return err_nomem(e);
	/* Reads all events of the block now, because they point into the window. */
	while (!rc && evread_next(i->read, &ev))
		rc = inlet_put(i, &ev, e);
	inlet_drop(i, used);
	take_losses(i);
	return rc ? rc : got == EVREAD_BLOCK;
}

static int step(struct inlet *i, struct err *e)
{
	switch (i->form) {
	case INLET_UNKNOWN:
		return i->n ? find_form(i, e) : 0;
	case INLET_BLOCKS:
		return i->n ? step_blocks(i, e) : 0;
	case INLET_LOG:
		return step_log(i, e);
	default:
		return i->n ? inlet_step_text(i, e) : 0;
	}
}

static int end_stream(struct inlet *i, struct err *e)
{
	int rc = 0;

	if (i->is_last && !i->is_ended && (i->w.head.events || i->w.head.seq)) {
		rc = evwrite_cut(&i->w, true, e);
		i->is_ended = !rc;
	}
	return rc ? rc : give_out(i);
}

/* --- calls */

uint8_t *inlet_room(struct inlet *i, size_t *n)
{
	memmove(i->window, i->window + i->at, i->n);
	i->at = 0;
	*n = INLET_BYTES - i->n;
	return i->window + i->n;
}

int inlet_push(struct inlet *i, size_t n, bool is_last, struct err *e)
{
	int rc, got = 1;

	i->n += n;
	i->is_last |= is_last;
	rc = give_out(i);
	while (!rc && got) {
		got = step(i, e);
		rc = got < 0 ? got : give_out(i);
	}
	return rc ? rc : end_stream(i, e);
}

static int each_block(struct inlet *i, const uint8_t *p, size_t n)
{
	struct evblock head;
	size_t at = 0;
	int rc = 0;

	while (!rc && at < n && evblock_look(p + at, n - at, &head) == EVBLOCK_GOOD) {
		rc = i->conf.on_block(i->conf.arg, p + at, &head, 0);
		at += head.bytes;
	}
	i->report.skipped_bytes += rc ? 0 : n - at;
	return rc;
}

int inlet_datagram(struct inlet *i, const uint8_t *p, size_t n, struct err *e)
{
	size_t room;
	uint8_t *to;
	int rc = 0, got = 1;

	if (n >= sizeof(uint32_t) && is_log(p))
		return each_block(i, p, n);
	to = inlet_room(i, &room);
	if (!n || n > room)
		return 0;
	memcpy(to, p, n);
	i->n = n;
	i->form = INLET_TEXT;
	i->is_last = true; /* so that a last line without a newline is read, too */
	evline_guess(p, n, &i->line_form);
	while (!rc && i->n && got > 0) {
		got = inlet_step_text(i, e);
		rc = got < 0 ? got : 0;
	}
	i->is_last = i->is_skipping = false;
	i->n = 0;
	return rc ? rc : give_out(i);
}
