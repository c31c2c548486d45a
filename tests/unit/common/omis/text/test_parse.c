/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/text/request.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct omis_request *parse_ok(const char *text, size_t n)
{
	struct omis_request *r = NULL;
	struct err e = { 0 };
	int rc = omis_parse(text, n, &r, &e);

	ck_assert_msg(!rc, "%s: %s", text, e.text);
	return r;
}

static void print_is(const struct omis_request *r, const char *want, size_t n)
{
	struct buf b = BUF_INIT(FRAME_MAX_BYTES);

	omis_print_request(&b, r);
	ck_assert(!b.failed);
	ck_assert_str_eq(buf_str(&b), want);
	ck_assert_uint_eq(b.n, n);
	buf_done(&b);
}

/* NULL = the text is its own normal form. */
static const struct {
	const char *text, *normal;
} accepted[] = {
	{ ":version()", NULL },
	{ ":node_get_info([],0)", NULL },
	{ ":node_attach([n_1])", NULL },
	{ "thread_has_started_lib_call([p_4],\"MPI_Send\"): "
	  "pa_counter_local_increment(pa_lc_1,$par5)",
	  "thread_has_started_lib_call([p_4],\"MPI_Send\"):pa_counter_local_increment(pa_lc_1,$"
	  "par5)" },
	{ ":csr_enable([c_3]) ; csr_enable([c_1,c_2])", NULL },
	{ ":a()b()c()", ":a() b() c()" },
	{ ":a();b()", ":a() ; b()" },
	{ ":{a() b()}", NULL },
	{ "e([]):{a() ; b()}", NULL },
	{ " \t\r\n:\n{ a ( ) \v\f ; b( 1 , [ ] ) } ", ":{a() ; b(1,[])}" },
	{ ":_a1(b_2)", NULL },
	{ ":f(0,7,-7,+7)", ":f(0,7,-7,7)" },
	{ ":f(0x10,0XfF,-0x1,017,0)", ":f(16,255,-1,15,0)" },
	{ ":f(1u,1UL,1ll,1LLU,0x1fu)", ":f(1,1,1,1,31)" },
	{ ":f(9223372036854775807,-9223372036854775808)", NULL },
	{ ":f(1.0,.5,5.,1e3,1E+3,1.1e-4)", ":f(1.0,0.5,5.0,1000.0,1000.0,0.00011)" },
	{ ":f(1.5f,2.5L,0x1p4,0x1.8p-1,0X.8P1)", ":f(1.5,2.5,16.0,0.75,1.0)" },
	{ ":f(nan,inf,-inf,+inf)", ":f(nan,inf,-inf,inf)" },
	{ ":f('a','\\n','\\x41','\\'','\\\\','\"')", ":f(97,10,65,39,92,34)" },
	{ ":f(\"\",\"a b\")", NULL },
	{ ":f(\"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\?\")",
	  ":f(\"\\007\\010\\014\\n\\r\\t\\013\\\\'\\\"?\")" },
	{ ":f(\"\\101\\x42\\u0043\\U00000044\")", ":f(\"ABCD\")" },
	{ ":f(\"\\u00e9\\u20ac\\U0001F600\")", ":f(\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\")" },
	{ ":f(\"\xc3\xa9\")", NULL },
	{ ":f(\"\xff\xc2\x85\x7f\")", ":f(\"\\377\\302\\205\\177\")" },
	{ ":f(\"\\1234\")", ":f(\"S4\")" },
	{ ":f(3#a,b,0#,1#))", NULL },
	{ ":f(n_1,p_2_0a1b2c,pa_cl_1,pvm_g_3)", NULL },
	{ ":f($proc,$par12,$_x)", NULL },
	{ ":f([],[[]],[1,\"a\",[n_1,2#]]]])", NULL },
	{ ":f([[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]])", NULL },
};

TEST(the_grammar_is_accepted_and_printed_in_one_normal_form)
{
	for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
		const char *want = accepted[i].normal ? accepted[i].normal : accepted[i].text;
		struct omis_request *r = parse_ok(accepted[i].text, strlen(accepted[i].text));
		struct omis_request *again = parse_ok(want, strlen(want));

		print_is(r, want, strlen(want));
		ck_assert(omis_request_equal(r, again));
		print_is(again, want, strlen(want));
		omis_request_free(r);
		omis_request_free(again);
	}
}

TEST(the_tree_holds_what_was_written)
{
	static const char text[] = "ev([p_1],\"MPI_Send\"): a($par1) ; b(2#\0x,-3)";
	struct omis_request *r = parse_ok(text, sizeof(text) - 1);

	ck_assert(!r->locked && !r->inner);
	ck_assert_str_eq(r->event->name, "ev");
	ck_assert_uint_eq(r->event->nparam, 2);
	ck_assert_int_eq(r->event->param[0].kind, OMIS_LIST);
	ck_assert_str_eq(r->event->param[0].list.v[0].s.p, "p_1");
	ck_assert_uint_eq(r->event->param[0].list.v[0].offset, 4);
	ck_assert_uint_eq(r->naction, 2);
	ck_assert(!r->action[0].barrier && r->action[1].barrier);
	ck_assert_int_eq(r->action[0].param[0].kind, OMIS_ECP);
	ck_assert_str_eq(r->action[0].param[0].s.p, "par1");
	ck_assert_uint_eq(r->action[1].offset, 33);
	ck_assert_int_eq(r->action[1].param[0].kind, OMIS_BINARY);
	ck_assert_uint_eq(r->action[1].param[0].s.n, 2);
	ck_assert_mem_eq(r->action[1].param[0].s.p, "\0x", 2);
	ck_assert_int_eq(r->action[1].param[1].i, -3);
	omis_request_free(r);
}

TEST(a_binary_value_keeps_every_byte)
{
	char text[300] = ":f(256#";
	size_t n = strlen(text);
	struct omis_request *r;

	for (int i = 0; i < 256; i++)
		text[n++] = (char)i;
	text[n++] = ')';
	r = parse_ok(text, n);
	ck_assert_uint_eq(r->action[0].param[0].s.n, 256);
	ck_assert_mem_eq(r->action[0].param[0].s.p, text + 7, 256);
	omis_request_free(r);
}

static const struct {
	const char *text;
	size_t offset;
	const char *words; /* part of the message */
} refused[] = {
	{ "", 0, "name of a service" },
	{ "version()", 9, "':'" },
	{ ":", 1, "name of a service" },
	{ "::a()", 1, "name of a service" },
	{ ":{}", 2, "name of a service" },
	{ ":{a()", 5, "'}'" },
	{ ":a()}", 4, "found '}'" },
	{ ":{a()} b()", 7, "the end" },
	{ ":a() ;", 6, "name of a service" },
	{ ":;a()", 1, "name of a service" },
	{ ":a() ; ; b()", 7, "name of a service" },
	{ ":a(),b()", 4, "an action or ';'" },
	{ ":a", 2, "'('" },
	{ ":a(", 3, "a value" },
	{ ":a(1", 4, "','" },
	{ ":a(1,)", 5, "a value" },
	{ ":a(,1)", 3, "a value" },
	{ ":a(1 2)", 5, "','" },
	{ ":a([1)", 5, "']'" },
	{ ":a([1)]", 5, "']'" },
	{ ":a(1])", 4, "')'" },
	{ ":a(b())", 3, "cannot be a parameter" },
	{ ":a(foo)", 3, "not a token" },
	{ ":a(_x)", 3, "not a token" },
	{ ":a(x_)", 3, "not a token" },
	{ ":a($)", 4, "a name behind '$'" },
	{ ":a($1)", 4, "a name behind '$'" },
	{ ":a(1x)", 3, "not a number" },
	{ ":a(08)", 3, "not a number" },
	{ ":a(0x)", 3, "not a number" },
	{ ":a(0xg)", 3, "not a number" },
	{ ":a(1ulu)", 3, "not a number" },
	{ ":a(-)", 3, "not a number" },
	{ ":a(+nan)", 3, "not a number" },
	{ ":a(.)", 3, "not a number" },
	{ ":a(1.2.3)", 3, "not a number" },
	{ ":a(0x1.8)", 3, "not a number" },
	{ ":a(0x1p)", 3, "not a number" },
	{ ":a(0x12345678912345678p1)", 3, "not a number" },
	{ ":a(9223372036854775808)", 3, "too large" },
	{ ":a(-9223372036854775809)", 3, "too large" },
	{ ":a(0xffffffffffffffff)", 3, "too large" },
	{ ":a(1e999)", 3, "too large" },
	{ ":a(0x1p1024)", 3, "too large" },
	{ ":a(\"abc)", 3, "without an end" },
	{ ":a(\"abc\\\")", 3, "without an end" },
	{ ":a(\"ab\ncd\")", 3, "without an end" },
	{ ":a(\"\\q\")", 4, "does not know" },
	{ ":a(\"\\xg\")", 4, "without a digit" },
	{ ":a(\"\\x100\")", 4, "beyond a byte" },
	{ ":a(\"\\400\")", 4, "beyond a byte" },
	{ ":a(\"\\u12\")", 4, "too few digits" },
	{ ":a(\"\\ud800\")", 4, "no character" },
	{ ":a(\"\\U00110000\")", 4, "no character" },
	{ ":a(\"\\0\")", 3, "a 0 in a string" },
	{ ":a(\"\\u0000\")", 3, "a 0 in a string" },
	{ ":a('')", 3, "without an end" },
	{ ":a('ab')", 3, "more than one" },
	{ ":a('a)", 3, "without an end" },
	{ ":a('\\u00e9')", 3, "more than one" },
	{ ":a(5#ab)", 3, "binary value of 5" },
	{ ":a(-1#a)", 3, "not a length" },
	{ ":a(4294967296#a)", 3, "not a length" },
	{ ":a(1.5#a)", 3, "not a length" },
	{ ":\xff()", 1, "byte 0xff" },
	{ ":[a()]", 1, "found '['" },
};

TEST(parse_error_reports_its_offset)
{
	for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
		struct omis_request *r = NULL;
		struct err e = { 0 };
		char at[32];

		ck_assert_msg(omis_parse(refused[i].text, strlen(refused[i].text), &r, &e) ==
				      -ERR_PARSE,
			      "%s", refused[i].text);
		ck_assert_ptr_null(r);
		ck_assert_msg(strstr(e.text, refused[i].words), "%s: %s", refused[i].text, e.text);
		ck_assert_msg(e.col == refused[i].offset + 1, "%s: col %u", refused[i].text, e.col);
		snprintf(at, sizeof(at), "at offset %zu", refused[i].offset);
		ck_assert_msg(strlen(e.text) > strlen(at) &&
				      !strcmp(e.text + strlen(e.text) - strlen(at), at),
			      "%s: %s", refused[i].text, e.text);
		ck_assert_int_eq(omis_parse(refused[i].text, strlen(refused[i].text), &r, NULL),
				 -ERR_PARSE);
	}
}

TEST(a_zero_byte_is_no_part_of_the_language)
{
	struct omis_request *r = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(omis_parse(":a(\0)", 5, &r, &e), -ERR_PARSE);
	ck_assert_uint_eq(e.col, 4);
	ck_assert_int_eq(omis_parse(":a(\"x\0y\")", 9, &r, &e), -ERR_PARSE);
	ck_assert_int_eq(omis_parse(":a()\0", 5, &r, &e), -ERR_PARSE);
	ck_assert_uint_eq(e.col, 5);
}

/* `before`, then `c` n times, then `after`; the caller frees. */
static char *repeated(const char *before, char c, size_t n, const char *after, size_t *length)
{
	size_t head = strlen(before), tail = strlen(after);
	char *s = malloc(head + n + tail + 1);

	ck_assert_ptr_nonnull(s);
	memcpy(s, before, head);
	memset(s + head, c, n);
	memcpy(s + head + n, after, tail + 1);
	*length = head + n + tail;
	return s;
}

static int parse_repeated(const char *before, char c, size_t n, const char *after, unsigned *col)
{
	struct omis_request *r = NULL;
	struct err e = { 0 };
	size_t length;
	char *s = repeated(before, c, n, after, &length);
	int rc = omis_parse_inner(s, length, &r, &e);

	*col = e.col;
	omis_request_free(r);
	free(s);
	return rc;
}

TEST(hostile_lengths_end_where_they_become_wrong)
{
	unsigned col;

	ck_assert_int_eq(parse_repeated("", '(', 65536, "", &col), -ERR_PARSE);
	ck_assert_uint_eq(col, 1);
	ck_assert_int_eq(parse_repeated(":a(", '[', 65536, "", &col), -ERR_LIMIT);
	ck_assert_uint_eq(col, 3 + OMIS_DEPTH_MAX + 1);
	ck_assert_int_eq(parse_repeated(":a(\"", 'x', 1000000, "", &col), -ERR_PARSE);
	ck_assert_uint_eq(col, 4);
	ck_assert_int_eq(parse_repeated(":a(", '9', 1000000, ")", &col), -ERR_PARSE);
	ck_assert_uint_eq(col, 3 + 128 + 1);
	ck_assert_int_eq(parse_repeated(":a(0.", '9', 1000000, ")", &col), -ERR_PARSE);
	ck_assert_int_eq(parse_repeated(":", 'a', 1000000, "()", &col), -ERR_LIMIT);
	ck_assert_uint_eq(col, 2);
	ck_assert_int_eq(parse_repeated(":a(", ',', 1000000, ")", &col), -ERR_PARSE);
	ck_assert_int_eq(parse_repeated(":a()", ' ', 1000000, "", &col), 0);
}

static int parse_long(const char *before, char c, size_t n, const char *after)
{
	struct omis_request *r = NULL;
	size_t length;
	char *s = repeated(before, c, n, after, &length);
	int rc = omis_parse(s, length, &r, NULL);

	omis_request_free(r);
	free(s);
	return rc;
}

TEST(each_limit_holds_exactly)
{
	ck_assert_int_eq(parse_long(":a()", ' ', OMIS_REQUEST_MAX_BYTES - 5, ""), 0);
	ck_assert_int_eq(parse_long(":a()", ' ', OMIS_REQUEST_MAX_BYTES - 4, ""), 0);
	ck_assert_int_eq(parse_long(":a()", ' ', OMIS_REQUEST_MAX_BYTES - 3, ""), -ERR_LIMIT);
	ck_assert_int_eq(parse_long(":", 'a', NAME_MAX_BYTES - 1, "()"), 0);
	ck_assert_int_eq(parse_long(":", 'a', NAME_MAX_BYTES, "()"), 0);
	ck_assert_int_eq(parse_long(":", 'a', NAME_MAX_BYTES + 1, "()"), -ERR_LIMIT);
	ck_assert_int_eq(parse_long(":a(n_", '1', NAME_MAX_BYTES - 2, ")"), 0);
	ck_assert_int_eq(parse_long(":a(n_", '1', NAME_MAX_BYTES - 1, ")"), -ERR_LIMIT);
}

/* ":a([" "1,1,...,1" "])": one list and n values. */
static int parse_values_of(size_t n, bool inner)
{
	struct omis_request *r = NULL;
	char *s = malloc(2 * n + 8);
	size_t at = 0;
	int rc;

	memcpy(s, ":a([1", 5);
	for (at = 5; at < 5 + 2 * (n - 1); at += 2)
		memcpy(s + at, ",1", 2);
	memcpy(s + at, "])", 3);
	rc = inner ? omis_parse_inner(s, at + 2, &r, NULL) : omis_parse(s, at + 2, &r, NULL);
	omis_request_free(r);
	free(s);
	return rc;
}

TEST(the_number_of_values_is_bounded_more_widely_between_daemons)
{
	ck_assert_int_eq(parse_values_of(OMIS_TOKENS_MAX - 2, false), 0);
	ck_assert_int_eq(parse_values_of(OMIS_TOKENS_MAX - 1, false), 0);
	ck_assert_int_eq(parse_values_of(OMIS_TOKENS_MAX, false), -ERR_LIMIT);
	ck_assert_int_eq(parse_values_of(OMIS_OBJECTS_MAX, true), 0);
	ck_assert_int_eq(parse_values_of(OMIS_OBJECTS_MAX + OMIS_TOKENS_MAX - 1, true), 0);
	ck_assert_int_eq(parse_values_of(OMIS_OBJECTS_MAX + OMIS_TOKENS_MAX, true), -ERR_LIMIT);
}

static int parse_actions_of(size_t n)
{
	struct omis_request *r = NULL;
	char *s = malloc(3 * n + 1);
	int rc;

	s[0] = ':';
	for (size_t i = 0; i < n; i++)
		memcpy(s + 1 + 3 * i, "a()", 3);
	rc = omis_parse(s, 3 * n + 1, &r, NULL);
	if (!rc)
		ck_assert_uint_eq(r->naction, n);
	omis_request_free(r);
	free(s);
	return rc;
}

TEST(the_number_of_actions_is_bounded)
{
	ck_assert_int_eq(parse_actions_of(OMIS_ACTIONS_MAX - 1), 0);
	ck_assert_int_eq(parse_actions_of(OMIS_ACTIONS_MAX), 0);
	ck_assert_int_eq(parse_actions_of(OMIS_ACTIONS_MAX + 1), -ERR_LIMIT);
}

TEST(each_prefix_of_a_request_is_read_without_reading_beyond)
{
	static const char text[] =
		"ev([p_1,\"a\\x41\\u20ac\"],'x',0x1.8p3): {a(4#\0\1\2\3,-1.5e3) ; b([$x,[nan]])}";

	for (size_t n = 0; n < sizeof(text); n++) {
		struct omis_request *r = NULL;
		char *exact = malloc(n ? n : 1);
		int rc;

		memcpy(exact, text, n);
		rc = omis_parse(exact, n, &r, NULL);
		ck_assert_int_eq(!rc, n == sizeof(text) - 1);
		omis_request_free(r);
		free(exact);
	}
}

TEST(every_failed_allocation_is_survived)
{
	static const char text[] =
		"ev([p_1_000000,\"abc\"],[1,[2,[3]]]):{a(n_1,$x,1.5) b(3#abc) c() d() e() f() g() "
		"h() i() ; "
		"j([1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9])}";
	char large[6000] = ":a(\"";
	int failures = 0;

	memset(large + 4, 'x', sizeof(large) - 7);
	memcpy(large + sizeof(large) - 3, "\")", 3);
	ALLOC_SWEEP (k) {
		struct omis_request *r = NULL, *s = NULL;
		struct err e = { 0 };
		int rc = omis_parse(text, sizeof(text) - 1, &r, &e);
		int rc2 = omis_parse(large, strlen(large), &s, NULL);

		alloc_sweep_pause();
		ck_assert(!rc || (rc == -ERR_NOMEM && !r && e.code == ERR_NOMEM));
		ck_assert(rc2 == 0 || rc2 == -ERR_NOMEM);
		failures += (rc || rc2);
		omis_request_free(r);
		omis_request_free(s);
	}
	ck_assert_int_ge(failures, 3);
}

TEST(freeing_nothing_is_harmless)
{
	omis_request_free(NULL);
	omis_values_free(NULL);
}

SUITE("omis parse")
