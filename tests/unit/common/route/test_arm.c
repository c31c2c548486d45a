/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <string.h>

#define EVENT "thread_has_started_lib_call"

/* "branch/objects/local text | ..." and the results known without a request. */
static char *armed(struct world *w, const char *text)
{
	struct omis_request *r = world_request(text);
	struct reply *into = reply_new();
	struct buf b = BUF_INIT(100000);
	const struct arm_part *part;
	struct arm *a = NULL;
	struct err e = { 0 };
	char *known;

	ck_assert_msg(!arm_new(r, &w->view, into, &a, &e), "%s: %s", text, e.text);
	for (size_t i = 0; (part = arm_part_at(a, i)); i++)
		buf_printf(&b, "%s%u/%u/%u %s", i ? " | " : "", part->branch, part->nobject,
			   part->local_prefix, part->text);
	known = world_show(into);
	if (*known)
		buf_printf(&b, " => %s", known);
	free(known);
	arm_free(a);
	reply_free(into);
	omis_request_free(r);
	return (char *)buf_take(&b, NULL);
}

static void arms(struct world *w, const char *text, const char *want)
{
	char *got = armed(w, text);

	ck_assert_str_eq(got, want);
	free(got);
}

TEST(each_branch_watches_its_own_objects)
{
	struct world w;

	world_small(&w);
	arms(&w, "proc_has_terminated([]):print([$proc])",
	     "0/3/0 proc_has_terminated([p_1_000001,p_1_000002,p_2_000001]):print([$proc]) | "
	     "1/1/0 proc_has_terminated([p_3_000001]):print([$proc])");
	arms(&w, "proc_has_terminated([n_3,p_9_000001]):{print([1]) ; version()}",
	     "1/1/0 proc_has_terminated([p_3_000001]):{print([1]) ; version()} => 0 'p_9_000001' "
	     "UNKNOWN_OBJECT");
	arms(&w, "proc_has_terminated([p_9_000001]):version()",
	     " => 0 'p_9_000001' UNKNOWN_OBJECT");
}

TEST(leading_actions_that_need_nothing_else_are_local)
{
	static const struct {
		const char *actions;
		unsigned local;
	} cases[] = {
		{ "thread_stop([$thread])", 1 },
		{ "thread_stop($proc)", 1 },
		{ "proc_get_info([$proc],1) node_get_info([$node],1) ; thread_stop([$thread])", 3 },
		{ "pa_counter_local_increment(pa_cl_1,$par5)", 1 },
		{ "pa_counter_local_increment(pa_cl_1,1) print([$proc]) thread_stop([$thread])",
		  1 },
		{ "print([$proc]) thread_stop([$thread])", 0 },
		{ "omig_every(2) omig_if(1,\"<\",2) thread_stop([$thread]) print([1])", 3 },
		{ "thread_stop([$thread]) omig_every(2) thread_stop([$thread])", 1 },
		{ "{omig_every(2) pa_counter_local_increment(pa_cl_1,1) thread_stop([$thread])}",
		  2 },
		{ "thread_stop([t_1_000001])", 1 }, /* below branch 0 */
		{ "thread_stop([p_3_000001])", 0 },
		{ "thread_stop([$thread,p_3_000001])", 0 },
		{ "thread_stop([t_9_000001])", 0 },
		{ "thread_stop([])", 0 }, /* all that the tool is attached to */
		{ "thread_stop([$par3])", 0 }, /* may be anywhere */
		{ "pa_counter_read([pa_c_1])", 0 }, /* below both */
	};
	struct world w;
	char text[200];

	world_small(&w);
	world_add(&w, "pa_c_1", -1, 0);
	w.v[w.n - 1].branches = 3;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char want[20], *got;

		snprintf(text, sizeof(text), EVENT "([t_1_000001],\"MPI_Send\"):%s",
			 cases[i].actions);
		snprintf(want, sizeof(want), "0/1/%u ", cases[i].local);
		got = armed(&w, text);
		ck_assert_msg(!strncmp(got, want, strlen(want)), "%s: %s", cases[i].actions, got);
		free(got);
	}
}

TEST(arm_reports_an_unreachable_process_as_missing)
{
	struct world w;

	world_small(&w);
	world_find(&w, "p_3_000001", 10)->unreachable = "node lost";
	arms(&w, "proc_has_terminated([s_2]):version()", " =>  0/1 missing p_3_000001 (node lost)");
}

TEST(an_event_of_the_top_has_no_parts)
{
	struct world w;

	world_small(&w);
	arms(&w, "user_event_has_been_raised([e_1]):version()", "");
}

TEST(an_unconditional_request_cannot_be_armed)
{
	struct omis_request *r = world_request(":version()");
	struct reply *into = reply_new();
	struct arm *a = NULL;
	struct world w;

	world_small(&w);
	ck_assert_int_eq(arm_new(r, &w.view, into, &a, NULL), -ERR_INVALID);
	ck_assert_ptr_null(a);
	reply_free(into);
	omis_request_free(r);
}

TEST(every_failed_allocation_of_arming_is_survived)
{
	struct omis_request *r =
		world_request("proc_has_terminated([]):thread_stop([t_1_000001]) print([$proc])");
	struct world w;

	world_small(&w);
	ALLOC_SWEEP (k) {
		struct reply *into = reply_new();
		struct arm *a = NULL;
		int rc = into ? arm_new(r, &w.view, into, &a, NULL) : -ERR_NOMEM;

		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		arm_free(a);
		reply_free(into);
	}
	omis_request_free(r);
}

TEST(rights_are_ordered_and_what_has_none_is_denied)
{
	struct omis_service s = { .right = OMIS_MANIPULATE };

	ck_assert(!route_may(OMIS_NO_RIGHT, &s) && !route_may(OMIS_OBSERVE, &s));
	ck_assert(route_may(OMIS_MANIPULATE, &s) && route_may(OMIS_ADMIN, &s));
	ck_assert(!route_may((enum omis_right)(OMIS_ADMIN + 1), &s));
	ck_assert(!route_may((enum omis_right)77, &s));
	s.right = OMIS_NO_RIGHT;
	ck_assert(!route_may(OMIS_ADMIN, &s));
	s.right = (enum omis_right)77;
	ck_assert(!route_may(OMIS_ADMIN, &s));
	ck_assert(!route_may(OMIS_ADMIN, NULL));
}

TEST(a_denial_names_the_right_that_is_needed)
{
	static const struct {
		const char *text, *words;
	} calls[] = {
		{ ":proc_get_info([],1)", "proc_get_info needs the right observe" },
		{ ":proc_get_info([],2)",
		  "proc_get_info with these flags needs the right manipulate" },
		{ ":proc_send_signal([],2)", "proc_send_signal needs the right manipulate" },
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct omis_request *r = world_request(calls[i].text);
		struct err e = { 0 };

		ck_assert_int_eq(route_denied(&r->action[0], &e), -ERR_DENIED);
		ck_assert_str_eq(e.text, calls[i].words);
		omis_request_free(r);
	}
	ck_assert_int_eq(route_right_of_role("tool-observe"), OMIS_OBSERVE);
	ck_assert_int_eq(route_right_of_role("tool-manipulate"), OMIS_MANIPULATE);
	ck_assert_int_eq(route_right_of_role("tool-admin"), OMIS_ADMIN);
	ck_assert_int_eq(route_right_of_role("lm"), OMIS_NO_RIGHT);
	ck_assert_int_eq(route_right_of_role("tool"), OMIS_NO_RIGHT);
}

TEST(guarded_flags_need_the_right_to_manipulate)
{
	static const struct {
		const char *text;
		enum omis_right right;
	} calls[] = {
		{ ":proc_get_info([],1)", OMIS_OBSERVE },
		{ ":proc_get_info([],2)", OMIS_MANIPULATE },
		{ ":proc_get_info([],32)", OMIS_MANIPULATE },
		{ ":proc_get_info([],33554432)", OMIS_OBSERVE },
		{ ":proc_get_info([],-1)", OMIS_MANIPULATE },
		{ ":node_get_info([],2)", OMIS_OBSERVE },
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct omis_request *r = world_request(calls[i].text);

		ck_assert_int_eq(route_right_of_call(&r->action[0]), calls[i].right);
		ck_assert_int_eq(route_right_needed(r), calls[i].right);
		ck_assert_int_eq(route_may_call(OMIS_OBSERVE, &r->action[0]),
				 calls[i].right == OMIS_OBSERVE);
		ck_assert(route_may_call(OMIS_MANIPULATE, &r->action[0]) &&
			  !route_may_call(OMIS_NO_RIGHT, &r->action[0]));
		omis_request_free(r);
	}
}

/* A parameter that the event will bring may be anything. */
TEST(flags_from_event_parameters_need_the_highest_right)
{
	struct omis_request *r = world_request(
		"thread_has_started_lib_call([],\"MPI_Send\"): proc_get_info([$proc],$par3)");

	ck_assert_int_eq(route_right_needed(r), OMIS_MANIPULATE);
	omis_request_free(r);
}

/* Cell by cell: every service, every right. */
TEST(each_right_reaches_exactly_its_services)
{
	const struct omis_service *s;

	for (size_t i = 0; (s = omis_service_at(i)); i++) {
		ck_assert(!route_may(OMIS_NO_RIGHT, s));
		ck_assert(route_may(OMIS_ADMIN, s));
		ck_assert_int_eq(route_may(OMIS_OBSERVE, s), s->right == OMIS_OBSERVE);
		ck_assert_int_eq(route_may(OMIS_MANIPULATE, s), s->right != OMIS_ADMIN);
	}
}

TEST(a_role_gives_its_right_and_others_none)
{
	ck_assert_int_eq(route_right_of_role("tool-observe"), OMIS_OBSERVE);
	ck_assert_int_eq(route_right_of_role("tool-manipulate"), OMIS_MANIPULATE);
	ck_assert_int_eq(route_right_of_role("tool-admin"), OMIS_ADMIN);
	ck_assert_int_eq(route_right_of_role("lm"), OMIS_NO_RIGHT);
	ck_assert_int_eq(route_right_of_role("tool-"), OMIS_NO_RIGHT);
	ck_assert_int_eq(route_right_of_role(""), OMIS_NO_RIGHT);
	ck_assert_int_eq(route_right_of_role(NULL), OMIS_NO_RIGHT);
}

TEST(a_condition_needs_the_most_that_any_of_its_actions_needs)
{
	static const struct {
		const char *text;
		int right;
	} cases[] = {
		{ ":version()", OMIS_OBSERVE },
		{ ":version() thread_stop([])", OMIS_MANIPULATE },
		{ "proc_has_terminated([]):print([$proc])", OMIS_OBSERVE },
		{ "proc_has_terminated([]):print([1]) ; omig_shutdown() thread_stop([])",
		  OMIS_ADMIN },
	};
	struct omis_request *r = NULL;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		r = world_request(cases[i].text);
		ck_assert_int_eq((int)route_right_needed(r), cases[i].right);
		omis_request_free(r);
	}
	ck_assert_int_eq(omis_parse(":version()", 10, &r, NULL), 0);
	ck_assert_int_gt((int)route_right_needed(r), OMIS_ADMIN);
	omis_request_free(r);
}

SUITE("route arm")
