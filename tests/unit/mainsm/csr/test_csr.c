/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests from definition to deletion, over two sites. */
#include "tests/suite.h"
#include "tests/unit/mainsm/two_sites.h"

TEST(each_change_of_a_csr_is_reported_to_its_tool)
{
	define(LIB_CALL " print([$proc,$time])");
	ck_assert_uint_eq(a.arms, 0);
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	ck_assert_uint_eq(above_last(&t, STATUS_CSR_ENABLED)->id, 2);
	ck_assert_ptr_nonnull(
		strstr(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, "p_1_a00000"));
	ck_assert_str_eq(
		a.armed,
		"thread_has_started_lib_call([p_1_a00000,p_1_b00000],\"MPI_Barrier\"):print([$proc,$time])");
	ck_assert_uint_eq(a.arms, 1);
	ck_assert_uint_eq(b.arms, 1);
	ck_assert_uint_eq(a.prefix, 0);
	ck_assert(a.wants_reply);
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(a.arms, 1);
	ck_assert_uint_eq(with_token("csr_disable"), STATUS_OK);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_uint_eq(a.disarms, 1);
	ck_assert_uint_eq(with_token("csr_delete"), STATUS_OK);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
	ck_assert_uint_eq(with_token("csr_delete"), STATUS_UNKNOWN_OBJECT);
}

TEST(an_event_runs_the_actions_with_its_parameters)
{
	const struct reply *r;

	define(LIB_CALL " print([$node,$proc,$thread,$time,$csr,$par1]) node_get_info([$node],1)");
	with_token("csr_enable");
	below_trigger(&a, "p_1_b00000", "t_1_b00000", "7");
	r = above_last(&t, STATUS_CSR_TRIGGERED);
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(r->entry[0].objects, "t_1_b00000");
	snprintf(text, sizeof(text), "6,n_1,p_1_b00000,t_1_b00000,2.5,%s,7", token);
	ck_assert_str_eq(entry_of(r, 1, 0)->value, text);
	ck_assert_str_eq(entry_of(r, 2, 0)->objects, "n_1");
	ck_assert_str_eq(a.text, ":node_get_info([n_1],1)");
	ck_assert_str_eq(r->csr, token);
}

TEST(actions_that_the_lm_has_executed_are_not_repeated)
{
	struct msg_entry e = { .action = 1,
			       .objects = "p_1_a00000",
			       .value = { (const uint8_t *)"5", 1 } };
	struct msg m = { .type = MSG_TRIGGERED };
	const struct reply *r;

	define(LIB_CALL " proc_get_info([$proc],0) print([$proc])");
	with_token("csr_enable");
	ck_assert_uint_eq(a.prefix, 1);
	m.triggered = (struct msg_triggered){
		.csr = token, .node = "n_1", .proc = "p_1_a00000", .entry = &e, .nentry = 1
	};
	ck_assert_int_eq(link_send(a.link, &m), 0);
	world_run(&w, 10 * MS);
	r = above_last(&t, STATUS_CSR_TRIGGERED);
	ck_assert_uint_eq(a.requests, 0);
	ck_assert_str_eq(entry_of(r, 1, 0)->value, "5");
	ck_assert_str_eq(entry_of(r, 2, 0)->value, "1,p_1_a00000");
}

TEST(actions_inside_the_rank_need_no_reply)
{
	str_copy(token, sizeof(token),
		 entry_of(above_ask(&t, ":pa_counter_local_create([])"), 1, 0)->value);
	snprintf(text, sizeof(text), LIB_CALL " pa_counter_local_increment(%s,1)", token);
	define(text);
	with_token("csr_enable");
	ck_assert_uint_eq(a.prefix, 1);
	ck_assert(!a.wants_reply);
}

TEST(a_condition_follows_attach_and_detach)
{
	ck_assert_uint_eq(above_status(&t, ":node_detach([n_2])"), STATUS_OK);
	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	ck_assert_uint_eq(b.arms, 0);
	above_send(&t, ":proc_attach([p_2_a00000])", 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(b.arms, 1);
	ck_assert_uint_eq(a.arms, 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 2);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, "p_2_a00000");
	above_send(&t, ":proc_detach([p_1_a00000])", 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(a.arms, 2);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_str_eq(above_last(&t, STATUS_CSR_DISABLED)->entry[0].objects, "p_1_a00000");
	above_send(&t, ":node_detach([n_2])", 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(b.disarms, 1);
}

TEST(a_condition_follows_hosts_that_are_lost_and_return)
{
	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	below_node_is(&a, 1, MSG_NODE_SILENT);
	ck_assert_uint_eq(a.disarms, 0);
	below_node_is(&a, 1, MSG_NODE_LOST);
	ck_assert_uint_eq(a.disarms, 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	below_node_is(&a, 1, MSG_NODE_UP);
	ck_assert_uint_eq(a.arms, 2);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 2);
	mem_net_kill_host(w.net, "sm-b");
	world_run(&w, 12 * SEC);
	ck_assert(b.is_up);
	below_report(&b, 2, "h2");
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(b.arms, 2);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 3);
}

TEST(enabling_waits_for_the_hosts_but_not_for_ever)
{
	define(LIB_CALL " print([$proc])");
	b.no_ack = true;
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_UNSPECIFIED_ERROR);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 0);
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	below_trigger(&b, "p_2_a00000", "", "1");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
}

static size_t errors_of(const struct reply *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->nentry; i++)
		n += status_is_error(r->entry[i].status);
	return n;
}

TEST(arming_on_what_has_ended_is_reported_when_it_was_named)
{
	a.ended = "p_1_b00000";
	define("proc_has_terminated([]): print([$proc])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 0);
	define("proc_has_terminated([p_1_a00000,p_1_b00000]): print([$proc])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 1);
	/*
	 * The end of the process is known before the csr is enabled, so there is no error for
	 * it.
	 */
	below_report_end(&a, 1);
	define("proc_has_terminated([n_1]): print([$proc])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, "p_1_a00000");
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 0);
}

#define SENT_TO(partners) "patop_lib_call_started([],\"MPI_Send\",[" partners "]): print([$par1])"

/* Returns the list of partners behind "MPI_Send" in the csr that the host has. */
static const char *partners_of(const struct fake_branch *host)
{
	static char out[64];
	const char *at = strstr(host->armed, "\"MPI_Send\",");

	snprintf(out, sizeof(out), "%.*s", at ? (int)strcspn(at + 11, "]") + 1 : 0,
		 at ? at + 11 : "");
	return out;
}

TEST(partners_are_sent_to_all_hosts_as_ranks)
{
	below_report_rank(&a, 1, "p_1_a00000", 4, "job");
	below_report_rank(&b, 2, "p_2_a00000", 7, "job");
	below_report_rank(&b, 2, "p_2_b00000", 6, "job");
	define(SENT_TO("p_2_a00000"));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[7]");
	ck_assert_str_eq(partners_of(&b), "[7]");
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 0);
	/*
	 * Integers are kept; a node, thread or site becomes the ranks of its processes, each
	 * once.
	 */
	define(SENT_TO("9,n_2,t_2_a00000,s_2,3"));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[9,3,6,7]");
	define(SENT_TO(""));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[]");
}

TEST(partners_follow_attach_detach_and_their_ranks)
{
	below_report_rank(&b, 2, "p_2_a00000", 7, "job");
	define(SENT_TO("n_2"));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[7]");
	below_report_rank(&b, 2, "p_2_b00000", 6, "job");
	ck_assert_uint_eq(a.arms, 2);
	ck_assert_str_eq(partners_of(&a), "[6,7]");
	above_send(&t, ":proc_detach([p_2_a00000])", 0);
	world_run(&w, 100 * MS);
	ck_assert_str_eq(partners_of(&a), "[6]");
	/* No partner is left, so the host's part ends: an empty list would mean any partner. */
	above_send(&t, ":proc_detach([p_2_b00000])", 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(a.disarms, 1);
	ck_assert_uint_eq(a.arms, 3);
}

TEST(unknown_partners_are_reported_and_match_nothing)
{
	const struct reply_entry *e;

	define(SENT_TO("p_2_a00000,p_9_zzzzzz"));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(a.arms + b.arms, 0);
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 2);
	e = entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0);
	ck_assert_str_eq(e->objects, "p_2_a00000");
	ck_assert_uint_eq(e->status, STATUS_UNKNOWN_OBJECT);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 1)->objects, "p_9_zzzzzz");
	/* Another process of the host leads to no second report. */
	below_report_proc(&a, 1, "p_1_c00000", 43);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	below_report_rank(&b, 2, "p_2_a00000", 7, "job");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 2);
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 0);
	ck_assert_str_eq(partners_of(&a), "[7]");
}

TEST(partners_are_of_the_job_that_the_event_names)
{
	below_report_rank(&a, 1, "p_1_a00000", 4, "job");
	below_report_rank(&b, 2, "p_2_a00000", 7, "job");
	below_report_rank(&b, 2, "p_2_b00000", 6, "other");
	define("patop_lib_call_ended([p_1_a00000],\"MPI_Send\",[n_2]): print([$par1])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[7]");
	define("patop_lib_call_ended([p_1_a00000],\"MPI_Send\",[7,p_2_b00000]): print([$par1])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(errors_of(above_last(&t, STATUS_CSR_ENABLED)), 1);
	ck_assert_str_eq(partners_of(&a), "[7]");
	/* Without a launcher each process has a job name of its own, which is ignored. */
	below_report_rank(&a, 1, "p_1_a00000", 4, "pid-10");
	below_report_rank(&b, 2, "p_2_b00000", 6, "pid-11");
	define("patop_lib_call_ended([p_1_a00000],\"MPI_Send\",[p_2_b00000]): print([$par1])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(partners_of(&a), "[6]");
}

TEST(a_disconnected_tool_leaves_nothing_armed)
{
	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	above_send(&t, ":node_get_info([],1)", 60 * SEC);
	a.is_mute = b.is_mute = true;
	above_close(&t);
	t.link = NULL;
	ck_assert_uint_eq(a.disarms, 1);
	ck_assert_uint_eq(a.gones, 1);
	ck_assert_uint_eq(b.gones, 1);
	below_trigger(&a, "p_1_a00000", "", "1");
	ck_assert_uint_eq(a.disarms, 2);
}

TEST(a_child_cannot_trigger_for_the_hosts_of_another)
{
	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	below_trigger(&b, "p_1_a00000", "", "1");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
}

TEST(user_events_carry_their_parameters)
{
	const struct reply *r;
	char event[CSR_TOKEN_BYTES];

	above_event(&t, event);
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]): print([$par1,$par2,$proc])",
		 event);
	define(text);
	snprintf(text, sizeof(text), ":user_event_raise([%s],[5,\"x\"],0)", event);
	above_ask(&t, text);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
	with_token("csr_enable");
	snprintf(text, sizeof(text), ":user_event_raise([%s],[5,\"x\"],0)", event);
	above_send(&t, text, 0);
	world_run(&w, 50 * MS);
	r = above_last(&t, STATUS_CSR_TRIGGERED);
	ck_assert_str_eq(entry_of(r, 1, 0)->value, "3,5,\"x\",u_0");
	snprintf(text, sizeof(text), ":user_event_destroy([%s]) user_event_raise([%s],[],0)", event,
		 event);
	above_send(&t, text, 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
}

TEST(one_event_after_another_is_composed_of_conditions)
{
	char event[CSR_TOKEN_BYTES];

	above_event(&t, event);
	snprintf(text, sizeof(text), LIB_CALL " user_event_raise([%s],[$par1],0)", event);
	define(text);
	with_token("csr_enable");
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]): print([$proc,$par1])",
		 event);
	define(text);
	with_token("csr_enable");
	below_trigger(&a, "p_1_a00000", "t_1_a00000", "9");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 2);
	/* With resume 0 the second event has the object that triggered the first one. */
	ck_assert(strcmp(above_last(&t, STATUS_CSR_TRIGGERED)->entry[0].objects, "t_1_a00000") ==
		  0);
}

static void raise_event(const char *event)
{
	char request[96];

	snprintf(request, sizeof(request), ":user_event_raise([%s],[],1)", event);
	above_send(&t, request, 0);
	world_run(&w, 50 * MS);
}

TEST(the_second_event_counts_only_after_the_first)
{
	char first[CSR_TOKEN_BYTES], second[CSR_TOKEN_BYTES], opener[CSR_TOKEN_BYTES];

	above_event(&t, first);
	above_event(&t, second);
	snprintf(text, sizeof(text),
		 "user_event_has_been_raised([%s]): print([\"then\"]) csr_disable([$csr])", second);
	define(text);
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]): csr_enable([%s])", first,
		 token);
	above_arm(&t, text, opener);
	raise_event(second);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
	for (unsigned round = 1; round <= 2; round++) {
		raise_event(first);
		ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 2 * round - 1);
		raise_event(second);
		ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 2 * round);
		ck_assert_str_eq(above_last(&t, STATUS_CSR_TRIGGERED)->csr, token);
		/*
		 * The second event has disabled its csr, which the next first event enables
		 * again.
		 */
		raise_event(second);
		ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 2 * round);
	}
}

TEST(a_call_on_a_host_counts_only_after_the_first_event)
{
	char first[CSR_TOKEN_BYTES], opener[CSR_TOKEN_BYTES];

	above_event(&t, first);
	define(LIB_CALL " print([$proc])");
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]): csr_enable([%s])", first,
		 token);
	above_arm(&t, text, opener);
	ck_assert_uint_eq(a.arms + b.arms, 0);
	raise_event(first);
	ck_assert_uint_eq(a.arms, 1);
	ck_assert_uint_eq(b.arms, 1);
	below_trigger(&a, "p_1_a00000", "t_1_a00000", "9");
	ck_assert_str_eq(above_last(&t, STATUS_CSR_TRIGGERED)->csr, token);
}

TEST(a_one_shot_fires_once_and_is_reported_before_it_ends)
{
	define(LIB_CALL " print([$par1]) csr_delete([$csr])");
	with_token("csr_enable");
	below_trigger(&a, "p_1_a00000", "", "1");
	below_trigger(&a, "p_1_a00000", "", "2");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
	ck_assert_uint_eq(t.last->kind, STATUS_CSR_DELETED);
	ck_assert_uint_ge(a.disarms, 1);
}

TEST(a_condition_that_raises_its_own_event_is_suspended)
{
	char event[CSR_TOKEN_BYTES];

	above_event(&t, event);
	snprintf(text, sizeof(text),
		 "user_event_has_been_raised([%s]): user_event_raise([%s],[],0)", event, event);
	define(text);
	with_token("csr_enable");
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],0)", event);
	above_send(&t, text, 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), CAUSAL_DEPTH_MAX);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_ptr_nonnull(
		strstr(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value, "suspended"));
	above_send(&t, text, 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
}

TEST(a_flood_is_thinned_counted_and_in_the_end_suspended)
{
	struct msg m = { .type = MSG_TRIGGERED };
	unsigned told;

	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	m.triggered = (struct msg_triggered){ .csr = a.csr, .node = "n_1", .proc = "p_1_a00000" };
	for (int second = 0; second < 2; second++) {
		for (int i = 0; i < 1500; i++)
			ck_assert_int_eq(link_send(a.link, &m), 0);
		world_run(&w, 1010 * MS);
	}
	told = above_count(&t, STATUS_CSR_TRIGGERED);
	/* Two more: a report of the losses at the end of each flood. */
	ck_assert_uint_eq(told, 2 * TOOL_FIRINGS_PER_SEC_MAX + 2);
	ck_assert_uint_eq(above_last(&t, STATUS_CSR_TRIGGERED)->nentry, 1);
	ck_assert_str_eq(above_last(&t, STATUS_CSR_TRIGGERED)->entry[0].value, "\"dropped\",500");
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 0);
	for (int second = 0; second < 3; second++) {
		for (int i = 0; i < 1500; i++)
			link_send(a.link, &m);
		world_run(&w, 1010 * MS);
	}
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_ptr_nonnull(
		strstr(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value, "1000 times a second"));
	ck_assert_ptr_nonnull(
		strstr(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value, "\"dropped\","));
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
}

TEST(conditions_and_actions_of_a_tool_are_limited)
{
	char many[1024] = LIB_CALL;

	for (int i = 0; i < CSR_ACTIONS_MAX; i++)
		strncat(many, " print([1])", sizeof(many) - strlen(many) - 1);
	define(many);
	strncat(many, " print([1])", sizeof(many) - strlen(many) - 1);
	ck_assert(status_is_error(above_status(&t, many)));
	for (int i = 1; i < TOOL_CSRS_MAX; i++)
		define(LIB_CALL " print([1])");
	ck_assert(status_is_error(above_status(&t, LIB_CALL " print([1])")));
	with_token("csr_delete");
	define(LIB_CALL " print([1])");
}

TEST(an_action_without_the_right_is_refused_when_it_is_defined)
{
	struct above o;
	const struct reply *r;

	above_open(&w, &o, ROLE_TOOL_OBSERVE, "o");
	r = above_ask(&o, LIB_CALL " thread_stop([$thread])");
	ck_assert_uint_eq(r->kind, 0);
	ck_assert_uint_eq(reply_status(r), STATUS_NO_PERMISSION);
	define(LIB_CALL " thread_stop([$thread])");
	above_close(&o);
}

SUITE_WITH("csr", open_sites, close_sites)
