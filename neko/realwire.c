/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/realwire.h"

#include "common/base/cur.h"

#include <math.h>
#include <string.h>

#define LENGTH_BYTES 4
#define FLAG_LAST 1u
#define FLAG_STOP 2u
#define FLAG_LOST 4u

static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

size_t realwire_datagram(uint8_t *out, uint64_t key, uint32_t to, const struct neko_msg *m)
{
	put(out, 8, key);
	put(out + 8, 4, m->from);
	put(out + 12, 4, to);
	put(out + 16, 8, (uint64_t)m->sent_at);
	put(out + 24, 4, m->type);
	put(out + 28, 4, m->n);
	memcpy(out + REALWIRE_HEADER_BYTES, m->content, m->n);
	return REALWIRE_HEADER_BYTES + m->n;
}

struct neko_msg *realwire_message(struct neko_world *w, uint64_t key, uint32_t to, uint8_t net,
				  const uint8_t *p, size_t n)
{
	struct neko_msg *m;
	struct cur c;
	uint32_t from, type, bytes;
	nsec_t sent_at;

	cur_init(&c, p, n);
	if (cur_u64le(&c) != key)
		return NULL;
	from = cur_u32le(&c);
	if (cur_u32le(&c) != to)
		return NULL;
	sent_at = (nsec_t)cur_u64le(&c);
	type = cur_u32le(&c);
	bytes = cur_u32le(&c);
	if (c.failed || bytes != cur_left(&c) || !world_process(w, from) || sent_at < 0)
		return NULL;
	if (type >= NEKO_TYPES_MAX || !w->type_name[type])
		return NULL;
	m = world_msg_new(w, 1, bytes);
	if (!m)
		return NULL;
	m->from = from;
	m->to = to;
	m->sent_at = sent_at;
	m->type = (uint16_t)type;
	m->net = net;
	memcpy(m->content, p + REALWIRE_HEADER_BYTES, bytes);
	return m;
}

void realwire_block(struct buf *out, const struct realwire_block *b)
{
	buf_put_u32le(out, 0);
	buf_put_u64le(out, (uint64_t)b->until);
	buf_put_u64le(out, b->sent);
	buf_put_u64le(out, b->delivered);
	buf_put_u32le(out, b->count);
	buf_put_u32le(out, b->stuck);
	buf_put_u32le(out, (b->is_last ? FLAG_LAST : 0) | (b->wants_stop ? FLAG_STOP : 0) |
				   (b->has_lost ? FLAG_LOST : 0));
}

void realwire_event(struct buf *out, const struct neko_event *v)
{
	size_t n = strnlen(v->what, REALWIRE_WHAT_BYTES - 1);
	uint64_t content;

	memcpy(&content, &v->content, sizeof(content));
	buf_put_u64le(out, (uint64_t)v->at);
	buf_put_u64le(out, content);
	buf_putc(out, (uint8_t)n);
	buf_put(out, v->what, n);
}

void realwire_end(struct buf *out, size_t begin)
{
	if (!out->failed)
		put(out->p + begin, LENGTH_BYTES, out->n - begin - LENGTH_BYTES);
}

static bool read_event(struct cur *c, struct neko_event *v, char what[REALWIRE_WHAT_BYTES])
{
	uint64_t content;
	const uint8_t *text;
	size_t n;

	v->at = (nsec_t)cur_u64le(c);
	content = cur_u64le(c);
	memcpy(&v->content, &content, sizeof(content));
	n = cur_u8(c);
	text = cur_bytes(c, n);
	if (!text || n >= REALWIRE_WHAT_BYTES || v->at < 0 || memchr(text, 0, n))
		return false;
	memcpy(what, text, n);
	what[n] = 0;
	v->what = what;
	return true;
}

static int read_block(struct cur *c, struct realwire_block *b,
		      void (*on_event)(void *, const struct neko_event *), void *arg)
{
	char what[REALWIRE_WHAT_BYTES];
	struct neko_event v = { 0 };
	uint32_t flags, i;

	b->until = (nsec_t)cur_u64le(c);
	b->sent = cur_u64le(c);
	b->delivered = cur_u64le(c);
	b->count = cur_u32le(c);
	b->stuck = cur_u32le(c);
	flags = cur_u32le(c);
	b->is_last = flags & FLAG_LAST;
	b->wants_stop = flags & FLAG_STOP;
	b->has_lost = flags & FLAG_LOST;
	for (i = 0; i < b->count && !c->failed; i++) {
		if (!read_event(c, &v, what))
			return -ERR_PROTO;
		on_event(arg, &v);
	}
	return cur_is_done(c) ? 0 : -ERR_PROTO;
}

int realwire_read(const uint8_t *p, size_t n, size_t *used, struct realwire_block *out,
		  void (*on_event)(void *arg, const struct neko_event *v), void *arg)
{
	struct realwire_block b;
	struct cur c;
	uint32_t bytes;
	int rc;

	*used = 0;
	cur_init(&c, p, n);
	bytes = cur_u32le(&c);
	if (c.failed)
		return 0;
	if (bytes > REALWIRE_BLOCK_MAX_BYTES)
		return -ERR_PROTO;
	if (n - LENGTH_BYTES < bytes)
		return 0;
	cur_init(&c, p + LENGTH_BYTES, bytes);
	rc = read_block(&c, &b, on_event, arg);
	if (rc)
		return rc;
	*out = b;
	*used = LENGTH_BYTES + bytes;
	return 0;
}
