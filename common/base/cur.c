/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/cur.h"

#include <string.h>

void cur_init(struct cur *c, const void *p, size_t n)
{
	/* An empty input may be NULL; cur_bytes(c, 0) returns an address even then. */
	*c = (struct cur){ .p = p ? p : (const void *)"", .n = p ? n : 0 };
}

bool cur_is_done(const struct cur *c)
{
	return !c->failed && c->at == c->n;
}

const uint8_t *cur_bytes(struct cur *c, size_t n)
{
	const uint8_t *p;

	if (c->failed || n > c->n - c->at) {
		c->failed = true;
		return NULL;
	}
	p = c->p + c->at;
	c->at += n;
	return p;
}

static uint64_t get_le(struct cur *c, size_t n)
{
	const uint8_t *p = cur_bytes(c, n);
	uint64_t v = 0;

	for (size_t i = 0; p && i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

uint8_t cur_u8(struct cur *c)
{
	return (uint8_t)get_le(c, 1);
}

uint16_t cur_u16le(struct cur *c)
{
	return (uint16_t)get_le(c, 2);
}

uint32_t cur_u32le(struct cur *c)
{
	return (uint32_t)get_le(c, 4);
}

uint64_t cur_u64le(struct cur *c)
{
	return get_le(c, 8);
}

double cur_doublele(struct cur *c)
{
	uint64_t bits = cur_u64le(c);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

uint64_t cur_varint_long(struct cur *c)
{
	size_t left = cur_left(c);
	const uint8_t *p = c->p + c->at;
	uint64_t v = 0;

	for (unsigned i = 0; i < left && i < 10; i++) {
		if (i == 9 && p[i] > 1)
			break;
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (p[i] < 0x80) {
			c->at += i + 1;
			return v;
		}
	}
	c->failed = true;
	return 0;
}
