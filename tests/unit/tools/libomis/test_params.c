/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/libomis/params.h"

#include <string.h>

static struct params p;
static struct err e;

/* Takes params out of `words` and checks the remaining words, a NULL-terminated list. */
static int take(char **words, const char *const *left)
{
	int argc = 0, rc, i;
	char **argv = words;

	while (words[argc])
		argc++;
	rc = params_take(&p, &argc, &argv, &e);
	for (i = 0; left[i]; i++)
		ck_assert_str_eq(argv[i], left[i]);
	ck_assert_int_eq(argc, i);
	ck_assert_ptr_null(argv[i]);
	return rc;
}

TEST(our_options_are_taken_out_in_both_forms)
{
	char *words[] = { (char[]){ "tool" },
			  (char[]){ "-x" },
			  (char[]){ "--omis-mainsm" },
			  (char[]){ "omig1:h:1:p" },
			  (char[]){ "file" },
			  (char[]){ "--omis-timeout=250" },
			  NULL };
	const char *const left[] = { "tool", "-x", "file", NULL };

	ck_assert_int_eq(take(words, left), 0);
	ck_assert_str_eq(p.mainsm, "omig1:h:1:p");
	ck_assert_int_eq(p.timeout, 250 * NSEC_PER_MSEC);
}

TEST(arguments_after_two_dashes_are_not_options)
{
	char *words[] = { (char[]){ "tool" }, (char[]){ "--" }, (char[]){ "--omis-timeout=1" },
			  NULL };
	const char *const left[] = { "tool", "--", "--omis-timeout=1", NULL };

	ck_assert_int_eq(take(words, left), 0);
	ck_assert_ptr_null(p.mainsm);
	ck_assert_int_eq(p.timeout, PARAMS_TIMEOUT_NS);
}

TEST(arguments_that_only_begin_like_ours_stay)
{
	char *words[] = { (char[]){ "tool" }, (char[]){ "--omis-timeouts" }, (char[]){ "--omis" },
			  NULL };
	const char *const left[] = { "tool", "--omis-timeouts", "--omis", NULL };

	ck_assert_int_eq(take(words, left), 0);
}

TEST(a_missing_or_wrong_argument_changes_nothing)
{
	char *a[] = { (char[]){ "tool" }, (char[]){ "--omis-mainsm" }, NULL };
	const char *const left_a[] = { "tool", "--omis-mainsm", NULL };
	char *b[] = { (char[]){ "tool" }, (char[]){ "--omis-mainsm=x" },
		      (char[]){ "--omis-timeout=soon" }, NULL };
	const char *const left_b[] = { "tool", "--omis-mainsm=x", "--omis-timeout=soon", NULL };

	ck_assert_int_eq(take(a, left_a), -ERR_INVALID);
	ck_assert_int_eq(take(b, left_b), -ERR_INVALID);
}

TEST(params_take_reads_argc_arguments_at_most)
{
	char *words[] = { (char[]){ "tool" }, (char[]){ "--omis-mainsm" },
			  (char[]){ "of another" } };
	char **argv = words;
	int argc = 1;

	ck_assert_int_eq(params_take(&p, &argc, &argv, &e), 0);
	ck_assert_int_eq(argc, 1);
	ck_assert_str_eq(words[1], "--omis-mainsm");
	argc = 2;
	ck_assert_int_eq(params_take(&p, &argc, &argv, &e), -ERR_INVALID);
	ck_assert_str_eq(words[2], "of another");
}

TEST(no_command_line_is_an_empty_one)
{
	int argc = 0;
	char *none[] = { NULL }, **argv = none;

	ck_assert_int_eq(params_take(&p, NULL, NULL, &e), 0);
	ck_assert_int_eq(params_take(&p, &argc, &argv, &e), 0);
	ck_assert_int_eq(argc, 0);
}

SUITE("params")
