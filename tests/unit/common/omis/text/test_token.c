/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/omis/text/status.h"
#include "common/omis/text/token.h"
#include "tests/suite.h"

#include <string.h>

TEST(the_class_is_in_the_prefix)
{
	static const struct {
		const char *token;
		char class;
	} cases[] = {
		{ "s_1", 's' },	    { "n_1", 'n' },  { "p_1_000000", 'p' }, { "p_x", 'p' },
		{ "t_1_2", 't' },   { "c_1", 'c' },  { "e_1", 'e' },	    { "q_1", 'q' },
		{ "m_1", 'm' },	    { "u_1", 'u' },  { "pa_c_1", 'a' },	    { "trace_b_1", 'a' },
		{ "trace_c_1", 0 }, { "pa_x", 'a' }, { "pvm_g_1", 0 },	    { "x_1", 0 },
		{ "n1", 0 },	    { "", 0 },	     { "_1", 0 },	    { "n_", 0 },
		{ "n_1-2", 0 },	    { "1_n", 0 },    { "pa_", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		ck_assert_msg(token_class(cases[i].token, strlen(cases[i].token)) == cases[i].class,
			      "%s", cases[i].token);
}

TEST(a_printed_token_parses_to_its_parts)
{
	struct rng rng;

	rng_init(&rng, suite_seed(11));
	for (int i = 0; i < 20000; i++) {
		struct token_parts parts = { .kind = TOKEN_SITE +
						     (enum token_kind)rng_below(
							     &rng, TOKEN_TRACE_BUFFER) },
				   got;
		struct token text;

		parts.number = rng_next(&rng) >> rng_below(&rng, 64);
		if (parts.kind == TOKEN_PROCESS || parts.kind == TOKEN_THREAD) {
			parts.number &= UINT32_MAX;
			parts.id = (uint32_t)rng_below(&rng, TOKEN_ID_MAX + 1ull);
		}
		token_print(&text, &parts);
		ck_assert(token_is_valid(text.s, strlen(text.s)));
		ck_assert_int_eq(token_parse(text.s, strlen(text.s), &got), 0);
		ck_assert_int_eq(got.kind, parts.kind);
		ck_assert_uint_eq(got.number, parts.number);
		ck_assert_uint_eq(got.id, parts.id);
	}
}

TEST(only_the_one_form_of_a_token_is_ours)
{
	static const char *const others[] = {
		"n_",
		"n_01",
		"n_x",
		"n_1x",
		"n_18446744073709551616",
		"p_1",
		"p_1_",
		"p_1_00000",
		"p_1_0000000",
		"p_1_00000i",
		"p_1_00000A",
		"p_4294967296_000000",
		"p__000000",
		"pa_c_",
		"pa_cl_x",
		"pa_d_1",
		"trace_b_x",
		"u_1",
		"",
	};
	struct token_parts parts = { .number = 42 };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		ck_assert_msg(token_parse(others[i], strlen(others[i]), &parts) == -ERR_INVALID,
			      "%s", others[i]);
	ck_assert_uint_eq(parts.number, 42);
}

TEST(short_forms_print_the_documented_shapes)
{
	struct token t;
	uint32_t node = 99;

	ck_assert_str_eq(token_print_number(&t, TOKEN_SITE, 3), "s_3");
	ck_assert_str_eq(token_print_number(&t, TOKEN_COUNTER_LOCAL, 1), "pa_cl_1");
	ck_assert_str_eq(token_print_number(&t, TOKEN_INTEGRATOR_GLOBAL, UINT64_MAX),
			 "pa_i_18446744073709551615");
	ck_assert_str_eq(token_print_process(&t, 7, 0), "p_7_000000");
	ck_assert(token_node(t.s, strlen(t.s), &node) && node == 7);
	ck_assert_str_eq(token_print_thread(&t, UINT32_MAX, TOKEN_ID_MAX), "t_4294967295_zzzzzz");
	ck_assert(token_node(t.s, strlen(t.s), &node) && node == UINT32_MAX);
	ck_assert(!token_node("s_3", 3, &node) && !token_node("c_1", 3, &node) &&
		  !token_node("p_3", 3, &node));
	ck_assert_str_eq(token_print(&t, &(struct token_parts){ 0 }), "");
}

TEST(a_valid_token_has_a_class_and_a_name)
{
	char longest[NAME_MAX_BYTES + 1];

	memset(longest, 'x', sizeof(longest));
	longest[1] = '_';
	ck_assert(token_is_valid(longest, NAME_MAX_BYTES));
	ck_assert(!token_is_valid(longest, NAME_MAX_BYTES + 1));
	ck_assert(token_is_valid("a_1", 3) && token_is_valid("A1_b_c", 6));
	ck_assert(!token_is_valid("a1", 2) && !token_is_valid("_a", 2) && !token_is_valid("a_", 2));
	ck_assert(!token_is_valid("1_a", 3) && !token_is_valid("a_\xc3", 3) &&
		  !token_is_valid("a_ b", 4));
}

TEST(containment_runs_from_site_to_thread)
{
	bool related;

	ck_assert_int_lt(token_compare_class('s', 't', &related), 0);
	ck_assert(related);
	ck_assert_int_gt(token_compare_class('p', 'n', &related), 0);
	ck_assert_int_eq(token_compare_class('p', 'p', &related), 0);
	ck_assert(related);
	ck_assert_int_eq(token_compare_class('p', 'c', &related), 0);
	ck_assert(!related);
	ck_assert_int_eq(token_compare_class(0, 0, &related), 0);
	ck_assert(!related);
	ck_assert_int_eq(token_class_below('s'), 'n');
	ck_assert_int_eq(token_class_below('t'), 0);
	ck_assert_int_eq(token_class_below(0), 0);
}

TEST(a_status_has_its_number_and_its_name)
{
	static const struct {
		unsigned number;
		const char *name;
	} cases[] = {
		{ 0, "OK" },
		{ 2, "CSR_DEFINED" },
		{ 4, "CSR_ENABLED" },
		{ 6, "CSR_DISABLED" },
		{ 8, "CSR_DELETED" },
		{ 10, "CSR_TRIGGERED" },
		{ 16, "SYNTAX_ERROR" },
		{ 18, "UNKNOWN_SERVICE" },
		{ 20, "UNSUPPORTED_SERVICE" },
		{ 22, "UNKNOWN_ECP" },
		{ 24, "UNKNOWN_OBJECT" },
		{ 26, "TYPE_MISMATCH" },
		{ 28, "PARAMETER_ERROR" },
		{ 30, "OS_ERROR" },
		{ 32, "NO_PERMISSION" },
		{ 34, "NO_MEMORY" },
		{ 36, "INTERNAL_ERROR" },
		{ 1000, "UNSPECIFIED_ERROR" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_str_eq(status_name(cases[i].number), cases[i].name);
		ck_assert_str_eq(status_name(cases[i].number | 1), cases[i].name);
		ck_assert_int_eq(status_is_error(cases[i].number), cases[i].number >= 16);
	}
	ck_assert_str_eq(status_name(12), "?");
}

TEST(an_error_of_ours_becomes_a_status)
{
	ck_assert_uint_eq(status_from_err(0), STATUS_OK);
	ck_assert_uint_eq(status_from_err(-ERR_NOMEM), STATUS_NO_MEMORY);
	ck_assert_uint_eq(status_from_err(ERR_DENIED), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(status_from_err(-ERR_NOTFOUND), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(status_from_err(-ERR_SYS), STATUS_OS_ERROR);
	for (int code = 1; code < ERR_NCODES; code++)
		ck_assert(status_is_error(status_from_err(-code)));
	ck_assert_uint_eq(status_from_err(-9999), STATUS_INTERNAL_ERROR);
}

SUITE("omis token")
