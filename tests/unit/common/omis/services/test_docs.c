/* SPDX-License-Identifier: Apache-2.0 */
/* Checks docs/omis.md: its requests parse and pass the check, and its statuses exist. */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/omis.h"
#include "tests/suite.h"

#include <string.h>

#define PAGE "docs/omis.md"

static char *page(void)
{
	struct buf b = BUF_INIT(1000000);
	struct err e = { 0 };

	ck_assert_msg(!file_read(PAGE, b.max, 0, &b, &e), "%s", e.text);
	return (char *)buf_take(&b, NULL);
}

static void is_good(const char *text, size_t n)
{
	struct omis_request *r = NULL;
	struct omis_diag d = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!omis_parse(text, n, &r, &e), "%.*s: %s", (int)n, text, e.text);
	ck_assert_msg(!omis_check(r, &d), "%.*s: %s", (int)n, text, d.err.text);
	omis_request_free(r);
}

TEST(every_request_in_the_manual_is_one)
{
	char *text = page(), *line, *rest = text;
	bool inside = false;
	int n = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (str_has_prefix(line, "```")) {
			inside = str_eq(line, "```omis");
		} else if (inside) {
			is_good(line, strlen(line));
			n++;
		}
	}
	ck_assert_int_gt(n, 15);
	free(text);
}

/* `word` in code marks. */
static bool mentions(const char *text, const char *word)
{
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "`%s`", word);
	return strstr(text, quoted) != NULL;
}

TEST(every_status_is_in_the_manual)
{
	char *text = page();

	for (unsigned s = 0; s <= 1000; s += 2)
		if (strcmp(status_name(s), "?"))
			ck_assert_msg(mentions(text, status_name(s)), "%s", status_name(s));
	for (enum omis_right r = OMIS_OBSERVE; r <= OMIS_ADMIN; r++)
		ck_assert(mentions(text, omis_right_name(r)));
	free(text);
}

TEST(the_limits_in_the_manual_are_the_real_ones)
{
	char *text = page(), want[200];

	snprintf(want, sizeof(want),
		 "%d,%03d bytes a request, lists %d deep, %d,%03d values, %d,%03d actions, %d "
		 "characters a name",
		 OMIS_REQUEST_MAX_BYTES / 1000, OMIS_REQUEST_MAX_BYTES % 1000, OMIS_DEPTH_MAX,
		 OMIS_TOKENS_MAX / 1000, OMIS_TOKENS_MAX % 1000, OMIS_ACTIONS_MAX / 1000,
		 OMIS_ACTIONS_MAX % 1000, NAME_MAX_BYTES);
	ck_assert_msg(strstr(text, want), "%s", want);
	free(text);
}

SUITE("omis docs")
