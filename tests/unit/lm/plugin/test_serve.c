/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in in lm-plugin: its definitions, its calls, its file. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/services/added.h"
#include "lm/plugin/plugin_file.h"
#include "lm/plugin/serve.h"
#include "tests/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int sums(struct omig_plugin_call *c)
{
	int64_t sum = omig_plugin_pid(c);

	for (size_t k = 0; k < omig_plugin_count(c, 0); k++)
		sum += omig_plugin_get_int(c, 0, k);
	omig_plugin_put_int(c, sum);
	omig_plugin_put_float(c, omig_plugin_get_float(c, 1, 0));
	return 0;
}

/* Asks for what is not there. */
static int absent(struct omig_plugin_call *c)
{
	size_t n = 7;
	const char *text = omig_plugin_get_text(c, 9, 9, &n);

	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(omig_plugin_count(c, 9), 0);
	ck_assert_int_eq(omig_plugin_get_int(c, 0, 5), 0);
	ck_assert_double_eq(omig_plugin_get_float(c, 0, 0), 0); /* it is a text */
	return 0;
}

static int lists(struct omig_plugin_call *c)
{
	int64_t depth = omig_plugin_get_int(c, 0, 0), ends = omig_plugin_get_int(c, 1, 0);

	for (int64_t i = 0; i < depth; i++)
		omig_plugin_list_begin(c);
	for (int64_t i = 0; i < ends; i++)
		omig_plugin_list_end(c);
	return 0;
}

static int large(struct omig_plugin_call *c)
{
	static char text[1024];

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 1024; i++)
		omig_plugin_put_text(c, text, sizeof(text));
	return 0;
}

static int fails(struct omig_plugin_call *c)
{
	omig_plugin_put_int(c, 1);
	return omig_plugin_get_int(c, 0, 0) ? omig_plugin_fail(c, "a reason\n") : 5;
}

static const struct omig_plugin_service services[] = {
	{ "sums", "int* i, float f = 0", "sum, f", "Help.", 0, sums },
	{ "absent", "string s", NULL, NULL, OMIG_PLUGIN_CHANGES, absent },
	{ "lists", "int n, int m", NULL, NULL, OMIG_PLUGIN_OF_PROCESSES, lists },
	{ "large", NULL, NULL, NULL, 0, large },
	{ "fails", "int i", NULL, NULL, 0, fails },
	{ NULL, NULL, NULL, NULL, 0, NULL },
};

static const struct omig_plugin plugin = {
	OMIG_PLUGIN_VERSION, "test", NULL, NULL, NULL, services
};

static int call(const char *service, const char *values, struct buf *out, struct err *e)
{
	struct tracer_msg *m = calloc(1, sizeof(*m));
	int rc;

	m->type = TRACER_PLUGIN_CALL;
	m->pid = 100;
	m->text[m->ntext++] = service;
	m->bytes = (const uint8_t *)values;
	m->nbytes = strlen(values);
	rc = serve_call(&plugin, m, out, e);
	free(m);
	return rc;
}

static const struct {
	const char *service, *values;
	int rc;
	const char *says; /* the result, or a part of the error */
} calls[] = {
	{ "sums", "[1,2,3],2.5", 0, "106,2.5" },
	{ "sums", "[],0", 0, "100,0.0" },
	{ "sums", "", 0, "100,0.0" },
	{ "absent", "\"a\"", 0, "" },
	{ "lists", "8,8", 0, "[[[[[[[[]]]]]]]]" },
	{ "lists", "9,9", -ERR_INVALID, "lists that do not match" },
	{ "lists", "1,0", -ERR_INVALID, "lists that do not match" },
	{ "lists", "0,1", -ERR_INVALID, "lists that do not match" },
	{ "large", "", -ERR_LIMIT, "more than 262144 bytes" },
	{ "fails", "1", -ERR_SYS, "a reason\\n" },
	{ "fails", "0", -ERR_SYS, "without a reason" },
	{ "none", "", -ERR_NOTFOUND, "no service none" },
	{ "sums", "[1,", -ERR_PARSE, "offset" },
};

TEST(a_call_has_its_result_or_its_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct buf b = BUF_INIT(PLUGIN_REPLY_MAX_BYTES);
		struct err e = { 0 };
		int rc = call(calls[i].service, calls[i].values, &b, &e);

		ck_assert_msg(rc == calls[i].rc, "%s(%s): %d %s", calls[i].service, calls[i].values,
			      rc, e.text);
		if (rc)
			ck_assert_ptr_nonnull(strstr(e.text, calls[i].says));
		else
			ck_assert_str_eq(buf_str(&b), calls[i].says);
		buf_done(&b);
	}
}

TEST(its_definitions_are_read_as_they_were_written)
{
	struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);
	struct added_services *all = added_services_new();
	const struct added_service *a;
	size_t bad = 0;

	ck_assert_int_eq(serve_about(&plugin, &b, NULL), 0);
	ck_assert_int_eq(added_services_add(all, buf_str(&b), b.n, &bad), 0);
	ck_assert_uint_eq(bad, 1); /* the line of the plug-in itself */
	a = added_services_find(all, "absent");
	ck_assert_int_eq(a->s.right, OMIS_MANIPULATE);
	ck_assert_int_eq(a->s.object, 'n');
	a = added_services_find(all, "lists");
	ck_assert_int_eq(a->s.right, OMIS_OBSERVE);
	ck_assert_int_eq(a->s.object, 'p');
	added_services_free(all);
	buf_done(&b);
}

TEST(a_plug_in_with_too_much_is_refused)
{
	static struct omig_plugin_service many[PLUGIN_SERVICES_MAX + 2];
	static char name[PLUGIN_SERVICES_MAX + 1][16];
	struct omig_plugin p = plugin;
	struct err e = { 0 };

	p.services = many;
	for (size_t i = 0; i <= PLUGIN_SERVICES_MAX; i++) {
		struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);

		snprintf(name[i], sizeof(name[i]), "s%zu", i);
		many[i] = (struct omig_plugin_service){ name[i], NULL, NULL, NULL, 0, sums };
		ck_assert_int_eq(serve_about(&p, &b, &e), i < PLUGIN_SERVICES_MAX ? 0 : -ERR_LIMIT);
		buf_done(&b);
	}
}

/* --- the file */

static char folder[] = "/tmp/omig-plugin-XXXXXX";
static char path[64];

static void make_file(mode_t of_folder, mode_t of_file)
{
	FILE *f;

	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.so", folder);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	fclose(f);
	ck_assert_int_eq(chmod(path, of_file), 0);
	ck_assert_int_eq(chmod(folder, of_folder), 0);
}

TEST(a_file_that_others_may_change_is_refused)
{
	static const struct {
		mode_t folder, file;
		int rc;
	} modes[] = { { 0755, 0755, 0 },	   { 0700, 0400, 0 },
		      { 0755, 0775, -ERR_DENIED }, { 0755, 0646, -ERR_DENIED },
		      { 0775, 0755, -ERR_DENIED }, { 0777, 0755, -ERR_DENIED },
		      { 01777, 0755, 0 } };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		make_file(modes[i].folder, modes[i].file);
		ck_assert_msg(plugin_file_check(path, &e) == modes[i].rc, "%zu: %s", i, e.text);
		ck_assert_int_eq(unlink(path), 0);
		ck_assert_int_eq(plugin_file_check(path, &e), -ERR_NOTFOUND);
		ck_assert_int_eq(plugin_file_check(folder, &e), -ERR_DENIED);
		ck_assert_int_eq(symlink("/bin/sh", path), 0);
		ck_assert_int_eq(plugin_file_check(path, &e), -ERR_DENIED);
		ck_assert_int_eq(unlink(path), 0);
		ck_assert_int_eq(rmdir(folder), 0);
	}
	ck_assert_int_eq(plugin_file_check("x.so", &e), -ERR_INVALID);
	ck_assert_int_eq(plugin_file_check("", &e), -ERR_INVALID);
}

TEST(file_that_is_no_shared_object_is_not_loaded)
{
	const struct omig_plugin *p = NULL;
	struct err e = { 0 };

	make_file(0755, 0755);
	ck_assert_int_eq(serve_load(path, &p, &e), -ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(e.text, "it cannot be loaded"));
	ck_assert_ptr_null(p);
	unlink(path);
	rmdir(folder);
}

SUITE("plug-ins")
