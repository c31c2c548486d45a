/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/daemon/conf_internal.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct site {
	const char *name;
	const char *hosts;
	int64_t weight;
};

struct values {
	bool flag;
	int64_t port, wait, size;
	const char *text, *secret;
	int choice;
	int64_t inner;
	struct site *site;
	size_t nsite;
};

static const char *const choices[] = { "one", "two", NULL };
#define AT(f) offsetof(struct values, f)
static const struct conf_key keys[] = {
	{ .name = "flag", .kind = CONF_BOOL, .offset = AT(flag), .def = "no", .flags = CONF_RELOAD, .help = "a flag" },
	{ .name = "port", .kind = CONF_INT, .offset = AT(port), .def = "7", .min = 1, .max = 65535,
	  .flags = CONF_OPTION, .help = "a port" },
	{ .name = "wait", .kind = CONF_NSEC, .offset = AT(wait), .def = "1500ms", .max = 3600 * NSEC_PER_SEC,
	  .flags = CONF_RELOAD, .help = "a time" },
	{ .name = "size", .kind = CONF_BYTES, .offset = AT(size), .def = "4k", .max = INT64_C(1) << 40, .help = "a size" },
	{ .name = "a-text", .kind = CONF_STRING, .offset = AT(text), .def = "", .max = 10, .help = "a text" },
	{ .name = "secret", .kind = CONF_STRING, .offset = AT(secret), .def = "", .flags = CONF_SECRET, .help = "hush" },
	{ .name = "choice", .kind = CONF_CHOICE, .offset = AT(choice), .def = "two", .choice = choices,
	  .help = "a choice" },
	{ .section = "in", .name = "port", .kind = CONF_INT, .offset = AT(inner), .def = "5", .help = "inside" },
	{ .section = "site", .name = "hosts", .kind = CONF_STRING, .offset = offsetof(struct site, hosts), .def = "*",
	  .help = "hosts of the site" },
	{ .section = "site", .name = "weight", .kind = CONF_INT, .offset = offsetof(struct site, weight), .def = "1",
	  .help = "its weight" },
	{ 0 },
};
static const struct conf_group groups[] = { { "site", sizeof(struct site), AT(site), AT(nsite) }, { 0 } };
static const struct conf_schema schema = { "prog", sizeof(struct values), keys, groups };

/* --- a scratch folder with etc/ and user/ */

static char dir[64], etc[80], user[80];
static struct conf_input in;

static void set_up(void)
{
	str_copy(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(etc, sizeof(etc), "%s/etc", dir);
	snprintf(user, sizeof(user), "%s/user", dir);
	mkdir(etc, 0755);
	mkdir(user, 0700);
	in = (struct conf_input){ .etc_dir = etc, .user_dir = user };
}

static void clean_up(void)
{
	static const char *const files[] = { "etc/prog.conf.d/10-a.conf", "etc/prog.conf.d/20-b.conf",
					     "etc/prog.conf.d/note", "etc/prog.conf.d", "etc/prog.conf", "etc",
					     "user/prog.conf", "user", "f", "link", "open/f", "open" };
	char path[128];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		remove(path);
	}
	rmdir(dir);
}

static const char *put(const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	chmod(path, 0644);
	return path;
}

static struct conf *load(void)
{
	struct conf *c = NULL;
	struct err e = { 0 };

	ck_assert_msg(!conf_load(&schema, &in, &c, &e), "%s", e.text);
	return c;
}

START_TEST(without_files_every_key_has_its_default)
{
	struct conf *c = load();
	const struct values *v = conf_values(c);

	ck_assert(!v->flag);
	ck_assert_int_eq(v->port, 7);
	ck_assert_int_eq(v->wait, 1500 * NSEC_PER_MSEC);
	ck_assert_int_eq(v->size, 4096);
	ck_assert_str_eq(v->text, "");
	ck_assert_int_eq(v->choice, 1);
	ck_assert_int_eq(v->inner, 5);
	ck_assert_uint_eq(v->nsite, 0);
	ck_assert_str_eq(conf_origin(c, "in.port"), "default");
	ck_assert_ptr_null(conf_origin(c, "nothing"));
	conf_free(c);
}
END_TEST

START_TEST(a_higher_source_wins_and_says_so)
{
	static const char *const env[] = { "OMIG_PORT=5", "OMIG_A_TEXT=from env", "OMIG_IN_PORT=55", "X=y", NULL };
	static const struct conf_set set[] = { { "port", "6" } };
	static const int64_t want[] = { 7, 1, 2, 3, 4, 5, 6 };
	char origin[128];

	for (int level = 0; level <= 6; level++) {
		struct conf *c;

		if (level == 1)
			put("etc/prog.conf", "size = 1k\nport = 1\n");
		if (level == 2) {
			snprintf(origin, sizeof(origin), "%s/prog.conf.d", etc);
			mkdir(origin, 0755);
			put("etc/prog.conf.d/10-a.conf", "port = 2\n");
			put("etc/prog.conf.d/note", "this is no configuration\n");
		}
		if (level == 3)
			put("etc/prog.conf.d/20-b.conf", "port = 3\n");
		if (level == 4)
			put("user/prog.conf", "# mine\nport = 4\n");
		if (level == 5)
			in.environ_ = env;
		if (level == 6) {
			in.set = set;
			in.nset = 1;
		}
		c = load();
		ck_assert_int_eq(((const struct values *)conf_values(c))->port, want[level]);
		if (level == 4) {
			snprintf(origin, sizeof(origin), "%s/prog.conf:2", user);
			ck_assert_str_eq(conf_origin(c, "port"), origin);
		}
		if (level == 5)
			ck_assert_str_eq(conf_origin(c, "port"), "environment OMIG_PORT");
		if (level == 6) {
			ck_assert_str_eq(conf_origin(c, "port"), "option --port");
			ck_assert_str_eq(((const struct values *)conf_values(c))->text, "from env");
			ck_assert_int_eq(((const struct values *)conf_values(c))->inner, 55);
		}
		if (level >= 1)
			ck_assert_int_eq(((const struct values *)conf_values(c))->size, 1024);
		conf_free(c);
	}
}
END_TEST

START_TEST(a_given_file_stands_in_place_of_the_others)
{
	struct conf *c = NULL;
	struct err e = { 0 };

	put("etc/prog.conf", "port = 1\n");
	in.file = put("f", "size = 2k\n");
	c = load();
	ck_assert_int_eq(((const struct values *)conf_values(c))->port, 7);
	ck_assert_int_eq(((const struct values *)conf_values(c))->size, 2048);
	conf_free(c);
	in.file = "/nonexistent/omig.conf";
	ck_assert_int_eq(conf_load(&schema, &in, &c, &e), -ERR_NOTFOUND);
}
END_TEST

START_TEST(sections_with_names_make_items_in_order)
{
	struct conf *c;
	const struct values *v;

	in.file = put("f", "[site b]\nhosts = b*\n[in]\nport = 9\n[site a one]\nweight = 3\n[site b]\nweight = 2\n");
	c = load();
	v = conf_values(c);
	ck_assert_uint_eq(v->nsite, 2);
	ck_assert_str_eq(v->site[0].name, "b");
	ck_assert_str_eq(v->site[0].hosts, "b*");
	ck_assert_int_eq(v->site[0].weight, 2);
	ck_assert_str_eq(v->site[1].name, "a one");
	ck_assert_str_eq(v->site[1].hosts, "*");
	ck_assert_int_eq(v->site[1].weight, 3);
	ck_assert_int_eq(v->inner, 9);
	conf_free(c);
}
END_TEST

struct bad {
	const char *text;
	unsigned line;
	const char *says;
};

static const struct bad bad_files[] = {
	{ "port = 1\nprot = 2\n", 2, "unknown key 'prot'" },
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

START_TEST(a_bad_file_is_refused_with_its_line)
{
	const struct bad *b = &bad_files[_i];
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
END_TEST

static int load_bytes(const char *p, size_t n, struct err *e)
{
	struct conf *c = NULL;
	int rc = conf_load_text(&schema, "f.conf", p, n, &c, e);

	conf_free(c);
	return rc;
}

START_TEST(a_zero_byte_is_refused_with_its_line)
{
	struct err e = { 0 };

	ck_assert_int_eq(load_bytes("flag = yes\nport = 1\0\n", 21, &e), -ERR_PARSE);
	ck_assert_str_eq(e.text, "f.conf:2: a 0 byte");
}
END_TEST

START_TEST(a_line_ends_at_its_limit)
{
	for (int d = -1; d <= 1; d++) {
		size_t n = (size_t)(CONF_LINE_MAX_BYTES + d);
		char *p = malloc(n + 1);
		struct err e = { 0 };

		memset(p, '#', n);
		p[n] = '\n';
		ck_assert_int_eq(load_bytes(p, n + 1, &e), d > 0 ? -ERR_PARSE : 0);
		if (d > 0)
			ck_assert_str_eq(e.text, "f.conf:1: the line is too long");
		free(p);
	}
}
END_TEST

START_TEST(a_file_of_more_than_a_mebibyte_is_refused)
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
END_TEST

START_TEST(a_file_or_directory_that_others_may_write_is_refused)
{
	static const struct {
		mode_t file, dir;
		bool good;
	} cells[] = { { 0644, 0755, true },  { 0600, 0700, true },  { 0666, 0755, false }, { 0664, 0755, false },
		      { 0644, 0777, false }, { 0644, 0775, false }, { 0644, 01777, true } };

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
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
END_TEST

START_TEST(what_is_no_plain_file_is_refused_without_waiting)
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
END_TEST

START_TEST(a_bad_value_in_the_environment_or_an_option_names_its_source)
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
END_TEST

START_TEST(what_is_dumped_loads_to_the_same_values)
{
	static const char *const texts[] = { "", " a ", "\"", "\\", "a # b", "[x]", "a=b", "\xc3\xa9" };
	static const char *const waits[] = { "0", "1ns", "1500us", "90s", "1h", "59m" };

	for (size_t i = 0; i < 48; i++) {
		struct buf b = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16), text = BUF_INIT(1000);
		struct conf *c = NULL, *d = NULL;
		struct err e = { 0 };

		buf_printf(&text, "wait = %s\nsize = %zuk\n[site x]\nweight = 5\n", waits[i % 6], i * 100);
		ck_assert_int_eq(conf_load_text(&schema, "f", text.p, text.n, &c, &e), 0);
		ck_assert_int_eq(conf_put_top(c, &keys[4], texts[i / 6], &(struct conf_at){ "test", 0 }, &e), 0);
		ck_assert_int_eq(conf_dump(c, &b), 0);
		ck_assert_msg(!conf_load_text(&schema, "dump", b.p, b.n, &d, &e), "%s\n%s", e.text, buf_str(&b));
		ck_assert_int_eq(conf_dump(d, &again), 0);
		ck_assert_str_eq(buf_str(&again), buf_str(&b));
		ck_assert_str_eq(((const struct values *)conf_values(d))->text, texts[i / 6]);
		ck_assert(!conf_differs(c, d, "a-text") && !conf_differs(c, d, "site"));
		conf_free(c);
		conf_free(d);
		buf_done(&b);
		buf_done(&again);
		buf_done(&text);
	}
}
END_TEST

START_TEST(every_key_is_documented_in_dump_and_manual)
{
	struct conf *c = load();
	struct buf dump = BUF_INIT(1 << 16), man = BUF_INIT(1 << 16);

	ck_assert_int_eq(conf_dump(c, &dump), 0);
	ck_assert_int_eq(conf_print_man(&schema, &man), 0);
	for (const struct conf_key *k = keys; k->name; k++) {
		char word[80];

		snprintf(word, sizeof(word), "*%s*", k->name);
		ck_assert_ptr_nonnull(strstr(buf_str(&man), word));
		ck_assert_ptr_nonnull(strstr(buf_str(&man), k->help));
		if (!k->section)
			ck_assert_ptr_nonnull(strstr(buf_str(&dump), k->help));
	}
	buf_done(&dump);
	buf_done(&man);
	conf_free(c);
}
END_TEST

START_TEST(a_secret_is_never_shown)
{
	struct buf b = BUF_INIT(1 << 16);
	struct conf *c;
	struct err e = { 0 };

	in.file = put("f", "secret = hushhush\n");
	c = load();
	ck_assert_int_eq(conf_dump(c, &b), 0);
	ck_assert_int_eq(conf_show(c, &b), 0);
	ck_assert_ptr_null(strstr(buf_str(&b), "hushhush"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "secret = (set)\t"));
	buf_done(&b);
	conf_free(c);
	ck_assert_int_eq(load_bytes("secret = hush\x01\n", 15, &e), -ERR_PARSE);
	ck_assert_ptr_null(strstr(e.text, "hush"));
}
END_TEST

START_TEST(show_gives_value_and_origin_of_each_key)
{
	struct buf b = BUF_INIT(1 << 16);
	struct conf *c;
	char want[160];

	in.file = put("f", "port = 9\n[site a]\nweight = 4\n");
	c = load();
	ck_assert_int_eq(conf_show(c, &b), 0);
	snprintf(want, sizeof(want), "port = 9\t%s:1\n", in.file);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), want));
	snprintf(want, sizeof(want), "site[a].weight = 4\t%s:3\n", in.file);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), want));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "in.port = 5\tdefault\n"));
	buf_done(&b);
	conf_free(c);
}
END_TEST

static unsigned kept_n;
static char kept_name[80];

static void on_kept(void *arg, const char *name)
{
	kept_n++;
	str_copy(kept_name, sizeof(kept_name), name);
}

START_TEST(a_reload_changes_only_what_may_change)
{
	struct conf *now, *next;
	struct err e = { 0 };
	const struct values *v;

	in.file = put("f", "port = 1\nwait = 1s\n");
	now = load();
	in.file = put("f", "port = 2\nwait = 2s\nflag = yes\n");
	next = load();
	ck_assert(conf_differs(now, next, "port") && conf_differs(now, next, "wait"));
	ck_assert(!conf_differs(now, next, "size"));
	ck_assert_int_eq(conf_keep_fixed(now, next, on_kept, NULL, &e), 0);
	v = conf_values(next);
	ck_assert_int_eq(v->port, 1);
	ck_assert_int_eq(v->wait, 2 * NSEC_PER_SEC);
	ck_assert(v->flag);
	ck_assert_uint_eq(kept_n, 1);
	ck_assert_str_eq(kept_name, "port");
	conf_free(now);
	conf_free(next);
}
END_TEST

START_TEST(without_memory_nothing_is_loaded_and_nothing_leaks)
{
	in.file = put("f", "port = 1\n[site a]\nhosts = x\n[site b]\nweight = 3\n");
	ALLOC_SWEEP(k)
	{
		struct conf *c = NULL;
		struct err e = { 0 };
		int rc = conf_load(&schema, &in, &c, &e);

		alloc_sweep_pause();
		ck_assert_msg(rc == 0 || rc == -ERR_NOMEM, "%d %s", rc, e.text);
		ck_assert(!c == !!rc);
		conf_free(c);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		without_files_every_key_has_its_default, a_higher_source_wins_and_says_so,
		a_given_file_stands_in_place_of_the_others, sections_with_names_make_items_in_order,
		a_zero_byte_is_refused_with_its_line, a_line_ends_at_its_limit,
		a_file_of_more_than_a_mebibyte_is_refused, a_file_or_directory_that_others_may_write_is_refused,
		what_is_no_plain_file_is_refused_without_waiting,
		a_bad_value_in_the_environment_or_an_option_names_its_source, what_is_dumped_loads_to_the_same_values,
		every_key_is_documented_in_dump_and_manual, a_secret_is_never_shown,
		show_gives_value_and_origin_of_each_key, a_reload_changes_only_what_may_change,
		without_memory_nothing_is_loaded_and_nothing_leaks,
	};
	Suite *s = suite_create("conf");
	TCase *c = tcase_create("conf");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(c, set_up, clean_up);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, a_bad_file_is_refused_with_its_line, 0, sizeof(bad_files) / sizeof(bad_files[0]));
	suite_add_tcase(s, c);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
