/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON to a struct buf, piece by piece, with commas and quotes. Misuse (a value in place of
 * a key, an extra end, more depth than JSON_DEPTH_MAX) makes the buffer fail; json_end() reports
 * that.
 */
#ifndef COMMON_JSON_JSON_H
#define COMMON_JSON_JSON_H

#include "common/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 32

struct json {
	struct buf *b; /* borrowed */
	unsigned depth;
	bool is_object[JSON_DEPTH_MAX];
	bool is_first; /* the open container has no element yet */
	bool has_key; /* a key has no value yet */
	bool has_root; /* the single value at the top has begun */
	bool failed;
};

void json_init(struct json *j, struct buf *b);

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);

/* Writes a key, only in an object; the next call writes its value. */
void json_key(struct json *j, const char *key);

/* Writes a string; NULL becomes null. Bytes that are not UTF-8 become U+FFFD. */
void json_str(struct json *j, const char *s);
void json_str_n(struct json *j, const void *p, size_t n);
void json_i64(struct json *j, int64_t v);
void json_u64(struct json *j, uint64_t v);

/* Writes the shortest text that reads back as v; null if v is not finite. */
void json_double(struct json *j, double v);
void json_bool(struct json *j, bool v);
void json_null(struct json *j);

/* Writes a key and its value, or the begin of its value; only in an object. */
void json_key_object(struct json *j, const char *key);
void json_key_array(struct json *j, const char *key);
void json_key_str(struct json *j, const char *key, const char *v);
void json_key_i64(struct json *j, const char *key, int64_t v);
void json_key_u64(struct json *j, const char *key, uint64_t v);
void json_key_double(struct json *j, const char *key, double v);
void json_key_bool(struct json *j, const char *key, bool v);

/*
 * Returns 0 if exactly one complete value was written; otherwise the buffer's failure or
 * -ERR_INTERNAL.
 */
int json_end(struct json *j);

#endif
