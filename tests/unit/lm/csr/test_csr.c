/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests: armed on processes, threads and calls, run at the lm and above. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

TEST(the_end_of_a_process_is_an_event)
{
	const struct msg_triggered *t;
	const struct msg_arm_ack *a;

	a = arm("proc_has_terminated([@]): print([$proc])", rank0, 0, true);
	ck_assert_uint_eq(a->nentry, 1);
	ck_assert_str_eq(a->entry[0].objects, rank0);
	ck_assert_uint_eq(a->entry[0].status, STATUS_OK);
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, 10 * MS);
	ck_assert_ptr_null(next_triggered());
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, 10 * MS);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->csr, "c_5");
	ck_assert_uint_eq(t->tool, 1);
	ck_assert_uint_eq(t->seq, 1);
	ck_assert_str_eq(t->node, "n_7");
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_str_eq(t->thread, "");
	ck_assert_uint_eq(t->nentry, 0);
	ck_assert_uint_eq(t->dropped, 0);
}

TEST(threads_that_come_and_go_are_events)
{
	const struct msg_triggered *t;

	arm("thread_creates_thread([@]): print([$new_thread])", rank0, 0, true);
	world_arm(&w, "c_6", with("thread_has_terminated([@]): print([$thread])", rank0), 0, true);
	fake_thread_add(fake_proc_find(&w.host, 100), 101);
	fake_thread_add(fake_proc_find(&w.host, 200), 201);
	world_run(&w, 200 * MS);
	t = next_triggered();
	ck_assert_str_eq(t->csr, "c_5");
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_int_eq(strncmp(par(t, 1), "t_7_", 4), 0);
	ck_assert_ptr_null(next_triggered());
	fake_thread_end(fake_proc_find(&w.host, 100), 101);
	world_run(&w, 200 * MS);
	t = next_triggered();
	ck_assert_str_eq(t->csr, "c_6");
	ck_assert_int_eq(strncmp(t->thread, "t_7_", 4), 0);
}

TEST(a_process_that_a_watched_one_starts_is_an_event)
{
	const struct msg_triggered *t;
	struct proc_registration in = { .pid = 300 };
	struct proc *p;

	arm("thread_creates_proc([@]): proc_attach([$new_proc])", rank0, 0, true);
	fake_proc_add(&w.host, 300, "child")->parent = 100;
	ck_assert_int_eq(procs_take(w.lm->procs, &in, &p, NULL), 0);
	world_run(&w, 10 * MS);
	t = next_triggered();
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_str_eq(par(t, 1), world_token(&w, 300));
	in.pid = 301;
	fake_proc_add(&w.host, 301, "stranger")->parent = 55;
	ck_assert_int_eq(procs_take(w.lm->procs, &in, &p, NULL), 0);
	world_run(&w, 10 * MS);
	ck_assert_ptr_null(next_triggered());
}

TEST(a_call_reports_all_its_parameters)
{
	const struct msg_triggered *t;

	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([$par1,$par8,$par9])", rank0, 0,
	    true);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_EVENT_START);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), 0);
	ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), 0);
	call(&seg, "MPI_Send", 80, 3);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_int_eq(strncmp(t->thread, "t_7_", 4), 0);
	ck_assert_str_eq(par(t, 1), "0");
	ck_assert_str_eq(par(t, 2), "101");
	ck_assert_str_eq(par(t, 8), "80");
	ck_assert_str_eq(par(t, 9), "3");
	ck_assert_ptr_null(next_triggered());
}

/* Two tools with the same call cost the rank as much as one of them. */
TEST(tools_that_watch_one_call_share_its_record)
{
	static const char event[] = "thread_has_started_lib_call([@],\"MPI_Send\"): print([$par8])";
	struct msg m = { .type = MSG_ARM,
			 .arm = { .csr = "c_6", .tool = 2, .identity = OBSERVER, .reply = true } };
	const struct seg_thread *t;
	const struct msg_triggered *first, *second;
	uint64_t one, at;

	t = fake_segment_thread(&seg, 0);
	arm(event, rank0, 0, true);
	at = t->ring_head;
	call(&seg, "MPI_Send", 80, 3);
	one = t->ring_head - at;
	ck_assert_uint_gt(one, 0);
	ck_assert_ptr_nonnull(next_triggered());
	m.arm.text =
		(struct bytes){ (const uint8_t *)with(event, rank0), strlen(with(event, rank0)) };
	above_send(&w.mainsm, &m);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_EVENT_START);
	at = t->ring_head;
	call(&seg, "MPI_Send", 80, 3);
	ck_assert_uint_eq(t->ring_head - at, one);
	first = next_triggered();
	second = next_triggered();
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(second);
	ck_assert_uint_eq(first->tool + second->tool, 1 + 2);
	ck_assert_str_eq(par(first, 8), "80");
	ck_assert_str_eq(par(second, 8), "80");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_EVENT_START);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_6" } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
}

TEST(the_end_of_a_call_reports_its_result)
{
	const struct msg_triggered *t;

	arm("thread_has_ended_lib_call([@],\"MPI_Recv\"): print([$par0,$par3,$par4])", rank0, 0,
	    true);
	fake_segment_call(&seg,
			  &(struct fake_call){
				  .name = "MPI_Recv", .bytes_in = 40, .partner = 2, .result = 17 });
	world_run(&w, 30 * MS);
	t = next_triggered();
	ck_assert_str_eq(par(t, 0), "17");
	ck_assert_str_eq(par(t, 2), "17");
	ck_assert_ptr_null(next_triggered());
}

TEST(actions_that_the_host_can_do_are_done_there)
{
	const struct msg_triggered *t;

	arm("thread_has_started_lib_call([@],\"MPI_Barrier\"): thread_stop([$thread]) "
	    "proc_get_info([$proc],1) print([1])",
	    rank0, 2, true);
	call(&seg, "MPI_Barrier", 0, -1);
	ck_assert_int_eq(fake_proc_find(&w.host, 100)->signal[0], SIGSTOP);
	ck_assert_uint_eq(fake_proc_find(&w.host, 200)->nsignal, 0);
	t = next_triggered();
	ck_assert_uint_eq(t->nentry, 2);
	ck_assert_uint_eq(t->entry[1].action, 2);
	ck_assert_str_eq(entry_text(&t->entry[1]), "0");
}

TEST(a_filter_lets_its_partners_through)
{
	const struct msg_triggered *t;

	arm("patop_lib_call_started([@],\"MPI_Send\",[2,3],[]): print([$par1,$par2])", rank0, 0,
	    true);
	call(&seg, "MPI_Send", 80, 1);
	ck_assert_ptr_null(next_triggered());
	call(&seg, "MPI_Send", 80, 3);
	t = next_triggered();
	ck_assert_str_eq(par(t, 1), "80");
	ck_assert_str_eq(par(t, 2), "0");
}

TEST(a_filter_names_processes_of_this_host_too)
{
	char text[256];

	snprintf(text, sizeof(text), "patop_lib_call_ended([%s],\"MPI_Recv\",[%s]): print([$par1])",
		 rank0, rank1);
	world_arm(&w, "c_5", text, 0, true);
	call(&seg, "MPI_Recv", 0, 3);
	ck_assert_ptr_null(next_triggered());
	call(&seg, "MPI_Recv", 0, 1);
	ck_assert_ptr_nonnull(next_triggered());
	snprintf(text, sizeof(text), "patop_lib_call_ended([%s],\"MPI_Recv\",[%s]): print([$par1])",
		 rank1, rank0);
	world_arm(&w, "c_5", text, 0, true);
	call(&other, "MPI_Recv", 0, 1);
	ck_assert_ptr_null(next_triggered());
	call(&other, "MPI_Recv", 0, 0);
	ck_assert_ptr_nonnull(next_triggered());
}

TEST(any_source_may_be_the_partner)
{
	const struct msg_triggered *t;

	arm("patop_lib_call_started([@],\"MPI_Recv\",[2],[]): print([$par1,$par2])", rank0, 0,
	    true);
	call(&seg, "MPI_Recv", 80, -1);
	t = next_triggered();
	ck_assert_str_eq(par(t, 1), "0");
	ck_assert_str_eq(par(t, 2), "1");
}

TEST(a_call_without_partner_matches_no_filter_for_one)
{
	arm("patop_lib_call_started([@],\"MPI_Send\",[2],[]): print([$par1])", rank0, 0, true);
	call(&seg, "MPI_Send", 0, CALL_PARTNER_NONE);
	ck_assert_ptr_null(next_triggered());
	arm("patop_lib_call_started([@],\"MPI_Send\",[],[]): print([$par1])", rank0, 0, true);
	call(&seg, "MPI_Send", 0, CALL_PARTNER_NONE);
	ck_assert_ptr_nonnull(next_triggered());
}

TEST(arm_error_has_a_status_and_a_reason)
{
	static const struct {
		const char *text;
		unsigned status;
	} cell[] = {
		{ "patop_lib_call_started([@],\"MPI_Send\",[],[1,2]): print([1])",
		  STATUS_PARAMETER_ERROR },
		{ "patop_lib_call_started([@],\"MPI_Send\",[p_7_zzzzzz]): print([1])",
		  STATUS_PARAMETER_ERROR },
		{ "patop_lib_call_started([@],\"MPI_Send\",[2,-1]): print([1])",
		  STATUS_PARAMETER_ERROR },
		{ "patop_lib_call_started([@],\"MPI_Send\",[2147483648]): print([1])",
		  STATUS_PARAMETER_ERROR },
		{ "thread_has_started_lib_call([@],\"MPI_Sned\"): print([1])",
		  STATUS_PARAMETER_ERROR },
		{ "thread_has_started_lib_call([p_7_000001],\"MPI_Send\"): print([1])",
		  STATUS_UNKNOWN_OBJECT },
		{ "thread_has_started_lib_call([n_8],\"MPI_Send\"): print([1])",
		  STATUS_UNKNOWN_OBJECT },
		{ "thread_executed_insn([@]): print([1])", STATUS_UNSUPPORTED_SERVICE },
		{ "nonsense([@]): print([1])", STATUS_UNKNOWN_SERVICE },
		{ ":node_get_info([@],0)", STATUS_SYNTAX_ERROR },
		{ "proc_has_terminated([@", STATUS_SYNTAX_ERROR },
	};

	for (size_t i = 0; i < ARRAY_LEN(cell); i++) {
		const struct msg_arm_ack *a = arm(cell[i].text, rank0, 0, true);

		ck_assert_uint_eq(a->nentry, 1);
		ck_assert_msg(a->entry[0].status == cell[i].status, "%s: %u", cell[i].text,
			      a->entry[0].status);
		ck_assert_uint_gt(a->entry[0].value.n, 5);
		above_send(&w.mainsm,
			   &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	}
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
}

TEST(ended_objects_are_not_armed_and_the_others_are)
{
	const struct msg_arm_ack *a;
	char both[128];

	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, 10 * MS);
	snprintf(both, sizeof(both), "%s,%s", rank1, rank0);
	a = arm("proc_has_terminated([@]): print([$proc])", both, 0, true);
	ck_assert_uint_eq(a->nentry, 2);
	ck_assert_str_eq(a->entry[0].objects, rank1);
	ck_assert_uint_eq(a->entry[0].status, STATUS_UNKNOWN_OBJECT);
	ck_assert_str_eq(a->entry[1].objects, rank0);
	ck_assert_uint_eq(a->entry[1].status, STATUS_OK);
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 10 * MS);
	ck_assert_str_eq(next_triggered()->proc, rank0);
}

BARE_TEST(new_processes_are_covered_when_the_node_is_named)
{
	struct fake_segment third;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([$proc])", "n_7", 0, true);
	world_add_rank(&w, &third, 400, 2, NULL);
	ck_assert_uint_eq(fake_segment_hook(&third, "MPI_Send"), HOOK_EVENT_START);
	call(&third, "MPI_Send", 1, 1);
	ck_assert_str_eq(next_triggered()->proc, world_token(&w, 400));
	close_ranks();
	fake_segment_close(&third);
}

TEST(arming_again_replaces_and_continues_numbering)
{
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(next_triggered()->seq, 1);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank1, 0, true);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	call(&other, "MPI_Send", 1, 1);
	ck_assert_uint_eq(next_triggered()->seq, 2);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
}

/*
 * Its objects have changed, as when a process starts: events in the rings concern the previous
 * version.
 */
TEST(events_before_a_replacement_are_reported_once)
{
	const char *text;

	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	text = with("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", "n_7");
	csrs_arm(w.lm->csrs, &(struct msg_arm){ .csr = "c_5",
						.tool = 1,
						.identity = MANIPULATOR,
						.version = 4,
						.text = { (const uint8_t *)text, strlen(text) },
						.reply = true });
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(next_triggered()->seq, 1);
	ck_assert_uint_eq(next_triggered()->seq, 2);
	ck_assert_ptr_null(next_triggered());
}

TEST(events_before_arming_are_not_reported)
{
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	/* A record is unread when its request is disarmed. */
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 2 * MS);
	above_skip_all(&w.mainsm);
	world_arm(&w, "c_6",
		  with("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0), 0,
		  true);
	world_run(&w, 50 * MS);
	ck_assert_ptr_null(next_triggered());
}

TEST(events_that_a_full_ring_lost_are_counted)
{
	const struct msg_triggered *t;
	uint64_t reported = 0, lost = 0;
	const int calls = 200; /* the ring has room for some 40 */

	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	for (int i = 0; i < calls; i++)
		fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	world_run(&w, 30 * MS);
	call(&seg, "MPI_Send", 1, 1);
	while ((t = next_triggered())) {
		reported++;
		lost += t->dropped;
	}
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(reported + lost, calls + 1);
}

TEST(events_before_the_end_of_a_rank_are_reported)
{
	arm("thread_has_started_lib_call([@],\"MPI_Finalize\"): print([1])", rank0, 0, true);
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Finalize", .partner = -1 });
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 10 * MS);
	ck_assert_str_eq(next_triggered()->proc, rank0);
}

BARE_TEST(a_long_ring_is_read_to_its_end_when_its_rank_ends)
{
	const int calls = 2 * CSRS_RECORDS_MAX;
	struct fake_segment big;
	struct csrs_stats s;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", "n_7", 0, true);
	world_add_rank_with(
		&w, &big,
		&(struct fake_rank){ .pid = 400, .rank = 2, .tid = 400, .ring_bytes = 512 * 1024 },
		NULL);
	for (int i = 0; i < calls; i++)
		fake_segment_call(&big, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
	ck_assert_uint_eq(fake_segment_thread(&big, 0)->ring_dropped, 0);
	fake_proc_end(fake_proc_find(&w.host, 400), 0);
	csrs_stats(w.lm->csrs, &s);
	ck_assert_uint_eq(s.fired, calls);
	close_ranks();
	fake_segment_close(&big);
}

static void put_record_of(uint64_t ticks)
{
	struct seg_thread *t = fake_segment_thread(&seg, 0);
	const struct ring ring = { (uint8_t *)t + seg.h->ring_offset, seg.h->ring_bytes,
				   &t->ring_head, &t->ring_tail, &t->ring_dropped };
	union ring_record r = { .call = { .word = RING_WORD(40, RING_CALL),
					  .ticks = ticks,
					  .func = (uint16_t)call_find("MPI_Barrier"),
					  .phase = CALL_END,
					  .npar = 2,
					  .tid = 100 } };

	ck_assert(ring_put(&ring, &r, 40));
	world_run(&w, 30 * MS);
}

TEST(a_record_of_the_future_is_of_now)
{
	nsec_t before, reported;

	arm("thread_has_ended_lib_call([@],\"MPI_Barrier\"): print([$time])", rank0, 0, true);
	call(&seg, "MPI_Barrier", 0, -1);
	before = next_triggered()->time_ns;
	put_record_of(UINT64_MAX);
	reported = next_triggered()->time_ns;
	ck_assert_int_ge(reported, before);
	call(&seg, "MPI_Barrier", 0, -1);
	ck_assert_int_ge(next_triggered()->time_ns, reported);
}

/* Armed as a whole, or an error; both leave no state when it is disarmed. */
TEST(without_memory_nothing_is_armed_by_half)
{
	static const char text[] = "thread_has_started_lib_call([n_7],\"MPI_Send\"): print([1])";
	const struct msg_arm m = { .csr = "c_5",
				   .tool = 1,
				   .identity = MANIPULATOR,
				   .version = 3,
				   .text = { (const uint8_t *)text, sizeof(text) - 1 },
				   .reply = true };
	const struct msg *ack;
	int rc;

	ALLOC_SWEEP (k) {
		rc = csrs_arm(w.lm->csrs, &m);
		alloc_sweep_pause();
		ck_assert(!rc || rc == -ERR_NOMEM);
		world_run(&w, 20 * MS);
		ack = above_next(&w.mainsm, MSG_ARM_ACK);
		if (ack && ack->arm_ack.nentry && ack->arm_ack.entry[0].status == STATUS_OK)
			ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), HOOK_EVENT_START);
		csrs_disarm(w.lm->csrs, "c_5");
		ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
		ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), 0);
	}
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
}

TEST(rings_are_read_only_while_a_request_waits)
{
	struct csrs_stats s;

	csrs_stats(w.lm->csrs, &s);
	ck_assert(!s.is_polling);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	csrs_stats(w.lm->csrs, &s);
	ck_assert(s.is_polling);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	csrs_stats(w.lm->csrs, &s);
	ck_assert(!s.is_polling);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
}

TEST(two_requests_on_one_call_do_not_disturb_each_other)
{
	unsigned n = 0;

	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	world_arm(&w, "c_6",
		  with("thread_has_started_lib_call([@],\"MPI_Send\"): print([2])", "n_7"), 0,
		  true);
	call(&seg, "MPI_Send", 1, 1);
	while (next_triggered())
		n++;
	ck_assert_uint_eq(n, 2);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_6" } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_EVENT_START);
	ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), 0);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_str_eq(next_triggered()->csr, "c_5");
	ck_assert_ptr_null(next_triggered());
}

SUITE_WITH("lm conditional requests", open_ranks, close_ranks)
