/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/proctext.h"

#include <string.h>

#define PID_SPACES_MAX 33 /* the kernel nests 32, in the first one */

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

const char *text_number(const char *p, int64_t *out)
{
	int64_t v = 0;
	bool minus;

	p = skip_blanks(p);
	minus = *p == '-';
	if (minus)
		p++;
	if (!is_digit(*p))
		return NULL;
	for (; is_digit(*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			v = INT64_MAX;
	*out = minus ? -v : v;
	return p;
}

size_t text_numbers(const char *p, int64_t *out, size_t max)
{
	size_t n = 0;

	while (n < max && (p = text_number(p, &out[n])))
		n++;
	return n;
}

const char *text_decimal(const char *p, double *out)
{
	double scale = 0.1, v;
	int64_t whole;

	p = text_number(p, &whole);
	if (!p)
		return NULL;
	v = (double)whole;
	if (*p == '.')
		for (p++; is_digit(*p); p++, scale /= 10)
			v += (*p - '0') * scale;
	*out = v;
	return p;
}

const char *text_word(const char *p, const char **word, size_t *n)
{
	p = skip_blanks(p);
	*word = p;
	while (*p && *p != ' ' && *p != '\t' && *p != '\n')
		p++;
	*n = (size_t)(p - *word);
	return *n ? p : NULL;
}

const char *text_next_line(const char *p)
{
	p = strchr(p, '\n');
	return p && p[1] ? p + 1 : NULL;
}

const char *text_find(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = text_next_line(p))
		if (!strncmp(p, key, n))
			return p + n;
	return NULL;
}

bool text_field(const char *text, const char *key, int64_t *out)
{
	const char *p = text_find(text, key);

	return p && text_number(p, out);
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_hex_field(const char *text, const char *key, uint64_t *out)
{
	const char *p = text_find(text, key);
	uint64_t v = 0;

	if (!p)
		return false;
	p = skip_blanks(p);
	if (hex_digit(*p) < 0)
		return false;
	for (; hex_digit(*p) >= 0; p++)
		v = v >> 60 ? UINT64_MAX : v << 4 | (uint64_t)hex_digit(*p);
	*out = v;
	return true;
}

int32_t text_inner_pid(const char *status)
{
	const char *p = text_find(status, "NSpid:");
	int64_t pid[PID_SPACES_MAX];
	size_t n = p ? text_numbers(p, pid, PID_SPACES_MAX) : 0;

	return n && pid[n - 1] > 0 && pid[n - 1] <= INT32_MAX ? (int32_t)pid[n - 1] : -1;
}

void text_line(char *out, size_t size, const char *p)
{
	size_t n;

	p = skip_blanks(p);
	n = strcspn(p, "\n");
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(out, p, n);
	out[n] = 0;
}

const char *text_link(const char *p, char out[TEXT_LINK_BYTES])
{
	size_t n;

	p = skip_blanks(p);
	n = strcspn(p, ":\n");
	if (p[n] != ':' || n >= TEXT_LINK_BYTES)
		return NULL;
	memcpy(out, p, n);
	out[n] = 0;
	return p + n + 1;
}
