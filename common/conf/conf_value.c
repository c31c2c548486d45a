/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the value of one key to and from text. */
#include "common/base/clock.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/cli/opt.h"
#include "common/conf/conf_internal.h"

#include <string.h>

static bool has_range(const struct conf_key *k)
{
	return k->min || k->max;
}

static int parse_bool(const char *text, bool *out)
{
	static const char *const names[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_eq(text, names[i]))
			continue;
		*out = i & 1;
		return 0;
	}
	return -ERR_INVALID;
}

static int parse_int(const struct conf_key *k, const char *text, int64_t *out)
{
	return str_to_i64(text, has_range(k) ? k->min : INT64_MIN,
			  has_range(k) ? k->max : INT64_MAX, out);
}

static int parse_nsec(const struct conf_key *k, const char *text, int64_t *out)
{
	return opt_to_nsec(text, k->min, has_range(k) ? k->max : INT64_MAX, out);
}

/* Parses a number with k, M, G in either case. */
static int parse_bytes(const struct conf_key *k, const char *text, int64_t *out)
{
	static const char units[] = "kKmMgG";
	char digits[24];
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1]) : NULL;
	unsigned shift = unit && *unit ? 10 * (1 + (unsigned)(unit - units) / 2) : 0;
	int64_t v, max = has_range(k) ? k->max : INT64_MAX;

	if (shift)
		n--;
	if (!n || n >= sizeof(digits))
		return -ERR_INVALID;
	memcpy(digits, text, n);
	digits[n] = 0;
	if (str_to_i64(digits, 0, max >> shift, &v) || v * (INT64_C(1) << shift) < k->min)
		return -ERR_INVALID;
	*out = v * (INT64_C(1) << shift);
	return 0;
}

static int parse_string(const struct conf_key *k, const char *text, const char **out)
{
	size_t n = strlen(text);

	if (n < (size_t)k->min || (k->max && n > (size_t)k->max) || !str_is_utf8(text, n))
		return -ERR_INVALID;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return -ERR_INVALID;
	*out = text;
	return 0;
}

static int parse_choice(const struct conf_key *k, const char *text, int *out)
{
	for (int i = 0; k->choice[i]; i++) {
		if (!str_eq(text, k->choice[i]))
			continue;
		*out = i;
		return 0;
	}
	return -ERR_INVALID;
}

static int parse(const struct conf_key *k, const char *text, void *to)
{
	switch (k->kind) {
	case CONF_BOOL:
		return parse_bool(text, to);
	case CONF_INT:
		return parse_int(k, text, to);
	case CONF_NSEC:
		return parse_nsec(k, text, to);
	case CONF_BYTES:
		return parse_bytes(k, text, to);
	case CONF_STRING:
		return parse_string(k, text, to);
	case CONF_CHOICE:
		return parse_choice(k, text, to);
	}
	return -ERR_INTERNAL;
}

int conf_value_parse(const struct conf_key *k, const char *text, void *base, struct err *e)
{
	struct buf want = BUF_INIT(512);
	char name[64], shown[48];

	if (!parse(k, text, (uint8_t *)base + k->offset))
		return 0;
	conf_value_describe(k, &want);
	err_set(e, ERR_PARSE, "%s: '%s' is not a %s", conf_key_name(name, sizeof(name), k),
		k->flags & CONF_SECRET ? "..."
				       : str_escape(shown, sizeof(shown), text, strlen(text)),
		buf_str(&want));
	buf_done(&want);
	return -ERR_PARSE;
}

void conf_value_describe(const struct conf_key *k, struct buf *out)
{
	static const char *const names[] = {
		[CONF_BOOL] = "yes or no",
		[CONF_INT] = "number",
		[CONF_NSEC] = "length of time (1.5s, 200ms, 5m)",
		[CONF_BYTES] = "size (64k, 16M)",
		[CONF_STRING] = "text",
		[CONF_CHOICE] = "word of",
	};

	buf_puts(out, names[k->kind]);
	if (k->kind == CONF_INT && has_range(k))
		buf_printf(out, " %lld..%lld", (long long)k->min, (long long)k->max);
	if (k->kind == CONF_STRING && k->max)
		buf_printf(out, " of %lld..%lld bytes", (long long)k->min, (long long)k->max);
	if ((k->kind == CONF_BYTES || k->kind == CONF_NSEC) && has_range(k)) {
		struct conf_key bound = { .kind = k->kind };

		buf_puts(out, " ");
		conf_value_print(&bound, &k->min, out);
		buf_puts(out, "..");
		conf_value_print(&bound, &k->max, out);
	}
	for (int i = 0; k->kind == CONF_CHOICE && k->choice[i]; i++)
		buf_printf(out, "%s%s", i ? "|" : ": ", k->choice[i]);
}

/* Writes a time in the largest unit without a remainder. */
static void print_nsec(int64_t v, struct buf *out)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "d", 86400 * NSEC_PER_SEC },
		      { "h", 3600 * NSEC_PER_SEC },
		      { "m", 60 * NSEC_PER_SEC },
		      { "s", NSEC_PER_SEC },
		      { "ms", NSEC_PER_MSEC },
		      { "us", NSEC_PER_USEC },
		      { "ns", 1 } };
	size_t i = 0;

	while (v % units[i].ns)
		i++;
	buf_printf(out, "%lld%s", (long long)(v / units[i].ns), v ? units[i].name : "");
}

static void print_bytes(int64_t v, struct buf *out)
{
	static const char *const units[] = { "", "k", "M", "G" };
	int i = 0;

	while (v && i < 3 && v % 1024 == 0) {
		v /= 1024;
		i++;
	}
	buf_printf(out, "%lld%s", (long long)v, units[i]);
}

static void print_string(const char *s, struct buf *out)
{
	size_t n = strlen(s);

	if (n && s[0] != '"' && s[0] != ' ' && s[n - 1] != ' ') {
		buf_puts(out, s);
		return;
	}
	buf_puts(out, "\"");
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_puts(out, "\\");
		buf_putc(out, (uint8_t)*s);
	}
	buf_puts(out, "\"");
}

void conf_value_print(const struct conf_key *k, const void *base, struct buf *out)
{
	const void *from = (const uint8_t *)base + k->offset;

	switch (k->kind) {
	case CONF_BOOL:
		buf_puts(out, *(const bool *)from ? "yes" : "no");
		break;
	case CONF_INT:
		buf_printf(out, "%lld", (long long)*(const int64_t *)from);
		break;
	case CONF_NSEC:
		print_nsec(*(const int64_t *)from, out);
		break;
	case CONF_BYTES:
		print_bytes(*(const int64_t *)from, out);
		break;
	case CONF_STRING:
		print_string(*(const char *const *)from, out);
		break;
	case CONF_CHOICE:
		buf_puts(out, k->choice[*(const int *)from]);
		break;
	}
}

char *conf_key_name(char *out, size_t size, const struct conf_key *k)
{
	snprintf(out, size, "%s%s%s", k->section ? k->section : "", k->section ? "." : "", k->name);
	return out;
}
