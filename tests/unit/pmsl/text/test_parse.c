/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "pmsl/text/parse.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct pmsl_diags diags;
static struct pmsl_tree *tree;

static size_t errors_n(const char *text, size_t n)
{
	const struct pmsl_source s = { "t.pmsl", text, n };

	pmsl_tree_free(tree);
	tree = NULL;
	diags = PMSL_DIAGS_INIT;
	ck_assert_int_eq(pmsl_parse(&s, &diags, &tree), 0);
	return diags.nerror;
}

static size_t errors(const char *text)
{
	return errors_n(text, strlen(text));
}

/* The expression that M returns, fully parenthesised. */
static void print(struct buf *b, const struct pmsl_expr *e)
{
	if (e->kind == PMSL_E_NUMBER)
		buf_printf(b, "%g", e->number);
	if (e->name)
		buf_puts(b, e->name);
	if (e->kind == PMSL_E_FOLD)
		buf_puts(b, pmsl_fold_name(e->op));
	if (e->kind == PMSL_E_OP)
		buf_puts(b, pmsl_op_name(e->op));
	if (e->kind == PMSL_E_IN)
		buf_puts(b, "IN");
	if (!e->arg)
		return;
	buf_putc(b, '(');
	for (const struct pmsl_expr *a = e->arg; a; a = a->next) {
		print(b, a);
		if (a->next)
			buf_putc(b, ' ');
	}
	if (e->where) {
		buf_puts(b, " | ");
		print(b, e->where);
	}
	buf_putc(b, ')');
}

static void expect_expr(const char *text, const char *wanted)
{
	struct buf b = BUF_INIT(4096);
	char whole[1024];

	snprintf(whole, sizeof(whole), "M() { RETURN %s; }", text);
	ck_assert_msg(errors(whole) == 0, "%s: %s", text, diags.v[0].text);
	print(&b, tree->metric->stmt->value);
	ck_assert_str_eq(buf_str(&b), wanted);
	buf_done(&b);
}

TEST(operators_have_the_precedence_of_the_grammar)
{
	expect_expr("a + b * c - d", "-(+(a *(b c)) d)");
	expect_expr("-a * b", "*(-(a) b)");
	expect_expr("a < b AND NOT c == d OR e IN f", "OR(AND(<(a b) NOT(==(c d))) IN(e f))");
	expect_expr("a AT e(p, vt - 1) - b", "-(e(a p -(vt 1)) b)");
	expect_expr("(a + b) AT e(p, vt) / 2", "/(e(+(a b) p vt) 2)");
	expect_expr("x[p][vt].time IN t", "IN(time(x(p vt)) t)");
	expect_expr("MAX[p](x[p] WHERE p in ps)", "MAX(x(p) | IN(p ps))");
	expect_expr("MIN(a, b, 1.5e3)", "MIN(a b 1500)");
	expect_expr("if(a > b, a, b)", "(>(a b) a b)");
	expect_expr("S(p, [START,NOW])", "S(p (START NOW))");
}

TEST(keywords_come_in_capitals_or_without_any)
{
	ck_assert_uint_eq(errors("M(Process p) { probe e(Process, VirtualTime); return max(a where "
				 "a in b); }"),
			  0);
	ck_assert_uint_eq(errors("M(Process p) { Value Return, Max; RETURN Max; }"), 0);
	ck_assert_uint_eq(errors("M(Process p) { /* a } */ RETURN 1; // }\n }"), 0);
}

TEST(places_are_lines_and_characters)
{
	const char *text = "M(Process p)\n{\n\tValue \xc3\xa4; RETURN 1;\n}\n";
	const struct pmsl_source s = { "t.pmsl", text, strlen(text) };
	struct buf b = BUF_INIT(4096);

	ck_assert_uint_ge(errors(text), 1);
	pmsl_diag_print(&b, &s, &diags.v[0], &pmsl_no_colors);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "t.pmsl:3:8: error:"));
	ck_assert_ptr_nonnull(
		strstr(buf_str(&b), "    \tValue \xc3\xa4; RETURN 1;\n    \t      ^\n"));
	buf_done(&b);
}

TEST(of_a_long_line_the_part_around_the_error_is_shown)
{
	static const unsigned before[] = { 0, 40, 50, 51, 90, 300 };

	for (unsigned i = 0; i < ARRAY_LEN(before); i++) {
		char text[1024], line[256];
		struct buf b = BUF_INIT(4096);
		unsigned shown = before[i] < 50 ? before[i] : 50;
		struct pmsl_source s = { "t.pmsl", text, 0 };

		/* A line begins, and an unknown type follows after so many blanks. */
		s.n = (size_t)snprintf(text, sizeof(text), "M(\n%*s?%*s) { RETURN 1; }\n",
				       (int)before[i], "", 300, "");
		ck_assert_uint_ge(errors(text), 1);
		pmsl_diag_print(&b, &s, &diags.v[0], &pmsl_no_colors);
		snprintf(line, sizeof(line), "    %*s?%*s\n    %*s^\n", (int)shown, "",
			 (int)(100 - shown - 1), "", (int)shown, "");
		ck_assert_msg(strstr(buf_str(&b), line) != NULL, "%u: %s", before[i], buf_str(&b));
		buf_done(&b);
	}
}

TEST(a_probe_has_a_name_and_parameters)
{
	ck_assert_uint_ge(errors("M(Process p) { PROBE (Process); RETURN 1; }"), 1);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "the name of a probe"));
	ck_assert_uint_ge(errors("M(Process p) { PROBE e; RETURN 1; }"), 1);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "'('"));
}

TEST(one_run_reports_many_errors)
{
	ck_assert_uint_eq(errors("M(Proces p) { RETURN 1; }\n"
				 "N(Process p) { x = ; Value y z; RETURN 1 }\n"
				 "O(Process p) { RETURN (1; }\nP(Process p) { RETURN 1; }"),
			  5);
	ck_assert_uint_eq(tree->nmetric, 4);
}

static char *repeated(const char *head, const char *part, size_t n, const char *tail)
{
	struct buf b = BUF_INIT(64 << 20);

	buf_puts(&b, head);
	while (n-- > 0)
		buf_puts(&b, part);
	buf_puts(&b, tail);
	return (char *)buf_take(&b, NULL);
}

static void expect_limit(const char *head, const char *part, size_t good, const char *tail)
{
	for (size_t n = good; n <= good + 1; n++) {
		char *text = repeated(head, part, n, tail);

		ck_assert_msg((errors(text) == 0) == (n == good), "%zu of '%s': %s", n, part,
			      diags.v[0].text);
		free(text);
	}
}

TEST(limits_are_exact)
{
	expect_limit("M(){RETURN ", "-", PMSL_DEPTH_MAX - 1, "1;}");
	expect_limit("M(){RETURN 1", "+1", PMSL_HEIGHT_MAX - 1, ";}");
	expect_limit("M(Value a", ",Value b", PMSL_PARAMS_MAX - 1, "){RETURN 1;}");
	expect_limit("M", "M", NAME_MAX_BYTES - 1, "(){RETURN 1;}");
	expect_limit("M(){RETURN 1;}", " ", PMSL_SOURCE_MAX_BYTES - 14, "");
}

TEST(any_depth_and_length_is_answered)
{
	static const char *const parts[] = { "(",  "-",	 "NOT ", "[",	 "MAX(", "a.",	   "1+",
					     "@ ", "\"", "{",	 "M(){", "x[",	 "a AT b(" };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		char *text = repeated("M(){RETURN ", parts[i], 100000 / strlen(parts[i]), "");

		ck_assert_uint_ge(errors(text), 1);
		ck_assert_uint_le(diags.n, PMSL_DIAGS_MAX);
		free(text);
	}
}

TEST(of_very_many_errors_the_first_are_reported)
{
	char *text = repeated("", "M(){ x = ; RETURN 1; }\n", 10000, "");

	ck_assert_uint_eq(errors(text), PMSL_DIAGS_MAX);
	ck_assert(diags.is_full);
	free(text);
}

TEST(bytes_that_are_no_text_do_no_harm)
{
	static const char bytes[] = "M(){\0\xff RETURN\x1b[2J 1;\0}";
	const struct pmsl_source s = { "a\x1b[2J", bytes, sizeof(bytes) - 1 };
	struct buf b = BUF_INIT(1 << 16);

	ck_assert_uint_ge(errors_n(bytes, sizeof(bytes) - 1), 1);
	for (size_t i = 0; i < diags.n; i++)
		pmsl_diag_print(&b, &s, &diags.v[i], &pmsl_no_colors);
	ck_assert_ptr_null(memchr(b.p, 0x1b, b.n));
	ck_assert_ptr_null(memchr(b.p, 0, b.n));
	buf_done(&b);
}

TEST(without_memory_it_reports_that)
{
	static const char text[] =
		"M(Process p, VirtualTime vt) : Unit(\"s\") {\n PROBE e(Process, VirtualTime);\n"
		" Value[] x; x[p] = 1 AT e(p, vt); RETURN MAX[p](x[p], 1 WHERE p IN q); }";
	const struct pmsl_source s = { "t", text, sizeof(text) - 1 };

	ALLOC_SWEEP (k) {
		struct pmsl_diags d = PMSL_DIAGS_INIT;
		struct pmsl_tree *t = NULL;
		int rc = pmsl_parse(&s, &d, &t);

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!rc || !t);
		pmsl_tree_free(t);
	}
}

TEST(units_read_back)
{
	static const char *const texts[] = { "s", "B/s", "iterations", "1", "calls*s^2/B", "1/s" };
	char out[PMSL_UNIT_TEXT_BYTES], again[PMSL_UNIT_TEXT_BYTES];
	struct pmsl_units u;
	struct pmsl_unit a, b;

	pmsl_units_init(&u);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		ck_assert_int_eq(pmsl_unit_parse(&u, texts[i], &a), 0);
		ck_assert_int_eq(pmsl_unit_parse(&u, pmsl_unit_text(&u, a, out), &b), 0);
		ck_assert(pmsl_unit_fits(a, b));
		ck_assert_str_eq(pmsl_unit_text(&u, b, again), out);
	}
	ck_assert_int_eq(pmsl_unit_parse(&u, "s^", &a), -ERR_PARSE);
	ck_assert_int_eq(pmsl_unit_parse(&u, "", &a), -ERR_PARSE);
	ck_assert_int_eq(pmsl_unit_parse(&u, "s^9*s", &a), -ERR_LIMIT);
	ck_assert_int_eq(pmsl_unit_parse(&u, "a*b*c*d*e", &a), -ERR_LIMIT);
}

SUITE("parse")
