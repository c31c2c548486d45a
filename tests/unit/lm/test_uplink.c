/* SPDX-License-Identifier: Apache-2.0 */
/* The parent of an lm: mainsm, the site's sm, and the change when one of them is lost. */
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <string.h>

static struct world w;
static struct fake_segment seg;

static void redirected(void)
{
	world_open(&w);
	world_crash_lm(&w);
	w.mainsm.redirect = w.sm_addr;
	world_start_lm(&w);
	world_run(&w, SEC);
}

TEST(mainsm_sends_the_lm_to_the_sm_of_its_site)
{
	redirected();
	ck_assert_ptr_nonnull(w.sm.up.link);
	ck_assert_ptr_null(w.mainsm.up.link);
	ck_assert_str_eq(parent_kind(w.lm->parent), "sm");
	ck_assert_ptr_nonnull(above_next(&w.sm, MSG_DIRECTORY));
	world_close(&w);
}

TEST(a_list_of_addresses_is_tried_in_turn)
{
	char list[128];

	world_open(&w);
	world_crash_lm(&w);
	snprintf(list, sizeof(list), "nowhere:%u,%s", w.sm_port, w.sm_addr);
	w.mainsm.redirect = list;
	world_start_lm(&w);
	world_run(&w, 10 * SEC);
	ck_assert_ptr_nonnull(w.sm.up.link);
	world_close(&w);
}

TEST(an_lm_that_must_wait_asks_again)
{
	unsigned before;

	world_open(&w);
	world_crash_lm(&w);
	before = w.mainsm.hellos;
	w.mainsm.redirect = "wait";
	world_start_lm(&w);
	world_run(&w, 2 * SEC);
	ck_assert_uint_ge(w.mainsm.hellos - before, 4);
	ck_assert_uint_le(w.mainsm.hellos - before, 10);
	w.mainsm.redirect = w.sm_addr;
	world_run(&w, SEC);
	ck_assert_ptr_nonnull(w.sm.up.link);
	world_close(&w);
}

TEST(nonsense_as_an_address_does_no_harm)
{
	world_open(&w);
	world_crash_lm(&w);
	w.mainsm.redirect = "mid:99999,::,:,x";
	world_start_lm(&w);
	world_run(&w, SEC);
	ck_assert_str_eq(parent_kind(w.lm->parent), "none");
	w.mainsm.redirect = w.sm_addr;
	world_run(&w, 15 * SEC);
	ck_assert_ptr_nonnull(w.sm.up.link);
	world_close(&w);
}

TEST(a_lost_sm_is_replaced_as_mainsm_redirects)
{
	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	above_close(&w.sm);
	world_run(&w, SEC);
	ck_assert_str_eq(parent_kind(w.lm->parent), "none");
	w.mainsm.redirect = NULL; /* no sm left: mainsm takes it itself */
	world_run(&w, 15 * SEC);
	ck_assert_str_eq(parent_kind(w.lm->parent), "mainsm");
	ck_assert_ptr_nonnull(w.mainsm.up.link);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_restarted_sm_gets_everything_again)
{
	const struct msg *m;

	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	above_close(&w.sm);
	above_listen(&w, &w.sm, ROLE_SM, "mid", &w.sm_port);
	world_run(&w, 30 * SEC);
	ck_assert_ptr_nonnull(w.sm.up.link);
	m = above_next(&w.sm, MSG_DIRECTORY);
	ck_assert(m->directory.full);
	ck_assert_uint_ge(m->directory.nobject, 2);
	world_close(&w);
	fake_segment_close(&seg);
}

static void count_sends_and_recvs(void)
{
	char text[200];

	for (int i = 0; i < 2; i++) {
		snprintf(
			text, sizeof(text),
			"thread_has_started_lib_call([%s],\"%s\"): pa_counter_global_increment(pa_c_1,1)",
			world_token(&w, 100), i ? "MPI_Recv" : "MPI_Send");
		world_arm(&w, i ? "c_6" : "c_5", text, 1, false);
	}
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 2);
}

static void arm_recv_again(void)
{
	char text[200];

	snprintf(
		text, sizeof(text),
		"thread_has_started_lib_call([%s],\"MPI_Recv\"): pa_counter_global_increment(pa_c_1,1)",
		world_token(&w, 100));
	world_arm(&w, "c_6", text, 1, false);
}

TEST(csr_that_a_new_parent_does_not_rearm_expires)
{
	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	count_sends_and_recvs();
	above_close(&w.sm);
	/* Without a parent the lm keeps its requests. */
	world_run(&w, 2 * CSRS_RESTATE_NS);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 2);
	above_listen(&w, &w.sm, ROLE_SM, "mid", &w.sm_port);
	world_run(&w, 30 * SEC);
	ck_assert_ptr_nonnull(w.sm.up.link);
	arm_recv_again();
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 2);
	ck_assert_uint_ne(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_run(&w, CSRS_RESTATE_NS);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	ck_assert_uint_ne(fake_segment_hook(&seg, "MPI_Recv"), 0);
	/* Its conditional requests stay, and so do later ones. */
	world_run(&w, 2 * CSRS_RESTATE_NS);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_parent_that_is_lost_again_gets_the_whole_time_again)
{
	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	count_sends_and_recvs();
	for (int i = 0; i < 3; i++) {
		above_close(&w.sm);
		above_listen(&w, &w.sm, ROLE_SM, "mid", &w.sm_port);
		world_run(&w, CSRS_RESTATE_NS / 2);
		ck_assert_ptr_nonnull(w.sm.up.link);
		ck_assert_uint_eq(csrs_count(w.lm->csrs), 2);
	}
	world_run(&w, CSRS_RESTATE_NS);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(changes_are_reported_once_a_turn)
{
	unsigned n = 0;

	redirected();
	above_skip_all(&w.sm);
	world_add_rank(&w, &seg, 100, 0, NULL);
	while (above_next(&w.sm, MSG_DIRECTORY))
		n++;
	ck_assert_uint_eq(n, 1);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(a_request_to_mainsm_bypasses_the_parent)
{
	const struct msg ask = { .type = MSG_ENROL,
				 .enrol = { .role = "lm", .site = "site", .host = "leaf" } };

	redirected();
	lm_ask_top(w.lm, &ask);
	world_run(&w, SEC);
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ENROL));
	ck_assert_ptr_nonnull(w.sm.up.link);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_ENROL_ACK, .enrol_ack = { .error = "" } });
	world_run(&w, SEC);
	ck_assert_ptr_null(w.mainsm.up.link);
	ck_assert_str_eq(parent_kind(w.lm->parent), "sm");
	world_close(&w);
}

static void ask_top(void)
{
	lm_ask_top(w.lm,
		   &(struct msg){ .type = MSG_ENROL,
				  .enrol = { .role = "lm", .site = "site", .host = "leaf" } });
	world_run(&w, SEC);
}

TEST(a_question_that_gets_no_answer_is_asked_again)
{
	redirected();
	ask_top();
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ENROL));
	ask_top();
	ck_assert_ptr_nonnull(above_next(&w.mainsm, MSG_ENROL));
	ck_assert_str_eq(parent_kind(w.lm->parent), "sm");
	world_close(&w);
}

TEST(an_unanswered_request_does_not_delay_a_new_parent)
{
	redirected();
	ask_top();
	ck_assert_ptr_nonnull(w.mainsm.up.link);
	above_close(&w.sm);
	w.mainsm.redirect = NULL;
	world_run(&w, 15 * SEC);
	ck_assert_str_eq(parent_kind(w.lm->parent), "mainsm");
	world_close(&w);
}

TEST(ordered_to_stop_it_leaves_the_programs_without_cost)
{
	const struct msg *m;

	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_ask(&w, OBSERVER, ":omig_calls_enable([n_7],\"count\")");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	above_skip_all(&w.sm);
	above_send(&w.sm, &(struct msg){ .type = MSG_STOP, .stop = { .reason = "omig stop" } });
	world_run(&w, SEC);
	ck_assert_str_eq(w.end_reason, "omig stop");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	m = above_next(&w.sm, MSG_DIRECTORY);
	ck_assert_uint_eq(m->directory.object[0].op, MSG_OP_GONE);
	ck_assert_str_eq(m->directory.object[0].token, "n_7");
	ck_assert_ptr_null(w.sm.up.link);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(nor_does_taking_down_what_was_armed_make_them_pay_again)
{
	redirected();
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_ask(&w, OBSERVER, ":omig_calls_enable([n_7],\"count\")");
	count_sends_and_recvs();
	above_send(&w.sm, &(struct msg){ .type = MSG_STOP, .stop = { .reason = "omig stop" } });
	world_run(&w, SEC);
	lm_free(w.lm);
	w.lm = NULL;
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Barrier"), 0);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(without_processes_it_ends_after_a_while)
{
	world_open(&w);
	world_crash_lm(&w);
	w.linger = 10 * SEC;
	world_start_lm(&w);
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_run(&w, 60 * SEC);
	ck_assert_str_eq(w.end_reason, "");
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 9 * SEC);
	ck_assert_str_eq(w.end_reason, "");
	world_run(&w, 2 * SEC);
	ck_assert_str_eq(w.end_reason, "no process to watch");
	world_close(&w);
	fake_segment_close(&seg);
}

/* A process that registers during the bye is for the next lm. */
TEST(an_ending_lm_reports_a_process_that_registers)
{
	world_open(&w);
	world_crash_lm(&w);
	w.linger = 10 * SEC;
	world_start_lm(&w);
	for (unsigned i = 0; i < 1000 && !lm_has_lingered(w.lm); i++)
		world_run(&w, LM_DRAIN_NS / 4);
	ck_assert(lm_has_lingered(w.lm));
	ck_assert(!lm_is_wanted(w.lm));
	ck_assert_str_eq(w.end_reason, "");
	world_add_rank(&w, &seg, 100, 0, NULL);
	world_run(&w, SEC);
	ck_assert_str_eq(w.end_reason, "no process to watch");
	ck_assert(lm_is_wanted(w.lm));
	world_close(&w);
	fake_segment_close(&seg);
}

TEST(requests_end_with_the_link_that_they_came_by)
{
	static const char text[] = ":node_get_info([n_7],128)";
	struct msg m = { .type = MSG_REQUEST,
			 .request = { .id = 5,
				      .identity = OBSERVER,
				      .right = OMIS_OBSERVE,
				      .deadline_ns = 30 * SEC,
				      .text = { (const uint8_t *)text, sizeof(text) - 1 } } };

	world_open(&w);
	above_send(&w.mainsm, &m);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(tasks_waiting(w.lm->tasks), 1);
	link_close(w.mainsm.up.link, "gone");
	w.mainsm.up.link = NULL;
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(tasks_waiting(w.lm->tasks), 0);
	world_close(&w);
}

TEST(four_ways_up_that_a_parent_names_are_kept)
{
	char want[128];

	world_open(&w);
	world_crash_lm(&w);
	w.mainsm.redirect = w.sm_addr;
	w.sm.parents = "a:1 b:2,b:3  c:4 d:5 e:6";
	world_start_lm(&w);
	world_run(&w, SEC);
	snprintf(want, sizeof(want), "%s a:1 b:2,b:3 c:4 d:5", w.sm_addr);
	ck_assert_str_eq(parent_ways(w.lm->parent), want);
	w.mainsm.redirect = NULL; /* the address of mainsm is known anyway */
	w.mainsm.parents = "a:1";
	above_close(&w.sm);
	world_run(&w, 60 * SEC);
	ck_assert_str_eq(parent_kind(w.lm->parent), "mainsm");
	ck_assert_str_eq(parent_ways(w.lm->parent), "");
	world_close(&w);
}

/* The list has the address of the parent, and as many further addresses as fit. */
TEST(ways_up_that_have_no_room_are_left_out)
{
	char list[PARENT_ADDRESS_BYTES], want[2 * PARENT_ADDRESS_BYTES];
	int room;

	world_open(&w);
	world_crash_lm(&w);
	w.mainsm.redirect = w.sm_addr;
	room = PARENT_ADDRESS_BYTES - 2 - (int)strlen(w.sm_addr);
	for (int more = 0; more < 2; more++) {
		snprintf(list, sizeof(list), "%0*d", room + more, 2);
		w.sm.parents = list;
		world_start_lm(&w);
		world_run(&w, SEC);
		snprintf(want, sizeof(want), "%s%s%s", w.sm_addr, more ? "" : " ",
			 more ? "" : list);
		ck_assert_str_eq(parent_ways(w.lm->parent), want);
		if (!more)
			world_crash_lm(&w);
	}
	world_close(&w);
}

SUITE("lm uplink")
