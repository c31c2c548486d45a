/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/evbytes.h"

void ev_put16(struct buf *b, uint16_t v, bool swap)
{
	uint8_t p[sizeof(v)];

	ev_set16(p, v, swap);
	buf_put(b, p, sizeof(p));
}

void ev_put32(struct buf *b, uint32_t v, bool swap)
{
	uint8_t p[sizeof(v)];

	ev_set32(p, v, swap);
	buf_put(b, p, sizeof(p));
}

void ev_put64(struct buf *b, uint64_t v, bool swap)
{
	uint8_t p[sizeof(v)];

	ev_set64(p, v, swap);
	buf_put(b, p, sizeof(p));
}

void ev_put_string(struct buf *b, const char *s, size_t n, bool swap)
{
	ev_put16(b, (uint16_t)n, swap);
	buf_put(b, s, n);
}

void ev_pad(struct buf *b, size_t from)
{
	while ((b->n - from) % 4 && !b->failed)
		buf_putc(b, 0);
}

const uint8_t *evcur_bytes(struct evcur *c, size_t n)
{
	const uint8_t *p = c->p + c->at;

	if (c->failed || n > c->n - c->at) {
		c->failed = true;
		return NULL;
	}
	c->at += n;
	return p;
}

uint8_t evcur_8(struct evcur *c)
{
	const uint8_t *p = evcur_bytes(c, 1);

	return p ? *p : 0;
}

uint16_t evcur_16(struct evcur *c)
{
	const uint8_t *p = evcur_bytes(c, 2);

	return p ? ev_get16(p, c->swap) : 0;
}

uint32_t evcur_32(struct evcur *c)
{
	const uint8_t *p = evcur_bytes(c, 4);

	return p ? ev_get32(p, c->swap) : 0;
}

uint64_t evcur_64(struct evcur *c)
{
	const uint8_t *p = evcur_bytes(c, 8);

	return p ? ev_get64(p, c->swap) : 0;
}
