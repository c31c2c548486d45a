/* SPDX-License-Identifier: Apache-2.0 */
/* Services that plug-ins add: their definitions, and the calls that carry them. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/omis.h"
#include "common/omis/services/added.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct added_spec spec(const char *name, const char *params)
{
	return (struct added_spec){
		.name = name, .plugin = "disk", .params = params, .result = "n", .help = "Help."
	};
}

/* A set with a service of nodes, one that changes, and one of processes. */
static struct added_services *some(void)
{
	struct added_spec s[] = { spec("disk_reads", "string device, int n = 0, float* f = []"),
				  spec("disk_reset", ""), spec("disk_files", "") };
	struct added_services *all = added_services_new();
	struct buf b = BUF_INIT(PLUGIN_TEXT_MAX_BYTES);

	s[1].changes = true;
	s[2].of_processes = true;
	for (size_t i = 0; i < ARRAY_LEN(s); i++) {
		struct added_service *a = NULL;

		ck_assert_int_eq(added_service_new(&s[i], &a, NULL), 0);
		added_service_write(&b, a);
		added_service_free(a);
	}
	ck_assert_int_eq(added_services_add(all, (const char *)b.p, b.n, NULL), 0);
	buf_done(&b);
	return all;
}

static int check(const char *text, struct buf *printed, struct omis_diag *d)
{
	struct added_services *all = some();
	struct omis_request *r = NULL;
	int rc;

	ck_assert_int_eq(omis_parse(text, strlen(text), &r, NULL), 0);
	rc = omis_check_added(r, all, d);
	added_services_free(all); /* a checked request borrows nothing of it */
	if (!rc) {
		ck_assert_int_eq(omis_check(r, d), 0);
		omis_print_request(printed, r);
	}
	omis_request_free(r);
	return rc;
}

static const struct {
	const char *text, *carried;
} good[] = {
	{ ":disk_reads([],\"a\")", ":omig_plugin_info([],\"disk_reads\",[\"a\",0,[]])" },
	{ ":disk_reads(n_1,\"a\",5,1)", ":omig_plugin_info([n_1],\"disk_reads\",[\"a\",5,[1.0]])" },
	{ ":disk_reset([n_2]) disk_files([])",
	  ":omig_plugin_manip([n_2],\"disk_reset\",[]) omig_plugin_proc_info([],\"disk_files\",[])" },
	{ "proc_has_terminated([]):disk_reads([$node],\"a\",$time)", NULL },
	{ "thread_has_started_lib_call([],\"MPI_Send\"):disk_reads([$node],\"a\",$par2)",
	  "thread_has_started_lib_call([],\"MPI_Send\"):omig_plugin_info([$node],\"disk_reads\","
	  "[\"a\",$par2,[]])" },
};

TEST(a_call_becomes_one_of_the_service_that_carries_it)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct buf b = BUF_INIT(10000);
		struct omis_diag d = { 0 };
		int rc = check(good[i].text, &b, &d);

		ck_assert_msg(!rc == !!good[i].carried, "%s: %s", good[i].text, d.err.text);
		if (good[i].carried)
			ck_assert_str_eq(buf_str(&b), good[i].carried);
		buf_done(&b);
	}
}

static const struct {
	const char *text;
	unsigned status;
} bad[] = {
	{ ":disk_reads([])", STATUS_PARAMETER_ERROR },
	{ ":disk_reads([],1)", STATUS_TYPE_MISMATCH },
	{ ":disk_reads([],\"a\",0,[\"b\"])", STATUS_TYPE_MISMATCH },
	{ ":disk_reads([c_1],\"a\")", STATUS_TYPE_MISMATCH },
	{ ":disk_writes([],\"a\")", STATUS_UNKNOWN_SERVICE },
	{ ":omig_plugin_info([],\"disk_reads\",[\"a\",0,[]])", STATUS_UNKNOWN_SERVICE },
	{ "disk_reset([]):print([1])", STATUS_TYPE_MISMATCH },
	{ "proc_has_terminated([]):disk_reads([$thing],\"a\")", STATUS_UNKNOWN_ECP },
};

TEST(wrong_parameters_of_an_added_service_are_refused)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct omis_diag d = { 0 };

		ck_assert_int_eq(check(bad[i].text, NULL, &d), -ERR_INVALID);
		ck_assert_msg(d.status == bad[i].status, "%s: %s", bad[i].text, d.err.text);
	}
}

TEST(a_definition_that_is_none_is_refused)
{
	const struct added_spec wrong[] = {
		spec("", ""),
		spec("Upper", ""),
		spec("0digit", ""),
		spec("node_get_info", ""),
		spec("omig_new", ""),
		spec("x", "int"),
		spec("x", "text name"),
		spec("x", "int a, "),
		spec("x", "int a = b"),
		spec("x", "string s = \"a\""),
		spec("x", "token t = 0"),
		spec("x", "int a = 0, int b"),
		spec("x", "int a, int b, int c, int d, int e, int f"),
		spec("a23456789012345678901234567890123456789012345678", ""),
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct added_service *a = NULL;
		struct err e = { 0 };

		ck_assert_msg(added_service_new(&wrong[i], &a, &e) == -ERR_INVALID, "%s(%s)",
			      wrong[i].name, wrong[i].params);
		ck_assert_str_ne(e.text, "");
		ck_assert_ptr_null(a);
	}
}

TEST(a_metric_has_a_unit_and_no_parameters)
{
	struct added_spec s = spec("disk_reads_all", "");
	struct added_service *a = NULL, *read = NULL;
	struct buf b = BUF_INIT(1000);

	s.metric = ADDED_COUNTER;
	s.result = "B/s^2";
	ck_assert_int_eq(added_service_new(&s, &a, NULL), 0);
	added_service_write(&b, a);
	ck_assert_int_eq(added_service_read(buf_str(&b), b.n - 1, &read, NULL), 0);
	ck_assert_int_eq(read->spec.metric, ADDED_COUNTER);
	ck_assert(added_service_is_metric(read));
	added_service_free(read);
	added_service_free(a);
	buf_done(&b);
	s.params = "int i";
	ck_assert_int_eq(added_service_new(&s, &a, NULL), -ERR_INVALID);
	s.params = "";
	s.changes = true;
	ck_assert_int_eq(added_service_new(&s, &a, NULL), -ERR_INVALID);
	s.changes = false;
	s.result = "";
	ck_assert_int_eq(added_service_new(&s, &a, NULL), -ERR_INVALID);
	s.result = "two values\")";
	ck_assert_int_eq(added_service_new(&s, &a, NULL), -ERR_INVALID);
	s.result = "1";
	s.help = "a\nb";
	ck_assert_int_eq(added_service_new(&s, &a, NULL), -ERR_INVALID);
}

TEST(lines_of_a_liar_are_left_out)
{
	static const char text[] = "nonsense\n\"a\",\"b\"\n"
				   "\"version\",\"disk\",\"\",\"\",\"\",0\n"
				   "\"one\",\"disk\",\"\",\"n\",\"h\",0\n"
				   "\"one\",\"other\",\"int i\",\"n\",\"h\",3\n"
				   "\"two\",\"disk\",\"\",\"n\",\"h\",\"0\"";
	struct added_services *all = added_services_new();
	size_t n = 0;

	ck_assert_int_eq(added_services_add(all, text, sizeof(text) - 1, &n), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_ptr_nonnull(added_services_find(all, "one"));
	ck_assert_str_eq(added_services_find(all, "one")->spec.plugin, "disk");
	ck_assert_ptr_null(added_services_at(all, 1));
	added_services_free(all);
}

TEST(a_set_has_a_limit)
{
	struct added_services *all = added_services_new();
	int rc = 0;

	for (int i = 0; !rc && i <= ADDED_SERVICES_MAX; i++) {
		char line[64];
		int n = snprintf(line, sizeof(line), "\"s%d\",\"p\",\"\",\"\",\"\",0\n", i);

		rc = added_services_add(all, line, (size_t)n, NULL);
		ck_assert_int_eq(rc, i < ADDED_SERVICES_MAX ? 0 : -ERR_LIMIT);
	}
	added_services_free(all);
}

TEST(a_text_has_the_names_of_its_lines)
{
	static const char text[] = "\"disk_reads\",\"disk\"\n\"disk\",\"disk_files\"\n";
	size_t n = sizeof(text) - 1;

	ck_assert(added_services_name(text, n, "disk_reads"));
	ck_assert(added_services_name(text, n, "disk"));
	ck_assert(!added_services_name(text, n, "disk_files"));
	ck_assert(!added_services_name(text, n, "disk_read"));
	ck_assert(!added_services_name(text, n, "disk_reads_"));
	ck_assert(!added_services_name(text, 11, "disk_reads"));
	ck_assert(!added_services_name(NULL, 0, "disk"));
}

TEST(values_of_another_type_are_not_taken)
{
	struct added_spec s = spec("x", "int i, float* f");
	struct added_service *a = NULL;
	static const struct {
		const char *text;
		bool fits;
	} list[] = { { "[1,[2.5,3]]", true }, { "[1,[]]", true },   { "[1]", false },
		     { "[1.5,[]]", false },   { "[1,2.5]", false }, { "[1,[\"a\"]]", false },
		     { "1", false },	      { "[1,[],3]", false } };

	ck_assert_int_eq(added_service_new(&s, &a, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct omis_values *v = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(omis_parse_values(list[i].text, strlen(list[i].text), &v, NULL),
				 0);
		ck_assert_msg(added_service_takes(a, &v->v[0], &e) == list[i].fits, "%s",
			      list[i].text);
		omis_values_free(v);
	}
	added_service_free(a);
}

SUITE("omis added")
