/* SPDX-License-Identifier: Apache-2.0 */
/* Files with one error each, and their messages. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/common/conf/conf_world.h"

#include <string.h>

struct bad {
	const char *text;
	unsigned line;
	const char *says;
};

static const struct bad bad_files[] = {
	{ "port = 1\nprot = 2\n", 2, "unknown key 'prot'; did you mean port?" },
	{ "port = 1\n\nport = 2\n", 3, "set twice in this file: 'port'" },
	{ "[in]\nport=1\nport=1\n", 3, "set twice" },
	{ "[site a]\nweight=1\n[site b]\nweight=1\n[site a]\nweight=1\n", 6, "set twice" },
	{ "[in]\nsize = 1\n", 2, "unknown key in this section: 'size'" },
	{ "[out]\n", 1, "unknown section 'out'" },
	{ "[site]\n", 1, "needs a name of its own" },
	{ "[in", 1, "ends with ]" },
	{ "port\n", 1, "neither" },
	{ "port = 0\n", 1, "port: '0' is not a number 1..65535" },
	{ "port = 65536\n", 1, "number 1..65535" },
	{ "port = 7 # no\n", 1, "is not a number" },
	{ "wait = 2h\n", 1, "length of time (1.5s, 200ms, 5m) 0..1h" },
	{ "wait = soon\n", 1, "length of time" },
	{ "size = 4kk\n", 1, "size (64k, 16M)" },
	{ "size = 9999999999G\n", 1, "size" },
	{ "size = -1\n", 1, "size" },
	{ "flag = maybe\n", 1, "yes or no" },
	{ "choice = three\n", 1, "word of: one|two" },
	{ "a-text = 12345678901\n", 1, "text of 0..10 bytes" },
	{ "a-text = \"open\n", 1, "quote" },
	{ "a-text = \"a\" b\n", 1, "quote" },
	{ "a-text = \x1b[2J\n", 1, "control character" },
	{ "a-text = \xff\n", 1, "not UTF-8" },
};

TEST_EACH(a_bad_file_is_refused_with_its_line, at, ARRAY_LEN(bad_files))
{
	const struct bad *b = &bad_files[at];
	struct conf *c = NULL;
	struct err e = { 0 };
	char place[160];

	in.file = put("f", b->text);
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_PARSE);
	ck_assert_ptr_null(c);
	ck_assert_uint_eq(e.line, b->line);
	snprintf(place, sizeof(place), "%s:%u: ", in.file, b->line);
	ck_assert_msg(!strncmp(e.text, place, strlen(place)), "%s", e.text);
	ck_assert_msg(strstr(e.text, b->says) != NULL, "%s", e.text);
}

TEST(a_zero_byte_is_refused_with_its_line)
{
	struct err e = { 0 };

	ck_assert_int_eq(load_bytes("flag = yes\nport = 1\0\n", 21, &e), -ERR_PARSE);
	ck_assert_str_eq(e.text, "f.conf:2: a 0 byte");
}

TEST(a_line_ends_at_its_limit)
{
	for (int d = -1; d <= 1; d++) {
		size_t n = (size_t)(CONF_LINE_MAX_BYTES + d);
		char *p = malloc(n + 1);
		struct err e = { 0 };

		memset(p, '#', n);
		p[n] = '\n';
		ck_assert_int_eq(load_bytes(p, n + 1, &e), d > 0 ? -ERR_PARSE : 0);
		if (d > 0)
			ck_assert_str_eq(e.text, "f.conf:1: the line is longer than 4096 bytes");
		free(p);
	}
}

TEST(a_file_of_more_than_a_mebibyte_is_refused)
{
	char *p = malloc(CONF_MAX_BYTES + 2);
	struct conf *c = NULL;
	struct err e = { 0 };

	for (size_t i = 0; i <= CONF_MAX_BYTES; i++)
		p[i] = i % 64 == 63 ? '\n' : '#';
	p[CONF_MAX_BYTES + 1] = 0;
	in.file = put("f", p);
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "f:1: "));
	p[CONF_MAX_BYTES] = 0;
	in.file = put("f", p);
	c = load();
	conf_free(c);
	free(p);
}

TEST(a_file_or_directory_that_others_may_write_is_refused)
{
	static const struct {
		mode_t file, dir;
		bool good;
	} cells[] = { { 0644, 0755, true },  { 0600, 0700, true },  { 0666, 0755, false },
		      { 0664, 0755, false }, { 0644, 0777, false }, { 0644, 0775, false },
		      { 0644, 01777, true } };

	for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
		char open[80];
		struct conf *c = NULL;
		struct err e = { 0 };
		int rc;

		snprintf(open, sizeof(open), "%s/open", dir);
		mkdir(open, 0700);
		in.file = put("open/f", "port = 1\n");
		chmod(in.file, cells[i].file);
		chmod(open, cells[i].dir);
		rc = conf_load(&schema, &in, &c, &e);
		ck_assert_int_eq(rc, cells[i].good ? 0 : -ERR_DENIED);
		if (rc)
			ck_assert_msg(strstr(e.text, "open/f:1: ") && e.line == 1, "%s", e.text);
		conf_free(c);
	}
}

TEST(special_files_are_refused_without_waiting)
{
	char link[80];
	struct conf *c = NULL;
	struct err e = { 0 };

	put("f", "port = 1\n");
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink("f", link), 0);
	in.file = link;
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_DENIED);
	unlink(link);
	ck_assert_int_eq(mkfifo(link, 0600), 0);
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_DENIED);
}

TEST(a_bad_value_in_the_environment_or_an_option_names_its_source)
{
	static const char *const env[] = { "OMIG_PORT=x", NULL };
	static const struct conf_set set[] = { { "port", "y" } }, none[] = { { "in.port", "1" } };
	struct conf *c = NULL;
	struct err e = { 0 };

	in.environ_ = env;
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_PARSE);
	ck_assert_ptr_nonnull(strstr(e.text, "environment OMIG_PORT: "));
	in.environ_ = NULL;
	in.set = set;
	in.nset = 1;
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_PARSE);
	ck_assert_ptr_nonnull(strstr(e.text, "option --port: "));
	in.set = none;
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_NOTFOUND);
}

SUITE_WITH("conf_bad", set_up, clean_up)
