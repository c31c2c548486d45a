/* SPDX-License-Identifier: Apache-2.0 */
/* docs/pmsl.md: its examples compile, and those that should not do not. */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "pmsl/check/builtin.h"
#include "pmsl/check/function.h"
#include "pmsl/pmsl.h"
#include "tests/suite.h"

#include <string.h>

static struct buf docs = BUF_INIT(1 << 20);

static void read_docs(void)
{
	ck_assert_int_eq(file_read("docs/pmsl.md", 1 << 20, 0, &docs, NULL), 0);
}

static void try_example(const char *text, size_t n, bool is_bad)
{
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl *p = NULL;

	ck_assert_int_eq(pmsl_compile("docs/pmsl.md", text, n, &d, &p), 0);
	ck_assert_msg((d.nerror > 0) == is_bad, "%.60s: %s", text, d.n ? d.v[0].text : "no error");
	ck_assert_msg(is_bad || !d.n, "%.60s: %s", text, d.v[0].text);
	pmsl_free(p);
}

TEST(examples_do_what_they_are_reported_to_do)
{
	const char *at = buf_str(&docs), *end;
	unsigned good = 0, bad = 0;

	while ((at = strstr(at, "```pmsl"))) {
		bool is_bad = str_has_prefix(at, "```pmsl bad");

		at = strchr(at, '\n') + 1;
		end = strstr(at, "```");
		ck_assert_ptr_nonnull(end);
		try_example(at, (size_t)(end - at), is_bad);
		good += !is_bad;
		bad += is_bad;
		at = end + 3;
	}
	ck_assert_uint_ge(good, 5);
	ck_assert_uint_ge(bad, 5);
}

static void expect_word(const char *word)
{
	ck_assert_msg(strstr(buf_str(&docs), word), "docs/pmsl.md does not know %s", word);
}

TEST(the_document_lists_all_functions_and_limits)
{
	struct pmsl_builtin b;
	char text[64];

	for (unsigned i = 0; i < PMSL_FOLDS; i++)
		expect_word(pmsl_fold_name(i));
	for (unsigned i = 0; pmsl_function_get(i); i++)
		expect_word(pmsl_function_get(i)->name);
	for (unsigned i = 0; i < pmsl_builtin_ids(); i++)
		if (pmsl_builtin_get(i, &b) && b.call < 0 && b.quantity == PMSL_Q_COUNT) {
			snprintf(text, sizeof(text), "`%.*s`",
				 (int)(strlen(b.name) - strlen("_count")), b.name);
			expect_word(text);
		}
	snprintf(text, sizeof(text), "%d KiB", PMSL_SOURCE_MAX_BYTES / 1024);
	expect_word(text);
	snprintf(text, sizeof(text), "%d levels", PMSL_DEPTH_MAX);
	expect_word(text);
	ck_assert_int_eq(PMSL_HEIGHT_MAX, 1000);
	ck_assert_int_eq(PMSL_DIAGS_MAX, 20);
	ck_assert_int_eq(FLOW_NODES_MAX, 16384);
	ck_assert_int_eq(FLOW_EDGES_MAX, 65536);
}

SUITE_WITH("docs", read_docs, NULL)
