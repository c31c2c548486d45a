/* SPDX-License-Identifier: Apache-2.0 */
/* A request after a stop, a continue or a signal sees its effect. */
#include "common/omis/text/status.h"
#include "lm/service/settle.h"
#include "lm/hold/stand.h"
#include "tests/suite.h"
#include "tests/unit/lm/world.h"

#include <signal.h>
#include <string.h>

static struct world w;
static struct fake_segment seg;
static char rank[TOKEN_BYTES];
static uint64_t last_id;

/* A rank with two threads, 100 and 101, that does by itself what signals ask for. */
static void open_rank(void)
{
	world_open(&w);
	world_add_rank(&w, &seg, 100, 0, rank);
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 3 * SEC);
	fake_proc_find(&w.host, 100)->is_slow = true;
}

static void close_rank(void)
{
	world_close(&w);
	fake_segment_close(&seg);
}

static struct fake_proc *fake(void)
{
	return fake_proc_find(&w.host, 100);
}

/* ":X([rank]) ; proc_get_info([rank],1024)"; the answer is not waited for. */
static void send_two(const char *service, const char *rest)
{
	char text[200];

	snprintf(text, sizeof(text), ":%s([%s]%s) ; proc_get_info([%s],1024)", service, rank, rest,
		 rank);
	last_id = w.next_id++;
	above_skip_all(&w.mainsm);
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_REQUEST,
				  .request = { .id = last_id,
					       .tool = 1,
					       .identity = MANIPULATOR,
					       .right = OMIS_ADMIN,
					       .deadline_ns = 2 * SEC,
					       .text = { (const uint8_t *)text, strlen(text) } } });
}

/* Returns the reply within that time; NULL: there is none. */
static const struct msg_reply *answer_after(nsec_t by)
{
	const struct msg *m;

	world_run(&w, by);
	m = above_next(&w.mainsm, MSG_REPLY);
	if (m)
		ck_assert_uint_eq(m->reply.id, last_id);
	return m ? &m->reply : NULL;
}

static const struct msg_entry *entry_of(const struct msg_reply *r, uint32_t action)
{
	ck_assert_ptr_nonnull(r);
	for (size_t i = 0; i < r->nentry; i++)
		if (r->entry[i].action == action)
			return &r->entry[i];
	ck_abort_msg("no entry of action %u", action);
	return NULL;
}

static void check_two(const struct msg_reply *r, unsigned status, const char *state)
{
	ck_assert_uint_eq(entry_of(r, 1)->status, status);
	ck_assert_str_eq(entry_text(entry_of(r, 2)), state);
}

BARE_TEST(actions_after_a_stop_see_a_stopped_process)
{
	static const char *const services[] = { "thread_stop", "thread_suspend" };

	for (size_t i = 0; i < 2; i++) {
		open_rank();
		send_two(services[i], "");
		ck_assert_ptr_null(answer_after(200 * MS));
		fake()->state = 'T';
		check_two(answer_after(50 * MS), STATUS_OK, i ? "1" : "4");
		close_rank();
	}
}

TEST(a_stop_is_done_when_no_thread_runs)
{
	send_two("thread_stop", "");
	fake()->state = 'T';
	fake()->thread_state[1] = 'R';
	ck_assert_ptr_null(answer_after(200 * MS));
	fake()->thread_state[1] = 'T';
	check_two(answer_after(50 * MS), STATUS_OK, "4");
}

/* lm-trace stops a thread for a moment at each event. */
TEST(a_traced_thread_counts_as_stopped_when_seen_twice)
{
	fake()->state = 't';
	send_two("thread_stop", "");
	world_run(&w, 0);
	fake()->state = 'R';
	ck_assert_ptr_null(answer_after(200 * MS));
	fake()->state = 't';
	check_two(answer_after(100 * MS), STATUS_OK, "4");
}

BARE_TEST(process_that_does_not_stop_is_reported_with_a_reason)
{
	static const struct {
		char state;
		const char *words;
	} cases[] = { { 'D', "in the kernel" }, { 'R', "processor" } };

	for (size_t i = 0; i < 2; i++) {
		open_rank();
		fake()->state = cases[i].state;
		send_two("thread_stop", "");
		ck_assert_ptr_null(answer_after(SETTLE_MAX_NS - 100 * MS));
		check_two(answer_after(200 * MS), STATUS_OS_ERROR | STATUS_FATAL, i ? "0" : "1");
		ck_assert_ptr_nonnull(strstr(
			entry_text(entry_of(&w.mainsm.got.m[w.mainsm.got.seen - 1]->reply, 1)),
			cases[i].words));
		ck_assert_uint_eq(holds_count(w.lm->holds),
				  1); /* it stops when it can, and is released like others */
		close_rank();
	}
}

TEST(a_process_that_ends_instead_of_stopping_is_reported)
{
	send_two("thread_stop", "");
	world_run(&w, 20 * MS);
	fake_proc_end(fake(), 0);
	check_two(answer_after(50 * MS), STATUS_UNKNOWN_OBJECT, "3");
}

TEST(a_process_continued_meanwhile_is_not_awaited)
{
	send_two("thread_stop", "");
	world_run(&w, 20 * MS);
	holds_continue(w.lm->holds, procs_find_pid(w.lm->procs, 100), NULL);
	check_two(answer_after(50 * MS), STATUS_OK, "1");
}

TEST(the_lm_answers_others_while_a_stop_is_under_way)
{
	send_two("thread_stop", "");
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(world_ask_as(&w, 2, OBSERVER, ":node_get_info([n_7],1)")->entry[0].status,
			  STATUS_OK);
	ck_assert_ptr_null(answer_after(0));
	fake()->state = 'T';
	check_two(answer_after(50 * MS), STATUS_OK, "4");
}

TEST(actions_after_a_continue_see_a_running_process)
{
	send_two("thread_stop", "");
	fake()->state = 't';
	check_two(answer_after(200 * MS), STATUS_OK, "4");
	send_two("thread_continue", "");
	ck_assert_ptr_null(answer_after(200 * MS));
	fake()->state = 'R';
	check_two(answer_after(50 * MS), STATUS_OK, "0");
}

TEST(continue_of_a_traced_process_reports_an_error)
{
	fake()->state = 't';
	send_two("thread_continue", "");
	check_two(answer_after(SETTLE_MAX_NS + 100 * MS), STATUS_OS_ERROR | STATUS_FATAL, "4");
}

TEST(a_signal_is_done_when_it_is_taken)
{
	fake()->has_signals = true;
	fake()->caught = fake()->pending = UINT64_C(1) << (SIGUSR1 - 1);
	send_two("proc_send_signal", ",10");
	ck_assert_ptr_null(answer_after(200 * MS));
	fake()->pending = 0;
	check_two(answer_after(50 * MS), STATUS_OK, "1");
}

BARE_TEST(a_blocked_or_ignored_signal_is_not_waited_for)
{
	for (int i = 0; i < 2; i++) {
		open_rank();
		fake()->has_signals = true;
		if (i)
			fake()->ignored = UINT64_C(1) << (SIGUSR1 - 1);
		else
			fake()->blocked = fake()->pending = UINT64_C(1) << (SIGUSR1 - 1);
		send_two("proc_send_signal", ",10");
		check_two(answer_after(20 * MS), STATUS_OK, "1");
		close_rank();
	}
}

TEST(actions_after_a_fatal_signal_see_the_end)
{
	fake()->has_signals = true;
	send_two("proc_send_signal", ",9");
	ck_assert_ptr_null(answer_after(200 * MS));
	fake_proc_end(fake(), 9);
	check_two(answer_after(50 * MS), STATUS_OK, "3");
}

/* A core file of some GiB is written before the end. */
TEST(a_signal_that_is_taken_is_done_at_the_latest_after_the_bound)
{
	fake()->has_signals = true;
	send_two("proc_send_signal", ",11");
	check_two(answer_after(SETTLE_MAX_NS + 100 * MS), STATUS_OK, "1");
	fake()->pending = UINT64_C(1) << (SIGSEGV - 1);
	send_two("proc_send_signal", ",11");
	check_two(answer_after(SETTLE_MAX_NS + 100 * MS), STATUS_OS_ERROR | STATUS_FATAL, "1");
}

/*
 * Running processes use up the checks of one turn. The stopped ones are first or last in the
 * list.
 */
#define RUNNING (STAND_POLLS_MAX / 2 + 4)
#define STANDING 4

static void stop_many(int32_t first_standing)
{
	static struct fake_segment many[RUNNING + STANDING];
	const struct msg_entry *late;

	world_open(&w);
	for (int32_t i = 0; i < RUNNING + STANDING; i++) {
		world_add_rank(&w, &many[i], 100 + i, i, NULL);
		fake_proc_find(&w.host, 100 + i)->is_slow = true;
		if (i >= first_standing && i < first_standing + STANDING)
			fake_proc_find(&w.host, 100 + i)->state = 'T';
	}
	late = world_ask(&w, MANIPULATOR, ":thread_stop([n_7])")->entry;
	ck_assert_uint_eq(late->status, STATUS_OS_ERROR | STATUS_FATAL);
	for (int32_t i = 0; i < RUNNING + STANDING; i++) {
		bool stands = i >= first_standing && i < first_standing + STANDING;

		ck_assert_int_eq(!strstr(late->objects, world_token(&w, 100 + i)), stands);
	}
	world_close(&w);
	for (size_t i = 0; i < RUNNING + STANDING; i++)
		fake_segment_close(&many[i]);
}

BARE_TEST(each_of_many_is_looked_at_in_its_turn)
{
	stop_many(0);
	stop_many(RUNNING);
}

SUITE_WITH("lm settle", open_rank, close_rank)
