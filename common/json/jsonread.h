/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads JSON (RFC 8259) of any length, token by token, from bytes of any origin. Memory is bounded
 * by the longest string. Several values may follow one another, as in JSON lines. Keys are not
 * compared: the caller refuses repeated ones.
 */
#ifndef COMMON_JSON_JSONREAD_H
#define COMMON_JSON_JSONREAD_H

#include "common/base/buf.h"
#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSONREAD_DEPTH_MAX 32 /* documents of people nest 5 deep */
#define JSONREAD_TEXT_MAX (64u << 10) /* bytes of one string; names have 255 bytes */

enum jsonread_token {
	JSONREAD_END, /* end of the input, between two values */
	JSONREAD_OBJECT,
	JSONREAD_OBJECT_END,
	JSONREAD_ARRAY,
	JSONREAD_ARRAY_END,
	JSONREAD_KEY, /* a key, whose value follows */
	JSONREAD_STRING,
	JSONREAD_NUMBER,
	JSONREAD_TRUE,
	JSONREAD_FALSE,
	JSONREAD_NULL,
};

/*
 * Sets *p, *n to further bytes, valid until the next call; *n is 0 at the end. Returns 0, or a
 * negative code with e.
 */
typedef int (*jsonread_fill_fn)(void *arg, const uint8_t **p, size_t *n, struct err *e);

struct jsonread {
	/* text of a key, string (without escapes) or number; any byte may be 0 */
	const char *text;
	size_t n;
	unsigned line, col; /* place of the last token, from 1; col in bytes */
	unsigned depth; /* number of open objects and arrays */
	/* --- the rest is of jsonread.c */
	jsonread_fill_fn fill;
	void *arg;
	const uint8_t *at, *end;
	uintptr_t line_at; /* address at which the line would begin if all its bytes were here */
	unsigned line_now;
	uint8_t state;
	bool is_object[JSONREAD_DEPTH_MAX];
	bool has_ended;
	struct buf copy; /* a string with escapes, or in two pieces */
};

void jsonread_init(struct jsonread *r, jsonread_fill_fn fill, void *arg);
/* As jsonread_init() for n bytes in memory, borrowed. */
void jsonread_init_bytes(struct jsonread *r, const void *p, size_t n);
void jsonread_done(struct jsonread *r);

/*
 * Returns the next token (enum jsonread_token). Fails with ERR_PARSE, ERR_LIMIT, with line and
 * column, or an error of fill. After a failure the reader cannot be used.
 */
int jsonread_next(struct jsonread *r, struct err *e);

/*
 * Skips the rest of the value that began with the last token. Returns 0, or fails like
 * jsonread_next().
 */
int jsonread_skip(struct jsonread *r, int token, struct err *e);

/*
 * Returns the last token, a number, as an integer. Fails with ERR_INVALID if it is not an integer,
 * or out of range.
 */
int jsonread_i64(const struct jsonread *r, int64_t *out, struct err *e);
int jsonread_u64(const struct jsonread *r, uint64_t *out, struct err *e);

/* Like err_set(), with the position of the last token. */
int jsonread_fail(const struct jsonread *r, struct err *e, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns "an object", "a string" and so on. */
const char *jsonread_token_name(int token);

/* True if the last key or string is s. */
bool jsonread_is(const struct jsonread *r, const char *s);

#endif
