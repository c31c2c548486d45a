/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of users: whose they are, what uses them, and what is left of them after an end. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/omis/services/added.h"
#include "mainsm/registry/registry.h"
#include "tests/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct registry *r;
static struct buf why;

static int64_t noon(void *arg)
{
	(void)arg;
	return 12;
}

static void open_it(void)
{
	struct err e = { 0 };

	ck_assert_msg(
		registry_open(&(struct registry_conf){ .dir = dir, .wall_now = noon }, &r, &e) == 0,
		"%s", e.text);
}

static void set_up(void)
{
	snprintf(dir, sizeof(dir), "/tmp/omig-registry-XXXXXX");
	ck_assert(mkdtemp(dir) && !chmod(dir, 0700));
	why = (struct buf)BUF_INIT(1 << 16);
	open_it();
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void clean_up(void)
{
	registry_free(r);
	buf_done(&why);
	unlink(in_dir("metrics"));
	unlink(in_dir("metrics.bad"));
	rmdir(dir);
}

#define SENT                                                                            \
	"Sent(Process p, TimeInterval t) : Unit(\"mine\") { RETURN Send_count(p, t) / " \
	"Send_count(p, t); }"
#define TWICE "Twice(Process p, TimeInterval t) { RETURN 2 * Sent(p, t); }"
#define MOST                                                                                   \
	"Most(Process[] ps, TimeInterval t) { Process p; RETURN MAX(Twice(p, t) + Sent(p, t) " \
	"WHERE p IN ps); }"
#define PLAIN "Sent(Process p, TimeInterval t) { RETURN Send_count(p, t); }"

static int add(const char *whose, const char *name, const char *text, uint32_t *version)
{
	buf_clear(&why);
	return registry_add(r, whose, &(struct registry_text){ name, text }, version, &why);
}

static void good(const char *whose, const char *name, const char *text, uint32_t version)
{
	uint32_t got = 0;

	ck_assert_msg(add(whose, name, text, &got) == 0, "%s", buf_str(&why));
	ck_assert_uint_eq(got, version);
}

static void bad(const char *name, const char *text, int code, const char *words)
{
	uint32_t got = 0;

	ck_assert_int_eq(add("ann", name, text, &got), -code);
	ck_assert_msg(strstr(buf_str(&why), words), "%s", buf_str(&why));
}

static void needs(const char *whose, const char *text, const char *names)
{
	struct pmsl_library l;
	struct buf b = BUF_INIT(1000);

	ck_assert_int_eq(registry_library(r, whose, text, &l), 0);
	for (size_t i = 0; i < l.n; i++)
		buf_printf(&b, "%s%s", i ? " " : "", l.v[i].name);
	ck_assert_str_eq(buf_str(&b), names);
	buf_done(&b);
	free(l.v);
}

static void three(void)
{
	good("ann", "sent", PLAIN, 1);
	good("ann", "twice", TWICE, 1);
	good("ann", "most", MOST, 1);
}

TEST(a_text_gets_what_it_uses_before_itself)
{
	three();
	needs("ann", "M(Process[] ps, TimeInterval t) { RETURN Most(ps, t); }", "sent twice most");
	needs("ann", "M(Process p, TimeInterval t) { RETURN Sent(p, t); }", "sent");
	needs("ann", "M(Process p, TimeInterval t) { RETURN Send_count(p, t); }", "");
}

TEST(additions_of_one_user_are_invisible_to_others)
{
	struct registry_found f;

	three();
	ck_assert(registry_find(r, "ann", "Sent", &f) && str_eq(f.name, "sent"));
	ck_assert(!registry_find(r, "bob", "Sent", &f) && !registry_find(r, "bob", "sent", &f));
	needs("bob", MOST, "");
	good("bob", "sent", SENT, 1);
	ck_assert(registry_find(r, "bob", "sent", &f) && str_eq(f.text, SENT));
	ck_assert(registry_find(r, "ann", "sent", &f) && str_eq(f.text, PLAIN));
	buf_clear(&why);
	ck_assert_int_eq(registry_remove(r, "bob", "twice", &why), -ERR_NOTFOUND);
}

TEST(a_text_that_replaces_one_is_its_next_version)
{
	struct registry_found f;

	good("ann", "sent", PLAIN, 1);
	good("ann", "sent", SENT, 2);
	ck_assert(registry_find(r, "ann", "sent", &f) && f.version == 2 && str_eq(f.text, SENT));
	ck_assert_uint_eq(registry_count(r), 1);
}

TEST(metric_used_by_others_is_neither_changed_nor_removed)
{
	three();
	bad("sent", "Other(Process p, TimeInterval t) { RETURN Send_count(p, t); }", ERR_INVALID,
	    "twice uses sent");
	bad("sent", "Sent(Process p) { RETURN Time(NOW); }", ERR_INVALID,
	    "takes 1 arguments, not 2");
	bad("sent", "Sent(Process[] ps, TimeInterval t) { RETURN Most(ps, t); }", ERR_INVALID,
	    "would use itself");
	buf_clear(&why);
	ck_assert_int_eq(registry_remove(r, "ann", "sent", &why), -ERR_INVALID);
	ck_assert_msg(strstr(buf_str(&why), "uses sent: remove that first"), "%s", buf_str(&why));
	ck_assert_int_eq(registry_remove(r, "ann", "most", &why), 0);
	ck_assert_int_eq(registry_remove(r, "ann", "twice", &why), 0);
	ck_assert_int_eq(registry_remove(r, "ann", "sent", &why), 0);
	ck_assert_uint_eq(registry_count(r), 0);
}

TEST(refused_metric_text_changes_nothing)
{
	char name[REGISTRY_NAME_MAX + 2];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	good("ann", "sent", PLAIN, 1);
	bad("x", "M(Process p) { RETURN }", ERR_INVALID, "x:1:");
	bad("x", "M(Process p, TimeInterval t) { RETURN None(p, t); }", ERR_INVALID,
	    "no metric or function None");
	bad("x", "", ERR_INVALID, "there is no metric in x");
	bad("x", PLAIN, ERR_INVALID, "the text sent has a metric Sent already");
	bad("x", "Send_volume(Process p, TimeInterval t) { RETURN 1; }", ERR_INVALID,
	    "is a built-in metric");
	bad("", TWICE, ERR_INVALID, "is not a name");
	bad("a\nb", TWICE, ERR_INVALID, "is not a name");
	bad(name, TWICE, ERR_INVALID, "is not a name");
	name[REGISTRY_NAME_MAX] = '\0';
	good("ann", name, TWICE, 1);
	ck_assert_uint_eq(registry_count(r), 2);
}

TEST(all_blocks_are_there_after_an_end)
{
	struct registry_found f;

	three();
	good("ann", "sent", PLAIN "\n// \"quotes\" \\ and \xc3\xa4", 2);
	registry_free(r);
	open_it();
	ck_assert_uint_eq(registry_count(r), 3);
	ck_assert(registry_find(r, "ann", "Sent", &f) && f.version == 2);
	ck_assert_str_eq(f.text, PLAIN "\n// \"quotes\" \\ and \xc3\xa4");
	needs("ann", MOST, "sent twice most");
}

TEST(a_damaged_file_is_set_aside)
{
	FILE *file;

	three();
	registry_free(r);
	file = fopen(in_dir("metrics"), "r+");
	ck_assert(file && !fseek(file, 60, SEEK_SET) && fputc(7, file) == 7 && !fclose(file));
	open_it();
	ck_assert_uint_eq(registry_count(r), 0);
	ck_assert_int_eq(access(in_dir("metrics.bad"), F_OK), 0);
	good("ann", "sent", PLAIN, 1);
}

TEST(a_change_that_cannot_be_kept_is_none)
{
	struct registry_found f;
	uint32_t version;

	good("ann", "sent", PLAIN, 1);
	registry_free(r);
	open_it();
	unlink(in_dir("metrics"));
	ck_assert_int_eq(rmdir(dir), 0);
	ck_assert_int_lt(add("ann", "sent", SENT, &version), 0);
	ck_assert(registry_find(r, "ann", "sent", &f) && f.version == 1);
	buf_clear(&why);
	ck_assert_int_lt(registry_remove(r, "ann", "sent", &why), 0);
	ck_assert(registry_find(r, "ann", "sent", &f));
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	good("ann", "sent", SENT, 2);
}

TEST(a_user_has_so_many_texts)
{
	char name[20], text[120];
	uint32_t version;

	for (int i = 0; i < REGISTRY_TEXTS_EACH_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		snprintf(text, sizeof(text), "M%d(Process p) { RETURN Time(NOW); }", i);
		good("ann", name, text, 1);
	}
	bad("more", PLAIN, ERR_LIMIT, "more than 256 texts of metrics");
	ck_assert_int_eq(add("bob", "sent", PLAIN, &version), 0);
	snprintf(text, sizeof(text), "M0(Process p) { RETURN Time(NOW) + 1 * Time(NOW); }");
	good("ann", "t0", text, 2);
}

/* Errors are reported at the use, for any part of another text. */
TEST(errors_in_what_is_used_stand_at_the_use)
{
	static const char text[] = "M(Process[] ps, TimeInterval t) { RETURN Most(ps, t) + 1; }";
	struct pmsl_diags d = PMSL_DIAGS_INIT;
	struct pmsl_library l;
	struct pmsl *p = NULL;

	three();
	ck_assert_int_eq(registry_library(r, "ann", text, &l), 0);
	ck_assert_int_eq(
		pmsl_compile_with(&l, &(struct pmsl_source){ "m", text, strlen(text) }, &d, &p), 0);
	ck_assert_msg(!d.nerror, "%s", d.v[0].text);
	ck_assert_ptr_nonnull(pmsl_metric(p, "M", &d));
	ck_assert_ptr_null(pmsl_metric(p, "Most", &d));
	pmsl_free(p);
	l.n = 0;
	d = PMSL_DIAGS_INIT;
	ck_assert_int_eq(
		pmsl_compile_with(&l, &(struct pmsl_source){ "m", text, strlen(text) }, &d, &p), 0);
	ck_assert(d.nerror == 1 && d.nunknown == 1);
	pmsl_free(p);
	free(l.v);
}

/* --- metrics of plug-ins */

static struct added_services *added;
static unsigned version;

static const struct added_services *added_now(void *arg, unsigned *out)
{
	*out = version;
	return added;
}

static void define(const char *line)
{
	added_services_free(added);
	added = added_services_new();
	ck_assert_int_eq(added_services_add(added, line, strlen(line), NULL), 0);
	version++;
}

TEST(metrics_of_plugins_are_texts_of_all_users)
{
	struct registry_found found;
	struct pmsl_library l;

	registry_free(r);
	ck_assert_int_eq(
		registry_open(
			&(struct registry_conf){ .dir = dir, .wall_now = noon, .added = added_now },
			&r, NULL),
		0);
	define("\"reads\",\"disk\",\"\",\"B\",\"Help.\",4\n\"list\",\"disk\",\"\",\"n\",\"Help.\",0\n"
	       "\"files\",\"disk\",\"\",\"1\",\"Help.\",10\n");
	ck_assert(registry_find(r, "ann", "reads", &found));
	ck_assert_str_eq(found.name, "plugin.disk");
	ck_assert_ptr_nonnull(strstr(found.text, "Plugin_node_counter(object, \"reads\", t)"));
	ck_assert_ptr_nonnull(strstr(found.text, "Plugin_process_value(object, \"files\", NOW)"));
	ck_assert(!registry_find(r, "ann", "list", &found));
	good("ann", "user",
	     "Mine(Node n, TimeInterval t) : Unit(\"B\") { RETURN 2 * reads(n, t); }", 1);
	ck_assert_int_eq(registry_library(r, "bob", "Mine(Node n) { RETURN files(n); }", &l), 0);
	ck_assert_uint_eq(l.n, 1);
	free(l.v);
	bad("own", "reads() { RETURN 1; }", ERR_INVALID, "plugin.disk has a metric reads already");
	bad("broken", "Mine2(Node n) { RETURN reads(n); }", ERR_INVALID, "reads");
	ck_assert_int_eq(registry_remove(r, "ann", "plugin.disk", &why), -ERR_NOTFOUND);
	define("\"list\",\"disk\",\"\",\"n\",\"Help.\",0\n");
	ck_assert(!registry_find(r, "ann", "reads", &found));
	ck_assert(registry_find(r, "ann", "Mine", &found));
	added_services_free(added);
	added = NULL;
}

SUITE_WITH("registry", set_up, clean_up)
