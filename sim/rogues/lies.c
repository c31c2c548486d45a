/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/rogues/lies.h"

#include "common/base/array.h"
#include "common/omis/text/token.h"
#include "proto/frame.h"
#include "proto/msg.h"
#include "sim/rogues/lies_internal.h"

#include <stdlib.h>
#include <string.h>

#define BITS_MAX 4 /* inverted bits per frame */
#define TWICE_MAX 100 /* repetitions of a field */

void lies_init(struct lies *l, uint64_t seed)
{
	*l = (struct lies){ .site = "", .host = "" };
	rng_init(&l->dice, seed);
}

void lies_done(struct lies *l)
{
	for (int i = 0; i < LIES_FRAMES; i++) {
		free(l->said[i].p);
		free(l->heard[i].p);
		l->said[i] = l->heard[i] = (struct lies_frame){ 0 };
	}
}

/* --- stored frames and tokens of the rogue */

static void note(struct lies *l, struct lies_frame *all, const uint8_t *p, size_t n)
{
	struct lies_frame *f = &all[lies_below(l, LIES_FRAMES)];
	uint8_t *copy = n > FRAME_HEADER_BYTES && n <= LIES_FRAME_MAX_BYTES ? malloc(n) : NULL;

	if (!copy)
		return;
	memcpy(copy, p, n);
	free(f->p);
	*f = (struct lies_frame){ copy, n };
}

void lies_note_heard(struct lies *l, const uint8_t *p, size_t n)
{
	note(l, l->heard, p, n);
}

/*
 * Returns the length of the token of a node, process or thread that begins at p; 0 if there is
 * none.
 */
static size_t token_at(const uint8_t *p, size_t n)
{
	size_t len = 2;
	uint32_t node;

	if (n < 3 || !strchr("npt", p[0]) || !p[0] || p[1] != '_')
		return 0;
	while (len < n && len < LIES_TOKEN_BYTES &&
	       (p[len] == '_' || (p[len] >= '0' && p[len] <= '9') ||
		(p[len] >= 'a' && p[len] <= 'z')))
		len++;
	return token_node((const char *)p, len, &node) ? len : 0;
}

static void learn_token(struct lies *l, struct lies_tokens *of, const uint8_t *p, size_t len)
{
	size_t at = of->n < LIES_TOKENS ? of->n : lies_below(l, LIES_TOKENS);

	for (size_t i = 0; i < of->n; i++)
		if (strlen(of->token[i]) == len && !memcmp(of->token[i], p, len))
			return;
	if (len >= LIES_TOKEN_BYTES)
		return;
	memcpy(of->token[at], p, len);
	of->token[at][len] = 0;
	of->n += at == of->n;
}

static void learn(struct lies *l, struct lies_tokens *of, const uint8_t *p, size_t n)
{
	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		len = token_at(p + i, n - i);
		if (len)
			learn_token(l, of, p + i, len);
	}
}

void lies_note_said(struct lies *l, const uint8_t *p, size_t n)
{
	note(l, l->said, p, n);
	learn(l, &l->own, p, n);
}

void lies_learn(struct lies *l, const uint8_t *p, size_t n)
{
	learn(l, &l->others, p, n);
}

/* --- bytes: a message stays well formed, except for some of the flipped bits */

/* Replaces tokens by others of the same length, so that encoded lengths remain right. */
static void swap_tokens(struct lies *l, uint8_t *p, size_t n)
{
	for (size_t i = 0, len; i < n; i += len ? len : 1) {
		const char *other;

		len = token_at(p + i, n - i);
		other = len ? lies_token(l, (char)p[i]) : "";
		if (len && strlen(other) == len && !lies_one_in(l, 4))
			memcpy(p + i, other, len);
	}
}

/* Flips bits except the highest ones, so that a number keeps its length. */
static void turn_bits(struct lies *l, uint8_t *p, size_t n)
{
	for (uint64_t k = 1 + lies_below(l, BITS_MAX); n && k; k--)
		p[lies_below(l, n)] ^= (uint8_t)(1u << lies_below(l, 7));
}

/* --- fields of the outermost message */

struct field {
	const uint8_t *p;
	size_t n; /* bytes of the field, including its number */
	size_t head; /* bytes of its number */
	uint8_t wire;
};

static size_t varint(const uint8_t *p, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n && i < 10; i++) {
		*out |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (!(p[i] & 0x80))
			return i + 1;
	}
	return 0;
}

static bool next_field(const uint8_t *p, size_t n, struct field *out)
{
	uint64_t number, value = 0;
	size_t body;

	out->p = p;
	out->head = varint(p, n, &number);
	if (!out->head)
		return false;
	out->wire = number & 7;
	body = out->wire == 1	? 8
	       : out->wire == 5 ? 4
				: varint(p + out->head, n - out->head, &value);
	if (!body || (out->wire == 2 && (value > n || body + value > n - out->head)))
		return false;
	out->n = out->head + body + (out->wire == 2 ? (size_t)value : 0);
	return out->n <= n;
}

static uint64_t any_number(struct lies *l)
{
	static const uint64_t some[] = { 0,	     1,
					 2,	     3,
					 255,	     INT32_MAX,
					 UINT32_MAX, (uint64_t)UINT32_MAX + 1,
					 INT64_MAX,  (uint64_t)1 << 63,
					 UINT64_MAX };

	return lies_one_in(l, 2) ? lies_below(l, 40) : some[lies_below(l, ARRAY_LEN(some))];
}

/* Writes the field in a changed way: not at all, repeated, or with another number. */
static void put_changed(struct lies *l, const struct field *f, struct buf *out)
{
	if (f->wire == 0) {
		buf_put(out, f->p, f->head);
		buf_put_varint(out, any_number(l));
	} else if (lies_one_in(l, 2)) {
		for (uint64_t k = 1 + lies_below(l, TWICE_MAX); k; k--)
			buf_put(out, f->p, f->n);
	}
}

static void change_field(struct lies *l, const uint8_t *p, size_t n, struct buf *out)
{
	size_t fields = 0, which, mark = frame_begin(out, p[FRAME_HEADER_BYTES - 1]);
	struct field f;

	for (size_t at = FRAME_HEADER_BYTES; at < n && next_field(p + at, n - at, &f); at += f.n)
		fields++;
	which = fields ? lies_below(l, fields) : 0;
	for (size_t at = FRAME_HEADER_BYTES, i = 0; at < n && next_field(p + at, n - at, &f);
	     at += f.n, i++)
		if (i == which)
			put_changed(l, &f, out);
		else
			buf_put(out, f.p, f.n);
	frame_end(out, mark);
}

/* --- whole frames */

static void change_bytes(struct lies *l, const uint8_t *p, size_t n, struct buf *out,
			 void (*change)(struct lies *l, uint8_t *p, size_t n))
{
	uint8_t *copy = malloc(n);

	if (!copy)
		return;
	memcpy(copy, p, n);
	change(l, copy + FRAME_HEADER_BYTES, n - FRAME_HEADER_BYTES);
	buf_put(out, copy, n);
	free(copy);
}

void lies_alter(struct lies *l, const uint8_t *p, size_t n, struct buf *out)
{
	switch (lies_below(l, 8)) {
	case 0:
	case 1:
		change_bytes(l, p, n, out, swap_tokens);
		break;
	case 2:
		change_bytes(l, p, n, out, turn_bits);
		break;
	case 3:
		change_field(l, p, n, out);
		break;
	default:
		lies_reword(l, p, n, out);
	}
}

void lies_repeat(struct lies *l, bool as_it_was, struct buf *out)
{
	const struct lies_frame *f =
		&(lies_one_in(l, 12) ? l->heard : l->said)[lies_below(l, LIES_FRAMES)];

	if (!f->p)
		return;
	if (!as_it_was && lies_one_in(l, 3))
		lies_alter(l, f->p, f->n, out);
	else
		buf_put(out, f->p, f->n);
}

void lies_garble(struct lies *l, const uint8_t *p, size_t n, struct buf *out)
{
	static const uint8_t length[][4] = {
		{ 0, 0, 0, 0 },	   { 0, 0x10, 0, 1 },	       { 0x7f, 0xff, 0xff, 0xff },
		{ 0x80, 0, 0, 0 }, { 0xff, 0xff, 0xff, 0xff }, { 0, 0x10, 0, 0 }
	};

	switch (lies_below(l, 3)) {
	case 0: /* a length without data */
		buf_put(out, length[lies_below(l, ARRAY_LEN(length))], 4);
		break;
	case 1: /* the beginning of a frame without its end */
		buf_put(out, p, 1 + lies_below(l, n));
		break;
	default:
		for (uint64_t k = 1 + lies_below(l, 64); k; k--)
			buf_putc(out, (uint8_t)rng_next(&l->dice));
	}
}
