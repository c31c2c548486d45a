/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of names, and comparisons of fields: as text, bound to a type, asked of records. */
#include "eventlog/evbytes.h"
#include "common/base/array.h"
#include "eventlog/evwhere.h"
#include "tests/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct evfield field[] = { { "a", EV_INT32 },
					{ "b", EV_INT64 },
					{ "s", EV_STRING },
					{ "f", EV_FLOAT },
					{ "d", EV_DOUBLE } };
static const struct evconst constant[] = { { "HOST", { .kind = EV_STRING, .n = 1, .s = "x" } } };
static const struct evtype type = {
	.name = "t", .nfield = 5, .nconst = 1, .field = field, .constant = constant
};

struct values {
	int32_t a;
	int64_t b;
	const char *s;
	float f;
	double d;
};

static size_t make(uint8_t *out, struct values of)
{
	uint16_t n = (uint16_t)strlen(of.s);
	size_t at = 0;

	memcpy(out, &of.a, 4);
	memcpy(out + 4, &of.b, 8);
	memcpy(out + 12, &n, 2);
	memcpy(out + 14, of.s, n);
	at = 14u + n;
	memcpy(out + at, &of.f, 4);
	memcpy(out + at + 4, &of.d, 8);
	return at + 12;
}

static bool passes(const char *text, const uint8_t *v, size_t n)
{
	struct evwhere w;
	struct evtests t;

	ck_assert_int_eq(evwhere_read(text, &w, NULL), 0);
	ck_assert(evwhere_bind(&w, &type, &t));
	return evtests_pass(&t, &type, v, n);
}

TEST(a_pattern_is_a_name_a_beginning_or_all)
{
	ck_assert(evpattern_fits("io.read", "io.read"));
	ck_assert(!evpattern_fits("io.read", "io.reads"));
	ck_assert(evpattern_fits("io.*", "io.read"));
	ck_assert(!evpattern_fits("io.*", "io"));
	ck_assert(evpattern_fits("*", "x"));
	ck_assert(evpattern_fits("own", "x"));
	ck_assert(!evpattern_fits("own", "MPI_Send.start"));
	ck_assert(evpattern_fits("all", "x"));
	ck_assert(!evpattern_fits("", "x"));
	ck_assert(!evpattern_fits("i*.read", "io.read"));
}

TEST(each_operator_and_kind_compares)
{
	uint8_t v[64];
	size_t n = make(
		v, (struct values){
			   .a = -3, .b = INT64_C(1) << 40, .s = "text", .f = 0.5f, .d = 1e300 });

	ck_assert(passes("", v, n));
	ck_assert(passes("a < 0 and b > 65536 and f == 0.5 and d >= 1e300", v, n));
	ck_assert(!passes("a < -3", v, n) && passes("a <= -3", v, n));
	ck_assert(!passes("a > -3", v, n) && passes("a >= -3", v, n));
	ck_assert(!passes("a != -3", v, n) && passes("a == -3", v, n));
	ck_assert(passes("  f   !=\t0.25 ", v, n));
	n = make(v, (struct values){ .s = "", .f = NAN });
	ck_assert(!passes("f > 0", v, n) && !passes("f <= 0", v, n) && !passes("f == 0", v, n));
}

TEST(an_invalid_comparison_is_refused)
{
	static const char *const bad[] = { "a",
					   "a <",
					   "a < x",
					   "a ~ 3",
					   "a = 3",
					   "a < 3 b > 4",
					   "a < 3 or b > 4",
					   "a < 3 and",
					   "a < 3 andb < 4",
					   "and",
					   "== 3",
					   "a == \"3",
					   "a < nan",
					   "a > \"3\"" };
	struct evwhere w = { .n = 99 };
	struct err e = { 0 };
	struct buf text = BUF_INIT(400);

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(evwhere_read(bad[i], &w, &e) == -ERR_PARSE && e.text[0], "%s",
			      bad[i]);
	for (int i = 0; i < EVWHERE_MAX; i++)
		buf_puts(&text, i ? " and a < 3" : "a < 3");
	ck_assert_uint_eq(w.n, 99);
	ck_assert_int_eq(evwhere_read(buf_str(&text), &w, NULL), 0);
	buf_puts(&text, " and a < 3");
	ck_assert_int_eq(evwhere_read(buf_str(&text), &w, NULL), -ERR_LIMIT);
	buf_done(&text);
}

TEST(words_and_names_have_a_longest_length)
{
	char text[400];
	struct evwhere w;

	snprintf(text, sizeof(text), "s == %063d", 0);
	ck_assert_int_eq(evwhere_read(text, &w, NULL), 0);
	snprintf(text, sizeof(text), "s == %064d", 0);
	ck_assert_int_eq(evwhere_read(text, &w, NULL), -ERR_LIMIT);
	snprintf(text, sizeof(text), "s == \"%064d\"", 0);
	ck_assert_int_eq(evwhere_read(text, &w, NULL), -ERR_LIMIT);
	snprintf(text, sizeof(text), "%0255d == 1", 0);
	ck_assert_int_eq(evwhere_read(text, &w, NULL), 0);
	snprintf(text, sizeof(text), "%0256d == 1", 0);
	ck_assert_int_eq(evwhere_read(text, &w, NULL), -ERR_LIMIT);
}

TEST(tests_compare_words_with_string_fields)
{
	uint8_t v[64];
	size_t n = make(v, (struct values){ .s = "text 7" });

	ck_assert(passes("s == \"text 7\"", v, n) && !passes("s != \"text 7\"", v, n));
	ck_assert(passes("s == te*", v, n) && !passes("s == \"te*\"", v, n) &&
		  passes("s != text", v, n));
	n = make(v, (struct values){ .s = "7" });
	ck_assert(passes("s == 7", v, n) && !passes("s == 7.0", v, n));
}

static bool binds(const char *text, unsigned *n)
{
	struct evwhere w;
	struct evtests t;
	bool rc;

	ck_assert_int_eq(evwhere_read(text, &w, NULL), 0);
	rc = evwhere_bind(&w, &type, &t);
	*n = t.n;
	return rc;
}

TEST(tests_decided_by_the_type_are_not_run_per_record)
{
	unsigned n;

	ck_assert(binds("event == t and HOST == x", &n) && n == 0);
	ck_assert(binds("a == 3 and event != u*", &n) && n == 1);
	ck_assert(!binds("event == u", &n) && !binds("HOST == y", &n) && !binds("HOST > 3", &n));
	ck_assert(!binds("s > 3", &n) && !binds("a == word", &n) && !binds("a != word", &n));
	ck_assert(!binds("a == 3 and z == 3", &n) && !binds("z != 3", &n));
}

TEST(a_type_without_strings_has_a_fixed_length)
{
	static const struct evfield plain[] = {
		{ "a", EV_INT32 }, { "b", EV_INT64 }, { "f", EV_FLOAT }, { "d", EV_DOUBLE }
	};
	static const size_t bytes[] = { 0, 4, 12, 16, 24 };

	for (unsigned n = 0; n <= 4; n++) {
		const struct evtype t = { .name = "t", .nfield = n, .field = plain };

		ck_assert_uint_eq(evtype_fixed_bytes(&t), bytes[n]);
	}
	ck_assert_uint_eq(evtype_fixed_bytes(&type), 0);
	ck_assert(ev_is_padded(0, 0) && ev_is_padded(4, 4) && ev_is_padded(5, 5) &&
		  ev_is_padded(5, 8));
	ck_assert(!ev_is_padded(0, 1) && !ev_is_padded(4, 5) && !ev_is_padded(5, 4) &&
		  !ev_is_padded(5, 9));
}

TEST(no_length_reads_beyond_the_record)
{
	uint8_t v[64], *exact;
	size_t n = make(v, (struct values){ .a = 1, .b = 2, .s = "abc", .f = 3, .d = 4 });

	ck_assert(evtype_fits_values(&type, v, n));
	ck_assert(evtype_fits_values(&type, v, n + 3) && !evtype_fits_values(&type, v, n + 4));
	for (size_t cut = 0; cut < n; cut++) {
		exact = malloc(cut + 1);
		ck_assert_ptr_nonnull(exact);
		memcpy(exact, v, cut);
		ck_assert(!evtype_fits_values(&type, exact, cut));
		ck_assert(!passes("d == 4", exact, cut));
		free(exact);
	}
	v[12] = v[13] = 0xff;
	ck_assert(!evtype_fits_values(&type, v, n));
	ck_assert(!passes("f == 3", v, n));
}

SUITE("evwhere")
