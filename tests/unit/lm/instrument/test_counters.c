/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and integrators: raised in the rank, read, reset, deleted, kept. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <math.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define FORGET_ALL (PROCS_ENDED_MAX + 1)

TEST(counting_happens_in_the_rank_without_a_report)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): "
	    "pa_counter_local_increment(pa_cl_1,$par8)",
	    rank0, 1, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_ACTION_START);
	for (int i = 0; i < 10; i++)
		fake_segment_call(&seg, &(struct fake_call){
						.name = "MPI_Send", .bytes_out = 8, .partner = 1 });
	world_run(&w, 50 * MS);
	ck_assert_ptr_null(next_triggered());
	ck_assert_int_eq(read_counter("pa_cl_1"), 80);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	call(&seg, "MPI_Send", 8, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 80);
}

static void covers_one(const char *request)
{
	const struct msg_reply *r = world_ask(&w, OBSERVER, request);

	ck_assert_ptr_nonnull(r->coverage);
	ck_assert_msg(r->coverage->asked == 1 && r->coverage->answered == 1, "%s: %u of %u",
		      request, (unsigned)r->coverage->answered, (unsigned)r->coverage->asked);
}

/* Also outside of an event, with any result. */
TEST(increments_and_appends_have_an_entry_for_the_object)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_2)", rank0));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_3)", rank0));
	covers_one(":pa_counter_local_increment(pa_cl_1,5)");
	covers_one(":pa_integrator_local_increment(pa_il_2,1.0,2.0)");
	covers_one(":trace_buffer_append(trace_b_3,1.0,2,[])");
	covers_one(":pa_counter_local_increment(pa_cl_9,5)"); /* an unknown counter */
	ck_assert_int_eq(read_counter("pa_cl_1"), 5);
}

TEST(delay_is_an_integrator_of_both_ends)
{
	const struct msg_reply *r;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_2)", rank0));
	world_arm(&w, "c_5",
		  with("thread_has_started_lib_call([@],\"MPI_Recv\"): "
		       "pa_integrator_local_increment(pa_il_2,1.0,$time)",
		       rank0),
		  1, false);
	world_arm(&w, "c_6",
		  with("thread_has_ended_lib_call([@],\"MPI_Recv\"): "
		       "pa_integrator_local_increment(pa_il_2,-1.0,$time)",
		       rank0),
		  1, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), HOOK_ACTION_START | HOOK_ACTION_END);
	call(&seg, "MPI_Recv", 0, 1);
	r = world_ask(&w, OBSERVER, ":pa_integrator_read([pa_il_2])");
	ck_assert_str_eq(r->entry[0].objects, rank0);
	ck_assert_int_eq(strncmp(entry_text(&r->entry[0]), "pa_il_2,", 8), 0);
	ck_assert_ptr_nonnull(
		strstr(entry_text(&r->entry[0]), ",0.0,")); /* v: no thread is inside */
}

/* The delay of MPI_Recv from that partner ("": any), enabled while the thread is in a call. */
static void delay_enabled_inside(const char *partner, const char *name, int32_t peer)
{
	char text[200];

	open_ranks();
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_2)", rank0));
	fake_segment_be_in(&seg, name, peer);
	snprintf(text, sizeof(text),
		 "patop_lib_call_started([@],\"MPI_Recv\",[%s]): "
		 "pa_integrator_local_increment(pa_il_2,1.0,$time)",
		 partner);
	world_arm(&w, "c_5", with(text, rank0), 1, false);
	world_arm(&w, "c_6",
		  with("thread_has_ended_lib_call([@],\"MPI_Recv\"): "
		       "pa_integrator_local_increment(pa_il_2,-1.0,$time)",
		       rank0),
		  1, false);
}

/* The depth of the thread, by the integrator. */
static double inside(double *integral)
{
	double all = -1, v = -1;

	ck_assert_int_eq(
		sscanf(entry_text(&world_ask(&w, OBSERVER, ":pa_integrator_read([pa_il_2])")
					   ->entry[0]),
		       "pa_il_2,%lf,%lf", &all, &v),
		2);
	if (integral)
		*integral = all;
	return v;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The segment has the real time of the machine, so the test compares no durations with a limit. */
BARE_TEST(a_call_under_way_counts_since_its_integrator_is_enabled)
{
	double one, two, before;

	delay_enabled_inside("", "MPI_Recv", 1);
	ck_assert_double_eq(inside(&one), 1);
	ck_assert_double_eq(inside(&two), 1);
	ck_assert(one > 0 && two > one);
	usleep(50 * 1000);
	before = seconds_now();
	world_ask(&w, OBSERVER, ":pa_integrator_reset([pa_il_2])");
	ck_assert_double_eq(inside(&one), 1);
	ck_assert_double_lt(one, (seconds_now() - before) * 1.01);
	fake_segment_be_in(&seg, NULL, 0);
	fake_segment_be_in(&seg, "MPI_Recv",
			   1); /* its start is missing, as for a call that a filter excludes */
	ck_assert_double_eq(inside(NULL), 0);
	close_ranks();
}

BARE_TEST(of_calls_under_way_only_those_that_are_meant_count)
{
	delay_enabled_inside("", "MPI_Send", 1);
	ck_assert_double_eq(inside(NULL), 0);
	close_ranks();
	delay_enabled_inside("1", "MPI_Recv", 1);
	ck_assert_double_eq(inside(NULL), 1);
	close_ranks();
	delay_enabled_inside("1,3", "MPI_Recv", 2);
	ck_assert_double_eq(inside(NULL), 0);
	close_ranks();
	delay_enabled_inside("1,3", "MPI_Recv", -2); /* from any source */
	ck_assert_double_eq(inside(NULL), 0);
	close_ranks();
}

static void end_more_than_are_kept(void)
{
	for (int i = 0; i < FORGET_ALL; i++) {
		struct proc_registration in = { .pid = 1000 + i };
		struct proc *p;

		fake_proc_add(&w.host, 1000 + i, "x");
		ck_assert_int_eq(procs_take(w.lm->procs, &in, &p, NULL), 0);
	}
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, MS);
	for (int i = 0; i < FORGET_ALL; i++)
		fake_proc_end(fake_proc_find(&w.host, 1000 + i), 0);
	world_run(&w, MS);
}

static const struct msg_triggered *count_after_a_wait(bool is_forgotten)
{
	open_ranks();
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	/* node_get_info replies with rates after a second. */
	arm("proc_has_been_stopped([@]): node_get_info([n_7],128) "
	    "node_get_info([n_7],0) pa_counter_local_increment(pa_cl_1,1)",
	    rank0, 3, true);
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	ck_assert_ptr_null(next_triggered());
	if (is_forgotten)
		end_more_than_are_kept();
	world_run(&w, 20 * SEC);
	return next_triggered();
}

BARE_TEST(an_action_behind_a_waiting_one_counts_for_the_event_process)
{
	const struct msg_triggered *t = count_after_a_wait(false);

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->entry[t->nentry - 1].action, 3);
	ck_assert_uint_eq(t->entry[t->nentry - 1].status, STATUS_OK);
	ck_assert_int_eq(read_counter("pa_cl_1"), 1);
	close_ranks();
}

BARE_TEST(a_process_removed_while_an_action_waits_is_not_touched)
{
	const struct msg_triggered *t = count_after_a_wait(true);

	ck_assert_ptr_nonnull(t);
	ck_assert_ptr_null(procs_find(w.lm->procs, rank0, strlen(rank0)));
	ck_assert_uint_eq(t->entry[t->nentry - 1].action, 3);
	ck_assert_uint_eq(t->entry[t->nentry - 1].status, STATUS_UNKNOWN_OBJECT);
	close_ranks();
}

/*
 * The request is replaced because its objects changed: waiting events are dropped, and the next
 * event reports that.
 */
TEST(an_event_with_waiting_actions_counts_as_dropped_if_replaced)
{
	const char *text = "proc_has_been_stopped([n_7]): node_get_info([n_7],128)";
	const struct msg_triggered *t;
	const struct msg *m;

	arm("proc_has_been_stopped([@]): node_get_info([n_7],128)", rank0, 1, true);
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	ck_assert_ptr_null(next_triggered());
	csrs_arm(w.lm->csrs, &(struct msg_arm){ .csr = "c_5",
						.tool = 1,
						.identity = MANIPULATOR,
						.version = 4,
						.text = { (const uint8_t *)text, strlen(text) },
						.local_prefix = 1,
						.reply = true });
	world_run(&w, SEC);
	m = above_next(&w.mainsm, MSG_LOSSES);
	ck_assert_ptr_nonnull(m);
	ck_assert_uint_eq(m->losses.dropped, 1);
	world_ask(&w, MANIPULATOR, with(":thread_continue([@])", rank0));
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	world_run(&w, 20 * SEC);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->seq, 2);
	ck_assert_uint_eq(t->dropped, 0);
	ck_assert_ptr_null(next_triggered());
}

TEST(a_filtered_volume_is_counted_in_the_rank)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_c_9)", rank0));
	arm("patop_lib_call_started([@],\"MPI_Send\",[3]): "
	    "pa_counter_global_increment(pa_c_9,$par1)",
	    rank0, 1, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_ACTION_START);
	call(&seg, "MPI_Send", 80, 3);
	call(&seg, "MPI_Send", 80, 2);
	ck_assert_int_eq(read_counter("pa_c_9"), 80);
}

/* The values of the ranks are added as they are; a sanitizer finds no overflow. */
TEST(a_sum_over_ranks_may_run_over)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_c_9)", "n_7"));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): "
	    "pa_counter_global_increment(pa_c_9,$par8)",
	    "n_7", 1, false);
	call(&seg, "MPI_Send", INT64_MAX, 1);
	call(&other, "MPI_Send", INT64_MAX, 1);
	ck_assert_int_eq(read_counter("pa_c_9"), -2);
}

TEST(a_deleted_counter_counts_no_more)
{
	const struct msg_reply *r;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,1)",
	    rank0, 1, false);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 1);
	world_ask(&w, OBSERVER, ":pa_counter_reset([pa_cl_1])");
	ck_assert_int_eq(read_counter("pa_cl_1"), 0);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 1);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_ask(&w, OBSERVER, ":pa_counter_delete([pa_cl_1])");
	r = world_ask(&w, OBSERVER, ":pa_counter_read([pa_cl_1])");
	ck_assert_uint_eq(r->entry[0].status, STATUS_UNKNOWN_OBJECT);
}

/* Actions in the ranks are installed again: events in their rings belong to the previous ones. */
TEST(a_deleted_counter_loses_no_event)
{
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	csrs_refresh(w.lm->csrs);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(next_triggered()->seq, 1);
	ck_assert_uint_eq(next_triggered()->seq, 2);
	ck_assert_ptr_null(next_triggered());
}

TEST(counters_keep_what_a_dead_rank_counted)
{
	const struct msg_reply *r;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", "n_7"));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,2)",
	    "n_7", 1, false);
	call(&seg, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, 10 * MS);
	r = world_ask(&w, OBSERVER, ":pa_counter_read([pa_cl_1])");
	ck_assert_uint_eq(r->nentry, 2);
	ck_assert_str_eq(entry_text(reply_entry_of(r, rank0)), "pa_cl_1,2");
	ck_assert_str_eq(entry_text(reply_entry_of(r, rank1)), "pa_cl_1,4");
}

TEST(a_counter_of_the_dead_alone_reads_as_nothing)
{
	const struct msg_reply *r;

	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, 10 * MS);
	/* A counter of other hosts is also made on this one, without an object here. */
	r = world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_c_1)", rank1));
	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(reply_entry_of(r, rank1)->status, STATUS_UNKNOWN_OBJECT);
	r = world_ask(&w, OBSERVER, ":pa_counter_read([pa_c_1])");
	ck_assert_uint_eq(reply_entry_of(r, "pa_c_1")->status, STATUS_OK);
	ck_assert_str_eq(entry_text(reply_entry_of(r, "pa_c_1")), "0");
	r = world_ask(&w, OBSERVER, ":pa_counter_reset([pa_c_1])");
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	r = world_ask(&w, OBSERVER, with(":omig_pa_create([@],n_7)", rank0));
	ck_assert_uint_ge(r->entry[0].status, STATUS_FIRST_ERROR);
}

TEST(counters_end_with_their_tool)
{
	char text[128];

	for (uint32_t tool = 1; tool <= 3; tool++) {
		snprintf(text, sizeof(text), ":omig_pa_create([%s,%s],pa_cl_%u)", rank0, rank1,
			 tool);
		world_ask_as(&w, tool, OBSERVER, text);
	}
	ck_assert_uint_eq(pa_count(w.lm->pa), 3);
	/* A counter that the action makes belongs to the request's tool, 1. */
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_global_increment(pa_c_9,1)",
	    rank0, 1, false);
	ck_assert_uint_eq(pa_count(w.lm->pa), 4);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(pa_count(w.lm->pa), 2);
	ck_assert_uint_eq(
		world_ask_as(&w, 2, OBSERVER, ":pa_counter_read([pa_cl_2])")->entry[0].status,
		STATUS_OK);
	for (uint32_t tool = 2; tool <= 3; tool++)
		above_send(&w.mainsm,
			   &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = tool } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(pa_count(w.lm->pa), 0);
}

TEST(exhausted_cells_are_an_error_until_one_is_deleted)
{
	char text[128];
	const struct msg_reply *r;

	for (int i = 0; i < SEG_CELLS; i++) {
		snprintf(text, sizeof(text), ":omig_pa_create([%s],pa_cl_%d)", rank0, 100 + i);
		r = world_ask(&w, OBSERVER, text);
		ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	}
	r = world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_500)", rank0));
	ck_assert_uint_ge(reply_entry_of(r, rank0)->status, STATUS_FIRST_ERROR);
	world_ask(&w, OBSERVER, ":pa_counter_delete([pa_cl_100])");
	r = world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_501)", rank0));
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	ck_assert_int_eq(read_counter("pa_cl_501"), 0);
}

static void start_lm_again(void)
{
	world_crash_lm(&w);
	world_start_lm(&w);
}

TEST(a_counter_continues_under_the_next_lm)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", "n_7"));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,2)",
	    "n_7", 1, false);
	call(&seg, "MPI_Send", 1, 1);
	world_ask(&w, OBSERVER, ":pa_counter_reset([pa_cl_1])");
	call(&seg, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	start_lm_again();
	ck_assert_int_eq(read_counter("pa_cl_1"), 6);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,2)",
	    "n_7", 1, false);
	call(&seg, "MPI_Send", 1, 1);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 10);
	start_lm_again();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,2)",
	    "n_7", 1, false);
	call(&other, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	ck_assert_int_eq(read_counter("pa_cl_1"), 14);
}

TEST(increments_from_above_continue_under_the_next_lm)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_2)", rank0));
	world_ask(&w, MANIPULATOR, ":pa_counter_local_increment(pa_cl_1,41)");
	world_ask(&w, MANIPULATOR, ":pa_integrator_local_increment(pa_il_2,2.5,1600000000.0)");
	start_lm_again();
	world_ask(&w, MANIPULATOR, ":pa_counter_local_increment(pa_cl_1,1)");
	ck_assert_int_eq(read_counter("pa_cl_1"), 42);
	ck_assert_ptr_nonnull(strstr(
		entry_text(&world_ask(&w, OBSERVER, ":pa_integrator_read([pa_il_2])")->entry[0]),
		",2.5,"));
}

TEST(deleted_counter_does_not_return_after_an_lm_restart)
{
	world_ask_as(&w, 1, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask_as(&w, 2, OBSERVER, with(":omig_pa_create([@],pa_cl_2)", rank0));
	world_ask(&w, OBSERVER, ":pa_counter_delete([pa_cl_1])");
	start_lm_again();
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 2 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(
		world_ask(&w, OBSERVER, ":pa_counter_read([pa_cl_1,pa_cl_2])")->entry[0].status,
		STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(pa_count(w.lm->pa), 0);
}

/*
 * Cells of tools that do not return after a crash of the lm are given to other tools when
 * needed.
 */
TEST(kept_cells_are_given_to_later_requests)
{
	char text[128];

	for (int i = 0; i < SEG_CELLS; i++) {
		snprintf(text, sizeof(text), ":omig_pa_create([%s],pa_cl_%d)", rank0, 100 + i);
		world_ask(&w, OBSERVER, text);
	}
	start_lm_again();
	ck_assert_uint_eq(world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_500)", rank0))
				  ->entry[0]
				  .status,
			  STATUS_OK);
	ck_assert_int_eq(read_counter("pa_cl_500"), 0);
	/* Bits of counters are not an integrator. */
	ck_assert_uint_ge(
		reply_entry_of(world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_9)", rank0)),
			       rank0)
			->status,
		STATUS_FIRST_ERROR);
}

/* The process can write the notes as well, and harms only itself. */
TEST(invalid_notes_are_ignored)
{
	static const struct seg_note foolish[] = {
		{ .seq = 1, .kind = TOKEN_COUNTER_LOCAL, .number = 1 },
		{ .kind = 77777, .number = 1 },
		{ .kind = TOKEN_PROCESS, .number = 1 },
		{ .kind = TOKEN_INTEGRATOR_LOCAL, .number = 2, .own_v = -1 },
		{ .kind = TOKEN_INTEGRATOR_LOCAL, .number = 2, .base_v = (double)INFINITY },
		{ .kind = TOKEN_INTEGRATOR_LOCAL, .number = 2, .own_t = (double)NAN },
	};
	struct seg_note *note;

	world_crash_lm(&w);
	note = (struct seg_note *)(void *)(seg.base + seg.h->note_offset);
	for (size_t i = 0; i < SEG_CELLS; i++)
		note[i] = foolish[i % ARRAY_LEN(foolish)];
	world_start_lm(&w);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, ":pa_counter_read([pa_cl_1])")->entry[0].status,
			  STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(
		world_ask(&w, OBSERVER, ":pa_integrator_read([pa_il_2])")->entry[0].status,
		STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_ge(
		reply_entry_of(world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_3)", rank0)),
			       rank0)
			->status,
		STATUS_FIRST_ERROR);
	/* Of two notes of one counter the first one is used. */
	note = (struct seg_note *)(void *)(other.base + other.h->note_offset);
	world_crash_lm(&w);
	note[3] = note[5] =
		(struct seg_note){ .kind = TOKEN_COUNTER_LOCAL, .number = 1, .own_n = 7 };
	world_start_lm(&w);
	ck_assert_int_eq(read_counter("pa_cl_1"), 7);
}

TEST(actions_in_the_rank_are_not_done_again_above)
{
	const struct msg_triggered *t;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,1) "
	    "print([$time])",
	    rank0, 1, true);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_ACTION_START | HOOK_EVENT_START);
	call(&seg, "MPI_Send", 8, 1);
	t = next_triggered();
	ck_assert_uint_eq(t->nentry, 1);
	ck_assert_uint_eq(t->entry[0].action, 1);
	ck_assert_uint_eq(t->entry[0].status, STATUS_OK);
	ck_assert_int_eq(read_counter("pa_cl_1"), 1);
}

SUITE_WITH("lm counters", open_ranks, close_ranks)
