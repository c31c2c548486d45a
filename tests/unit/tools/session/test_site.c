/* SPDX-License-Identifier: Apache-2.0 */
/* Connection strings of sites: a file or text that is none is refused before anything is asked. */
#include "common/link/connstr.h"
#include "tests/suite.h"
#include "tools/session/site.h"
#include "tools/term/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GOOD "omig1:h:1:0123456789abcdefghjkmnpqr0:t.s"

static char path[64], string[SITE_STRING_BYTES], said[1024];

static void write_file(const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/omig-site-%d", (int)getpid());
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static int string_of(const char *given)
{
	int rc;

	said[0] = 0;
	cmd_hush(said, sizeof(said));
	rc = site_string(given, string);
	cmd_hush(NULL, 0);
	return rc;
}

TEST(a_file_of_something_else_is_named_with_a_remedy)
{
	write_file("[site a]\nhosts = h\n");
	ck_assert_int_eq(string_of(path), CMD_USAGE);
	ck_assert_msg(strstr(said, path) && strstr(said, "it must begin with omig1:") &&
			      strstr(said, "join.conn") && !strstr(said, "mainsm"),
		      "%s", said);
	ck_assert_int_eq(string_of("omig1:h:1"), CMD_USAGE);
	ck_assert_msg(strstr(said, "SITE: ") && strstr(said, "the pin"), "%s", said);
	write_file(GOOD "\n");
	ck_assert_int_eq(string_of(path), CMD_OK);
	ck_assert_str_eq(string, GOOD);
	ck_assert_int_eq(string_of(GOOD), CMD_OK);
	unlink(path);
}

SUITE("tools site")
