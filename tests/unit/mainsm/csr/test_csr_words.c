/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on conditional requests: events that cannot happen, losses, and the final report. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/two_sites.h"

TEST(a_csr_that_disables_itself_is_reported_after_its_event)
{
	char event[40];

	above_event(&t, event);
	snprintf(text, sizeof(text),
		 "user_event_has_been_raised([%s]): print([\"dis\"]) csr_disable([$csr])", event);
	define(text);
	with_token("csr_enable");
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],1)", event);
	above_send(&t, text, 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_uint_eq(t.events[0], STATUS_CSR_ENABLED);
	ck_assert_uint_eq(t.events[1], STATUS_CSR_TRIGGERED);
	ck_assert_uint_eq(t.events[2], STATUS_CSR_DISABLED);
}

BARE_TEST(csr_end_reports_the_drops_of_all_hosts)
{
	static const char *const ends[] = { "csr_disable", "csr_delete" };

	for (int i = 0; i < 2; i++) {
		unsigned kind = i ? STATUS_CSR_DELETED : STATUS_CSR_DISABLED;

		open_sites();
		define(LIB_CALL " print([1])");
		with_token("csr_enable");
		a.lost = 40;
		b.lost = 2;
		ck_assert_uint_eq(with_token(ends[i]), STATUS_OK);
		ck_assert_uint_eq(above_count(&t, kind), 1);
		snprintf(text, sizeof(text), "%s,\"dropped\",42", token);
		ck_assert_str_eq(above_last(&t, kind)->entry[0].value, text);
		close_sites();
	}
}

/*
 * Losses that hosts report late are added to the final report; a silent host delays it for a
 * bounded time.
 */
TEST(the_final_report_waits_for_hosts_for_a_bounded_time)
{
	struct msg m = { .type = MSG_TRIGGERED };

	define(LIB_CALL " print([1])");
	with_token("csr_enable");
	a.no_part = true;
	above_send(&t, (snprintf(text, sizeof(text), ":csr_disable([%s])", token), text), 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 0);
	m.triggered = (struct msg_triggered){
		.csr = token, .node = "n_1", .proc = "p_1_a00000", .dropped = 4
	};
	link_send(a.link, &m); /* an event from before the csr was disabled */
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	snprintf(text, sizeof(text), "%s,\"dropped\",5", token);
	ck_assert_str_eq(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value, text);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
}

TEST(losses_without_a_later_event_are_reported)
{
	define(LIB_CALL " print([1])");
	with_token("csr_enable");
	link_send(a.link, &(struct msg){ .type = MSG_LOSSES, .losses = { token, 30, false } });
	link_send(b.link, &(struct msg){ .type = MSG_LOSSES, .losses = { token, 3, false } });
	world_run(&w, SEC);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
	ck_assert_uint_eq(above_last(&t, STATUS_CSR_TRIGGERED)->nentry, 1);
	ck_assert_str_eq(above_last(&t, STATUS_CSR_TRIGGERED)->entry[0].value, "\"dropped\",33");
}

TEST(a_condition_of_a_user_event_that_is_gone_reports_that)
{
	char first[40], second[40];

	above_event(&t, first);
	above_event(&t, second);
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s,%s]): print([1])", first,
		 second);
	define(text);
	snprintf(text, sizeof(text), ":user_event_destroy([%s])", first);
	above_ask(&t, text);
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, second);
	ck_assert_uint_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 1)->status,
			  STATUS_UNKNOWN_OBJECT);
	snprintf(text, sizeof(text), ":user_event_destroy([%s])", second);
	above_send(&t, text, 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	ck_assert_uint_eq(
		above_ask(&t, "user_event_has_been_raised([e_999]): print([1])")->entry[0].status,
		STATUS_UNKNOWN_OBJECT);
}

TEST(an_action_on_a_missing_counter_is_refused_at_definition)
{
	static const char *const actions[] = {
		"pa_counter_local_increment(pa_cl_999,1)",
		"pa_counter_global_increment([pa_c_999],1)",
		"print([1]) pa_integrator_local_increment(pa_il_999,1.0,$time)",
		"patop_integrator_global_increment(pa_i_999,1.0,$time,0)",
		"trace_buffer_append(trace_b_999,$time,1,[])",
	};
	char made[40];

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		snprintf(text, sizeof(text), LIB_CALL " %s", actions[i]);
		ck_assert_uint_eq(above_status(&t, text), STATUS_UNKNOWN_OBJECT);
		ck_assert_ptr_nonnull(strstr(t.of_kind[0]->entry[0].value, "_999"));
	}
	str_copy(made, sizeof(made),
		 entry_of(above_ask(&t, ":trace_buffer_create([])"), 1, 0)->value);
	snprintf(text, sizeof(text), LIB_CALL " trace_buffer_append(%s,$time,1,[])", made);
	define(text);
	snprintf(text, sizeof(text), ":trace_buffer_delete([%s])", made);
	ck_assert_uint_eq(above_status(&t, text), STATUS_OK);
	snprintf(text, sizeof(text), LIB_CALL " trace_buffer_append(%s,$time,1,[])", made);
	ck_assert_uint_eq(above_status(&t, text), STATUS_UNKNOWN_OBJECT);
}

TEST(a_condition_of_all_is_enabled_where_there_is_nothing_yet)
{
	ck_assert_uint_eq(above_status(&t, ":node_detach([n_1,n_2])"), STATUS_OK);
	define(LIB_CALL " print([1])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 1);
	ck_assert_uint_eq(above_last(&t, STATUS_CSR_ENABLED)->coverage.asked, 0);
}

/* Makes the host confirm with a reason why it cannot watch these processes. */
static void refuse_at(struct fake_branch *at, const char *objects)
{
	at->refused = objects;
	at->refusal = "no process here has a probe 'step'";
}

TEST(enable_fails_when_no_named_process_has_the_probe)
{
	static const char event[] =
		"thread_executes_probe([p_1_a00000,p_2_a00000],\"step\"): print([1])";

	define(event);
	refuse_at(&a, "p_1_a00000");
	refuse_at(&b, "p_2_a00000");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_PARAMETER_ERROR);
	ck_assert_str_eq(t.of_kind[0]->entry[0].objects, token);
	ck_assert_ptr_nonnull(
		strstr(t.of_kind[0]->entry[0].value, "no process here has a probe 'step'"));
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_ENABLED), 0);
	ck_assert_uint_eq(a.disarms, 1);
	b.refused = NULL; /* now the program of site b has that probe */
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, "p_2_a00000");
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 1)->objects, "p_1_a00000");
}

TEST(csr_with_only_unknown_objects_is_refused)
{
	static const char *const events[] = {
		"thread_has_started_lib_call([p_1_zzzzzz],\"MPI_Send\"): print([1])",
		"patop_lib_call_started([t_1_zzzzzz,p_1_zzzzzz],\"MPI_Send\",[]): print([1])",
		"thread_writes_events([p_1_zzzzzz],[\"all\"],\"\"): print([1])",
		"proc_has_terminated([p_1_zzzzzz]): print([1])",
		"thread_has_started_lib_call([n_9],\"MPI_Send\"): print([1])",
	};

	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		define(events[i]);
		ck_assert_uint_eq(with_token("csr_enable"), STATUS_UNKNOWN_OBJECT);
		ck_assert_ptr_nonnull(strstr(t.of_kind[0]->entry[0].value,
					     i < 4 ? "_1_zzzzzz: there is no such" : "n_9: there"));
		ck_assert_uint_eq(with_token("csr_disable"), STATUS_OK);
	}
	ck_assert_uint_eq(
		above_count(&t, STATUS_CSR_ENABLED) + above_count(&t, STATUS_CSR_DISABLED), 0);
	ck_assert_uint_eq(a.arms + b.arms, 0);
}

TEST(of_several_objects_the_known_ones_are_enabled)
{
	define("proc_has_terminated([p_1_zzzzzz,p_2_a00000]): print([1])");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(b.arms, 1);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->objects, "p_2_a00000");
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 1)->objects, "p_1_zzzzzz");
	ck_assert_uint_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 1)->status,
			  STATUS_UNKNOWN_OBJECT);
}

TEST(of_all_processes_a_reason_is_reported_when_none_can)
{
	define("thread_executes_probe([],\"step\"): print([1])");
	refuse_at(&a, "p_1_a00000,p_1_b00000");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	/* the two processes of b; nothing about a */
	ck_assert_uint_eq(above_last(&t, STATUS_CSR_ENABLED)->nentry, 2);
	with_token("csr_disable");
	refuse_at(&b, "p_2_a00000,p_2_b00000");
	ck_assert_uint_eq(with_token("csr_enable"), STATUS_OK);
	ck_assert_uint_eq(entry_of(above_last(&t, STATUS_CSR_ENABLED), 1, 0)->status,
			  STATUS_PARAMETER_ERROR);
}

TEST(actions_after_an_attach_find_conditions_armed)
{
	ck_assert_uint_eq(above_status(&t, ":node_detach([n_2])"), STATUS_OK);
	define(LIB_CALL " print([$proc])");
	with_token("csr_enable");
	b.no_ack = true;
	above_send(&t, ":proc_attach([p_2_a00000]) ; proc_get_info([p_2_a00000],1)", 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(b.requests, 0);
	link_send(b.link, &(struct msg){ .type = MSG_ARM_ACK,
					 .arm_ack = { .csr = b.csr, .version = b.version } });
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(b.requests, 1);
}

TEST(impossible_event_is_refused_at_definition)
{
	const struct reply *r;

	r = above_ask(&t, "thread_has_started_lib_call([],\"MPI_Sned\"): print([1])");
	ck_assert_uint_eq(r->kind, 0);
	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(strstr(r->entry[0].value, "did you mean 'MPI_Send'?"));
	r = above_ask(&t, "patop_lib_call_started([],\"MPI_Send\",[],[\"send\"]): print([1])");
	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DEFINED), 0);
}

TEST(a_user_event_happens_when_it_is_raised)
{
	char event[40];
	double when;

	above_event(&t, event);
	define("user_event_has_been_raised([]): print([$time])");
	with_token("csr_enable");
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],1)", event);
	above_send(&t, text, 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(
		sscanf(entry_of(above_last(&t, STATUS_CSR_TRIGGERED), 1, 0)->value, "1,%lf", &when),
		1);
	ck_assert(when > (double)world_wall(&w) / 1e9 - 0.2 &&
		  when <= (double)world_wall(&w) / 1e9);
}

TEST(a_list_in_brackets_of_its_own_stays_one_value)
{
	char event[CSR_TOKEN_BYTES];

	above_event(&t, event);
	define("user_event_has_been_raised([]): print([0,$par1]) print([0,[$par1],9])");
	with_token("csr_enable");
	snprintf(text, sizeof(text), ":user_event_raise([%s],[[1,2]],1)", event);
	above_send(&t, text, 0);
	world_run(&w, 50 * MS);
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_TRIGGERED), 1, 0)->value, "3,0,1,2");
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_TRIGGERED), 2, 0)->value,
			 "3,0,[1,2],9");
}

static void trigger_with(struct fake_branch *at, const struct msg_par *par, size_t npar)
{
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = at->csr,
					      .tool = at->tool,
					      .seq = 1,
					      .time_ns = SEC,
					      .node = "n_1",
					      .proc = "p_1_a00000",
					      .thread = "t_1_a00000",
					      .par = par,
					      .npar = npar } };

	ck_assert_int_eq(link_send(at->link, &m), 0);
	world_run(&w, 50 * MS);
}

#define PAR(i, text)                                              \
	{                                                         \
		i,                                                \
		{                                                 \
			(const uint8_t *)(text), sizeof(text) - 1 \
		}                                                 \
	}

/* The first parameter of a probe is $vt, and also $par1. */
TEST(an_event_of_a_probe_has_a_virtual_time)
{
	static const struct msg_par pars[] = { PAR(1, "42"), PAR(2, "2.5"), PAR(3, "\"x\"") };

	define("thread_executes_probe([],\"step\"): print([$vt,$par1,$par2,$par3])");
	with_token("csr_enable");
	trigger_with(&a, pars, ARRAY_LEN(pars));
	ck_assert_ptr_nonnull(above_last(&t, STATUS_CSR_TRIGGERED));
	ck_assert_str_eq(entry_of(above_last(&t, STATUS_CSR_TRIGGERED), 1, 0)->value,
			 "4,42,42,2.5,\"x\"");
}

/* An event that does not belong to its csr ends the connection, and no tool receives it. */
BARE_TEST(an_event_with_parameters_that_are_none_is_not_reported)
{
	static const struct msg_par bad[] = { PAR(1, "1,2"), PAR(1, ""), PAR(1, "(1"),
					      PAR(100000, "1") };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		open_sites();
		define(LIB_CALL " print([$par1])");
		with_token("csr_enable");
		trigger_with(&a, &bad[i], 1);
		ck_assert_msg(above_count(&t, STATUS_CSR_TRIGGERED) == 0, "%zu", i);
		close_sites();
	}
}

static unsigned switched_off(const char *names)
{
	char request[100];

	snprintf(request, sizeof(request), ":omig_events_off([%s])", names);
	above_send(&t, request, 0);
	world_run(&w, 100 * MS); /* a report on the condition may follow the reply */
	return (unsigned)strtoul(entry_of(t.of_kind[0], 1, 0)->value, NULL, 10);
}

/*
 * omig_events_off() disables csrs by the names of their events; csrs of other events remain
 * enabled.
 */
TEST(conditions_of_events_are_switched_off_by_name)
{
	define("thread_writes_events([],[\"io.*\",\"net\"],\"\"): print([1])");
	ck_assert_uint_eq(switched_off("\"io.*\""), 0); /* the csr is not enabled yet */
	with_token("csr_enable");
	ck_assert_uint_eq(switched_off("\"io\""), 0);
	ck_assert_uint_eq(switched_off("\"other\",\"io.read\""), 0);
	ck_assert_uint_eq(switched_off("\"other\",\"net\""), 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_ptr_nonnull(strstr(above_last(&t, STATUS_CSR_DISABLED)->entry[0].value,
				     "switched off by omig_events_off"));
	with_token("csr_enable");
	ck_assert_uint_eq(switched_off("\"io.*\""), 1);
	with_token("csr_enable");
	ck_assert_uint_eq(switched_off("\"all\""), 1);
	ck_assert_uint_eq(switched_off("\"all\""), 0);
	define(LIB_CALL " print([1])");
	with_token("csr_enable");
	ck_assert_uint_eq(switched_off("\"all\",\"MPI_Barrier\""), 0);
}

SUITE_WITH("csr_words", open_sites, close_sites)
