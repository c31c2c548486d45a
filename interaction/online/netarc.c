/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netarc.h"

#include "common/base/cur.h"
#include "common/base/str.h"

#include <string.h>

#define VERSION 1
#define ITEMS_MAX 15 /* items of one kind in a record */

enum flags {
	KIND_NAME = 5,
	KIND_MORE = 6,
	KIND_BITS = 7,
	IS_MESSAGE = 8,
	BLOCKS = 16,
	HAS_STRETCH = 32,
	IS_AMBIGUOUS = 64,
	UNUSED_BIT = 128,
};
enum use_bits { OBJECT_BITS = 63, IS_END = 64, IS_CHILD = 128 };

static void put_zigzag(struct buf *b, int64_t v)
{
	buf_put_varint(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

static int64_t get_zigzag(struct cur *c)
{
	uint64_t v = cur_varint(c);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

void netarc_put_head(struct buf *out, const struct netarc_head *h)
{
	buf_putc(out, VERSION);
	buf_put_u64le(out, h->sender);
	buf_put_varint(out, h->number);
	buf_put_varint(out, h->before);
	buf_put_varint(out, h->lost);
	put_zigzag(out, h->base);
}

/* --- writing */

/* Uses and pieces that are still to be written. */
struct rest {
	const struct network_use *use;
	size_t nuse;
	const struct network_piece *piece;
	size_t npiece;
};

static unsigned varint_bytes(uint64_t v)
{
	unsigned n = 1;

	while (v >>= 7)
		n++;
	return n;
}

static uint64_t piece_key(const struct network_piece *p)
{
	return p->with << 1 | p->is_child;
}

/* Appends as many uses and pieces as fit into the record that began at `first`. */
static void put_rest(struct buf *out, size_t first, struct rest *r)
{
	size_t room = NETARC_RECORD_BYTES - (out->n - first) - 1;
	size_t nuse = r->nuse < ITEMS_MAX ? r->nuse : ITEMS_MAX, npiece = 0, bytes = 0;

	nuse = nuse < room ? nuse : room;
	for (room -= nuse; npiece < r->npiece && npiece < ITEMS_MAX; npiece++) {
		bytes += varint_bytes(piece_key(&r->piece[npiece])) +
			 varint_bytes((uint64_t)r->piece[npiece].ns);
		if (bytes > room)
			break;
	}
	npiece = r->nuse > nuse ? 0 : npiece;
	buf_putc(out, (uint8_t)(nuse << 4 | npiece));
	for (; nuse; nuse--, r->nuse--, r->use++)
		buf_putc(out, (uint8_t)(r->use->object | (r->use->is_end ? IS_END : 0) |
					(r->use->is_child ? IS_CHILD : 0)));
	for (; npiece; npiece--, r->npiece--, r->piece++) {
		buf_put_varint(out, piece_key(r->piece));
		buf_put_varint(out, (uint64_t)r->piece->ns);
	}
}

static void put_event(struct buf *out, int64_t base, const struct network_event *ev)
{
	const struct network_stretch *s = ev->stretch;

	buf_putc(out, (uint8_t)(ev->kind | (ev->is_message ? IS_MESSAGE : 0) |
				(ev->blocks ? BLOCKS : 0) | (s ? HAS_STRETCH : 0) |
				(s && s->is_ambiguous ? IS_AMBIGUOUS : 0)));
	buf_put_u64le(out, ev->task);
	if (network_is_pair(ev->kind))
		buf_put_u64le(out, ev->other);
	put_zigzag(out, minus(ev->t, base));
	buf_put_varint(out, ev->node == NETWORK_NONE ? 0 : (uint64_t)ev->node + 1);
	if (s)
		buf_put_varint(out, (uint64_t)minus(ev->t, s->begin));
}

static void put_name(struct buf *out, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	if (!n)
		return;
	n = n < NETARC_NAME_BYTES ? n : NETARC_NAME_BYTES;
	while (!str_is_name(name, n) && n > 1) /* it was cut in a character */
		n--;
	buf_putc(out, KIND_NAME);
	buf_putc(out, (uint8_t)n);
	buf_put(out, name, n);
}

int netarc_put(struct buf *out, int64_t base, const struct network_event *ev, const char *name)
{
	const struct network_stretch *s = ev->stretch;
	struct rest r = { .use = ev->use,
			  .nuse = ev->nuse,
			  .piece = s ? s->piece : NULL,
			  .npiece = s ? s->n : 0 };
	size_t first = out->n;

	if (r.nuse > NETARC_USES_MAX || r.npiece > NETWORK_PIECES_MAX)
		return -ERR_LIMIT;
	put_event(out, base, ev);
	put_rest(out, first, &r);
	while (r.nuse || r.npiece) {
		first = out->n;
		buf_putc(out, KIND_MORE);
		put_rest(out, first, &r);
	}
	put_name(out, name);
	return 0;
}

/* --- reading */

static int refuse(const struct netarc_reader *r, size_t at, struct err *e, const char *why)
{
	return err_set(e, ERR_PROTO, "batch of arcs, byte %zu of %zu: %s", at, r->n, why);
}

int netarc_open(struct netarc_reader *r, struct bytes batch, uint32_t objects, struct err *e)
{
	struct cur c;
	uint8_t version;

	*r = (struct netarc_reader){ .p = batch.p, .n = batch.n, .objects = objects };
	cur_init(&c, batch.p, batch.n);
	version = cur_u8(&c);
	r->head.sender = cur_u64le(&c);
	r->head.number = cur_varint(&c);
	r->head.before = cur_varint(&c);
	r->head.lost = cur_varint(&c);
	r->head.base = get_zigzag(&c);
	if (c.failed || version != VERSION || !r->head.number)
		return refuse(r, c.at, e, "its head is cut off, or of another version");
	r->at = c.at;
	return 0;
}

static bool get_uses(struct cur *c, unsigned n, uint32_t objects, struct netarc *a)
{
	for (; n && !c->failed; n--) {
		uint8_t x = cur_u8(c);

		if (a->ev.nuse == NETARC_USES_MAX || (x & OBJECT_BITS) >= objects ||
		    (x & IS_CHILD && a->ev.kind != NETWORK_FORK))
			return false;
		a->use[a->ev.nuse++] = (struct network_use){ .object = x & OBJECT_BITS,
							     .is_end = x & IS_END,
							     .is_child = x & IS_CHILD };
	}
	return !c->failed;
}

static bool get_pieces(struct cur *c, unsigned n, uint32_t objects, struct netarc *a)
{
	for (; n && !c->failed; n--) {
		uint64_t key = cur_varint(c), ns = cur_varint(c);

		if (!a->ev.stretch || a->stretch.n == NETWORK_PIECES_MAX || ns > INT64_MAX ||
		    key >> 1 >> objects)
			return false;
		a->piece[a->stretch.n++] = (struct network_piece){ .with = key >> 1,
								   .is_child = key & 1,
								   .ns = (int64_t)ns };
	}
	return !c->failed;
}

/* Reads the changes of use and the pieces of a record. */
static bool get_rest(struct cur *c, uint32_t objects, struct netarc *a)
{
	uint8_t n = cur_u8(c);

	return get_uses(c, n >> 4, objects, a) && get_pieces(c, n & ITEMS_MAX, objects, a);
}

/* Reads a contracted arc. Its begin must not be later than its end. */
static bool get_stretch(struct cur *c, uint8_t first, struct netarc *a)
{
	uint64_t ns;

	if (!(first & HAS_STRETCH))
		return !(first & IS_AMBIGUOUS);
	ns = cur_varint(c);
	a->stretch = (struct network_stretch){ .begin = minus(a->ev.t, (int64_t)ns),
					       .is_ambiguous = first & IS_AMBIGUOUS,
					       .piece = a->piece };
	a->ev.stretch = &a->stretch;
	return ns <= INT64_MAX && a->stretch.begin <= a->ev.t;
}

static bool get_event(struct cur *c, const struct netarc_reader *r, struct netarc *a)
{
	uint8_t first = cur_u8(c);
	uint64_t node;

	a->ev = (struct network_event){ .kind = first & KIND_BITS,
					.is_message = first & IS_MESSAGE,
					.blocks = first & BLOCKS,
					.use = a->use };
	if (a->ev.kind > NETWORK_SINK || first & UNUSED_BIT)
		return false;
	a->ev.task = cur_u64le(c);
	if (network_is_pair(a->ev.kind))
		a->ev.other = cur_u64le(c);
	a->ev.t = plus(r->head.base, get_zigzag(c));
	node = cur_varint(c);
	a->ev.node = node ? (uint32_t)(node - 1) : NETWORK_NONE;
	return node <= NETWORK_NONE && get_stretch(c, first, a) && get_rest(c, r->objects, a);
}

static bool get_name(struct cur *c, struct netarc *a)
{
	uint8_t n = cur_u8(c);
	const uint8_t *p = cur_bytes(c, n);

	if (!p || n > NETARC_NAME_BYTES || !str_is_name((const char *)p, n))
		return false;
	memcpy(a->name, p, n);
	a->name[n] = '\0';
	return true;
}

/* True if the next byte begins that kind of record. */
static bool is_next(const struct cur *c, enum flags kind)
{
	return cur_left(c) && c->p[c->at] == kind;
}

int netarc_next(struct netarc_reader *r, struct netarc *out, struct err *e)
{
	bool is_good;
	struct cur c;

	if (r->at == r->n)
		return 0;
	cur_init(&c, r->p, r->n);
	c.at = r->at;
	out->name[0] = '\0';
	is_good = get_event(&c, r, out);
	while (is_good && is_next(&c, KIND_MORE)) {
		c.at++;
		is_good = get_rest(&c, r->objects, out);
	}
	if (is_good && is_next(&c, KIND_NAME)) {
		c.at++;
		is_good = out->ev.kind == NETWORK_SOURCE && get_name(&c, out);
	}
	if (!is_good)
		return refuse(r, r->at, e, "not an arc");
	r->at = c.at;
	return 1;
}
