/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from mainsm over the hosts of a site, and their one answer. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

static struct world w;

static void set_up(void)
{
	world_open(&w);
	lms_start(&w, 4);
}

static void clean_up(void)
{
	world_done(&w);
}

TEST(three_actions_are_split_in_order_and_answered_once)
{
	const struct reply *r =
		top_ask(&w,
			":node_get_info([n_1,n_2,n_3],1) proc_get_info([p_2_000001,p_4_000001],1) "
			"; thread_get_info([t_1_000001,t_2_000001],1)",
			2 * SEC);

	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_uint_eq(r->coverage.asked, 7);
	ck_assert_uint_eq(r->coverage.answered, 7);
	ck_assert_uint_eq(r->coverage.nmissing, 0);
	ck_assert_int_eq(r->coverage.newest_ns - r->coverage.oldest_ns, 3);
	ck_assert_str_eq(w.lm[1].b.text, ":thread_get_info([t_2_000001],1)");
	ck_assert_str_eq(w.lm[2].b.text, ":node_get_info([n_3],1)");
	ck_assert_str_eq(w.lm[3].b.text, ":proc_get_info([p_4_000001],1)");
	ck_assert_uint_eq(w.lm[0].b.requests, 2);
	ck_assert_uint_eq(w.lm[1].b.requests, 2);
	ck_assert_uint_eq(w.lm[2].b.requests, 1);
	ck_assert_str_eq(w.lm[2].b.identity, "tool-manipulate//u@top");
	ck_assert_uint_eq(w.lm[2].b.tool, 3);
	ck_assert_uint_eq(w.top.replies, 1);
}

TEST(nothing_behind_a_barrier_starts_before_all_in_front_is_done)
{
	w.lm[2].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_3],1) ; node_get_info([n_2],1)", 2 * SEC);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(w.lm[0].b.requests, 1);
	ck_assert_uint_eq(w.lm[1].b.requests, 0);
	lm_reply(&w.lm[2], w.lm[2].b.last_id, 1, "n_3");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[1].b.requests, 1);
	ck_assert_uint_eq(w.top.replies, 1);
}

TEST(a_silent_lm_costs_the_deadline_and_is_named)
{
	nsec_t begun = loop_now(w.loop);
	const struct reply *r;

	w.lm[1].b.is_mute = true;
	r = top_ask(&w, ":node_get_info([n_1,n_2,n_3],1)", 500 * MS);
	ck_assert_int_le(loop_now(w.loop) - begun, 505 * MS);
	ck_assert_int_ge(loop_now(w.loop) - begun, 450 * MS);
	ck_assert_uint_eq(r->coverage.asked, 3);
	ck_assert_uint_eq(r->coverage.answered, 2);
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, "n_2");
	ck_assert_str_eq(r->coverage.missing[0].reason, "no answer in time");
	ck_assert_uint_eq(entries_of(r, 1), 1);
	ck_assert_str_eq(entry_of(r, 1, 0)->objects, "n_1,n_3");
	ck_assert_uint_eq(w.lm[1].b.cancels, 1);
	ck_assert_int_lt(w.lm[1].b.deadline, 500 * MS);
	/* Late, and repeated: dropped and counted. */
	lm_reply(&w.lm[1], w.lm[1].b.last_id, 1, "n_2");
	lm_reply(&w.lm[0], w.lm[0].b.last_id, 1, "n_1");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).strays, 2);
	ck_assert_uint_eq(w.top.replies, 1);
	ck_assert(w.lm[1].b.is_up && w.lm[0].b.is_up);
}

TEST(a_host_far_away_gets_less_time)
{
	const struct mem_link far = { .delay = 40 * MS };

	w.lm[0].b.is_mute = w.lm[1].b.is_mute = true;
	ck_assert_int_eq(mem_net_set_link(w.net, "h1", "sm-a", &far), 0);
	world_run(&w, MEASURE_PERIOD_NS + SEC); /* it is measured again */
	top_ask(&w, ":node_get_info([n_1,n_2],1)", 500 * MS);
	ck_assert_int_gt(w.lm[1].b.deadline - w.lm[0].b.deadline, 60 * MS);
}

TEST(a_lost_host_is_missing_at_once)
{
	nsec_t begun;
	const struct reply *r;

	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	begun = loop_now(w.loop);
	r = top_ask(&w, ":node_get_info([n_1,n_2],1) proc_get_info([p_9_000001],1)", 2 * SEC);
	ck_assert_int_le(loop_now(w.loop) - begun, 20 * MS);
	ck_assert_str_eq(r->coverage.missing[0].object, "n_2");
	ck_assert_str_eq(r->coverage.missing[0].reason, "the host does not answer");
	ck_assert_uint_eq(entry_of(r, 2, 0)->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_str_eq(entry_of(r, 2, 0)->objects, "p_9_000001");
	/* requests that were not sent were not done */
	r = top_ask(&w, ":thread_stop([p_2_000001]) node_get_info([n_2],1)", 2 * SEC);
	ck_assert_uint_eq(r->coverage.nmissing, 2);
	ck_assert_str_eq(r->coverage.missing[0].object, "p_2_000001");
	ck_assert_str_eq(r->coverage.missing[0].reason, "not done: the host does not answer");
	ck_assert_str_eq(r->coverage.missing[1].reason, "not done: the host does not answer");
}

TEST(of_an_id_that_may_have_been_sent_before_nothing_is_claimed)
{
	static const char text[] = ":thread_stop([p_2_000001])";
	const uint32_t number = 1;
	const struct msg m = { .type = MSG_REQUEST,
			       .request = { .id = 1,
					    .tool = 3,
					    .identity = "tool-manipulate//u@top",
					    .right = OMIS_MANIPULATE,
					    .deadline_ns = SEC,
					    .text = { (const uint8_t *)text, strlen(text) },
					    .action = &number,
					    .naction = 1,
					    .op_epoch = 5,
					    .op = 7 } };

	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.last->id, 1);
	ck_assert_str_eq(w.top.last->coverage.missing[0].reason,
			 "outcome unknown: the host does not answer");
}

TEST(a_host_that_dies_in_a_request_ends_the_waiting)
{
	w.lm[1].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_2],1)", 60 * SEC);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.replies, 0);
	mem_net_kill_host(w.net, "h2");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.replies, 1);
	ck_assert_str_eq(w.top.last->coverage.missing[0].object, "n_2");
	ck_assert_str_eq(w.top.last->coverage.missing[0].reason, "the host is lost");
}

TEST(a_quorum_or_a_first_reply_ends_a_request)
{
	static const uint32_t one = 1;
	struct msg m = { .type = MSG_REQUEST };

	w.lm[3].b.is_mute = true;
	m.request = (struct msg_request){
		.id = 77,
		.identity = "x",
		.right = OMIS_OBSERVE,
		.text = { (const uint8_t *)":node_get_info([n_1,n_2,n_3,n_4],1)", 35 },
		.policy = MSG_WAIT_QUORUM,
		.quorum = 3,
		.deadline_ns = 60 * SEC,
		.action = &one,
		.naction = 1
	};
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(w.top.last->id, 77);
	ck_assert_uint_eq(w.top.last->coverage.answered, 3);
	ck_assert_uint_eq(w.lm[3].b.cancels, 1);
	w.lm[1].b.is_mute = w.lm[2].b.is_mute = true;
	m.request.policy = MSG_WAIT_NOW;
	m.request.id = 78;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(w.top.last->id, 78);
	ck_assert_uint_eq(w.top.last->coverage.answered, 1);
}

TEST(a_cancel_is_sent_down_and_causes_no_reply)
{
	uint64_t id;

	w.lm[1].b.is_mute = true;
	id = top_send_request(&w, ":node_get_info([n_1,n_2],1)", 60 * SEC);
	world_run(&w, 5 * MS);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_CANCEL, .cancel = { id } }), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[1].b.cancels, 1);
	ck_assert_uint_eq(world_counts(&w).requests, 0);
	world_run(&w, 70 * SEC);
	ck_assert_uint_eq(w.top.replies, 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_CANCEL, .cancel = { id } }), 0);
	world_run(&w, 5 * MS);
}

TEST(a_request_that_arrives_twice_is_executed_once)
{
	static const uint32_t one = 1;
	struct msg m = { .type = MSG_REQUEST };

	w.lm[0].b.is_mute = true;
	m.request =
		(struct msg_request){ .id = 77,
				      .identity = "x",
				      .right = OMIS_OBSERVE,
				      .text = { (const uint8_t *)":node_get_info([n_1],1)", 23 },
				      .deadline_ns = 200 * MS,
				      .action = &one,
				      .naction = 1 };
	ck_assert_int_eq(top_send(&w, &m), 0);
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, SEC);
	ck_assert_uint_eq(w.lm[0].b.requests, 1);
	ck_assert_uint_eq(w.top.replies, 1);
	ck_assert_uint_eq(world_counts(&w).doubles, 1);
}

TEST(a_right_that_is_not_there_is_refused_here_too)
{
	static const uint32_t one = 1;
	struct msg m = { .type = MSG_REQUEST };

	m.request =
		(struct msg_request){ .id = 1,
				      .identity = "x",
				      .right = OMIS_OBSERVE,
				      .text = { (const uint8_t *)":thread_stop([t_1_000001])", 26 },
				      .deadline_ns = SEC,
				      .action = &one,
				      .naction = 1 };
	for (uint32_t right = 0; right < 9; right++) {
		m.request.id++;
		m.request.right = right;
		ck_assert_int_eq(top_send(&w, &m), 0);
		world_run(&w, 5 * MS);
		ck_assert_uint_eq(w.top.last->id, m.request.id);
		ck_assert_uint_eq(reply_status(w.top.last),
				  right == OMIS_MANIPULATE || right == OMIS_ADMIN
					  ? STATUS_OK
					  : STATUS_NO_PERMISSION);
	}
	ck_assert_uint_eq(w.lm[0].b.requests, 2);
	m.request.identity = "";
	m.request.right = OMIS_MANIPULATE;
	m.request.id++;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(reply_status(w.top.last), STATUS_NO_PERMISSION);
	ck_assert_uint_eq(w.lm[0].b.requests, 2);
	m.request.identity = "x";
	m.request.id++;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(reply_status(w.top.last), STATUS_OK);
}

TEST(sm_refuses_wrong_requests_with_a_status)
{
	static const struct {
		const char *text;
		unsigned status;
	} bad[] = {
		{ ":node_get_info([n_1],", STATUS_SYNTAX_ERROR },
		{ ":no_such_service([n_1])", STATUS_UNKNOWN_SERVICE },
		{ ":node_get_info([n_1],\"x\")", STATUS_TYPE_MISMATCH },
		{ "thread_has_started_lib_call([t_1_000001],\"MPI_Send\"): node_get_info([n_1],1)",
		  STATUS_PARAMETER_ERROR },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_uint_eq(reply_status(top_ask(&w, bad[i].text, SEC)), bad[i].status);
	ck_assert_uint_ne(reply_status(top_ask(&w, ":omig_tree()", SEC)), STATUS_OK);
	ck_assert_uint_eq(w.lm[0].b.requests, 0);
}

TEST(numbers_of_actions_that_make_no_sense_are_refused)
{
	static const uint32_t wrong[][2] = { { 0, 1 }, { 2, 2 }, { 3, 1 } };
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){
		.id = 1,
		.identity = "x",
		.right = OMIS_OBSERVE,
		.deadline_ns = SEC,
		.text = { (const uint8_t *)":node_get_info([n_1],1) node_get_info([n_2],1)", 46 }
	};
	for (size_t i = 0; i < 3; i++) {
		m.request.id++;
		m.request.action = wrong[i];
		m.request.naction = 2;
		ck_assert_int_eq(top_send(&w, &m), 0);
		world_run(&w, 5 * MS);
		ck_assert(status_is_error(reply_status(w.top.last)));
	}
	m.request.id++;
	m.request.naction = 0;
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.replies, 4);
	ck_assert_uint_eq(w.lm[0].b.requests, 0);
}

TEST(actions_keep_the_numbers_that_mainsm_gave_them)
{
	static const uint32_t numbers[] = { 4, 9 };
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){
		.id = 1,
		.identity = "x",
		.right = OMIS_OBSERVE,
		.deadline_ns = SEC,
		.text = { (const uint8_t *)":node_get_info([n_1],1) node_get_info([n_2],1)", 46 },
		.action = numbers,
		.naction = 2
	};
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_str_eq(entry_of(w.top.last, 4, 0)->objects, "n_1");
	ck_assert_str_eq(entry_of(w.top.last, 9, 0)->objects, "n_2");
	ck_assert_uint_eq(w.top.last->nentry, 2);
}

TEST(a_large_answer_travels_in_parts)
{
	const struct reply *r;

	w.lm[0].b.pad = w.lm[1].b.pad = 100; /* 2 MB each */
	w.lm[1].b.value = "2";
	r = top_ask(&w, ":proc_get_info([n_1,n_2],1)", 2 * SEC);
	ck_assert_uint_gt(w.top.parts, 4);
	ck_assert_uint_eq(r->nentry, 202);
	ck_assert_uint_eq(r->coverage.answered, 202);
	ck_assert_uint_eq(r->coverage.nmissing, 0);
}

TEST(status_comes_from_the_sm_and_each_of_its_lms)
{
	const struct reply *r;
	struct omis_values *v = NULL;

	lm_stop(&w, 3);
	world_run(&w, 5 * MS);
	r = top_ask(&w, ":omig_status()", SEC);
	ck_assert_str_eq(entry_of(r, 1, 0)->objects, "s_5");
	ck_assert_int_eq(
		omis_parse_values(entry_of(r, 1, 0)->value, entry_of(r, 1, 0)->nvalue, &v, NULL),
		0);
	ck_assert_str_eq(omis_values_text(v, 0), "sm");
	ck_assert_str_eq(omis_values_text(v, 1), OMIG_VERSION);
	ck_assert_uint_gt(v->n, 20);
	ck_assert_str_eq(v->v[3].list.v[0].s.p, "lms");
	ck_assert_int_eq(v->v[3].list.v[1].i, 3);
	omis_values_free(v);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(w.lm[i].b.text, ":omig_status()");
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, "n_4");
}

TEST(counters_are_asked_where_they_were_made)
{
	const struct reply *r;

	top_ask(&w, ":omig_pa_create([p_1_000001,p_3_000001],pa_cl_1)", SEC);
	r = top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_str_eq(w.lm[0].b.text, ":pa_counter_read([pa_cl_1])");
	ck_assert_str_eq(w.lm[2].b.text, ":pa_counter_read([pa_cl_1])");
	ck_assert_uint_eq(w.lm[1].b.requests + w.lm[3].b.requests, 0);
	top_ask(&w, ":pa_counter_delete([pa_cl_1])", SEC);
	ck_assert_uint_eq(w.lm[0].b.requests, 3);
	ck_assert_uint_eq(w.lm[1].b.requests, 0);
}

TEST(a_restarted_sm_asks_all_hosts_for_counters)
{
	const struct reply *r;

	w.lm[0].b.denies_cells = w.lm[1].b.denies_cells = w.lm[3].b.denies_cells = true;
	r = top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_uint_eq(entries_of(r, 1), 1);
	w.lm[2].b.denies_cells = true;
	r = top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_UNKNOWN_OBJECT);
}

TEST(an_object_is_converted_to_its_container_for_a_service)
{
	const struct reply *r = top_ask(
		&w, ":node_get_info([p_1_000001,t_2_000002],1) proc_get_info([t_3_000001],1)", SEC);

	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_str_eq(w.lm[0].b.text, ":node_get_info([n_1],1)");
	ck_assert_str_eq(w.lm[1].b.text, ":node_get_info([n_2],1)");
	ck_assert_str_eq(w.lm[2].b.text, ":proc_get_info([p_3_000001],1)");
	r = top_ask(&w, ":proc_get_info([t_3_999999],1) node_get_info([s_5],1) node_get_info([],1)",
		    SEC);
	ck_assert_uint_eq(entry_of(r, 1, 0)->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(entry_of(r, 2, 0)->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(entry_of(r, 3, 0)->status, STATUS_OK);
}

TEST(counters_of_a_tool_that_left_are_forgotten)
{
	top_ask(&w, ":omig_pa_create([p_1_000001],pa_cl_1)", SEC);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { 3 } }),
			 0);
	top_ask(&w, ":pa_counter_read([pa_cl_1])", SEC); /* all branches are asked */
	ck_assert_uint_eq(w.lm[3].b.requests, 1);
}

TEST(many_requests_at_once_are_all_answered)
{
	for (int i = 0; i < 3000; i++)
		top_send_request(&w, ":node_get_info([n_1,n_2,n_3,n_4],1)", 10 * SEC);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(w.top.replies, 3000);
	ck_assert_uint_eq(world_counts(&w).requests, 0);
}

TEST(too_many_requests_are_refused_not_hoarded)
{
	w.lm[0].b.is_mute = true;
	for (int i = 0; i < 5000; i++)
		top_send_request(&w, ":node_get_info([n_1],1)", 5 * SEC);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(world_counts(&w).requests, 4096);
	ck_assert_uint_eq(w.top.replies, 5000 - 4096);
	ck_assert_uint_eq(reply_status(w.top.last), STATUS_NO_MEMORY);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(w.top.replies, 5000);
}

SUITE_WITH("sm requests", set_up, clean_up)
