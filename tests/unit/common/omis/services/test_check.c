/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/omis/omis.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct omis_request *parse(const char *text, bool inner)
{
	struct omis_request *r = NULL;
	struct err e = { 0 };
	int rc = inner ? omis_parse_inner(text, strlen(text), &r, &e)
		       : omis_parse(text, strlen(text), &r, &e);

	ck_assert_msg(!rc, "%s: %s", text, e.text);
	return r;
}

static void prints(const struct omis_request *r, const char *want)
{
	struct buf b = BUF_INIT(100000);

	omis_print_request(&b, r);
	ck_assert_str_eq(buf_str(&b), want);
	buf_done(&b);
}

/* A valid request, and its text after the check; NULL = the same. */
static const struct {
	const char *text, *checked;
} good[] = {
	{ ":version()", NULL },
	{ ":node_get_info([],1)", NULL },
	{ ":node_get_info([],-1)", NULL },
	{ ":node_get_info(n_1,1)", ":node_get_info([n_1],1)" },
	{ ":node_get_info([n_1],[1])", ":node_get_info([n_1],1)" },
	{ ":node_get_info([s_1,n_1,p_1,t_1,u_1],0)", NULL },
	{ ":user_event_raise(e_321,[],1)", ":user_event_raise([e_321],[],1)" },
	{ ":user_event_raise([e_1],\"x\",0)", ":user_event_raise([e_1],[\"x\"],0)" },
	{ ":print([1,[2,n_1]])", NULL },
	{ ":print(1)", ":print([1])" },
	{ ":omig_calls_enable([],\"count\")", ":omig_calls_enable([],\"count\",0,1)" },
	{ ":omig_calls_read([p_1])", ":omig_calls_read([p_1],0)" },
	{ ":pa_integrator_global_increment(pa_i_1,1,2)",
	  ":pa_integrator_global_increment(pa_i_1,1.0,2.0)" },
	{ ":pa_integrator_global_increment([pa_i_1],1,2)",
	  ":pa_integrator_global_increment(pa_i_1,1.0,2.0)" },
	{ ":pa_counter_read([pa_c_1,pa_cl_2])", NULL },
	{ "thread_has_started_lib_call([],\"MPI_Send\"):thread_stop($proc) "
	  "print([$par0,$par15,[$time]])",
	  "thread_has_started_lib_call([],\"MPI_Send\"):thread_stop([$proc]) "
	  "print([$par0,$par15,[$time]])" },
	{ "proc_has_terminated(p_1):csr_delete([$csr])",
	  "proc_has_terminated([p_1]):csr_delete([$csr])" },
	{ "patop_lib_call_started([],\"MPI_Send\",[1]):pa_integrator_local_increment(pa_il_1,1,$"
	  "time)",
	  "patop_lib_call_started([],\"MPI_Send\",[1],[]):pa_integrator_local_increment(pa_il_1,1."
	  "0,$time)" },
	{ "thread_creates_proc([]):proc_attach([$new_proc])", NULL },
};

TEST(parameters_are_brought_to_their_types)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct omis_request *r = parse(good[i].text, false);
		struct omis_diag d = { 0 };

		ck_assert_msg(!omis_check(r, &d), "%s: %s", good[i].text, d.err.text);
		prints(r, good[i].checked ? good[i].checked : good[i].text);
		ck_assert_int_eq(omis_check(r, NULL), 0);
		prints(r, good[i].checked ? good[i].checked : good[i].text);
		for (size_t k = 0; k < r->naction; k++)
			ck_assert_str_eq(r->action[k].service->name, r->action[k].name);
		omis_request_free(r);
	}
}

static const struct {
	const char *text;
	unsigned status, action;
	uint32_t offset;
} bad[] = {
	{ ":nothing()", STATUS_UNKNOWN_SERVICE, 1, 1 },
	{ ":version() nothing()", STATUS_UNKNOWN_SERVICE, 2, 11 },
	{ "nothing():version()", STATUS_UNKNOWN_SERVICE, 0, 0 },
	{ ":omig_pa_create([],pa_c_1)", STATUS_UNKNOWN_SERVICE, 1, 1 },
	{ ":proc_migrate([],n_1)", STATUS_UNSUPPORTED_SERVICE, 1, 1 },
	{ "thread_executed_insn([]):version()", STATUS_UNSUPPORTED_SERVICE, 0, 0 },
	{ "version():version()", STATUS_TYPE_MISMATCH, 0, 0 },
	{ ":proc_has_terminated([])", STATUS_TYPE_MISMATCH, 1, 1 },
	{ ":node_get_info()", STATUS_PARAMETER_ERROR, 1, 1 },
	{ ":node_get_info([])", STATUS_PARAMETER_ERROR, 1, 1 },
	{ ":node_get_info([],1,2)", STATUS_PARAMETER_ERROR, 1, 1 },
	{ ":node_get_info([],-2)", STATUS_PARAMETER_ERROR, 1, 18 },
	{ ":dfg_get_info([],-9223372036854775807)", STATUS_PARAMETER_ERROR, 1, 17 },
	{ ":version(1)", STATUS_PARAMETER_ERROR, 1, 1 },
	{ ":omig_calls_enable([])", STATUS_PARAMETER_ERROR, 1, 1 },
	{ ":node_get_info([],1.5)", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":node_get_info([],\"1\")", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":node_get_info([],n_1)", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":node_get_info([],[])", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":node_get_info([],[1,2])", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":node_get_info([1],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":node_get_info([[n_1]],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":node_get_info([\"n_1\"],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":node_get_info([c_1],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":node_get_info([pa_c_1],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":node_get_info([x_1],1)", STATUS_TYPE_MISMATCH, 1, 16 },
	{ ":csr_enable([n_1])", STATUS_TYPE_MISMATCH, 1, 13 },
	{ ":pa_counter_read([pa_il_1])", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":pa_counter_read([pa_x_1])", STATUS_TYPE_MISMATCH, 1, 18 },
	{ ":pa_integrator_read([pa_c_1])", STATUS_TYPE_MISMATCH, 1, 21 },
	{ ":pa_integrator_global_increment(pa_i_1,\"1\",2)", STATUS_TYPE_MISMATCH, 1, 39 },
	{ ":print([$proc])", STATUS_UNKNOWN_ECP, 1, 8 },
	{ ":thread_stop($proc)", STATUS_UNKNOWN_ECP, 1, 13 },
	{ "thread_has_terminated([]):print([[$par1]])", STATUS_UNKNOWN_ECP, 1, 34 },
	{ "thread_has_started_lib_call([$proc],\"x\"):version()", STATUS_UNKNOWN_ECP, 0, 29 },
	{ "thread_has_started_lib_call([],\"x\"):print([$par16])", STATUS_UNKNOWN_ECP, 1, 43 },
	{ "thread_has_started_lib_call([],\"x\"):thread_stop($time)", STATUS_TYPE_MISMATCH, 1, 48 },
	{ "thread_has_started_lib_call([],\"x\"):node_get_info([],$proc)", STATUS_TYPE_MISMATCH, 1,
	  53 },
};

TEST(each_fault_has_its_status_action_and_offset)
{
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct omis_request *r = parse(bad[i].text, false);
		struct omis_diag d = { .status = 7777 };
		char at[32];

		ck_assert_msg(omis_check(r, &d) == -ERR_INVALID, "%s", bad[i].text);
		ck_assert_msg(d.status == bad[i].status, "%s: %s %s", bad[i].text,
			      status_name(d.status), d.err.text);
		ck_assert_msg(d.action == bad[i].action, "%s: action %u", bad[i].text, d.action);
		ck_assert_msg(d.offset == bad[i].offset, "%s: offset %u", bad[i].text, d.offset);
		snprintf(at, sizeof(at), " at offset %u", d.offset);
		ck_assert_msg(strstr(d.err.text, at), "%s", d.err.text);
		omis_request_free(r);
	}
}

TEST(internal_services_exist_between_daemons_only)
{
	struct omis_request *r = parse(":omig_pa_create([p_1],pa_c_1)", true);

	ck_assert_int_eq(omis_check(r, NULL), 0);
	omis_request_free(r);
}

TEST(every_failed_allocation_of_the_check_is_survived)
{
	/* More parameters to wrap and to fill in than the first block holds. */
	char text[4000] = ":";
	size_t n = 1;

	while (n < 3000)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "omig_calls_enable(p_1,\"count\") ");
	ALLOC_SWEEP (k) {
		struct omis_request *r = NULL;
		struct omis_diag d = { 0 };
		int rc = omis_parse(text, n, &r, NULL);

		if (!rc)
			rc = omis_check(r, &d);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		ck_assert(!d.status || d.status == STATUS_NO_MEMORY);
		omis_request_free(r);
	}
}

/* --- binding */

static struct omis_value ranks[] = { { .kind = OMIS_INT, .i = 4 }, { .kind = OMIS_INT, .i = 5 } };

static const struct omis_ecp known[] = {
	{ "proc", { .kind = OMIS_TOKEN, .s = { "p_1_000000", 10 } } },
	{ "time", { .kind = OMIS_FLOAT, .f = 1.5 } },
	{ "par1", { .kind = OMIS_INT, .i = 7 } },
	{ "par2", { .kind = OMIS_LIST, .list = { ranks, 2 } } },
	{ "par3", { .kind = OMIS_BINARY, .s = { "a\0b", 3 } } },
	{ "par4", { .kind = OMIS_LIST } },
};
static const struct omis_ecps ecps = { known, ARRAY_LEN(known) };

#define EVENT "thread_has_started_lib_call([],\"MPI_Send\"):"

static struct omis_request *checked(const char *text)
{
	struct omis_request *r = parse(text, false);
	struct omis_diag d = { 0 };

	ck_assert_msg(!omis_check(r, &d), "%s", d.err.text);
	return r;
}

static const struct {
	const char *text, *bound;
} binds[] = {
	{ EVENT "print([$par1])", ":print([7])" },
	{ EVENT "thread_stop($proc)", ":thread_stop([p_1_000000])" },
	{ EVENT "print([$proc,$time,[$par1]])", ":print([p_1_000000,1.5,[7]])" },
	{ EVENT "print([0,$par2,9])", ":print([0,4,5,9])" },
	{ EVENT "print([[$par2]])", ":print([[4,5]])" },
	{ EVENT "print($par2)", ":print([4,5])" },
	{ EVENT "print([$par4,1])", ":print([1])" },
	{ EVENT "print([$par4])", ":print([])" },
	{ EVENT "pa_counter_local_increment(pa_cl_1,$par1)",
	  ":pa_counter_local_increment(pa_cl_1,7)" },
	{ EVENT "pa_integrator_local_increment(pa_il_1,$par1,$time)",
	  ":pa_integrator_local_increment(pa_il_1,7.0,1.5)" },
	{ EVENT "version() ; version()", ":version() ; version()" },
	{ EVENT "{version() version()}", ":{version() version()}" },
};

TEST(context_parameters_become_values)
{
	for (size_t i = 0; i < ARRAY_LEN(binds); i++) {
		struct omis_request *r = checked(binds[i].text), *out = NULL;
		struct omis_diag d = { 0 };

		ck_assert_msg(!omis_bind(&(struct omis_part){ r, 0, r->naction }, &ecps, &out, &d),
			      "%s: %s", binds[i].text, d.err.text);
		omis_request_free(r);
		prints(out, binds[i].bound);
		ck_assert_ptr_null(out->event);
		ck_assert_ptr_nonnull(out->action[0].service);
		omis_request_free(out);
	}
}

TEST(a_binary_context_parameter_keeps_its_zero_bytes)
{
	struct omis_request *r = checked(EVENT "print([$par3])"), *out = NULL;

	ck_assert_int_eq(omis_bind(&(struct omis_part){ r, 0, 1 }, &ecps, &out, NULL), 0);
	ck_assert_uint_eq(out->action[0].param[0].list.v[0].s.n, 3);
	ck_assert_mem_eq(out->action[0].param[0].list.v[0].s.p, "a\0b", 3);
	omis_request_free(out);
	omis_request_free(r);
}

TEST(a_part_of_the_actions_can_be_bound)
{
	struct omis_request *r = checked(EVENT "print([1]) ; print([2]) print([3])"), *out = NULL;

	ck_assert_int_eq(omis_bind(&(struct omis_part){ r, 1, 2 }, &ecps, &out, NULL), 0);
	prints(out, ":print([2]) print([3])");
	omis_request_free(out);
	ck_assert_int_eq(omis_bind(&(struct omis_part){ r, 2, 99 }, &ecps, &out, NULL), 0);
	prints(out, ":print([3])");
	omis_request_free(out);
	ck_assert_int_eq(omis_bind(&(struct omis_part){ r, 99, 1 }, &ecps, &out, NULL), 0);
	ck_assert_uint_eq(out->naction, 0);
	omis_request_free(out);
	omis_request_free(r);
}

TEST(bind_error_reports_its_action_and_status)
{
	static const struct {
		const char *text;
		unsigned status, action;
	} cases[] = {
		{ EVENT "version() print([$par9])", STATUS_UNKNOWN_ECP, 2 },
		{ EVENT "print([[$par9]])", STATUS_UNKNOWN_ECP, 1 },
		{ EVENT "pa_counter_local_increment(pa_cl_1,$par9)", STATUS_UNKNOWN_ECP, 1 },
		{ EVENT "pa_counter_local_increment(pa_cl_1,$par2)", STATUS_TYPE_MISMATCH, 1 },
		{ EVENT "thread_stop([$par1])", STATUS_TYPE_MISMATCH, 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct omis_request *r = checked(cases[i].text), *out = NULL;
		struct omis_diag d = { 0 };

		ck_assert_int_eq(
			omis_bind(&(struct omis_part){ r, 0, r->naction }, &ecps, &out, &d),
			-ERR_INVALID);
		ck_assert_uint_eq(d.status, cases[i].status);
		ck_assert_uint_eq(d.action, cases[i].action);
		ck_assert_ptr_null(out);
		ck_assert_int_eq(
			omis_bind(&(struct omis_part){ r, 0, r->naction }, &ecps, &out, NULL),
			-ERR_INVALID);
		omis_request_free(r);
	}
}

TEST(every_failed_allocation_of_binding_is_survived)
{
	struct omis_request *r =
		checked(EVENT "print([$par2,\"abc\",[$par3]]) thread_stop($proc) version()");

	ALLOC_SWEEP (k) {
		struct omis_request *out = NULL;
		struct omis_diag d = { 0 };
		int rc = omis_bind(&(struct omis_part){ r, 0, 3 }, &ecps, &out, &d);

		alloc_sweep_pause();
		ck_assert(!rc || (rc == -ERR_NOMEM && !out && d.status == STATUS_NO_MEMORY));
		omis_request_free(out);
	}
	omis_request_free(r);
}

TEST(a_text_of_another_daemon_is_read_whole_or_not_at_all)
{
	struct omis_request *r = NULL;
	struct omis_diag d;

	ck_assert_int_eq(omis_read_inner(":print([1]", 10, &r, &d), -ERR_PARSE);
	ck_assert_uint_eq(d.status, STATUS_SYNTAX_ERROR);
	ck_assert_str_ne(d.err.text, "");
	ck_assert_int_eq(omis_read_inner(":nothing()", 10, &r, &d), -ERR_INVALID);
	ck_assert_uint_eq(d.status, STATUS_UNKNOWN_SERVICE);
	ck_assert_ptr_null(r);
	ck_assert_int_eq(omis_read_inner(":print([1])", 11, &r, NULL), 0);
	ck_assert_ptr_nonnull(r->action[0].service);
	omis_request_free(r);
}

static void note(void *arg, const char *name)
{
	buf_printf(arg, "%s ", name);
}

TEST(the_context_parameters_of_a_call_are_listed)
{
	struct omis_request *r = checked(EVENT "print([$par1,[$proc,2],$par1])");
	struct buf b = BUF_INIT(1000);

	omis_call_ecps(&r->action[0], note, &b);
	ck_assert_str_eq(buf_str(&b), "par1 proc par1 ");
	omis_request_free(r);
	buf_done(&b);
}

SUITE("omis check")
