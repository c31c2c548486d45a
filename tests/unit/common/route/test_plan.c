/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/base/limits.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/route/world.h"

#include <string.h>

struct planning {
	const struct route_view *view;
	const struct plan_conf *conf;
};

/*
 * "here call; 0[1,2]:call call | ..." for all steps, then " => " and the results known without a
 * request.
 */
static int plan_all(const struct omis_request *r, struct planning how, struct buf *b,
		    struct reply *into, struct err *e)
{
	const struct plan_step *s;
	struct plan *p = NULL;
	int rc = plan_new(r, how.view, how.conf, &p, e);
	bool first = true;

	while (!rc && !(rc = plan_next(p, into, &s, e)) && s) {
		buf_puts(b, first ? "" : " | ");
		first = false;
		if (s->here) {
			buf_printf(b, "here %u ", s->here->action);
			omis_print_call(b, s->here->call);
		}
		for (size_t i = 0; i < s->npart; i++) {
			buf_printf(b, "%s%u/%u[", i || s->here ? " " : "", s->part[i].branch,
				   s->part[i].nobject);
			for (size_t k = 0; k < s->part[i].naction; k++)
				buf_printf(b, "%s%u", k ? "," : "", s->part[i].action[k]);
			buf_puts(b, "]");
			buf_put(b, s->part[i].text, s->part[i].ntext);
		}
	}
	plan_free(p);
	return rc;
}

static void plans(struct world *w, enum omis_right right, const char *text, const char *want)
{
	const struct plan_conf conf = { .right = right, .top = true };
	struct omis_request *r = world_request(text);
	struct reply *into = reply_new();
	struct buf b = BUF_INIT(1000000);
	struct err e = { 0 };
	char *known;

	ck_assert_msg(!plan_all(r, (struct planning){ &w->view, &conf }, &b, into, &e), "%s: %s",
		      text, e.text);
	known = world_show(into);
	if (*known)
		buf_printf(&b, " => %s", known);
	ck_assert_str_eq(buf_str(&b), want);
	free(known);
	reply_free(into);
	omis_request_free(r);
	buf_done(&b);
}

TEST(a_request_is_split_by_branch_in_textual_order)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ ":node_get_info([n_1],1)", "0/1[1]:node_get_info([n_1],1)" },
		{ ":node_get_info([n_3,n_1],1)",
		  "1/1[1]:node_get_info([n_3],1) 0/1[1]:node_get_info([n_1],1)" },
		{ ":node_get_info([],1)",
		  "0/2[1]:node_get_info([n_1,n_2],1) 1/1[1]:node_get_info([n_3],1)" },
		{ ":thread_stop([]) node_get_info([n_3],1) proc_get_info([],3)",
		  "0/4[1,3]:thread_stop([t_1_000001]) "
		  "proc_get_info([p_1_000001,p_1_000002,p_2_000001],3) "
		  "1/2[2,3]:node_get_info([n_3],1) proc_get_info([p_3_000001],3)" },
		{ ":{node_get_info([n_1],1) node_get_info([n_1],3)}",
		  "0/2[1,2]:{node_get_info([n_1],1) node_get_info([n_1],3)}" },
	};
	struct world w;

	world_small(&w);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		plans(&w, OMIS_MANIPULATE, cases[i].text, cases[i].want);
}

TEST(a_barrier_ends_a_step)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_MANIPULATE,
	      ":node_get_info([n_1],1) ; node_get_info([n_3],1) node_get_info([n_3],3)",
	      "0/1[1]:node_get_info([n_1],1) | 1/2[2,3]:node_get_info([n_3],1) "
	      "node_get_info([n_3],3)");
}

TEST(services_of_the_top_stand_between_in_textual_order)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_OBSERVE,
	      ":print([1]) node_get_info([n_1],1) node_get_info([n_3],1) version() "
	      "node_get_info([n_1],3)",
	      "here 1 print([1]) | 0/1[2]:node_get_info([n_1],1) 1/1[3]:node_get_info([n_3],1) | "
	      "here 4 version() | "
	      "0/1[5]:node_get_info([n_1],3)");
	plans(&w, OMIS_OBSERVE, ":site_get_info([],1) csr_enable([c_1,c_1])",
	      "here 1 site_get_info([s_1,s_2],1) | here 2 csr_enable([c_1]) =>  3/3");
}

TEST(containers_expand_in_lists_and_members_are_lifted)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ ":proc_get_info([n_1],1)", "0/2[1]:proc_get_info([p_1_000001,p_1_000002],1)" },
		{ ":proc_get_info([s_1],1)",
		  "0/3[1]:proc_get_info([p_1_000001,p_1_000002,p_2_000001],1)" },
		{ ":thread_get_info([s_1,s_2],1)", "0/1[1]:thread_get_info([t_1_000001],1)" },
		{ ":node_get_info([t_1_000001],1)", "0/1[1]:node_get_info([n_1],1)" },
		{ ":node_get_info([p_3_000001,n_1],1)",
		  "1/1[1]:node_get_info([n_3],1) 0/1[1]:node_get_info([n_1],1)" },
		{ ":proc_get_info([n_3,t_1_000001],1)",
		  "1/1[1]:proc_get_info([p_3_000001],1) 0/1[1]:proc_get_info([p_1_000001],1)" },
		{ ":site_get_info([t_1_000001,n_3],1)",
		  "here 1 site_get_info([s_1,s_2],1) =>  2/2" },
	};
	struct world w;

	world_small(&w);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		plans(&w, OMIS_OBSERVE, cases[i].text, cases[i].want);
}

TEST(an_object_named_twice_is_asked_once)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_OBSERVE, ":proc_get_info([p_1_000002,n_1,p_1_000002,t_1_000001],1)",
	      "0/2[1]:proc_get_info([p_1_000002,p_1_000001],1)");
	plans(&w, OMIS_OBSERVE, ":node_get_info([n_1],1) node_get_info([n_1],1)",
	      "0/2[1,2]:node_get_info([n_1],1) node_get_info([n_1],1)");
}

TEST(each_unknown_object_has_an_error_entry)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_OBSERVE, ":node_get_info([n_1,n_9,u_1],1)",
	      "0/1[1]:node_get_info([n_1],1) => 1 'u_1' UNKNOWN_OBJECT; 1 'n_9' UNKNOWN_OBJECT");
	plans(&w, OMIS_OBSERVE, ":proc_get_info([n_9,s_9,t_9_000001],1)",
	      " => 1 'n_9' UNKNOWN_OBJECT; 1 's_9' UNKNOWN_OBJECT; 1 't_9_000001' UNKNOWN_OBJECT");
	plans(&w, OMIS_OBSERVE, ":site_get_info([s_1,s_9],1)",
	      "here 1 site_get_info([s_1],1) => 1 's_9' UNKNOWN_OBJECT 1/1");
}

TEST(plan_treats_detached_objects_as_unknown)
{
	struct world w;

	world_small(&w);
	world_find(&w, "n_1", 3)->attached = false;
	world_find(&w, "p_3_000001", 10)->attached = false;
	plans(&w, OMIS_OBSERVE, ":proc_get_info([],1)", "0/1[1]:proc_get_info([p_2_000001],1)");
	plans(&w, OMIS_OBSERVE, ":node_get_info([n_1,n_2,p_3_000001],1)",
	      "0/1[1]:node_get_info([n_2],1) => 1 'p_3_000001' UNKNOWN_OBJECT; 1 'n_1' "
	      "UNKNOWN_OBJECT");
}

TEST(nothing_to_do_is_no_step_and_no_error)
{
	struct world w;

	world_init(&w, 0);
	plans(&w, OMIS_OBSERVE, ":node_get_info([],1) ; proc_get_info([],1)", "");
}

TEST(ended_process_is_manipulated_only_by_its_own_token)
{
	struct world w;

	world_small(&w);
	world_find(&w, "p_1_000001", 10)->ended = true;
	plans(&w, OMIS_MANIPULATE, ":omig_calls_enable([],\"count\",0,1)",
	      "0/2[1]:omig_calls_enable([p_1_000002,p_2_000001],\"count\",0,1) "
	      "1/1[1]:omig_calls_enable([p_3_000001],\"count\",0,1)");
	plans(&w, OMIS_MANIPULATE, ":proc_send_signal([n_1],9)",
	      "0/1[1]:proc_send_signal([p_1_000002],9)");
	plans(&w, OMIS_MANIPULATE, ":proc_send_signal([n_1,p_1_000001],9)",
	      "0/2[1]:proc_send_signal([p_1_000002,p_1_000001],9)");
	plans(&w, OMIS_OBSERVE, ":pa_counter_local_create([n_1])",
	      "here 1 pa_counter_local_create([p_1_000002]) =>  1/1");
	plans(&w, OMIS_OBSERVE, ":proc_get_info([n_1],1)",
	      "0/2[1]:proc_get_info([p_1_000001,p_1_000002],1)");
	plans(&w, OMIS_OBSERVE, ":proc_detach([n_1])",
	      "here 1 proc_detach([p_1_000001,p_1_000002]) =>  2/2");
}

TEST(plan_reports_an_unreachable_node_as_missing)
{
	struct world w;

	world_small(&w);
	world_find(&w, "n_3", 3)->unreachable = "node silent";
	plans(&w, OMIS_OBSERVE, ":node_get_info([],1)",
	      "0/2[1]:node_get_info([n_1,n_2],1) =>  0/1 missing n_3 (node silent)");
}

TEST(a_right_that_is_not_there_refuses_the_action_alone)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_OBSERVE, ":thread_stop([]) node_get_info([n_1],1) omig_shutdown()",
	      "0/1[2]:node_get_info([n_1],1) => 1 '' NO_PERMISSION; 3 '' NO_PERMISSION");
	plans(&w, OMIS_NO_RIGHT, ":version() node_get_info([],1)",
	      " => 1 '' NO_PERMISSION; 2 '' NO_PERMISSION");
	plans(&w, OMIS_ADMIN, ":omig_shutdown()", "here 1 omig_shutdown()");
}

TEST(a_scalar_is_not_expanded)
{
	struct world w;

	world_small(&w);
	world_add(&w, "pa_c_1", -1, 0);
	w.v[w.n - 1].branches = 3;
	plans(&w, OMIS_OBSERVE, ":pa_counter_global_increment(pa_c_1,2)",
	      "0/1[1]:pa_counter_global_increment(pa_c_1,2) "
	      "1/1[1]:pa_counter_global_increment(pa_c_1,2)");
}

TEST(a_counter_is_where_its_processes_are)
{
	struct world w;

	world_small(&w);
	world_add(&w, "pa_c_1", -1, 0);
	w.v[w.n - 1].branches = 3;
	world_add(&w, "pa_cl_2", -1, 0);
	w.v[w.n - 1].branches = 2;
	world_add(&w, "pa_cl_3", -1, 0);
	plans(&w, OMIS_OBSERVE, ":pa_counter_read([pa_c_1,pa_cl_2,pa_cl_3,pa_c_9])",
	      "0/1[1]:pa_counter_read([pa_c_1]) 1/2[1]:pa_counter_read([pa_c_1,pa_cl_2]) => 1 "
	      "'pa_c_9' UNKNOWN_OBJECT");
	plans(&w, OMIS_OBSERVE, ":pa_counter_delete([pa_c_1])",
	      "here 1 pa_counter_delete([pa_c_1]) 0/1[1]:pa_counter_delete([pa_c_1]) "
	      "1/1[1]:pa_counter_delete([pa_c_1])");
}

TEST(a_request_to_each_daemon_is_sent_to_all_branches)
{
	struct world w;

	world_small(&w);
	plans(&w, OMIS_OBSERVE, ":node_get_info([n_1],1) omig_status()",
	      "0/1[1]:node_get_info([n_1],1) | here 2 omig_status() 0/0[2]:omig_status() "
	      "1/0[2]:omig_status()");
}

TEST(below_the_top_services_of_the_top_are_refused)
{
	const struct plan_conf conf = { .right = OMIS_ADMIN };
	struct omis_request *r = world_request(":version() node_get_info([n_1],1)");
	struct reply *into = reply_new();
	struct buf b = BUF_INIT(10000);
	struct world w;
	char *known;

	world_small(&w);
	ck_assert_int_eq(plan_all(r, (struct planning){ &w.view, &conf }, &b, into, NULL), 0);
	ck_assert_str_eq(buf_str(&b), "0/1[2]:node_get_info([n_1],1)");
	known = world_show(into);
	ck_assert_str_eq(known, "1 '' INTERNAL_ERROR");
	free(known);
	reply_free(into);
	omis_request_free(r);
	buf_done(&b);
}

TEST(action_numbers_of_the_larger_request_are_kept)
{
	static const uint32_t numbers[] = { 4, 7 };
	const struct plan_conf conf = { .right = OMIS_ADMIN, .numbers = numbers };
	struct omis_request *r = world_request(":node_get_info([n_9],1) node_get_info([n_1],1)");
	struct reply *into = reply_new();
	struct buf b = BUF_INIT(10000);
	struct world w;

	world_small(&w);
	ck_assert_int_eq(plan_all(r, (struct planning){ &w.view, &conf }, &b, into, NULL), 0);
	ck_assert_str_eq(buf_str(&b), "0/1[7]:node_get_info([n_1],1)");
	ck_assert_uint_eq(into->entry[0].action, 4);
	reply_free(into);
	omis_request_free(r);
	buf_done(&b);
}

/* The first step of a request, and then what the second sends after the world has changed. */
static void changes(struct world *w, const char *text, void (*change)(struct world *),
		    const char *want)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .top = true };
	struct omis_request *r = world_request(text);
	struct reply *into = reply_new();
	const struct plan_step *s;
	struct plan *p = NULL;

	ck_assert_int_eq(plan_new(r, &w->view, &conf, &p, NULL), 0);
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_ptr_nonnull(s);
	change(w);
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->npart, 1);
	ck_assert_str_eq(s->part[0].text, want);
	plan_free(p);
	reply_free(into);
	omis_request_free(r);
}

static void attach_n3(struct world *w)
{
	world_find(w, "n_3", 3)->attached = true;
}

TEST(conversions_of_one_execution_agree)
{
	struct world w;

	world_small(&w);
	world_find(&w, "n_3", 3)->attached = false;
	/* n_3 comes in between: the first action did not have it, so the second has not either. */
	changes(&w, ":node_get_info([],1) ; proc_get_info([],1)", attach_n3,
		":proc_get_info([p_1_000001,p_1_000002,p_2_000001],1)");
}

TEST(an_attach_in_the_request_is_seen_behind_it)
{
	struct world w;

	world_small(&w);
	world_find(&w, "n_1", 3)->attached = world_find(&w, "n_2", 3)->attached = false;
	world_find(&w, "n_3", 3)->attached = false;
	changes(&w, ":node_attach([]) proc_get_info([],1)", attach_n3,
		":proc_get_info([p_3_000001],1)");
}

static void kill_p2(struct world *w)
{
	world_find(w, "p_1_000002", 10)->gone = true;
}

TEST(an_object_that_vanishes_in_between_is_an_entry)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .top = true };
	struct omis_request *r = world_request(":proc_get_info([],1) ; proc_get_info([n_1],1)");
	struct reply *into = reply_new();
	const struct plan_step *s;
	struct plan *p = NULL;
	struct world w;
	char *known;

	world_small(&w);
	ck_assert_int_eq(plan_new(r, &w.view, &conf, &p, NULL), 0);
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	kill_p2(&w);
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_str_eq(s->part[0].text, ":proc_get_info([p_1_000001],1)");
	known = world_show(into);
	ck_assert_str_eq(known, "2 'p_1_000002' UNKNOWN_OBJECT");
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_ptr_null(s);
	free(known);
	plan_free(p);
	reply_free(into);
	omis_request_free(r);
}

TEST(an_abandoned_list_reports_each_remaining_action)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .top = true };
	struct omis_request *r =
		world_request(":node_get_info([],1) ; thread_stop([]) ; version()");
	struct reply *into = reply_new();
	const struct plan_step *s;
	struct plan *p = NULL;
	struct world w;
	char *known;

	world_small(&w);
	ck_assert_int_eq(plan_new(r, &w.view, &conf, &p, NULL), 0);
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_int_eq(plan_abandon(p, "not done: the deadline has passed", into), 0);
	known = world_show(into);
	ck_assert_str_eq(known, "2 '' UNSPECIFIED_ERROR; 3 '' UNSPECIFIED_ERROR");
	ck_assert_int_eq(plan_next(p, into, &s, NULL), 0);
	ck_assert_ptr_null(s);
	free(known);
	plan_free(p);
	reply_free(into);
	omis_request_free(r);
}

/* Hands out n objects below branch 0; containers in place of their content. */
static int many(void *arg, const char *token, char cls, struct route_tokens *out)
{
	const size_t *n = arg;
	struct token t;
	int rc = 0;

	if (token)
		return -ERR_NOTFOUND;
	for (size_t i = 0; !rc && i < *n; i++)
		rc = route_tokens_add(out, token_print_process(&t, 1, (uint32_t)i));
	return rc;
}

static int at_0(void *arg, const char *token, bool arming, struct route_places *out,
		const char **missing)
{
	return route_places_add(out, 0);
}

static int plan_many(size_t n, const char *text, struct err *e)
{
	const struct route_view view = { .arg = &n, .nbranch = 1, .expand = many, .locate = at_0 };
	const struct plan_conf conf = { .right = OMIS_OBSERVE };
	struct omis_request *r = world_request(text), *again = NULL;
	struct reply *into = reply_new();
	const struct plan_step *s = NULL;
	struct plan *p = NULL;
	int rc = plan_new(r, &view, &conf, &p, e);

	if (!rc)
		rc = plan_next(p, into, &s, e);
	if (!rc) {
		ck_assert_uint_eq(s->part[0].nobject, n);
		ck_assert_int_eq(omis_parse_inner(s->part[0].text, s->part[0].ntext, &again, NULL),
				 0);
		ck_assert_uint_eq(again->action[0].param[0].list.n, n);
	}
	omis_request_free(again);
	plan_free(p);
	reply_free(into);
	omis_request_free(r);
	return rc;
}

TEST(objects_are_bounded_exactly)
{
	struct err e = { 0 };

	ck_assert_int_eq(plan_many(OMIS_OBJECTS_MAX - 1, ":node_get_info([],1)", &e), 0);
	ck_assert_int_eq(plan_many(OMIS_OBJECTS_MAX, ":node_get_info([],1)", &e), 0);
	ck_assert_int_eq(plan_many(OMIS_OBJECTS_MAX + 1, ":node_get_info([],1)", &e), -ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(e.text, "65536 objects"));
	ck_assert_int_eq(
		plan_many(OMIS_OBJECTS_MAX / 2 + 1, ":node_get_info([],1) node_get_info([],3)", &e),
		-ERR_LIMIT);
}

TEST(an_unchecked_request_is_refused)
{
	const struct plan_conf conf = { .right = OMIS_ADMIN };
	struct omis_request *r = NULL;
	struct plan *p = NULL;
	struct world w;

	world_small(&w);
	ck_assert_int_eq(omis_parse(":version()", 10, &r, NULL), 0);
	ck_assert_int_eq(plan_new(r, &w.view, &conf, &p, NULL), -ERR_INVALID);
	omis_request_free(r);
}

TEST(every_failed_allocation_of_planning_is_survived)
{
	const struct plan_conf conf = { .right = OMIS_MANIPULATE, .top = true };
	struct omis_request *r =
		world_request(":site_get_info([],1) thread_stop([s_1]) "
			      "node_get_info([n_9,p_1_000001],1) ; proc_get_info([],1)");
	struct world w;

	world_small(&w);
	ALLOC_SWEEP (k) {
		struct reply *into = reply_new();
		struct err e = { 0 };
		const struct plan_step *s;
		struct plan *p = NULL;
		int rc = into ? plan_new(r, &w.view, &conf, &p, &e) : -ERR_NOMEM;

		while (!rc && !(rc = plan_next(p, into, &s, &e)) && s)
			;
		alloc_sweep_pause();
		ck_assert_msg(!rc || rc == -ERR_NOMEM, "%s", e.text);
		plan_free(p);
		reply_free(into);
	}
	omis_request_free(r);
}

SUITE("route plan")
