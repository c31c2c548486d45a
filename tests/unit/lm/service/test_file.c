/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the node: which ones, how much of them, and for which tools. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "lm/host/filelist.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <stdlib.h>
#include <string.h>

static struct world w;
static char large[FILE_LISTING_MAX_BYTES + 1];

static void open_host(void)
{
	world_open(&w);
	w.host.file = "one\ntwo \"x\"\n";
	w.host.nfile = strlen(w.host.file);
}

static const struct msg_entry *list(const char *identity, const char *rest)
{
	char text[256];

	snprintf(text, sizeof(text), ":node_get_file_listing([n_7],%s)", rest);
	return reply_entry_of(world_ask(&w, identity, text), NULL);
}

TEST(a_file_of_the_list_is_sent_as_a_whole_or_in_part)
{
	open_host();
	ck_assert_str_eq(entry_text(list(OBSERVER, "\"/proc/some\",0,0")),
			 "\"one\\ntwo \\\"x\\\"\\n\"");
	ck_assert_str_eq(entry_text(list(OBSERVER, "\"/proc/some\",4,3")), "\"two\"");
	ck_assert_str_eq(entry_text(list(OBSERVER, "\"/proc/some\",100,0")), "\"\"");
	world_close(&w);
}

TEST(unlisted_file_is_refused_with_the_configuration_key)
{
	static const char *const other[] = { "/etc/passwd",
					     "/proc/som",
					     "/proc/some ",
					     "/proc/some/",
					     "//proc/some",
					     "/proc/../proc/some",
					     "",
					     "/proc/some /proc/gone",
					     "proc/some" };
	char rest[80];

	open_host();
	for (size_t i = 0; i < ARRAY_LEN(other); i++) {
		const struct msg_entry *e;

		snprintf(rest, sizeof(rest), "\"%s\",0,0", other[i]);
		e = list(MANIPULATOR, rest);
		ck_assert_msg(e->status == STATUS_NO_PERMISSION, "%s", other[i]);
		ck_assert_ptr_nonnull(strstr(entry_text(e), "'files'"));
	}
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/gone\",0,0")->status, STATUS_OS_ERROR);
	ck_assert_uint_eq(list("", "\"/proc/some\",0,0")->status, STATUS_NO_PERMISSION);
	world_close(&w);
}

TEST(more_than_the_limit_is_asked_for_in_parts)
{
	open_host();
	memset(large, 1, sizeof(large));
	w.host.file = large;
	w.host.nfile = FILE_LISTING_MAX_BYTES;
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/some\",0,0")->value.n,
			  4 * FILE_LISTING_MAX_BYTES + 2);
	w.host.nfile++;
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/some\",0,0")->status, STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/some\",1,0")->status, STATUS_OK);
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/some\",0,65536")->status, STATUS_OK);
	ck_assert_uint_eq(list(OBSERVER, "\"/proc/some\",0,65537")->status, STATUS_PARAMETER_ERROR);
	world_close(&w);
}

TEST(numbers_that_are_no_part_of_a_file_are_refused)
{
	static const char *const bad[] = { "-1,0", "0,-1", "9223372036854775807,0" };
	char rest[80];

	open_host();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		snprintf(rest, sizeof(rest), "\"/proc/some\",%s", bad[i]);
		ck_assert_uint_eq(list(OBSERVER, rest)->status, STATUS_PARAMETER_ERROR);
	}
	world_close(&w);
}

TEST(a_file_with_a_zero_comes_as_a_binary_value)
{
	const struct msg_entry *e;

	open_host();
	w.host.file = "a\0b";
	w.host.nfile = 3;
	e = list(OBSERVER, "\"/proc/some\",0,0");
	ck_assert_uint_eq(e->value.n, 5);
	ck_assert_mem_eq(e->value.p, "3#a\0b", 5);
	world_close(&w);
}

TEST(a_list_is_of_absolute_paths)
{
	ck_assert_int_eq(filelist_check("", "files", NULL), 0);
	ck_assert_int_eq(filelist_check(FILELIST_DEFAULT, "files", NULL), 0);
	ck_assert_int_eq(filelist_check(" /a  /b..c/..d \t/e ", "files", NULL), 0);
	ck_assert_int_eq(filelist_check("/a b", "files", NULL), -ERR_INVALID);
	ck_assert_int_eq(filelist_check("/a/../b", "files", NULL), -ERR_INVALID);
	ck_assert_int_eq(filelist_check("/a/..", "files", NULL), -ERR_INVALID);
	ck_assert(filelist_has(" /a  /b ", "/b"));
	ck_assert(!filelist_has(" /a  /b ", "/"));
	ck_assert(!filelist_has(" /a  /b ", ""));
	ck_assert(!filelist_has("", ""));
	ck_assert(!filelist_has(NULL, "/a"));
}

SUITE("lm files")
