/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/real/realwire.h"

#include "common/base/cur.h"
#include "common/base/str.h"
#include "neko/core/limits.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#define FLAG_LAST 1u
#define FLAG_CRASHED 2u
#define FLAG_LOST 4u

/* True if sums of several such times cannot overflow. */
static bool is_time(nsec_t t)
{
	return t >= 0 && t <= NEKO_TIME_MAX;
}

/* Replaces bytes that must not reach a terminal: the text comes from another host. */
static char printable(uint8_t c)
{
	return c >= ' ' && c < 127 ? (char)c : '?';
}

static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* in place of a destination: the header is followed by message numbers for all processes */
#define TO_GROUP 0

static void put_header(uint8_t *out, uint64_t key, uint32_t to, uint32_t number,
		       const struct neko_msg *m)
{
	put(out, 8, key);
	put(out + 8, 4, m->from);
	put(out + 12, 4, to);
	put(out + 16, 8, (uint64_t)m->sent_at);
	put(out + 24, 4, m->type);
	put(out + 28, 4, m->n);
	put(out + 32, 4, m->sent_error);
	put(out + 36, 4, number);
}

size_t realwire_datagram(uint8_t *out, uint64_t key, uint32_t to, uint32_t number,
			 const struct neko_msg *m)
{
	put_header(out, key, to, number, m);
	memcpy(out + REALWIRE_HEADER_BYTES, m->content, m->n);
	return REALWIRE_HEADER_BYTES + m->n;
}

size_t realwire_group_datagram(uint8_t *out, uint64_t key, const uint32_t *number,
			       uint32_t nprocess, const struct neko_msg *m)
{
	uint8_t *p = out + REALWIRE_HEADER_BYTES;

	put_header(out, key, TO_GROUP, 0, m);
	for (uint32_t i = 0; i < nprocess; i++, p += 4)
		put(p, 4, number[i]);
	memcpy(p, m->content, m->n);
	return (size_t)(p - out) + m->n;
}

/*
 * Returns the number for this process in a message to a group. Returns false if the message is not
 * for it.
 */
static bool take_number(struct cur *c, uint32_t nprocess, uint32_t to, uint32_t *number)
{
	uint32_t one;

	*number = 0;
	for (uint32_t i = 0; i < nprocess; i++) {
		one = cur_u32le(c);
		if (i == to - 1)
			*number = one;
	}
	return (*number)-- > 0;
}

struct neko_msg *realwire_message(struct neko_world *w, const struct realwire_end *to,
				  struct bytes in, uint32_t *number)
{
	struct neko_msg *m;
	struct cur c;
	uint32_t from, dest, type, bytes, error;
	nsec_t sent_at;

	cur_init(&c, in.p, in.n);
	if (cur_u64le(&c) != to->key)
		return NULL;
	from = cur_u32le(&c);
	dest = cur_u32le(&c);
	if (dest != to->id && dest != TO_GROUP)
		return NULL;
	sent_at = (nsec_t)cur_u64le(&c);
	type = cur_u32le(&c);
	bytes = cur_u32le(&c);
	error = cur_u32le(&c);
	*number = cur_u32le(&c);
	if (dest == TO_GROUP && !take_number(&c, w->nprocess, to->id, number))
		return NULL;
	if (c.failed || bytes != cur_left(&c) || !world_process(w, from) || sent_at < 0)
		return NULL;
	if (type >= NEKO_TYPES_MAX || !w->type_name[type])
		return NULL;
	m = world_msg_new(w, 1, bytes);
	if (!m)
		return NULL;
	m->from = from;
	m->to = to->id;
	m->sent_at = sent_at;
	m->sent_error = error;
	m->type = (uint16_t)type;
	m->net = to->net;
	memcpy(m->content, in.p + in.n - bytes, bytes);
	return m;
}

/* --- frames */

#define READ_BYTES 65536

int realwire_recv(int fd, struct frame_in *in, int flags)
{
	uint8_t p[READ_BYTES];
	ssize_t n = recv(fd, p, sizeof(p), flags);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return -ERR_AGAIN;
	return n > 0 ? frame_in_add(in, p, (size_t)n, NULL) : -ERR_CLOSED;
}

int realwire_send(int fd, const struct buf *frame)
{
	if (frame->failed)
		return -ERR_NOMEM;
	if (send(fd, frame->p, frame->n, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)frame->n)
		return 0;
	return errno == EPIPE || errno == ECONNRESET ? -ERR_CLOSED : -ERR_LIMIT;
}

int realwire_put_start(struct buf *out, const struct realwire_start *s)
{
	size_t mark = frame_begin(out, REALWIRE_START);

	buf_put_u32le(out, s->m);
	buf_put_u32le(out, s->id);
	buf_put_u64le(out, s->seed);
	buf_put_u32le(out, s->address);
	buf_put_u64le(out, (uint64_t)s->silence);
	buf_putc(out, s->wants_delays);
	buf_put(out, s->text, s->ntext);
	return frame_end(out, mark);
}

int realwire_get_start(const uint8_t *p, size_t n, struct realwire_start *out)
{
	struct cur c;

	cur_init(&c, p, n);
	out->m = cur_u32le(&c);
	out->id = cur_u32le(&c);
	out->seed = cur_u64le(&c);
	out->address = cur_u32le(&c);
	out->silence = (nsec_t)cur_u64le(&c);
	out->wants_delays = cur_u8(&c);
	out->ntext = cur_left(&c);
	out->text = (const char *)cur_bytes(&c, out->ntext);
	if (c.failed || out->id < 1 || out->id > out->m || out->m > REAL_PROCESSES_MAX ||
	    out->silence <= 0)
		return -ERR_PROTO;
	return 0;
}

int realwire_put_ready(struct buf *out, const struct realwire_ready *r)
{
	size_t mark = frame_begin(out, REALWIRE_READY);

	for (uint32_t i = 0; i < r->n; i++)
		buf_put_u16le(out, r->port[i]);
	return frame_end(out, mark);
}

int realwire_get_ready(const uint8_t *p, size_t n, struct realwire_ready *out)
{
	struct cur c;

	if (n % 2 || n / 2 > NEKO_NETS_MAX)
		return -ERR_PROTO;
	cur_init(&c, p, n);
	out->n = (uint32_t)n / 2;
	for (uint32_t i = 0; i < out->n; i++)
		out->port[i] = cur_u16le(&c);
	return 0;
}

int realwire_put_words(struct buf *out, uint8_t type, const char *words)
{
	size_t mark = frame_begin(out, type);

	buf_put(out, words, strnlen(words, REALWIRE_WORDS_BYTES - 1));
	return frame_end(out, mark);
}

void realwire_get_words(const uint8_t *p, size_t n, char out[REALWIRE_WORDS_BYTES])
{
	size_t k = n < REALWIRE_WORDS_BYTES ? n : REALWIRE_WORDS_BYTES - 1;

	for (size_t i = 0; i < k; i++)
		out[i] = printable(p[i]);
	out[k] = 0;
}

int realwire_put_peers(struct buf *out, uint64_t key, const struct sockaddr_in *a, uint32_t n)
{
	size_t mark = frame_begin(out, REALWIRE_PEERS);

	buf_put_u64le(out, key);
	for (uint32_t i = 0; i < n; i++) {
		buf_put_u32le(out, ntohl(a[i].sin_addr.s_addr));
		buf_put_u16le(out, ntohs(a[i].sin_port));
	}
	return frame_end(out, mark);
}

int realwire_get_peers(const uint8_t *p, size_t bytes, uint64_t *key, struct sockaddr_in *out,
		       uint32_t n)
{
	struct cur c;

	cur_init(&c, p, bytes);
	*key = cur_u64le(&c);
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct sockaddr_in){ .sin_family = AF_INET };
		out[i].sin_addr.s_addr = htonl(cur_u32le(&c));
		out[i].sin_port = htons(cur_u16le(&c));
	}
	return cur_is_done(&c) ? 0 : -ERR_PROTO;
}

int realwire_put_gone(struct buf *out, const struct realwire_gone *g)
{
	size_t mark = frame_begin(out, REALWIRE_GONE);

	buf_put_u64le(out, (uint64_t)g->at);
	buf_put_u64le(out, (uint64_t)g->error);
	buf_put(out, g->why, strnlen(g->why, REALWIRE_WORDS_BYTES - 1));
	return frame_end(out, mark);
}

int realwire_get_gone(const uint8_t *p, size_t n, struct realwire_gone *out)
{
	struct cur c;
	size_t left;

	cur_init(&c, p, n);
	out->at = (nsec_t)cur_u64le(&c);
	out->error = (nsec_t)cur_u64le(&c);
	left = cur_left(&c);
	if (c.failed || out->error < 0 ||
	    (out->at >= 0 && (!is_time(out->at) || !is_time(out->error))))
		return -ERR_PROTO;
	realwire_get_words(p + n - left, left, out->why);
	return 0;
}

int realwire_put_times(struct buf *out, uint8_t type, const nsec_t *t, unsigned n)
{
	size_t mark = frame_begin(out, type);

	for (unsigned i = 0; i < n; i++)
		buf_put_u64le(out, (uint64_t)t[i]);
	return frame_end(out, mark);
}

int realwire_get_times(const uint8_t *p, size_t bytes, nsec_t *out, unsigned n)
{
	struct cur c;

	cur_init(&c, p, bytes);
	for (unsigned i = 0; i < n; i++)
		out[i] = (nsec_t)cur_u64le(&c);
	return cur_is_done(&c) ? 0 : -ERR_PROTO;
}

/* --- blocks */

size_t realwire_block(struct buf *out, const struct realwire_block *b)
{
	size_t mark = frame_begin(out, REALWIRE_BLOCK);

	buf_put_u64le(out, (uint64_t)b->until);
	buf_put_u64le(out, b->sent);
	buf_put_u64le(out, b->delivered);
	buf_put_u32le(out, b->count);
	buf_put_u32le(out, b->ndelay);
	buf_put_u32le(out, b->stuck);
	buf_put_u32le(out, (b->is_last ? FLAG_LAST : 0) | (b->is_crashed ? FLAG_CRASHED : 0) |
				   (b->has_lost ? FLAG_LOST : 0));
	buf_put_u64le(out, (uint64_t)b->offset);
	buf_put_u64le(out, (uint64_t)b->error);
	buf_put_doublele(out, b->drift);
	buf_put_doublele(out, b->drift_error);
	buf_put_u64le(out, (uint64_t)b->stop_at);
	return mark;
}

void realwire_event(struct buf *out, const struct neko_event *v)
{
	size_t n = strnlen(v->what, REALWIRE_WHAT_BYTES - 1);

	buf_put_u64le(out, (uint64_t)v->at);
	buf_put_u64le(out, (uint64_t)v->error);
	buf_put_u64le(out, (uint64_t)v->content_error);
	buf_put_doublele(out, v->content);
	buf_putc(out, (uint8_t)n);
	buf_put(out, v->what, n);
	buf_put_u16le(out, (uint16_t)v->n);
	buf_put(out, v->bytes, v->n);
}

void realwire_delay(struct buf *out, const struct neko_delay *d)
{
	buf_put_u64le(out, (uint64_t)d->sent_at);
	buf_put_u64le(out, (uint64_t)d->delay);
	buf_put_u32le(out, d->from);
	buf_put_u32le(out, d->to);
	buf_put_u32le(out, d->number);
	buf_put_u32le(out, d->bytes);
	buf_put_u32le(out, d->error);
	buf_put_u16le(out, d->net);
	buf_put_u16le(out, d->type);
}

/* Copies a name, which may be UTF-8. */
static void copy_what(char what[REALWIRE_WHAT_BYTES], const uint8_t *p, size_t n)
{
	bool is_name = str_is_name((const char *)p, n);

	for (size_t i = 0; i < n; i++)
		what[i] = is_name ? (char)p[i] : printable(p[i]);
	what[n] = 0;
}

static bool read_event(struct cur *c, struct neko_event *v, char what[REALWIRE_WHAT_BYTES])
{
	const uint8_t *text;
	size_t n;

	v->at = (nsec_t)cur_u64le(c);
	v->error = (nsec_t)cur_u64le(c);
	v->content_error = (nsec_t)cur_u64le(c);
	v->content = cur_doublele(c);
	n = cur_u8(c);
	text = cur_bytes(c, n);
	if (!text || n >= REALWIRE_WHAT_BYTES || !is_time(v->at) || !is_time(v->error) ||
	    !is_time(v->content_error) || memchr(text, 0, n))
		return false;
	copy_what(what, text, n);
	v->what = what;
	v->n = cur_u16le(c);
	v->bytes = cur_bytes(c, v->n);
	if (!v->n)
		v->bytes = NULL;
	return !c->failed && v->n <= NEKO_EVENT_MAX_BYTES;
}

static bool read_delay(struct cur *c, struct neko_delay *d)
{
	d->sent_at = (nsec_t)cur_u64le(c);
	d->delay = (nsec_t)cur_u64le(c);
	d->from = cur_u32le(c);
	d->to = cur_u32le(c);
	d->number = cur_u32le(c);
	d->bytes = cur_u32le(c);
	d->error = cur_u32le(c);
	d->net = cur_u16le(c);
	d->type = cur_u16le(c);
	return !c->failed && is_time(d->sent_at) &&
	       (is_time(d->delay) || d->delay == NEKO_DELAY_LOST) && d->net < NEKO_NETS_MAX &&
	       d->type < NEKO_TYPES_MAX;
}

static void read_head(struct cur *c, struct realwire_block *b)
{
	uint32_t flags;

	b->until = (nsec_t)cur_u64le(c);
	b->sent = cur_u64le(c);
	b->delivered = cur_u64le(c);
	b->count = cur_u32le(c);
	b->ndelay = cur_u32le(c);
	b->stuck = cur_u32le(c);
	flags = cur_u32le(c);
	b->is_last = flags & FLAG_LAST;
	b->is_crashed = flags & FLAG_CRASHED;
	b->has_lost = flags & FLAG_LOST;
	b->offset = (nsec_t)cur_u64le(c);
	b->error = (nsec_t)cur_u64le(c);
	b->drift = cur_doublele(c);
	b->drift_error = cur_doublele(c);
	b->stop_at = (nsec_t)cur_u64le(c);
}

int realwire_read(const uint8_t *p, size_t n, struct realwire_block *out,
		  const struct realwire_hearer *h)
{
	char what[REALWIRE_WHAT_BYTES];
	struct neko_event v = { 0 };
	struct neko_delay d = { 0 };
	struct realwire_block b;
	struct cur c;

	cur_init(&c, p, n);
	read_head(&c, &b);
	if (c.failed || b.error < 0 || (b.stop_at != NEKO_NEVER && !is_time(b.stop_at)))
		return -ERR_PROTO;
	for (uint32_t i = 0; i < b.count; i++) {
		if (!read_event(&c, &v, what))
			return -ERR_PROTO;
		h->on_event(h->arg, &v);
	}
	for (uint32_t i = 0; i < b.ndelay; i++) {
		if (!read_delay(&c, &d))
			return -ERR_PROTO;
		h->on_delay(h->arg, &d);
	}
	if (!cur_is_done(&c))
		return -ERR_PROTO;
	*out = b;
	return 0;
}
