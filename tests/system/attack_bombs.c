/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that cost a careless decoder its stack, its memory or its time. In
 * the numbering of proto/omig.proto: reply (11) has entry = 3 (repeated) and
 * coverage = 4 (single, with missing = 3 in it).
 */
#include "common/base/str.h"
#include "tests/system/attack.h"

#include <stdlib.h>

#define REPLY 11
#define REQUEST 10
#define CANCEL 12
#define DIRECTORY 20
#define MIB (1024 * 1024)

static void fill(struct buf *b, const char *pair, size_t n, size_t until)
{
	while (b->n + n <= until)
		buf_put(b, pair, n);
}

static void header(struct buf *b, uint32_t length)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_putc(b, (uint8_t)(length >> shift));
}

static void frame(struct buf *out, uint8_t type, const void *p, size_t n)
{
	header(out, (uint32_t)n + 1);
	buf_putc(out, type);
	buf_put(out, p, n);
}

static void repeat(struct buf *out, const char *bytes, size_t n)
{
	struct buf b = BUF_INIT(MIB);

	fill(&b, bytes, n, MIB - 1);
	frame(out, REPLY, b.p, b.n);
	buf_done(&b);
}

/* 8,735 messages one in another, each in the field that holds a message (coverage, then
 * missing). */
static void deep(struct buf *out)
{
	enum { LEVELS = 8735 };
	struct buf parts[2] = { BUF_INIT(MIB), BUF_INIT(MIB) };
	int at = 0;

	for (int i = 0; i < LEVELS; i++, at ^= 1) {
		struct buf *from = &parts[at], *to = &parts[at ^ 1];

		buf_clear(to);
		buf_putc(to, i == LEVELS - 1 ? 0x22 : 0x1a);
		buf_put_varint(to, from->n);
		buf_put(to, from->p, from->n);
	}
	frame(out, REPLY, parts[at].p, parts[at].n);
	buf_done(&parts[0]);
	buf_done(&parts[1]);
}

/* Objects of a directory, 20,001 of them and each with a word in it. */
static void objects(struct buf *out)
{
	struct buf b = BUF_INIT(MIB);

	for (int i = 0; i < 20001; i++)
		buf_put(&b, "\x1a\x02\x38\x05", 4);
	frame(out, DIRECTORY, b.p, b.n);
	buf_done(&b);
}

#define BYTES(s) (s), sizeof(s) - 1

static const struct small {
	const char *name;
	uint8_t type;
	const char *p;
	size_t n;
} smalls[] = {
	{ "varint", CANCEL, BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01") },
	{ "sublength", REPLY, BYTES("\x1a\xff\xff\xff\xff\x0f") },
	{ "beyond", REPLY, BYTES("\x1a\x7f\x08\x01") },
	{ "enum", REQUEST, BYTES("\x30\xff\xff\xff\xff\x07") },
	{ "utf8", REPLY, BYTES("\x2a\x02\xc0\xaf") },
	{ "nul", REPLY, BYTES("\x2a\x03\x61\x00\x62") },
	{ "unknown", REPLY, BYTES("\xf8\x07\x01") },
	{ "wiretype", REPLY, BYTES("\x0f\x01") },
	{ "float", REPLY, BYTES("\x0d\x00\x00\xc0\x7f") },
	{ "type", 77, BYTES("") },
};

static const struct {
	const char *name;
	uint32_t length;
} lengths[] = {
	{ "length0", 0 },
	{ "length1m", 0x00100001 },
	{ "length7f", 0x7fffffff },
	{ "length80", 0x80000000 },
	{ "lengthff", 0xffffffff },
	{ "announce", MIB }, /* legal once the role is known; the rest never arrives */
};

static bool make(struct buf *out, const char *name)
{
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		if (str_eq(name, lengths[i].name)) {
			header(out, lengths[i].length);
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(smalls) / sizeof(smalls[0]); i++) {
		if (str_eq(name, smalls[i].name)) {
			frame(out, smalls[i].type, smalls[i].p, smalls[i].n);
			return true;
		}
	}
	if (str_eq(name, "deep"))
		deep(out);
	else if (str_eq(name, "empty"))
		repeat(out, BYTES("\x1a\x00"));
	else if (str_eq(name, "single"))
		repeat(out, BYTES("\x22\x02\x1a\x00"));
	else if (str_eq(name, "objects"))
		objects(out);
	else
		return false;
	return true;
}

struct buf *attack_bomb(const char *name)
{
	struct buf *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	buf_init(b, MIB + 4096);
	if (make(b, name) && !b->failed)
		return b;
	buf_done(b);
	free(b);
	return NULL;
}
