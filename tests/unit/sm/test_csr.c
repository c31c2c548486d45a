/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests: armed on the hosts, confirmed once, kept through losses, and their reports.
 */
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#include <stdio.h>

#define EVENT(objects)                          \
	"thread_has_started_lib_call([" objects \
	"],\"MPI_Send\"): node_get_info([$node],1) print([$time])"

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

TEST(a_csr_is_split_over_its_hosts_and_confirmed_once)
{
	top_arm(&w, "c_1", 7, EVENT("p_1_000001,t_2_000001,p_1_000002"), 1);
	world_run(&w, 5 * MS);
	ck_assert_ptr_nonnull(strstr(w.lm[0].b.armed, "([p_1_000001,p_1_000002],\"MPI_Send\")"));
	ck_assert_ptr_nonnull(strstr(w.lm[1].b.armed, "([t_2_000001],\"MPI_Send\")"));
	ck_assert_uint_eq(w.lm[0].b.prefix, 1);
	ck_assert_uint_eq(w.lm[2].b.arms + w.lm[3].b.arms, 0);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert_uint_eq(w.top.ack_version, 7);
	ck_assert_uint_eq(w.top.ack_errors, 0);
	ck_assert_str_eq(w.top.csr, "c_1");
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
}

TEST(the_confirmation_waits_for_all_but_not_for_ever)
{
	w.lm[1].b.no_ack = true;
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	world_run(&w, 500 * MS);
	ck_assert_uint_eq(w.top.acks, 0);
	world_run(&w, 600 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_str_eq(w.top.ack_text, "n_2: the host has not confirmed in time");
	/* Later is harmless. */
	lm_send(&w.lm[1],
		&(struct msg){ .type = MSG_ARM_ACK,
			       .arm_ack = { .csr = "c_1", .version = w.lm[1].b.version } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert(w.lm[1].b.is_up);
}

TEST(a_host_that_dies_while_it_is_waited_for_is_not_waited_for)
{
	w.lm[1].b.no_ack = true;
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	mem_net_kill_host(w.net, "h2");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
}

TEST(arm_ack_reports_errors_of_the_request)
{
	const struct msg_entry bad = { .objects = "p_2_000001",
				       .status = STATUS_UNKNOWN_OBJECT,
				       .value = { (const uint8_t *)"gone", 4 } };

	top_arm(&w, "c_1", 1, "nonsense(", 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_uint_eq(w.top.ack_status, STATUS_SYNTAX_ERROR);
	top_arm(&w, "c_2", 1, ":node_get_info([n_1],1)", 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 2);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_uint_eq(w.top.ack_status, STATUS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(strstr(w.top.ack_text, "no event"));
	top_arm(&w, "n_1", 1, EVENT("p_1_000001"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_uint_eq(world_counts(&w).csrs, 0);
	/* An unknown node, and an lm that knows better. */
	w.lm[1].b.no_ack = true;
	top_arm(&w, "c_3", 1, EVENT("p_9_000001,p_2_000001"), 0);
	lm_send(&w.lm[1], &(struct msg){ .type = MSG_ARM_ACK,
					 .arm_ack = { .csr = "c_3",
						      .version = w.lm[1].b.version,
						      .entry = &bad,
						      .nentry = 1 } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 2);
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
}

TEST(a_conditional_request_of_no_identity_is_denied)
{
	static const char text[] = EVENT("p_1_000001");
	struct msg m = { .type = MSG_ARM };

	m.arm = (struct msg_arm){ .csr = "c_1",
				  .tool = 3,
				  .identity = "",
				  .version = 1,
				  .text = { (const uint8_t *)text, sizeof(text) - 1 } };
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	ck_assert_uint_eq(w.top.ack_status, STATUS_NO_PERMISSION);
	ck_assert_uint_eq(w.lm[0].b.arms, 0);
	m.arm.identity = "x";
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 2);
	ck_assert_uint_eq(w.top.ack_status, STATUS_OK);
	ck_assert_uint_eq(w.lm[0].b.arms, 1);
}

TEST(arming_again_changes_only_what_changed)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	top_arm(&w, "c_1", 2, EVENT("p_1_000001,p_3_000001"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[0].b.arms, 1);
	ck_assert_uint_eq(w.lm[1].b.disarms, 1);
	ck_assert_uint_eq(w.lm[2].b.arms, 1);
	ck_assert_uint_eq(w.top.acks, 2);
	ck_assert_uint_eq(w.top.ack_version, 2);
	top_arm(&w, "c_1", 3, EVENT("p_1_000001,p_1_000002,p_3_000001"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[0].b.arms, 2);
	ck_assert_uint_eq(w.lm[2].b.arms, 1);
	ck_assert_uint_eq(w.top.ack_version, 3);
}

TEST(disarm_and_the_end_of_its_tool_reach_the_hosts)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	top_arm(&w, "c_2", 1, EVENT("p_1_000001"), 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_77" } }),
			 0);
	world_run(&w, 5 * MS);
	/* A request that is absent here may be at a host that was elsewhere before. */
	ck_assert_uint_eq(w.lm[0].b.disarms, 2);
	ck_assert_uint_eq(w.lm[1].b.disarms, 2);
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { 3 } }),
			 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).csrs, 0);
	for (size_t i = 0; i < 4; i++)
		ck_assert_uint_eq(w.lm[i].b.gones, 1);
	ck_assert_uint_eq(w.lm[3].b.gone_tool, 3);
}

TEST(a_returning_host_is_armed_at_once_and_gets_missed_messages)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	top_arm(&w, "c_2", 1, EVENT("p_2_000001"), 0);
	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_2" } }), 0);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { 8 } }),
			 0);
	world_run(&w, 5 * MS);
	w.lm[1].b.arms = w.lm[1].b.disarms = 0;
	lm_start(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[1].b.arms, 1);
	ck_assert_str_eq(w.lm[1].b.csr, "c_1");
	ck_assert_str_eq(w.lm[1].b.disarmed, "c_2");
	ck_assert_uint_eq(w.lm[1].b.gone_tool, 8);
	/* mainsm gets no second report. */
	ck_assert_uint_eq(w.top.acks, 2);
}

TEST(a_host_that_leaves_is_no_longer_meant)
{
	w.lm[1].b.no_ack = true;
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	lm_report(&w.lm[1], false, &(struct msg_object){ .token = "n_2", .op = MSG_OP_GONE }, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1); /* it is not awaited */
	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	w.lm[1].b.arms = 0;
	lm_start(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert(w.lm[1].b.is_up);
	ck_assert_uint_eq(w.lm[1].b.arms, 0);
}

TEST(one_armed_while_its_host_is_silent_waits_for_the_host)
{
	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.acks, 1);
	w.lm[1].b.arms = 0;
	lm_start(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[1].b.arms, 1);
}

TEST(an_event_goes_up_when_it_is_the_hosts_own)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	lm_trigger(&w.lm[0], "c_1", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.triggers, 1);
	ck_assert_str_eq(w.top.thread, "t_1_000001");
	ck_assert_uint_eq(w.top.trigger_tool, 3);
}

TEST(an_event_without_a_request_is_dropped_and_the_host_notified)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	lm_trigger(&w.lm[1], "c_1", "t_2_000001");
	lm_trigger(&w.lm[0], "c_9", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.triggers, 0);
	ck_assert_uint_eq(world_counts(&w).strays, 2);
	ck_assert_str_eq(w.lm[1].b.disarmed, "c_1");
	ck_assert_str_eq(w.lm[0].b.disarmed, "c_9");
	ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up);
}

TEST(a_host_that_holds_a_process_is_notified_of_its_release)
{
	struct msg m = { .type = MSG_RELEASE, .release = { "c_1", 7, "n_2" } };

	top_send(&w, &m);
	m.release.node = "n_99";
	top_send(&w, &m);
	m.release.node = "p_1_000001";
	top_send(&w, &m);
	m.release.node = "";
	top_send(&w, &m);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[1].b.releases, 1);
	ck_assert_uint_eq(w.lm[0].b.releases, 1); /* its processes are its own */
	ck_assert_uint_eq(w.lm[2].b.releases, 0);
}

TEST(an_event_or_confirmation_about_another_host_is_a_forgery)
{
	const struct msg_entry entry = { .action = 1, .objects = "n_2" };
	struct msg m = { .type = MSG_TRIGGERED,
			 .triggered = { .csr = "c_1",
					.tool = 3,
					.node = "n_1",
					.entry = &entry,
					.nentry = 1 } };

	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001,p_3_000001,p_4_000001"), 0);
	lm_trigger(&w.lm[0], "c_1", "t_2_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).forged, 1);
	ck_assert_uint_eq(w.lm[0].b.downs, 1);
	m.triggered.node = "n_2";
	lm_send(&w.lm[1], &m);
	m.triggered.node = "n_3";
	lm_send(&w.lm[2], &m);
	lm_send(&w.lm[3], &(struct msg){ .type = MSG_ARM_ACK,
					 .arm_ack = { .csr = "c_1",
						      .version = w.lm[3].b.version,
						      .entry = &entry,
						      .nentry = 1 } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).forged, 3);
	ck_assert_uint_eq(w.lm[1].b.downs, 0); /* n_2 may report n_2 */
	ck_assert_uint_eq(w.lm[2].b.downs, 1);
	ck_assert_uint_eq(w.lm[3].b.downs, 1);
	ck_assert_uint_eq(w.top.triggers, 1);
}

TEST(a_forged_answer_is_not_passed_on_and_its_host_cut)
{
	const struct msg_missing missing = { "n_3", "dead" };
	const struct msg_coverage coverage = { .asked = 1, .missing = &missing, .nmissing = 1 };

	w.lm[0].b.is_mute = w.lm[1].b.is_mute = w.lm[2].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_2,n_3],1)", SEC);
	world_run(&w, 5 * MS);
	lm_reply(&w.lm[0], w.lm[0].b.last_id, 1, "n_2"); /* of another lm */
	lm_reply(&w.lm[1], w.lm[0].b.last_id, 1, "n_2"); /* to a question to another lm */
	lm_send(&w.lm[1],
		&(struct msg){ .type = MSG_REPLY,
			       .reply = { .id = w.lm[1].b.last_id, .coverage = &coverage } });
	lm_reply(&w.lm[2], w.lm[2].b.last_id, 5, "n_3"); /* about an action that was not asked */
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(world_counts(&w).forged, 3);
	ck_assert_uint_eq(world_counts(&w).strays, 1);
	ck_assert_uint_eq(w.top.replies, 1);
	ck_assert_uint_eq(w.top.last->coverage.answered, 0);
	ck_assert_uint_eq(w.top.last->coverage.nmissing, 3);
	for (size_t i = 0; i < w.top.last->nentry; i++)
		ck_assert_str_ne(w.top.last->entry[i].value, "666");
}

TEST(events_that_do_not_fit_upwards_are_a_counted_gap)
{
	unsigned sent = 0;

	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	top_stop(&w);
	for (; sent < 10; sent++)
		lm_trigger(&w.lm[0], "c_1", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).dropped, 10);
	top_start(&w);
	world_run(&w, 12 * SEC);
	ck_assert_uint_eq(w.top.losses, 1);
	ck_assert_uint_eq(w.top.lost, 10);
	lm_trigger(&w.lm[0], "c_1", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.triggers, 1);
	ck_assert_uint_eq(w.top.dropped, 0);
}

TEST(sm_sums_the_losses_of_its_hosts)
{
	const struct msg m = { .type = MSG_LOSSES, .losses = { "c_1", 5, false } };

	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	lm_send(&w.lm[0], &m);
	lm_send(&w.lm[1], &m);
	lm_send(&w.lm[2], &m); /* nothing is armed there */
	world_run(&w, SEC);
	ck_assert_uint_eq(w.top.losses, 1);
	ck_assert_uint_eq(w.top.lasts, 0);
	ck_assert_uint_eq(w.top.lost, 10);
}

static void disarm(void)
{
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	world_run(&w, 5 * MS);
}

TEST(a_disarm_is_answered_when_all_hosts_have_answered)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	w.lm[0].b.lost = 3;
	w.lm[1].b.no_part = true;
	disarm();
	ck_assert_uint_eq(w.top.lasts, 0);
	lm_send(&w.lm[1], &(struct msg){ .type = MSG_LOSSES, .losses = { "c_1", 4, true } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.lasts, 1);
	ck_assert_uint_eq(w.top.lost, 7);
}

TEST(a_host_that_ignores_disarm_delays_for_a_bounded_time)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001,p_2_000001"), 0);
	w.lm[0].b.lost = 3;
	w.lm[1].b.no_part = true;
	disarm();
	world_run(&w, SEC);
	ck_assert_uint_eq(w.top.lasts, 1);
	ck_assert_uint_eq(w.top.lost, 3);
	disarm(); /* it is disarmed already: answered at once */
	ck_assert_uint_eq(w.top.lasts, 2);
}

static void trigger_held(struct leaf *l, const char *csr, const char *node)
{
	lm_send(l, &(struct msg){
			   .type = MSG_TRIGGERED,
			   .triggered = {
				   .csr = csr, .tool = 3, .seq = 7, .node = node, .held = true } });
}

TEST(a_process_held_for_a_dropped_event_is_released)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	trigger_held(&w.lm[0], "c_1", "n_1");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.triggers, 1);
	ck_assert_uint_eq(w.lm[0].b.releases, 0); /* mainsm determines when */
	trigger_held(&w.lm[0], "c_9", "n_1");
	lm_trigger(&w.lm[0], "c_9", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.lm[0].b.releases, 1);
	top_stop(&w);
	trigger_held(&w.lm[0], "c_1", "n_1");
	lm_trigger(&w.lm[0], "c_1", "t_1_000001");
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).dropped, 2);
	ck_assert_uint_eq(w.lm[0].b.releases, 2);
}

TEST(csr_that_mainsm_does_not_rearm_expires)
{
	world_stop_sm(&w);
	w.conf.grace = 20 * SEC;
	world_start_sm(&w);
	world_run(&w, 15 * SEC);
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	top_arm(&w, "c_2", 1, EVENT("p_1_000001"), 0);
	w.lm[0].b.disarms = w.lm[0].b.gones = 0;
	top_stop(&w);
	top_start(&w); /* a new one, by its epoch */
	world_run(&w, 8 * SEC);
	ck_assert_uint_eq(world_counts(&w).csrs, 2);
	top_arm(&w, "c_2", 5, EVENT("p_1_000001"), 0);
	ck_assert_uint_eq(w.top.ack_version, 5);
	world_run(&w, 30 * SEC);
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
	ck_assert_str_eq(w.lm[0].b.disarmed, "c_1");
	ck_assert_uint_eq(w.lm[0].b.gones, 0); /* its tool has asked the new one again */
	world_run(&w, 100 * SEC);
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
}

TEST(without_mainsm_everything_of_its_tools_ends_after_the_grace)
{
	top_arm(&w, "c_1", 1, EVENT("p_1_000001"), 0);
	top_stop(&w);
	world_run(&w, 100 * SEC);
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
	ck_assert_uint_eq(w.lm[0].b.gones, 0);
	world_run(&w, 30 * SEC);
	ck_assert_uint_eq(world_counts(&w).csrs, 0);
	ck_assert_uint_eq(w.lm[0].b.gones, 1);
	ck_assert(w.lm[0].b.is_up);
}

TEST(more_than_the_limit_is_refused_with_a_reason)
{
	char csr[TOKEN_BYTES];

	for (unsigned i = 1; i <= 64 * 256 + 1; i++) {
		snprintf(csr, sizeof(csr), "c_%u", i);
		top_arm(&w, csr, i, EVENT("p_1_000001"), 0);
		if (i == 64 * 256) {
			world_run(&w, 5 * MS);
			ck_assert_uint_eq(w.top.acks, i);
			ck_assert_uint_eq(w.top.ack_errors, 0);
		}
	}
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_uint_eq(world_counts(&w).csrs, 64 * 256);
}

#define KEPT(name) \
	"thread_writes_events([p_1_000001,p_2_000001],[\"all\"],\"\",0,\"" name "\"): print([])"

TEST(a_subscription_has_one_conditional_request_of_its_owner)
{
	static const char text[] = KEPT("run7");
	struct msg m = { .type = MSG_ARM };

	top_arm(&w, "c_1", 1, KEPT("run7"), 0);
	top_arm(&w, "c_2", 1, KEPT("run8"), 0);
	top_arm(&w, "c_3", 1, KEPT(""), 0);
	top_arm(&w, "c_4", 1, KEPT(""), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).csrs, 4);
	ck_assert_uint_eq(w.lm[0].b.disarms, 0);
	/* One of the same name and of another owner is another one. */
	m.arm = (struct msg_arm){ .csr = "c_5",
				  .tool = 4,
				  .identity = "tool-observe//other@top",
				  .version = 1,
				  .text = { (const uint8_t *)text, sizeof(text) - 1 } };
	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).csrs, 5);
	top_arm(&w, "c_6", 1, KEPT("run7"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).csrs, 5);
	ck_assert_uint_eq(w.lm[0].b.disarms, 1);
	ck_assert_uint_eq(w.lm[1].b.disarms, 1);
	ck_assert_str_eq(w.lm[0].b.disarmed, "c_1");
	/* The same one again takes the place of none. */
	top_arm(&w, "c_6", 2, KEPT("run7"), 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).csrs, 5);
	ck_assert_uint_eq(w.lm[0].b.disarms, 1);
}

SUITE_WITH("sm arms", set_up, clean_up)
