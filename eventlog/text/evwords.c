/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/text/evwords.h"

#include "common/base/str.h"

#include <math.h>
#include <string.h>

/* --- times */

/*
 * Conversion of dates to days since 1970 and back. Eras of 400 years begin in March, so that leap
 * days are last.
 */
struct date {
	int64_t year;
	unsigned month, day;
};

static struct date date_of(int64_t days)
{
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097;
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	unsigned month = mp < 10 ? mp + 3 : mp - 9;

	return (struct date){ yoe + era * 400 + (month <= 2), month, doy - (153 * mp + 2) / 5 + 1 };
}

static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
	unsigned yoe = (unsigned)(y - era * 400),
		 doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + (int64_t)(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

static char *put_digits(char *to, uint64_t v, unsigned digits)
{
	for (unsigned i = digits; i-- > 0; v /= 10)
		to[i] = (char)('0' + v % 10);
	return to + digits;
}

/* marks: characters behind year and month, behind the day, and behind hour and minute; 0 = none. */
static size_t put_time(char *out, nsec_t wall, const char marks[3])
{
	int64_t sec = wall / NSEC_PER_SEC, frac = wall % NSEC_PER_SEC, of_day;
	const unsigned width[] = { 4, 2, 2, 2, 2, 2 };
	const char after[] = { marks[0], marks[0], marks[1], marks[2], marks[2], '.' };
	uint64_t part[6];
	struct date d;
	char *to = out;

	if (frac < 0) {
		sec--;
		frac += NSEC_PER_SEC;
	}
	of_day = (sec % 86400 + 86400) % 86400;
	d = date_of((sec - of_day) / 86400);
	part[0] = (uint64_t)d.year, part[1] = d.month, part[2] = d.day;
	part[3] = (uint64_t)of_day / 3600, part[4] = (uint64_t)of_day / 60 % 60,
	part[5] = (uint64_t)of_day % 60;
	for (unsigned i = 0; i < 6; i++) {
		to = put_digits(to, part[i], width[i]);
		if (after[i])
			*to++ = after[i];
	}
	to = frac % 1000 ? put_digits(to, (uint64_t)frac, 9)
			 : put_digits(to, (uint64_t)frac / 1000, 6);
	return (size_t)(to - out);
}

size_t evwords_time_ulm(char *out, nsec_t wall)
{
	return put_time(out, wall, "\0\0");
}

size_t evwords_time_iso(char *out, nsec_t wall)
{
	size_t n = put_time(out, wall, "-T:");

	out[n] = 'Z';
	return n + 1;
}

/* A text whose digits are read from the left. */
struct scan {
	const char *s;
	size_t n;
};

static bool take_digits(struct scan *c, unsigned digits, unsigned *out)
{
	*out = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (i >= c->n || c->s[i] < '0' || c->s[i] > '9')
			return false;
		*out = *out * 10 + (unsigned)(c->s[i] - '0');
	}
	c->s += digits;
	c->n -= digits;
	return true;
}

static bool take_mark(struct scan *c, char mark)
{
	bool has = c->n && *c->s == mark;

	c->s += has;
	c->n -= has;
	return has;
}

/* Reads .ddddddddd up to the last digit. is_padded: as microseconds without their leading zeros. */
static bool take_fraction(struct scan *c, bool is_padded, int64_t *ns, bool *is_short)
{
	int64_t v = 0, unit = NSEC_PER_SEC;
	unsigned digits = 0;

	for (; c->n && *c->s >= '0' && *c->s <= '9'; c->s++, c->n--)
		if (digits++ < 9) {
			v = v * 10 + (*c->s - '0');
			unit /= 10;
		}
	*is_short = digits < 6;
	*ns = is_padded && *is_short ? v * 1000 : v * unit;
	return digits > 0;
}

static unsigned days_in(unsigned year, unsigned month)
{
	int64_t next = month == 12 ? days_of((int64_t)year + 1, 1, 1) : days_of(year, month + 1, 1);

	return (unsigned)(next - days_of(year, month, 1));
}

static bool to_time(const unsigned part[6], int64_t ns, nsec_t *out)
{
	int64_t sec;

	if (part[1] < 1 || part[1] > 12 || part[2] < 1 || part[2] > days_in(part[0], part[1]) ||
	    part[3] > 23 || part[4] > 59 || part[5] > 60)
		return false;
	sec = days_of(part[0], part[1], part[2]) * 86400 + part[3] * 3600 + part[4] * 60 + part[5];
	/* The first second begins before the smallest time, so it is computed from above. */
	if (sec < 0 && ns) {
		sec++;
		ns -= NSEC_PER_SEC;
	}
	return !__builtin_mul_overflow(sec, NSEC_PER_SEC, out) &&
	       !__builtin_add_overflow(*out, ns, out);
}

bool evwords_date(const char *s, size_t n, bool is_padded, nsec_t *out, bool *is_short)
{
	static const unsigned width[] = { 4, 2, 2, 2, 2, 2 };
	struct scan c = { s, n };
	unsigned part[6];
	int64_t ns = 0;

	*is_short = false;
	for (unsigned i = 0; i < 6; i++)
		if (!take_digits(&c, width[i], &part[i]))
			return false;
	if (take_mark(&c, '.') && !take_fraction(&c, is_padded, &ns, is_short))
		return false;
	return c.n == 0 && to_time(part, ns, out);
}

/* Parses seconds such as 1331657468.981414. */
static bool to_epoch(struct scan c, nsec_t *out)
{
	bool is_negative = take_mark(&c, '-'), is_short;
	int64_t sec = 0, ns = 0;

	if (!c.n || *c.s < '0' || *c.s > '9')
		return false;
	for (; c.n && *c.s >= '0' && *c.s <= '9'; c.s++, c.n--)
		if (__builtin_mul_overflow(sec, 10, &sec) ||
		    __builtin_add_overflow(sec, *c.s - '0', &sec))
			return false;
	if (take_mark(&c, '.') && !take_fraction(&c, false, &ns, &is_short))
		return false;
	if (c.n || __builtin_mul_overflow(sec, NSEC_PER_SEC, out) ||
	    __builtin_add_overflow(*out, ns, out))
		return false;
	*out = is_negative ? -*out : *out;
	return true;
}

bool evwords_iso(const char *s, size_t n, nsec_t *out)
{
	static const unsigned width[] = { 4, 2, 2, 2, 2, 2 };
	static const char after[] = { '-', '-', 'T', ':', ':', '.' };
	struct scan c = { s, n };
	unsigned part[6];
	int64_t ns = 0;
	bool is_short, has = true;

	for (unsigned i = 0; i < 6; i++) {
		if (!take_digits(&c, width[i], &part[i]))
			return to_epoch((struct scan){ s, n }, out);
		has = take_mark(&c, after[i]);
		if (!has && after[i] == 'T')
			return to_epoch((struct scan){ s, n }, out);
	}
	if (has && !take_fraction(&c, false, &ns, &is_short))
		return false;
	take_mark(&c, 'Z');
	return c.n == 0 && to_time(part, ns, out);
}

/* --- values */

#define NUMBER_BYTES 40 /* longer texts are not usual numbers */

bool evwords_value(const char *s, size_t n, enum evkind kind, struct evvalue *out)
{
	char text[NUMBER_BYTES];
	int64_t i;
	double d;

	*out = (struct evvalue){ .kind = kind };
	if (kind == EV_STRING) {
		out->s = s;
		out->n = (uint32_t)n;
		return n <= EV_RECORD_MAX_BYTES;
	}
	if (n >= sizeof(text))
		return false;
	memcpy(text, s, n);
	text[n] = '\0';
	if (kind == EV_INT32 || kind == EV_INT64) {
		if (str_to_i64(text, kind == EV_INT32 ? INT32_MIN : INT64_MIN,
			       kind == EV_INT32 ? INT32_MAX : INT64_MAX, &i))
			return false;
		kind == EV_INT32 ? (void)(out->i32 = (int32_t)i) : (void)(out->i64 = i);
		return true;
	}
	if (str_eq(text, "nan"))
		d = (double)NAN;
	else if (str_eq(text, "inf") || str_eq(text, "-inf"))
		d = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
	else if (str_to_double(text, -HUGE_VAL, HUGE_VAL, &d))
		return false;
	kind == EV_FLOAT ? (void)(out->f32 = (float)d) : (void)(out->f64 = d);
	return true;
}

static bool is_written_so(const char *s, size_t n, const struct evvalue *v)
{
	struct buf b = BUF_INIT(64);
	bool same;

	evwords_put_number(&b, v);
	same = b.n == n && !memcmp(b.p, s, n);
	buf_done(&b);
	return same;
}

void evwords_infer(const char *s, size_t n, struct evvalue *out)
{
	bool may_be = n && n < NUMBER_BYTES && strchr("-0123456789ni", *s);

	for (int kind = EV_INT32; may_be && kind <= EV_DOUBLE; kind++)
		if (kind != EV_FLOAT && evwords_value(s, n, (enum evkind)kind, out) &&
		    is_written_so(s, n, out))
			return;
	*out = (struct evvalue){ .kind = EV_STRING, .n = (uint32_t)n, .s = s };
}

static void put_integer(struct buf *out, int64_t v)
{
	char text[24], *to = text + sizeof(text);
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do {
		*--to = (char)('0' + left % 10);
	} while (left /= 10);
	if (v < 0)
		*--to = '-';
	buf_put(out, to, (size_t)(text + sizeof(text) - to));
}

void evwords_put_number(struct buf *out, const struct evvalue *v)
{
	char text[STR_DOUBLE_BYTES];

	switch (v->kind) {
	case EV_INT32:
		put_integer(out, v->i32);
		return;
	case EV_INT64:
		put_integer(out, v->i64);
		return;
	case EV_FLOAT:
		str_from_float(text, v->f32);
		break;
	case EV_DOUBLE:
		str_from_double(text, v->f64);
		break;
	case EV_STRING:
		return;
	}
	buf_puts(out, text);
}

static const char hex[] = "0123456789abcdef";
static const char special[] = "\n\t\r\\\"", letter[] = "ntr\\\"";

/*
 * Returns the length of the UTF-8 character that begins here; 0 for invalid bytes and control
 * characters.
 */
static size_t character(const char *s, size_t n)
{
	uint8_t c = (uint8_t)*s;
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

	if (c < 0x20 || c == 0x7f || len > n || !str_is_utf8(s, len))
		return 0;
	return c == 0xc2 && (uint8_t)s[1] < 0xa0 ? 0 : len; /* C1 */
}

/*
 * Returns how many leading bytes need no escape. In a word of a line, bytes that would end the word
 * need one.
 */
static size_t simple_bytes(const char *s, size_t n, bool is_word)
{
	size_t i = 0;

	while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '\\' && s[i] != '"' &&
	       !(is_word && (s[i] == ' ' || s[i] == '=')))
		i++;
	return i;
}

void evwords_put_escaped(struct buf *out, const char *s, size_t n)
{
	size_t i = simple_bytes(s, n, false);

	buf_put(out, s, i);
	while (i < n) {
		size_t len = character(s + i, n - i);
		const char *at = s[i] ? strchr(special, s[i]) : NULL;

		if (at) {
			buf_putc(out, '\\');
			buf_putc(out, (uint8_t)letter[at - special]);
			len = 1;
		} else if (len) {
			buf_put(out, s + i, len);
		} else {
			buf_puts(out, "\\x");
			buf_putc(out, (uint8_t)hex[(uint8_t)s[i] >> 4]);
			buf_putc(out, (uint8_t)hex[s[i] & 15]);
			len = 1;
		}
		i += len;
	}
}

static bool is_plain(const char *s, size_t n)
{
	struct evvalue v;

	if (!n)
		return false;
	for (size_t i = simple_bytes(s, n, true); i < n;) {
		size_t len = character(s + i, n - i);

		if (!len || (len == 1 && strchr(" =\"\\", s[i])))
			return false;
		i += len;
	}
	evwords_infer(s, n, &v);
	return v.kind == EV_STRING;
}

void evwords_put_value(struct buf *out, const struct evvalue *v)
{
	if (v->kind != EV_STRING) {
		evwords_put_number(out, v);
	} else if (is_plain(v->s, v->n)) {
		buf_put(out, v->s, v->n);
	} else {
		buf_putc(out, '"');
		evwords_put_escaped(out, v->s, v->n);
		buf_putc(out, '"');
	}
}

void evwords_put_name(struct buf *out, const char *s)
{
	size_t n = simple_bytes(s, strlen(s), true);

	buf_put(out, s, n);
	for (s += n; *s; s++) {
		uint8_t c = (uint8_t)*s;

		if (c > 0x20 && c != 0x7f && !strchr("=\"\\", *s)) {
			buf_putc(out, c);
			continue;
		}
		buf_puts(out, "\\x");
		buf_putc(out, (uint8_t)hex[c >> 4]);
		buf_putc(out, (uint8_t)hex[c & 15]);
	}
}

static int nibble(char c)
{
	const char *at = c ? strchr(hex, c) : NULL;

	return at ? (int)(at - hex) : -1;
}

size_t evwords_unescape(char *to, const char *s, size_t n)
{
	const char *from = to, *at;

	for (size_t i = 0; i < n; i++) {
		bool is_escape = s[i] == '\\' && i + 1 < n && s[i + 1];

		at = is_escape ? strchr(letter, s[i + 1]) : NULL;
		if (at) {
			*to++ = special[at - letter];
			i++;
		} else if (is_escape && s[i + 1] == 'x' && i + 3 < n && nibble(s[i + 2]) >= 0 &&
			   nibble(s[i + 3]) >= 0) {
			*to++ = (char)(nibble(s[i + 2]) << 4 | nibble(s[i + 3]));
			i += 3;
		} else {
			*to++ = s[i];
		}
	}
	return (size_t)(to - from);
}
