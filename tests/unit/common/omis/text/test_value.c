/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/omis/text/value.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static void written_float(double v, struct buf *b)
{
	struct omis_writer w = OMIS_WRITER(b);

	buf_clear(b);
	omis_write_float(&w, v);
}

TEST(a_float_is_printed_as_briefly_as_reads_back)
{
	static const struct {
		double v;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 1, "1.0" },
		{ -2.5, "-2.5" },
		{ 0.1, "0.1" },
		{ 1e22, "1e+22" },
		{ 100, "100.0" },
		{ 123456789012345680.0, "1.2345678901234568e+17" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 5e-324, "5e-324" },
		{ DBL_MIN, "2.2250738585072014e-308" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ NAN, "nan" },
		{ INFINITY, "inf" },
		{ -INFINITY, "-inf" },
		{ 1e15, "1e+15" },
		{ 0.30000000000000004, "0.30000000000000004" },
	};
	struct buf b = BUF_INIT(1000);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		written_float(cases[i].v, &b);
		ck_assert_str_eq(buf_str(&b), cases[i].text);
	}
	buf_done(&b);
}

static void reads_back(double v, struct buf *b)
{
	struct omis_value want = { .kind = OMIS_FLOAT, .f = v };
	struct omis_values *got = NULL;

	written_float(v, b);
	ck_assert_msg(!omis_parse_values(buf_str(b), b->n, &got, NULL), "%s", buf_str(b));
	ck_assert_uint_eq(got->n, 1);
	ck_assert_msg(omis_value_equal(&want, &got->v[0]), "%a became %s", v, buf_str(b));
	omis_values_free(got);
}

TEST(every_double_reads_back_as_itself)
{
	struct buf b = BUF_INIT(1000);
	struct rng rng;

	rng_init(&rng, suite_seed(7));
	for (int i = 0; i < 100000; i++) {
		uint64_t bits = rng_next(&rng);
		double v;

		if (i % 8 == 0)
			bits &= 0x800fffffffffffff; /* subnormal */
		memcpy(&v, &bits, sizeof(v));
		reads_back(v, &b);
	}
	buf_done(&b);
}

TEST(the_locale_of_the_program_does_not_matter)
{
	struct buf b = BUF_INIT(1000);

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		setlocale(LC_ALL, "C.UTF-8");
	written_float(0.5, &b);
	ck_assert_str_eq(buf_str(&b), "0.5");
	reads_back(1234.5678, &b);
	buf_done(&b);
}

TEST(a_list_of_values_is_written_piece_by_piece)
{
	struct buf b = BUF_INIT(1000);
	struct omis_writer w = OMIS_WRITER(&b);

	omis_write_int(&w, -3);
	omis_write_list(&w);
	omis_write_list_end(&w);
	omis_write_list(&w);
	omis_write_string(&w, "a\"\n");
	omis_write_list(&w);
	omis_write_binary(&w, "[", 1);
	omis_write_token(&w, "n_1");
	omis_write_list_end(&w);
	omis_write_ecp(&w, "proc");
	omis_write_list_end(&w);
	omis_write_binary(&w, "", 0);
	omis_write_string_n(&w, "ab\0cd", 5);
	omis_write_pair(&w, "fds", -7);
	ck_assert_str_eq(buf_str(&b),
			 "-3,[],[\"a\\\"\\n\",[1#[,n_1],$proc],0#,\"ab\",[\"fds\",-7]");
	buf_done(&b);
}

TEST(values_are_read_by_kind_and_place)
{
	static const char text[] = "1,2.5,\"s\",n_1,2#ab,[3]";
	struct omis_values *v = NULL;
	int64_t i = 77;
	size_t n;

	ck_assert_int_eq(omis_parse_values(text, strlen(text), &v, NULL), 0);
	ck_assert_uint_eq(v->n, 6);
	ck_assert(omis_values_i64(v, 0, &i) && i == 1);
	ck_assert(!omis_values_i64(v, 1, &i) && i == 1);
	ck_assert_str_eq(omis_values_text(v, 2), "s");
	ck_assert_str_eq(omis_values_text(v, 3), "n_1");
	ck_assert_str_eq(omis_value_text(&v->v[4], &n), "ab");
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_null(omis_values_text(v, 0));
	ck_assert_ptr_null(omis_values_text(v, 5));
	ck_assert_ptr_null(omis_values_text(v, 6));
	ck_assert(!omis_values_i64(v, 6, &i) && !omis_values_i64(v, SIZE_MAX, &i));
	omis_values_free(v);
}

TEST(values_differ_by_kind_and_content)
{
	static const char *const distinct[] = { "1",	 "2",	  "1.0",  "-0.0", "0.0",  "\"n_1\"",
						"n_1",	 "3#n_1", "$n_1", "[]",	  "[1]",  "[1,1]",
						"[[1]]", "nan",	  "inf",  "-inf", "\"\"", "0#" };

	for (size_t i = 0; i < ARRAY_LEN(distinct); i++)
		for (size_t k = 0; k < ARRAY_LEN(distinct); k++) {
			struct omis_values *a = NULL, *b = NULL;

			ck_assert_int_eq(
				omis_parse_values(distinct[i], strlen(distinct[i]), &a, NULL), 0);
			ck_assert_int_eq(
				omis_parse_values(distinct[k], strlen(distinct[k]), &b, NULL), 0);
			ck_assert_msg(omis_value_equal(&a->v[0], &b->v[0]) == (i == k), "%s %s",
				      distinct[i], distinct[k]);
			omis_values_free(a);
			omis_values_free(b);
		}
}

TEST(empty_text_is_an_empty_list)
{
	struct omis_values *v = NULL;

	ck_assert_int_eq(omis_parse_values("", 0, &v, NULL), 0);
	ck_assert_uint_eq(v->n, 0);
	omis_values_free(v);
	ck_assert_int_eq(omis_parse_values(" \n", 2, &v, NULL), 0);
	ck_assert_uint_eq(v->n, 0);
	omis_values_free(v);
}

TEST(broken_values_are_refused_with_their_offset)
{
	static const struct {
		const char *text;
		unsigned col;
	} cases[] = { { "1,", 3 },  { ",", 1 },	 { "1]", 2 },  { "[1", 3 },
		      { "1 2", 3 }, { "\"", 1 }, { "9#a", 1 }, { "1,x", 3 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct omis_values *v = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(omis_parse_values(cases[i].text, strlen(cases[i].text), &v, &e),
				 -ERR_PARSE);
		ck_assert_msg(e.col == cases[i].col, "%s: %s", cases[i].text, e.text);
		ck_assert_ptr_null(v);
	}
}

TEST(values_beyond_a_frame_are_refused)
{
	struct omis_values *v = NULL;
	char *s = malloc(FRAME_MAX_BYTES + 1);

	memset(s, ' ', FRAME_MAX_BYTES + 1);
	ck_assert_int_eq(omis_parse_values(s, FRAME_MAX_BYTES, &v, NULL), 0);
	omis_values_free(v);
	v = NULL;
	ck_assert_int_eq(omis_parse_values(s, FRAME_MAX_BYTES + 1, &v, NULL), -ERR_LIMIT);
	for (size_t i = 0; i < FRAME_MAX_BYTES; i++)
		s[i] = i % 2 ? ',' : '1';
	ck_assert_int_eq(omis_parse_values(s, FRAME_MAX_BYTES - 1, &v, NULL), -ERR_LIMIT);
	ck_assert_int_eq(omis_parse_values(s, 2 * OMIS_VALUES_MAX - 1, &v, NULL), 0);
	ck_assert_uint_eq(v->n, OMIS_VALUES_MAX);
	omis_values_free(v);
	free(s);
}

TEST(every_failed_allocation_while_reading_values_is_survived)
{
	ALLOC_SWEEP (k) {
		struct omis_values *v = NULL;
		int rc = omis_parse_values("[1,2],\"abc\",n_1,3#abc", 21, &v, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || (rc == -ERR_NOMEM && !v));
		omis_values_free(v);
	}
}

SUITE("omis value")
