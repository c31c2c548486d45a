/* SPDX-License-Identifier: Apache-2.0 */
/* Random requests with all freedom of the grammar, and their normal form. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/omis/omis.h"
#include "tests/suite.h"

#include <string.h>

struct maker {
	struct rng rng;
	struct buf b;
};

static uint64_t below(struct maker *m, uint64_t n)
{
	return rng_below(&m->rng, n);
}

static void blanks(struct maker *m)
{
	while (!below(m, 3))
		buf_putc(&m->b, (uint8_t) " \t\n\r\v\f"[below(m, 6)]);
}

static void word(struct maker *m)
{
	static const char first[] = "abcxyzABCXYZ_", rest[] = "abcXYZ_0189";

	buf_putc(&m->b, (uint8_t)first[below(m, sizeof(first) - 1)]);
	for (uint64_t n = below(m, 8); n; n--)
		buf_putc(&m->b, (uint8_t)rest[below(m, sizeof(rest) - 1)]);
}

static void number(struct maker *m)
{
	uint64_t v = rng_next(&m->rng) >> 1 >> below(m, 63);
	double f = (double)v / (double)(1 + below(m, 1000));

	switch (below(m, 6)) {
	case 0:
		buf_printf(&m->b, "%s0x%llx", below(m, 2) ? "-" : "", (unsigned long long)v);
		break;
	case 1:
		buf_printf(&m->b, "%s0%llo%s", below(m, 2) ? "+" : "", (unsigned long long)v,
			   below(m, 2) ? "uL" : "");
		break;
	case 2:
		buf_printf(&m->b, "%s%.17e", below(m, 2) ? "-" : "", f);
		break;
	case 3:
		buf_printf(&m->b, "%a", f);
		break;
	case 4:
		buf_puts(&m->b, below(m, 2) ? "nan" : below(m, 2) ? "-inf" : "inf");
		break;
	default:
		buf_printf(&m->b, "%s%llu", below(m, 2) ? "-" : "", (unsigned long long)v);
	}
}

static void string(struct maker *m)
{
	static const char *const escapes[] = { "\\n",	  "\\\\",	 "\\\"",  "\\'",   "\\?",
					       "\\a",	  "\\x7f",	 "\\xfF", "\\377", "\\1",
					       "\\u20ac", "\\U0001f600", "\\v" };

	buf_putc(&m->b, '"');
	for (uint64_t n = below(m, 12); n; n--) {
		uint8_t c = (uint8_t)(1 + below(m, 255));

		if (!below(m, 3))
			/* A hexadecimal escape must not swallow what follows it. */
			buf_printf(&m->b, "%s ", escapes[below(m, ARRAY_LEN(escapes))]);
		else if (c != '\n' && c != '"' && c != '\\')
			buf_putc(&m->b, c);
	}
	buf_putc(&m->b, '"');
}

static void binary(struct maker *m)
{
	uint64_t n = below(m, 10);

	buf_printf(&m->b, "%llu#", (unsigned long long)n);
	for (; n; n--)
		buf_putc(&m->b, (uint8_t)below(m, 256));
}

static void params(struct maker *m, unsigned depth);

static void value(struct maker *m, unsigned depth)
{
	switch (below(m, depth < OMIS_DEPTH_MAX ? 8 : 6)) {
	case 0:
	case 1:
		number(m);
		break;
	case 2:
		string(m);
		break;
	case 3:
		binary(m);
		break;
	case 4:
		buf_puts(&m->b, "p_");
		word(m);
		break;
	case 5:
		buf_putc(&m->b, '$');
		word(m);
		break;
	default:
		buf_putc(&m->b, '[');
		params(m, depth + 1);
		buf_putc(&m->b, ']');
	}
}

static void params(struct maker *m, unsigned depth)
{
	uint64_t n = below(m, 4);

	blanks(m);
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			buf_putc(&m->b, ',');
		blanks(m);
		value(m, depth);
		blanks(m);
	}
}

static void call(struct maker *m)
{
	blanks(m);
	word(m);
	blanks(m);
	buf_putc(&m->b, '(');
	params(m, 0);
	buf_putc(&m->b, ')');
	blanks(m);
}

static void request(struct maker *m)
{
	bool locked = !below(m, 4);

	buf_clear(&m->b);
	if (!below(m, 2))
		call(m);
	buf_putc(&m->b, ':');
	blanks(m);
	if (locked)
		buf_putc(&m->b, '{');
	call(m);
	for (uint64_t n = below(m, 5); n; n--) {
		if (!below(m, 3))
			buf_putc(&m->b, ';');
		call(m);
	}
	if (locked)
		buf_putc(&m->b, '}');
	blanks(m);
}

static struct omis_request *parse(const struct buf *b)
{
	struct omis_request *r = NULL;
	struct err e = { 0 };

	ck_assert_msg(!omis_parse_inner(buf_str(b), b->n, &r, &e), "%s: %s", buf_str(b), e.text);
	return r;
}

TEST(a_printed_request_parses_and_prints_to_itself)
{
	struct maker m = { .b = BUF_INIT(FRAME_MAX_BYTES) };
	struct buf first = BUF_INIT(FRAME_MAX_BYTES), second = BUF_INIT(FRAME_MAX_BYTES);

	rng_init(&m.rng, suite_seed(2026));
	for (int i = 0; i < 20000; i++) {
		struct omis_request *r, *again;

		request(&m);
		r = parse(&m.b);
		buf_clear(&first);
		omis_print_request(&first, r);
		again = parse(&first);
		ck_assert_msg(omis_request_equal(r, again), "%s", buf_str(&first));
		buf_clear(&second);
		omis_print_request(&second, again);
		ck_assert_uint_eq(first.n, second.n);
		ck_assert_mem_eq(buf_str(&first), buf_str(&second), first.n);
		omis_request_free(r);
		omis_request_free(again);
	}
	buf_done(&m.b);
	buf_done(&first);
	buf_done(&second);
}

TEST(a_changed_byte_never_does_more_than_be_refused)
{
	struct maker m = { .b = BUF_INIT(FRAME_MAX_BYTES) };
	int refused = 0, accepted = 0;

	rng_init(&m.rng, suite_seed(2027));
	for (int i = 0; i < 20000; i++) {
		struct omis_request *r = NULL;
		struct err e = { 0 };

		request(&m);
		m.b.p[below(&m, m.b.n)] = (uint8_t)below(&m, 256);
		if (omis_parse(buf_str(&m.b), m.b.n, &r, &e)) {
			ck_assert(e.col >= 1 && e.col <= m.b.n + 1);
			refused++;
		} else {
			omis_check(r, NULL);
			accepted++;
		}
		omis_request_free(r);
	}
	ck_assert_int_gt(refused, 1000);
	ck_assert_int_gt(accepted, 1000);
	buf_done(&m.b);
}

SUITE("omis property")
