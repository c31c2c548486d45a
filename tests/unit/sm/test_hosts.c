/* SPDX-License-Identifier: Apache-2.0 */
/* Admission, reports of hosts about themselves, and reports to mainsm. */
#include "common/base/array.h"
#include "sm/hosts/nodes.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#include <stdio.h>

static struct world w;

static void set_up(void)
{
	world_open(&w);
}

static void clean_up(void)
{
	world_done(&w);
}

static void expect_refused(size_t i, const char *words)
{
	lm_start(&w, i);
	world_run(&w, 50 * MS);
	ck_assert(!w.lm[i].b.is_up);
	ck_assert_msg(strstr(w.lm[i].b.why, words) != NULL, "'%s' lacks '%s'", w.lm[i].b.why,
		      words);
}

TEST(mainsm_receives_the_address_and_objects_of_an_sm)
{
	ck_assert_str_eq(w.top.listen, "127.0.0.1:40000");
	ck_assert_uint_eq(w.ready, 1);
	lms_start(&w, 4);
	ck_assert_uint_eq(top_count(&w), 4 * 5);
	ck_assert_str_eq(top_find(&w, "n_2")->parent, "s_5");
	ck_assert_str_eq(top_find(&w, "n_2")->host, "h2");
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP);
	ck_assert_str_eq(top_find(&w, "p_3_000001")->parent, "n_3");
	ck_assert_str_eq(top_find(&w, "t_3_000001")->parent, "p_3_000001");
	ck_assert_uint_eq(world_counts(&w).objects, 16);
}

TEST(lms_that_do_not_belong_here_are_refused_with_the_reason)
{
	lm_set(&w, 0, "b", "h1", 1);
	expect_refused(0, "site b");
	lm_set(&w, 1, "a", "h2", 2);
	str_copy(w.lm[1].b.host, sizeof(w.lm[1].b.host), "other");
	expect_refused(1, "not for other");
	lm_set(&w, 2, "a", "h3", 0);
	expect_refused(2, "node number");
	lm_start(&w, 3);
	world_run(&w, 50 * MS);
	ck_assert(w.lm[3].b.is_up);
	ck_assert_uint_ge(world_counts(&w).refused, 3);
}

TEST(two_hosts_of_one_number_are_reported)
{
	lm_set(&w, 1, "a", "h2", 1);
	lm_start(&w, 0);
	world_run(&w, 50 * MS);
	expect_refused(1, "node number 1 is that of host h1");
	ck_assert(w.lm[0].b.is_up);
	/* Also while the first one is disconnected. */
	lm_stop(&w, 0);
	lm_stop(&w, 1);
	world_run(&w, SEC);
	expect_refused(1, "node number 1 is that of host h1");
}

/* The first claim may have been false. */
TEST(a_disowned_number_is_free_for_its_owner)
{
	struct msg m = { .type = MSG_DISOWN, .disown = { .node = 2, .host = "h3" } };

	lm_set(&w, 0, "a", "h1", 2);
	lm_start(&w, 0);
	world_run(&w, 50 * MS);
	expect_refused(1, "node number 2 is that of host h1");
	top_send(&w, &m);
	m.disown.node = 77;
	top_send(&w, &m);
	world_run(&w, 50 * MS);
	ck_assert(w.lm[0].b.is_up); /* neither of it is so */
	m.disown = (struct msg_disown){ 2, "h1" };
	top_send(&w, &m);
	lm_cut(&w, 0, true);
	world_run(&w, 20 * SEC);
	ck_assert(!w.lm[0].b.is_up && w.lm[1].b.is_up);
	ck_assert_str_eq(top_find(&w, "n_2")->host, "h2");
}

TEST(a_host_that_was_given_another_number_returns_with_it)
{
	lms_start(&w, 1);
	lm_stop(&w, 0);
	world_run(&w, 10 * MS);
	w.lm[0].number = 9;
	lm_start(&w, 0);
	world_run(&w, 50 * MS);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_ptr_null(top_find(&w, "n_1"));
	ck_assert_ptr_nonnull(top_find(&w, "n_9"));
	ck_assert_ptr_nonnull(top_find(&w, "p_9_000001"));
}

TEST(a_newer_connection_of_a_host_takes_the_place_of_a_dead_one)
{
	struct leaf *l = &w.lm[0], *again = &w.lm[1];

	lms_start(&w, 1);
	lm_set(&w, 1, "a", "h1", 1);
	again->epoch = 2;
	again->procs = 1;
	lm_start(&w, 1);
	world_run(&w, 50 * MS);
	ck_assert(again->b.is_up);
	ck_assert_uint_eq(world_counts(&w).lms, 1);
	ck_assert_ptr_null(top_find(&w, "p_1_000002"));
	ck_assert_ptr_nonnull(top_find(&w, "p_1_000001"));
	/* The older one does not win it back. */
	world_run(&w, 20 * SEC);
	ck_assert(again->b.is_up && !l->b.is_up);
	ck_assert_uint_eq(again->b.ups, 1);
	ck_assert_ptr_nonnull(strstr(l->b.why, "younger"));
}

TEST(changes_go_up_at_once_and_together)
{
	const struct msg_object o[] = {
		{ .token = "p_1_000007", .parent = "n_1", .name = "new", .rank = 3 },
		{ .token = "t_1_000007", .parent = "p_1_000007", .name = "main", .rank = -1 },
		{ .token = "p_1_000001",
		  .parent = "n_1",
		  .name = "heat",
		  .state = MSG_STATE_STOPPED },
		{ .token = "p_1_000002", .op = MSG_OP_GONE },
	};
	unsigned before;

	lms_start(&w, 1);
	before = w.top.directories;
	for (size_t i = 0; i < 4; i++)
		lm_report(&w.lm[0], false, &o[i], 1);
	world_run(&w, 2 * MS);
	ck_assert_uint_le(w.top.directories, before + 2);
	ck_assert_ptr_nonnull(top_find(&w, "t_1_000007"));
	ck_assert_uint_eq(top_find(&w, "p_1_000001")->state, MSG_STATE_STOPPED);
	ck_assert_ptr_null(top_find(&w, "p_1_000002"));
	ck_assert_ptr_null(top_find(&w, "t_1_000002")); /* it is removed with its process */
	ck_assert_uint_eq(world_counts(&w).objects, 4);
	/* The same again changes nothing. */
	before = w.top.directories;
	lm_report(&w.lm[0], false, &o[2], 1);
	world_run(&w, 2 * MS);
	ck_assert_uint_eq(w.top.directories, before);
}

TEST(a_snapshot_ends_what_it_does_not_name)
{
	lms_start(&w, 1);
	w.lm[0].procs = 1;
	lm_snapshot(&w.lm[0]);
	world_run(&w, 2 * MS);
	ck_assert_ptr_null(top_find(&w, "p_1_000002"));
	ck_assert_ptr_null(top_find(&w, "t_1_000002"));
	ck_assert_uint_eq(world_counts(&w).objects, 2);
	w.lm[0].procs = 3;
	lm_snapshot(&w.lm[0]);
	world_run(&w, 2 * MS);
	ck_assert_uint_eq(top_count(&w), 7);
}

TEST(a_large_snapshot_goes_in_parts_and_is_sent_again_whole)
{
	unsigned before;

	w.lm[0].procs = 1500;
	lm_start(&w, 0);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_count(&w), 3001);
	ck_assert_uint_eq(w.top.fulls, 1);
	ck_assert_uint_ge(w.top.directories, 2);
	before = w.top.directories;
	top_stop(&w);
	world_run(&w, SEC);
	top_start(&w);
	world_run(&w, 15 * SEC);
	ck_assert_uint_eq(top_count(&w), 3001);
	ck_assert_uint_ge(w.top.directories, before + 2);
}

/* Every report about foreign objects: the host is disconnected, and nothing is sent up. */
static const struct msg_object forgeries[] = {
	{ .token = "p_2_000009", .parent = "n_2" },
	{ .token = "n_2", .parent = "s_5" },
	{ .token = "t_1_000009", .parent = "p_2_000001" },
	{ .token = "p_1_000009", .parent = "n_2" },
	{ .token = "p_1_000009", .parent = "n_1", .host = "h2" },
	{ .token = "p_1_000009", .parent = "n_1", .site = "b" },
	{ .token = "s_5", .parent = "" },
	{ .token = "c_1", .parent = "n_1" },
	{ .token = "nonsense", .parent = "n_1" },
	{ .token = "p_1_000009", .parent = "p_1_000001" },
	{ .token = "t_1_000009", .parent = "t_1_000001" },
	{ .token = "t_1_000009", .parent = "p_1_000009" },
	{ .token = "p_2_000001", .op = MSG_OP_GONE },
	{ .token = "n_2", .op = MSG_OP_GONE },
};

TEST(a_host_that_speaks_of_others_is_cut)
{
	lms_start(&w, 2);
	for (size_t i = 0; i < ARRAY_LEN(forgeries); i++) {
		unsigned downs = w.lm[0].b.downs;

		lm_report(&w.lm[0], false, &forgeries[i], 1);
		world_run(&w, 5 * MS);
		ck_assert_msg(w.lm[0].b.downs == downs + 1, "forgery %zu went through", i);
		ck_assert_uint_eq(world_counts(&w).forged, i + 1);
		ck_assert_ptr_null(top_find(&w, "p_1_000009"));
		ck_assert_ptr_null(top_find(&w, "p_2_000009"));
		ck_assert_ptr_nonnull(top_find(&w, "p_2_000001"));
		ck_assert_str_eq(top_find(&w, "n_2")->host, "h2");
		world_run(&w, 40 * SEC);
		ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up);
	}
}

TEST(a_snapshot_of_another_node_is_a_forgery)
{
	const struct msg m = { .type = MSG_DIRECTORY, .directory = { .full = true, .node = 2 } };

	lms_start(&w, 2);
	lm_send(&w.lm[0], &m);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(world_counts(&w).forged, 1);
	ck_assert_ptr_nonnull(top_find(&w, "p_2_000001"));
}

TEST(a_report_of_its_own_silence_is_ignored)
{
	const struct msg_object o = { .token = "n_1", .parent = "s_9", .sub = MSG_NODE_LOST };

	lms_start(&w, 1);
	lm_report(&w.lm[0], false, &o, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
	ck_assert_str_eq(top_find(&w, "n_1")->parent, "s_5");
}

TEST(a_host_without_network_is_shown_in_7_s_and_returns)
{
	nsec_t cut_at;

	lms_start(&w, 2);
	world_run(&w, 3 * SEC);
	cut_at = loop_now(w.loop);
	lm_cut(&w, 1, true);
	world_run(&w, 7 * SEC);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_SILENT);
	ck_assert_int_le(w.top.silent_at - cut_at, 7 * SEC);
	ck_assert_int_ge(w.top.silent_at - cut_at, 3 * SEC);
	ck_assert_ptr_nonnull(top_find(&w, "p_2_000001")); /* known, but silent */
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
	world_run(&w, 70 * SEC);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_LOST);
	lm_cut(&w, 1, false);
	world_run(&w, 20 * SEC);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP);
	ck_assert_uint_eq(reply_status(top_ask(&w, ":node_get_info([n_2],1)", SEC)), STATUS_OK);
}

TEST(a_host_that_never_returns_is_forgotten)
{
	lms_start(&w, 2);
	lm_stop(&w, 1);
	world_run(&w, 600 * SEC);
	ck_assert_uint_eq(world_counts(&w).nodes, 2);
	world_run(&w, 80 * SEC);
	ck_assert_uint_eq(world_counts(&w).nodes, 1);
	ck_assert_ptr_null(top_find(&w, "n_2"));
	ck_assert_uint_eq(world_counts(&w).objects, 4);
}

TEST(a_host_that_sends_bye_is_removed_at_once)
{
	const struct msg_object o = { .token = "n_2", .op = MSG_OP_GONE };

	lms_start(&w, 2);
	lm_report(&w.lm[1], false, &o, 1);
	lm_stop(&w, 1);
	world_run(&w, 5 * MS);
	ck_assert_ptr_null(top_find(&w, "n_2"));
	ck_assert_uint_eq(world_counts(&w).nodes, 1);
	ck_assert_uint_eq(world_counts(&w).objects, 4);
}

TEST(a_restarted_mainsm_gets_everything_again)
{
	lms_start(&w, 3);
	lm_stop(&w, 2);
	world_run(&w, SEC);
	top_stop(&w);
	world_run(&w, SEC);
	lm_report(&w.lm[0], false, &(struct msg_object){ .token = "p_1_000001", .op = MSG_OP_GONE },
		  1);
	ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up); /* lms do not notice */
	world_run(&w, SEC);
	top_start(&w);
	world_run(&w, 15 * SEC);
	ck_assert_uint_eq(w.top.hellos, 2);
	ck_assert_uint_eq(top_count(&w), 3 + 5 + 5);
	ck_assert_uint_eq(top_find(&w, "n_3")->sub, MSG_NODE_SILENT);
	ck_assert_uint_eq(w.lm[0].b.downs, 0);
	ck_assert_uint_eq(w.ready, 2);
}

TEST(a_restarted_sm_reports_nothing_before_its_lms)
{
	lms_start(&w, 2);
	world_stop_sm(&w);
	world_run(&w, SEC);
	world_start_sm(&w);
	world_run(&w, 15 * SEC);
	ck_assert(w.lm[0].b.is_up && w.lm[1].b.is_up);
	ck_assert_uint_eq(top_count(&w), 10);
	ck_assert_uint_eq(w.lm[0].b.ups, 2);
}

TEST(one_host_cannot_take_all_the_room)
{
	lms_start(&w, 2);
	top_stop(&w); /* it need not be notified */
	for (uint32_t i = 0; i < 20; i++) {
		struct msg_object o[1000];
		char token[1000][TOKEN_BYTES];

		for (uint32_t k = 0; k < 1000; k++) {
			token_print_process((struct token *)token[k], 1, 1000 * i + k + 100);
			o[k] = (struct msg_object){ .token = token[k],
						    .parent = "n_1",
						    .rank = -1 };
		}
		if (w.lm[0].b.is_up)
			lm_report(&w.lm[0], false, o, 1000);
		world_run(&w, MS);
		if (!w.lm[0].b.is_up)
			break;
	}
	ck_assert_ptr_nonnull(strstr(w.lm[0].b.why, "more than 16384 objects"));
	ck_assert_uint_le(world_counts(&w).objects, 16384 + 4);
	ck_assert(w.lm[1].b.is_up);
}

TEST(processes_that_come_and_go_while_mainsm_is_away_take_no_room)
{
	lms_start(&w, 1);
	top_stop(&w);
	for (uint32_t i = 0; i < 40000; i++) {
		struct token t;
		const char *token = token_print_process(&t, 1, i + 100);

		lm_report(&w.lm[0], false, &(struct msg_object){ .token = token, .parent = "n_1" },
			  1);
		lm_report(&w.lm[0], false,
			  &(struct msg_object){ .token = token, .op = MSG_OP_GONE }, 1);
		if (i % 1000 == 0)
			world_run(&w, MS);
	}
	world_run(&w, SEC);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_uint_eq(w.lm[0].b.downs, 0);
	ck_assert_uint_eq(world_counts(&w).objects, 4);
}

/* Requests without a wait for their answers. */
static void lm_flood(struct world *world, const char *text)
{
	static uint32_t numbers[512];
	struct omis_request *r = NULL;
	struct msg m = { .type = MSG_REQUEST };

	for (uint32_t i = 0; i < 512; i++)
		numbers[i] = i + 1;
	ck_assert_int_eq(omis_parse_inner(text, strlen(text), &r, NULL), 0);
	m.request = (struct msg_request){ .id = ++world->top.next_id + 1000000,
					  .identity = "x",
					  .right = OMIS_OBSERVE,
					  .deadline_ns = MS,
					  .text = { (const uint8_t *)text, strlen(text) },
					  .action = numbers,
					  .naction = r->naction };
	omis_request_free(r);
	ck_assert_int_eq(top_send(world, &m), 0);
}

TEST(an_lm_that_stops_reading_is_cut_and_the_others_do_not_notice)
{
	char text[4096] = ":node_get_info([n_1],1)";
	const struct reply *r;

	for (size_t n = strlen(text); n < 3000; n = strlen(text))
		snprintf(text + n, sizeof(text) - n, " node_get_info([n_1],%zu)", n);
	world_stop_sm(&w);
	w.conf.queue_cap = 64 * 1024;
	world_start_sm(&w);
	world_run(&w, 2 * SEC);
	lms_start(&w, 2);
	link_pause_reading(w.lm[0].b.link, true);
	/* The link itself takes what sockets would; then the queue fills. */
	for (int i = 0; i < 2000 && !world_counts(&w).cut; i++) {
		lm_flood(&w, text);
		world_run(&w, MS);
		if (i % 10 == 0) {
			r = top_ask(&w, ":node_get_info([n_2],1)", 100 * MS);
			ck_assert_uint_eq(r->coverage.nmissing, 0);
		}
	}
	ck_assert_uint_eq(world_counts(&w).cut, 1);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_SILENT);
	ck_assert(w.lm[1].b.is_up);
	ck_assert_uint_eq(w.lm[1].b.downs, 0);
}

/* Its link sends heartbeats, so it is not silent. */
TEST(a_host_that_answers_no_request_is_hung_until_it_does)
{
	lms_start(&w, 2);
	w.lm[1].b.is_mute = true;
	top_ask(&w, ":node_get_info([n_1,n_2],1)", 500 * MS);
	top_ask(&w, ":node_get_info([n_1,n_2],1)", 500 * MS);
	top_ask(&w, ":node_get_info([n_1,n_2],1)", 500 * MS);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP); /* too short to detect */
	world_run(&w, NODE_HUNG_NS);
	top_ask(&w, ":node_get_info([n_1,n_2],1)", 500 * MS);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_HUNG);
	ck_assert_uint_eq(top_find(&w, "n_1")->sub, MSG_NODE_UP);
	ck_assert_uint_eq(world_counts(&w).lms, 2);
	world_run(&w, 700 * SEC); /* neither lost nor forgotten */
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_HUNG);
	w.lm[1].b.is_mute = false;
	top_ask(&w, ":node_get_info([n_2],1)", 500 * MS);
	ck_assert_uint_eq(w.top.last->coverage.answered, 1);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP);
	w.lm[1].b.is_mute = true;
	for (int i = 0; i < 20; i++)
		top_ask(&w, ":node_get_info([n_2],1)", 500 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_HUNG);
	lm_stop(&w, 1);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_SILENT);
}

/* Late answers count from the last answer on. */
TEST(a_host_that_answers_in_between_is_not_hung)
{
	lms_start(&w, 2);
	for (int i = 0; i < 4; i++) {
		w.lm[1].b.is_mute = true;
		for (int k = 0; k < NODE_HUNG_LATE - 1; k++)
			top_ask(&w, ":node_get_info([n_2],1)", 100 * MS);
		world_run(&w, NODE_HUNG_NS);
		w.lm[1].b.is_mute = false;
		top_ask(&w, ":node_get_info([n_2],1)", 100 * MS);
		world_run(&w, 100 * MS);
		ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP);
	}
	w.lm[1].b.is_mute = true;
	for (int k = 0; k < NODE_HUNG_LATE - 1; k++)
		top_ask(&w, ":node_get_info([n_2],1)", 100 * MS);
	world_run(&w, NODE_HUNG_NS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_UP);
	top_ask(&w, ":node_get_info([n_2],1)", 100 * MS);
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(top_find(&w, "n_2")->sub, MSG_NODE_HUNG);
}

SUITE_WITH("sm hosts", set_up, clean_up)
