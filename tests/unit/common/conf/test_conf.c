/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/alloc_sweep.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/common/conf/conf_world.h"

#include <string.h>

TEST(without_files_every_key_has_its_default)
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

TEST(a_higher_source_wins_and_reports_that)
{
	static const char *const env[] = { "OMIG_PORT=5", "OMIG_A_TEXT=from env", "OMIG_IN_PORT=55",
					   "X=y", NULL };
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
			put("etc/prog.conf.d/note", "this is not a configuration\n");
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

TEST(a_given_file_replaces_the_others)
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

TEST(sections_with_names_make_items_in_order)
{
	struct conf *c;
	const struct values *v;

	in.file = put("f", "[site b]\nhosts = b*\n[in]\nport = 9\n[site a one]\nweight = 3\n[site "
			   "b]\nweight = 2\n");
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

TEST(conf_dump_loads_to_the_same_values)
{
	static const char *const texts[] = { "",      " a ", "\"",  "\\",
					     "a # b", "[x]", "a=b", "\xc3\xa9" };
	static const char *const waits[] = { "0", "1ns", "1500us", "90s", "1h", "59m" };

	for (size_t i = 0; i < 48; i++) {
		struct buf b = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16), text = BUF_INIT(1000);
		struct conf *c = NULL, *d = NULL;
		struct err e = { 0 };

		buf_printf(&text, "wait = %s\nsize = %zuk\n[site x]\nweight = 5\n", waits[i % 6],
			   i * 100);
		ck_assert_int_eq(conf_load_text(&schema, "f", buf_bytes(&text), &c, &e), 0);
		ck_assert_int_eq(
			conf_put_top(c, &keys[4], texts[i / 6], &(struct conf_at){ "test", 0 }, &e),
			0);
		ck_assert_int_eq(conf_dump(c, &b), 0);
		ck_assert_msg(!conf_load_text(&schema, "dump", buf_bytes(&b), &d, &e), "%s\n%s",
			      e.text, buf_str(&b));
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

/* The example without the # before its keys and sections: a file with the defaults. */
static void uncomment(const char *from, struct buf *out)
{
	for (size_t n; *from; from += n) {
		n = strcspn(from, "\n");
		n += from[n] == '\n';
		if (from[0] == '#' && from[1] != ' ')
			buf_put(out, from + 1, n - 1);
	}
}

TEST(the_example_has_every_key_with_its_meaning_and_its_default)
{
	struct buf text = BUF_INIT(1 << 16), bare = BUF_INIT(1 << 16);
	struct conf *c = NULL, *d = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(conf_example(&schema, &text), 0);
	for (const struct conf_key *k = keys; k->name; k++) {
		char line[120];

		snprintf(line, sizeof(line), "\n#%s = %s\n", k->name, k->def);
		ck_assert_msg(strstr(buf_str(&text), line) != NULL, "%s", line);
		snprintf(line, sizeof(line), "\n# %s\n", k->help);
		ck_assert_msg(strstr(buf_str(&text), line) != NULL, "%s", line);
	}
	ck_assert_ptr_nonnull(strstr(
		buf_str(&text), "# number 1..65535; default 7; also an option; also OMIG_PORT\n"));
	ck_assert_ptr_nonnull(strstr(
		buf_str(&text), "# yes or no; default no; changed by a reload; also OMIG_FLAG\n"));
	ck_assert_int_eq(conf_load_text(&schema, "example", buf_bytes(&text), &c, &e), 0);
	uncomment(buf_str(&text), &bare);
	ck_assert_msg(!conf_load_text(&schema, "bare", buf_bytes(&bare), &d, &e), "%s", e.text);
	for (const struct conf_key *k = keys; !k->section; k++)
		ck_assert(!conf_differs(c, d, k->name));
	ck_assert_str_eq(((const struct values *)conf_values(d))->site[0].name, "NAME");
	conf_free(c);
	conf_free(d);
	buf_done(&text);
	buf_done(&bare);
}

TEST(a_secret_is_never_shown)
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

TEST(show_gives_value_and_origin_of_each_key)
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

static unsigned kept_n;
static char kept_name[80];

static void on_kept(void *arg, const char *name)
{
	kept_n++;
	str_copy(kept_name, sizeof(kept_name), name);
}

TEST(a_reload_changes_only_what_may_change)
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

TEST(without_memory_nothing_is_loaded_and_nothing_leaks)
{
	in.file = put("f", "port = 1\n[site a]\nhosts = x\n[site b]\nweight = 3\n");
	ALLOC_SWEEP (k) {
		struct conf *c = NULL;
		struct err e = { 0 };
		int rc = conf_load(&schema, &in, &c, &e);

		alloc_sweep_pause();
		ck_assert_msg(!rc || rc == -ERR_NOMEM, "%d %s", rc, e.text);
		ck_assert(!c == !!rc);
		conf_free(c);
	}
}

SUITE_WITH("conf", set_up, clean_up)
