/* SPDX-License-Identifier: Apache-2.0 */
#include "common/json/json.h"

#include "common/base/err.h"
#include "common/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_init(struct json *j, struct buf *b)
{
	*j = (struct json){ .b = b, .is_first = true };
}

/* Called before each value: writes a comma if needed. Returns false if no value may follow here. */
static bool begin_value(struct json *j)
{
	bool in_object = j->depth && j->is_object[j->depth - 1];

	if (j->failed || (in_object && !j->has_key) || (!j->depth && j->has_root)) {
		j->failed = true;
		return false;
	}
	if (j->depth && !in_object && !j->is_first)
		buf_putc(j->b, ',');
	j->has_key = false;
	j->is_first = false;
	j->has_root = true;
	return true;
}

static void open_container(struct json *j, bool is_object)
{
	if (!begin_value(j))
		return;
	if (j->depth == JSON_DEPTH_MAX) {
		j->failed = true;
		return;
	}
	j->is_object[j->depth++] = is_object;
	j->is_first = true;
	buf_putc(j->b, is_object ? '{' : '[');
}

static void close_container(struct json *j, bool is_object)
{
	if (j->failed || !j->depth || j->is_object[j->depth - 1] != is_object || j->has_key) {
		j->failed = true;
		return;
	}
	j->depth--;
	j->is_first = false;
	buf_putc(j->b, is_object ? '}' : ']');
}

void json_object(struct json *j)
{
	open_container(j, true);
}

void json_object_end(struct json *j)
{
	close_container(j, true);
}

void json_array(struct json *j)
{
	open_container(j, false);
}

void json_array_end(struct json *j)
{
	close_container(j, false);
}

/* Returns how many bytes at p may be copied unchanged. */
static size_t plain_run(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

/* Writes the character at p and returns its length. */
static size_t put_special(struct buf *b, const uint8_t *p, size_t n)
{
	size_t len = 2;

	if (*p == '"' || *p == '\\') {
		buf_putc(b, '\\');
		buf_putc(b, *p);
		return 1;
	}
	if (*p < 0x80) {
		buf_printf(b, "\\u%04x", *p);
		return 1;
	}
	while (len <= 4 && len <= n && !str_is_utf8(p, len))
		len++;
	if (len > 4 || len > n) {
		buf_puts(b, "\\ufffd");
		return 1;
	}
	/* C1 controls, which a terminal may interpret. */
	if (p[0] == 0xc2 && p[1] < 0xa0)
		buf_printf(b, "\\u%04x", p[1]);
	else
		buf_put(b, p, len);
	return len;
}

static void put_string(struct buf *b, const uint8_t *p, size_t n)
{
	buf_putc(b, '"');
	while (n) {
		size_t len = plain_run(p, n);

		if (len)
			buf_put(b, p, len);
		else
			len = put_special(b, p, n);
		p += len;
		n -= len;
	}
	buf_putc(b, '"');
}

void json_key(struct json *j, const char *key)
{
	if (j->failed || !j->depth || !j->is_object[j->depth - 1] || j->has_key) {
		j->failed = true;
		return;
	}
	if (!j->is_first)
		buf_putc(j->b, ',');
	put_string(j->b, (const uint8_t *)key, strlen(key));
	buf_putc(j->b, ':');
	j->is_first = false;
	j->has_key = true;
}

void json_str_n(struct json *j, const void *p, size_t n)
{
	if (begin_value(j))
		put_string(j->b, p, n);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_str_n(j, s, strlen(s));
	else
		json_null(j);
}

void json_i64(struct json *j, int64_t v)
{
	if (begin_value(j))
		buf_printf(j->b, "%lld", (long long)v);
}

void json_u64(struct json *j, uint64_t v)
{
	if (begin_value(j))
		buf_printf(j->b, "%llu", (unsigned long long)v);
}

void json_double(struct json *j, double v)
{
	char text[STR_DOUBLE_BYTES];

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	if (begin_value(j))
		buf_puts(j->b, str_from_double(text, v));
}

void json_bool(struct json *j, bool v)
{
	if (begin_value(j))
		buf_puts(j->b, v ? "true" : "false");
}

void json_null(struct json *j)
{
	if (begin_value(j))
		buf_puts(j->b, "null");
}

void json_key_object(struct json *j, const char *key)
{
	json_key(j, key);
	json_object(j);
}

void json_key_array(struct json *j, const char *key)
{
	json_key(j, key);
	json_array(j);
}

void json_key_str(struct json *j, const char *key, const char *v)
{
	json_key(j, key);
	json_str(j, v);
}

void json_key_i64(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

void json_key_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_key_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_key_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

int json_end(struct json *j)
{
	if (j->b->failed)
		return -ERR_LIMIT;
	return j->failed || j->depth || !j->has_root ? -ERR_INTERNAL : 0;
}
