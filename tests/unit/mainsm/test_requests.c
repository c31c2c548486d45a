/* SPDX-License-Identifier: Apache-2.0 */
/* mainsm with two sms of two hosts each and several tools: requests and their answers. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/four_hosts.h"

static struct world w;
static struct fake_branch a, b;
static struct above t1, t2, t3;

static void open_sites(void)
{
	four_hosts_open(&w, &a, &b);
}

static void close_sites(void)
{
	four_hosts_close(&w, &a, &b);
}

TEST(a_tool_sees_nothing_before_it_attaches)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	r = above_ask(&t1, ":node_get_info([],1)");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_uint_eq(r->coverage.asked, 0);
	ck_assert_uint_eq(above_status(&t1, ":node_get_info([n_1],1)"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_status(&t1, ":proc_get_info([p_1_a00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(a.requests + b.requests, 0);
	above_close(&t1);
}

TEST(a_request_is_split_by_site_and_answered_whole)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	r = above_ask(&t1, ":node_get_info([],1) proc_get_info([n_1,p_3_a00000],1)");
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_str_eq(a.text,
			 ":node_get_info([n_1,n_2],1) proc_get_info([p_1_a00000,p_1_b00000],1)");
	ck_assert_str_eq(b.text, ":node_get_info([n_3,n_4],1) proc_get_info([p_3_a00000],1)");
	ck_assert_uint_eq(r->coverage.asked, 7);
	ck_assert_uint_eq(r->coverage.answered, 7);
	ck_assert_uint_eq(a.right, OMIS_OBSERVE);
	ck_assert_uint_eq(a.tool, t1.number);
	above_close(&t1);
}

TEST(attach_then_use_works_within_one_request)
{
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	ck_assert_uint_eq(
		above_status(&t1, ":node_attach([n_1]) node_get_info([],1) node_detach([n_1])"),
		STATUS_OK);
	ck_assert_str_eq(a.text, ":node_get_info([n_1],1)");
	ck_assert_uint_eq(above_status(&t1, ":node_get_info([n_1],1)"), STATUS_UNKNOWN_OBJECT);
	above_close(&t1);
}

TEST(each_tool_has_its_own_view)
{
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_open(&w, &t2, ROLE_TOOL_OBSERVE, "t2");
	above_open(&w, &t3, ROLE_TOOL_OBSERVE, "t3");
	ck_assert_uint_eq(above_status(&t1, ":node_attach([n_1])"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t2, ":proc_attach([p_3_b00000])"), STATUS_OK);
	above_attach_all(&t3);
	ck_assert_uint_eq(above_ask(&t1, ":node_get_info([],1)")->coverage.answered, 1);
	ck_assert_uint_eq(above_ask(&t2, ":thread_get_info([],1)")->coverage.answered, 1);
	ck_assert_str_eq(b.text, ":thread_get_info([t_3_b00000],1)");
	ck_assert_uint_eq(above_ask(&t3, ":proc_get_info([],1)")->coverage.answered, 8);
	ck_assert_uint_eq(above_status(&t1, ":node_detach([])"), STATUS_OK);
	ck_assert_uint_eq(above_ask(&t1, ":node_get_info([],1)")->coverage.answered, 0);
	ck_assert_uint_eq(above_ask(&t3, ":node_get_info([],1)")->coverage.answered, 4);
	above_close(&t1);
	above_close(&t2);
	above_close(&t3);
}

TEST(a_site_that_does_not_answer_costs_the_deadline_and_is_named)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	b.is_mute = true;
	r = above_ask_for(&t1, ":node_get_info([],1) ; node_get_info([],0)", 500 * MS, 499 * MS);
	ck_assert_ptr_null(r);
	world_run(&w, 5 * MS);
	r = t1.last;
	ck_assert_uint_eq(r->coverage.asked, 4);
	ck_assert_uint_eq(r->coverage.answered, 2);
	ck_assert(reply_is_partial(r));
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, "s_2");
	ck_assert(b.deadline < 500 * MS && b.deadline > 400 * MS);
	ck_assert_uint_eq(b.cancels, 1);
	/* Actions that had not begun are reported so. */
	ck_assert(status_is_error(entry_of(r, 2, 0)->status));
	above_close(&t1);
}

TEST(actions_do_not_begin_after_the_deadline)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_MANIPULATE, "t1");
	above_attach_all(&t1);
	b.is_mute = true;
	above_send(&t1, ":pa_counter_local_create([]) thread_stop([t_1_a00000])", 500 * MS);
	world_run(&w, 510 * MS);
	r = t1.last;
	ck_assert_ptr_nonnull(r);
	ck_assert_ptr_null(strstr(a.text, "thread_stop"));
	ck_assert_ptr_nonnull(entry_of(r, 2, 0));
	ck_assert(status_is_error(entry_of(r, 2, 0)->status));
	ck_assert(reply_is_partial(r));
	above_close(&t1);
}

TEST(a_silent_or_lost_host_is_missing_at_once)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	below_node_is(&b, 4, MSG_NODE_SILENT);
	below_node_is(&b, 3, MSG_NODE_LOST);
	r = above_ask_for(&t1, ":node_get_info([],1)", 0, 5 * MS);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(r->coverage.asked, 4);
	ck_assert_uint_eq(r->coverage.answered, 2);
	ck_assert_uint_eq(r->coverage.nmissing, 2);
	ck_assert_uint_eq(b.requests, 0);
	below_node_is(&b, 4, MSG_NODE_UP);
	ck_assert_uint_eq(above_ask(&t1, ":node_get_info([],1)")->coverage.answered, 3);
	above_close(&t1);
}

TEST(an_sm_that_dies_in_a_request_ends_the_waiting)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	b.is_mute = true;
	above_send(&t1, ":node_get_info([],1)", 60 * SEC);
	world_run(&w, 10 * MS);
	mem_net_kill_host(w.net, "sm-b");
	world_run(&w, 50 * MS);
	r = t1.last;
	ck_assert_uint_eq(r->coverage.answered, 2);
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	/* The sm and its hosts reconnect, with the same numbers. */
	b.is_mute = false;
	world_run(&w, 12 * SEC);
	ck_assert(b.is_up);
	below_report(&b, 3, "h3");
	below_report(&b, 4, "h4");
	ck_assert_uint_eq(above_ask(&t1, ":node_get_info([],1)")->coverage.answered, 4);
	above_close(&t1);
}

TEST(of_what_changes_something_it_is_reported_whether_it_was_done)
{
	const struct reply *r;
	uint64_t id;

	above_open(&w, &t1, ROLE_TOOL_MANIPULATE, "t1");
	above_attach_all(&t1);
	id = above_send(&t1, ":thread_stop([])", 500 * MS);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.op_epoch, 77);
	ck_assert_uint_eq(a.op, id);
	b.is_mute = true;
	above_send(&t1, ":thread_stop([]) ; thread_continue([])", 500 * MS);
	world_run(&w, 510 * MS);
	r = t1.last;
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_str_eq(r->coverage.missing[0].reason, "outcome unknown: no answer in time");
	ck_assert(!strncmp(entry_of(r, 2, 0)->value, "not done: ", 10));
	above_send(&t1, ":thread_stop([])", 60 * SEC);
	world_run(&w, 10 * MS);
	mem_net_kill_host(w.net, "sm-b");
	world_run(&w, 50 * MS);
	ck_assert(!strncmp(t1.last->coverage.missing[0].reason, "outcome unknown: ", 17));
	above_close(&t1);
}

TEST(a_tool_that_never_reads_is_cut_without_effect_on_others)
{
	static char big[100000];
	struct fake_branch c;

	below_open(&w, &c, ROLE_SM, "c", "sm-c");
	below_report(&c, 5, "h5");
	memset(big, '1', sizeof(big) - 1);
	c.value = big;
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "stuck");
	above_open(&w, &t2, ROLE_TOOL_OBSERVE, "good");
	above_attach_all(&t1);
	above_attach_all(&t2);
	link_pause_reading(t1.link, true);
	ck_assert_int_eq(
		mem_net_set_link(w.net, "stuck", "top", &(struct mem_link){ .window = 100000 }), 0);
	for (int i = 0; i < 360; i++) {
		above_send(&t1, ":node_get_info([n_5],1)", 0);
		if (i % 20 == 0)
			world_run(&w, MS);
	}
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_ask(&t2, ":node_get_info([n_1,n_2,n_3,n_4],1)")->coverage.answered,
			  4);
	world_run(&w, 15 * SEC);
	ck_assert_uint_ge(a.gones, 1);
	ck_assert_uint_eq(above_ask(&t2, ":node_get_info([n_1,n_2,n_3,n_4],1)")->coverage.answered,
			  4);
	above_close(&t1);
	above_close(&t2);
	below_close(&c);
}

TEST(text_errors_keep_the_session_open)
{
	static const struct {
		const char *text;
		unsigned status;
	} bad[] = {
		{ "", STATUS_SYNTAX_ERROR },
		{ ":print(", STATUS_SYNTAX_ERROR },
		{ ":print(\"x)", STATUS_SYNTAX_ERROR },
		{ ":no_such_service()", STATUS_UNKNOWN_SERVICE },
		{ ":print()", STATUS_PARAMETER_ERROR },
		{ ":node_get_info([],\"x\")", STATUS_TYPE_MISMATCH },
		{ ":print([$proc])", STATUS_UNKNOWN_ECP },
		{ ":thread_has_terminated([])", STATUS_TYPE_MISMATCH },
		{ ":omig_pa_create([],pa_c_1)", STATUS_UNKNOWN_SERVICE },
	};

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct reply *r = above_ask(&t1, bad[i].text);

		ck_assert_msg(reply_status(r) == bad[i].status, "%s: %s", bad[i].text,
			      status_name(reply_status(r)));
		ck_assert_uint_eq(r->entry[0].action, 0);
	}
	ck_assert(t1.is_up);
	ck_assert_uint_eq(above_status(&t1, ":version()"), STATUS_OK);
	above_close(&t1);
}

TEST(mainsm_executes_its_own_services)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	r = above_ask(&t1, ":version()");
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "2,0,\"Omig"));
	r = above_ask(&t1, ":print([1,\"x\",[n_1]])");
	ck_assert_str_eq(entry_of(r, 1, 0)->value, "3,1,\"x\",[n_1]");
	r = above_ask(&t1, ":omig_tree()");
	ck_assert_ptr_nonnull(
		strstr(entry_of(r, 1, 0)->value, "[p_1_a00000,n_1,\"prog\",\"run\",42,-1"));
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "[n_4,s_2,\"h4\",\"up\""));
	above_attach_all(&t1);
	r = above_ask(&t1, ":site_get_info([s_1],15)");
	ck_assert_str_eq(entry_of(r, 1, 0)->value, "\"a\",2,2,\"10.0.0.1:99\",4");
	r = above_ask(&t1, ":services(\"\")");
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "\"node_get_info\""));
	ck_assert_uint_eq(above_status(&t1, ":services(\"nope\")"), STATUS_PARAMETER_ERROR);
	r = above_ask(&t1, ":omig_status()");
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "\"mainsm\""));
	ck_assert_str_eq(a.text, ":omig_status()");
	ck_assert_str_eq(b.text, ":omig_status()");
	above_close(&t1);
}

TEST(nodes_and_processes_are_found_by_name)
{
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	ck_assert_str_eq(entry_of(above_ask(&t1, ":node_attach2(\"h3\")"), 1, 0)->value, "n_3");
	ck_assert_str_eq(
		entry_of(above_ask(&t1, ":proc_attach3([n_3],42,\"/usr/bin/prog\")"), 1, 0)->value,
		"p_3_a00000");
	ck_assert_uint_eq(above_status(&t1, ":proc_attach3([n_3],42,\"gorp\")"),
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_status(&t1, ":proc_attach3([n_3],43,\"\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_status(&t1, ":node_attach2(\"h9\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_ask(&t1, ":proc_get_info([],1)")->coverage.answered, 1);
	above_close(&t1);
}

/* The lm's reply arrives before its report to the directory, or after it. */
TEST(an_unwatched_process_is_attached_by_its_pid)
{
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	ck_assert_uint_eq(above_status(&t1, ":node_attach([n_3])"), STATUS_OK);
	b.take = "p_3_c00000";
	ck_assert_ptr_null(above_ask_for(
		&t1, ":proc_attach3([n_3],77,\"sleep\") thread_get_info([],1)", 0, 50 * MS));
	ck_assert_str_eq(b.text, ":omig_proc_take([n_3],77,\"sleep\")");
	below_report_proc(&b, 3, "p_3_c00000", 77);
	ck_assert_uint_eq(reply_status(t1.last), STATUS_OK);
	ck_assert_str_eq(entry_of(t1.last, 1, 0)->value, "p_3_c00000");
	ck_assert_str_eq(b.text, ":thread_get_info([t_3_c00000],1)");
	ck_assert_uint_eq(above_status(&t1, ":proc_get_info([p_3_c00000],1)"), STATUS_OK);
	/* The process is known now, so no request is sent to a host. */
	ck_assert_uint_eq(above_status(&t1, ":proc_attach3([n_3],77,\"\")"), STATUS_OK);
	ck_assert_str_eq(b.text, ":proc_get_info([p_3_c00000],1)");
	b.is_mute = true;
	above_send(&t1, ":proc_attach3([n_3],78,\"\")", 0);
	world_run(&w, 10 * MS);
	below_report_proc(&b, 3, "p_3_d00000", 78);
	below_reply(&b, "n_3", "p_3_d00000");
	ck_assert_str_eq(entry_of(t1.last, 1, 0)->value, "p_3_d00000");
	above_close(&t1);
}

TEST(a_process_that_cannot_be_taken_in_is_not_attached)
{
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	ck_assert_uint_eq(above_status(&t1, ":node_attach([n_1,n_3])"), STATUS_OK);
	/* All errors have the same text. */
	r = above_ask(&t1, ":proc_attach3([n_3],77,\"\")");
	ck_assert_uint_eq(reply_status(r), STATUS_UNKNOWN_OBJECT);
	ck_assert_str_eq(entry_of(r, 1, 0)->objects, "n_3");
	ck_assert_ptr_null(strstr(entry_of(r, 1, 0)->value, "words of the host"));
	/* A host sends an invalid reply, or names a process of another host. */
	b.take = "5";
	ck_assert_uint_eq(above_status(&t1, ":proc_attach3([n_3],77,\"\")"), STATUS_INTERNAL_ERROR);
	b.take = "p_1_a00000";
	ck_assert_uint_eq(above_status(&t1, ":proc_attach3([n_3],77,\"\")"), STATUS_INTERNAL_ERROR);
	ck_assert_uint_eq(above_status(&t1, ":proc_get_info([p_1_a00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	/* A process that never appears in the directory. */
	b.take = "p_3_c00000";
	r = above_ask_for(&t1, ":proc_attach3([n_3],77,\"\") node_get_info([n_1],1)", 300 * MS,
			  350 * MS);
	ck_assert_ptr_nonnull(r);
	ck_assert(status_is_error(entry_of(r, 1, 0)->status));
	/* One of two hosts is lost. */
	b.take = NULL;
	a.take = "p_1_c00000";
	below_node_is(&b, 3, MSG_NODE_LOST);
	above_send(&t1, ":proc_attach3([n_1,n_3],77,\"\")", 0);
	world_run(&w, 10 * MS);
	below_report_proc(&a, 1, "p_1_c00000", 77);
	r = t1.last;
	ck_assert_str_eq(entry_of(r, 1, 0)->value, "p_1_c00000");
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_str_eq(r->coverage.missing[0].object, "n_3");
	/* A tool that leaves while it waits. */
	b.take = NULL;
	a.take = "p_1_d00000";
	above_send(&t1, ":proc_attach3([n_1],79,\"\")", 0);
	world_run(&w, 10 * MS);
	above_close(&t1);
	below_report_proc(&a, 1, "p_1_d00000", 79);
}

/* Returns the token of the new counter in a reply with that many errors; "" = there is none. */
static const char *made(const struct reply *r, size_t nerror)
{
	const char *token = "";

	for (size_t i = 0; i < r->nentry; i++)
		if (!status_is_error(r->entry[i].status))
			token = r->entry[i].value;
		else
			ck_assert_uint_gt(nerror--, 0);
	ck_assert_uint_eq(nerror, 0);
	return token;
}

TEST(an_ended_object_fails_only_requests_that_name_it)
{
	char text[128], token[40];

	above_open(&w, &t1, ROLE_TOOL_MANIPULATE, "t1");
	above_attach_all(&t1);
	/* The host has reported the end in a reply; the directory has not received it yet. */
	a.ended = "p_1_b00000";
	str_copy(token, sizeof(token), made(above_ask(&t1, ":pa_counter_local_create([])"), 0));
	ck_assert_ptr_nonnull(strstr(a.text, "p_1_b00000"));
	ck_assert_ptr_nonnull(strstr(token, "pa_cl_"));
	ck_assert_uint_eq(
		above_status(&t1, ":proc_send_signal([n_1],15) omig_calls_enable([],\"count\")"),
		STATUS_OK);
	ck_assert_uint_eq(above_status(&t1, ":proc_send_signal([p_1_b00000],15)"),
			  STATUS_UNKNOWN_OBJECT);
	/* The directory has received the end, too. */
	below_report_end(&a, 1);
	ck_assert_ptr_nonnull(
		strstr(made(above_ask(&t1, ":pa_integrator_global_create([n_1])"), 0), "pa_i_"));
	ck_assert_ptr_null(strstr(a.text, "p_1_b00000"));
	ck_assert_uint_eq(above_ask(&t1, ":proc_send_signal([],15)")->coverage.asked, 7);
	/*
	 * If the request names the ended process there is an entry with an error for it. The
	 * counter of the live processes can be read.
	 */
	str_copy(token, sizeof(token),
		 made(above_ask(&t1, ":pa_counter_local_create([n_1,p_1_b00000])"), 1));
	ck_assert_ptr_nonnull(strstr(token, "pa_cl_"));
	snprintf(text, sizeof(text), ":pa_counter_read([%s])", token);
	ck_assert_uint_eq(above_status(&t1, text), STATUS_OK);
	ck_assert_str_eq(made(above_ask(&t1, ":pa_counter_local_create([p_1_b00000])"), 1), "");
	ck_assert_uint_eq(above_ask(&t1, ":pa_counter_local_create([p_1_zzzzzz])")->nentry, 1);
	ck_assert_uint_eq(t1.last->entry[0].status, STATUS_UNKNOWN_OBJECT);
	/* The ended process has no threads, and its last counters can be read. */
	ck_assert_uint_eq(above_status(&t1, ":thread_get_info([],1)"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t1, ":thread_get_info([p_1_b00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	a.ended = NULL;
	ck_assert_uint_eq(
		above_ask(&t1, ":proc_get_info([],1) omig_calls_read([])")->coverage.asked, 16);
	ck_assert_ptr_nonnull(strstr(a.text, ":proc_get_info([p_1_a00000,p_1_b00000,"));
	above_close(&t1);
}

TEST(an_object_of_another_tool_does_not_exist)
{
	char text[128];

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_open(&w, &t2, ROLE_TOOL_ADMIN, "t2");
	above_attach_all(&t1);
	above_attach_all(&t2);
	snprintf(text, sizeof(text), ":pa_counter_read([%s])",
		 entry_of(above_ask(&t1, ":pa_counter_global_create([])"), 1, 0)->value);
	ck_assert_uint_eq(above_status(&t2, text), STATUS_UNKNOWN_OBJECT);
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],0)",
		 entry_of(above_ask(&t1, ":user_event_create()"), 1, 0)->value);
	ck_assert_uint_eq(above_status(&t1, text), STATUS_OK);
	ck_assert_uint_eq(above_status(&t2, text), STATUS_UNKNOWN_OBJECT);
	snprintf(text, sizeof(text), ":csr_enable([%s])",
		 above_ask(&t1, "thread_has_terminated([]): print([$proc])")->csr);
	ck_assert_uint_eq(above_status(&t2, text), STATUS_UNKNOWN_OBJECT);
	above_close(&t1);
	above_close(&t2);
}

TEST(false_replies_of_a_branch_are_refused)
{
	struct msg_entry e = { .action = 1,
			       .objects = "n_1",
			       .value = { (const uint8_t *)"666", 3 } };
	const struct reply *r;

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	a.is_mute = b.is_mute = true;
	above_send(&t1, ":node_get_info([],1)", 300 * MS);
	world_run(&w, 5 * MS);
	/*
	 * b replies to the id of a request to a; then to an unknown id; then to its own request,
	 * with an object of a.
	 */
	ck_assert_int_eq(
		link_send(b.link,
			  &(struct msg){ .type = MSG_REPLY,
					 .reply = { .id = a.last_id, .entry = &e, .nentry = 1 } }),
		0);
	ck_assert_int_eq(
		link_send(b.link, &(struct msg){ .type = MSG_REPLY,
						 .reply = { .id = 1, .entry = &e, .nentry = 1 } }),
		0);
	ck_assert_int_eq(
		link_send(b.link,
			  &(struct msg){ .type = MSG_REPLY,
					 .reply = { .id = b.last_id, .entry = &e, .nentry = 1 } }),
		0);
	world_run(&w, 400 * MS);
	r = t1.last;
	ck_assert_uint_eq(r->coverage.answered, 0);
	for (size_t i = 0; i < r->nentry; i++)
		ck_assert_ptr_null(strstr(r->entry[i].value, "666"));
	/* Site b reports a host of site a, and a host under a wrong number. */
	below_report(&b, 1, "h1");
	below_report(&b, 9, "h3");
	ck_assert_ptr_nonnull(
		strstr(entry_of(above_ask(&t1, ":omig_tree()"), 1, 0)->value, "[n_1,s_1,"));
	ck_assert_ptr_null(strstr(entry_of(t1.last, 1, 0)->value, "n_9"));
	above_close(&t1);
}

TEST(many_requests_of_one_tool_are_all_answered)
{
	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	t1.replies = 0;
	for (int i = 0; i < 3000; i++)
		above_send(&t1, ":node_get_info([],1)", 0);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(t1.replies, 3000);
	above_close(&t1);
}

TEST(a_request_for_a_quorum_does_not_wait_for_the_rest)
{
	struct msg m = { .type = MSG_REQUEST };

	above_open(&w, &t1, ROLE_TOOL_OBSERVE, "t1");
	above_attach_all(&t1);
	b.is_mute = true;
	m.request = (struct msg_request){ .id = 77,
					  .text = { (const uint8_t *)":node_get_info([],1)", 20 },
					  .policy = MSG_WAIT_QUORUM,
					  .quorum = 2,
					  .deadline_ns = 60 * SEC };
	ck_assert_int_eq(link_send(t1.link, &m), 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(t1.last->id, 77);
	ck_assert_uint_eq(t1.last->coverage.answered, 2);
	ck_assert_uint_eq(b.cancels, 1);
	above_close(&t1);
}

SUITE_WITH("requests", open_sites, close_sites)
