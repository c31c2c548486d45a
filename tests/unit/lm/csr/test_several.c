/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional requests with several actions, parameters and processes at once. */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <unistd.h>

TEST(parameters_of_each_action_are_reported)
{
	static const char *const patterns[] = {
		"thread_has_started_lib_call([@],\"MPI_Send\"): print([$par2]) print([1]) print([2])",
		"thread_has_started_lib_call([@],\"MPI_Send\"): print([1]) print([$par2]) print([2])",
		"thread_has_started_lib_call([@],\"MPI_Send\"): print([1]) print([2]) print([$par2])",
	};

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		const struct msg_triggered *t;

		open_ranks();
		arm(patterns[i], rank0, 0, true);
		call(&seg, "MPI_Send", 8, 1);
		t = next_triggered();
		ck_assert_ptr_nonnull(t);
		ck_assert_str_ne(par(t, 2), "");
		ck_assert_str_eq(t->proc, rank0);
		ck_assert_ptr_null(next_triggered());
		close_ranks();
	}
}

/* The first actions are done on the host: its prefix. The rest is done above. */
TEST(actions_of_the_prefix_are_done_here_in_their_order)
{
	static const char pattern[] = "thread_has_started_lib_call([@],\"MPI_Send\"): "
				      "proc_get_info([$proc],1) node_get_info([$node],1) "
				      "thread_get_info([$thread],1) print([$par2])";

	for (uint32_t prefix = 0; prefix <= 3; prefix++) {
		const struct msg_triggered *t;

		open_ranks();
		arm(pattern, rank0, prefix, true);
		call(&seg, "MPI_Send", 8, 1);
		t = next_triggered();
		ck_assert_ptr_nonnull(t);
		ck_assert_uint_eq(t->nentry, prefix);
		for (uint32_t i = 0; i < prefix; i++) {
			ck_assert_uint_eq(t->entry[i].action, i + 1);
			ck_assert_uint_eq(t->entry[i].status, STATUS_OK);
		}
		if (prefix > 1)
			ck_assert_str_eq(t->entry[1].objects, "n_7");
		ck_assert_str_ne(par(t, 2), "");
		close_ranks();
	}
}

TEST(a_request_for_two_processes_reports_each_of_them)
{
	char both[2 * TOKEN_BYTES + 1];
	const struct msg_triggered *t;

	open_ranks();
	snprintf(both, sizeof(both), "%s,%s", rank0, rank1);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", both, 0, true);
	call(&other, "MPI_Send", 8, 0);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank1);
	call(&seg, "MPI_Send", 8, 1);
	call(&seg, "MPI_Recv", 8, 1);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_ptr_null(next_triggered());
	/* One of them ends: the other is watched still. */
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, 20 * MS);
	call(&other, "MPI_Send", 8, 0);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank1);
	csrs_disarm(w.lm->csrs, "c_5");
	call(&other, "MPI_Send", 8, 0);
	ck_assert_ptr_null(next_triggered());
	close_ranks();
}

TEST(more_actions_than_an_event_may_start_are_refused)
{
	struct buf b = BUF_INIT(1 << 16);
	const struct msg_arm_ack *a;

	open_ranks();
	buf_printf(&b, "thread_has_started_lib_call([%s],\"MPI_Send\"):", rank0);
	for (int i = 0; i < CSR_ACTIONS_MAX; i++)
		buf_puts(&b, " print([1])");
	a = world_arm(&w, "c_5", buf_str(&b), 0, true);
	for (size_t i = 0; i < a->nentry; i++)
		ck_assert_uint_eq(a->entry[i].status, STATUS_OK);
	buf_puts(&b, " print([1])");
	a = world_arm(&w, "c_6", buf_str(&b), 0, true);
	ck_assert_uint_eq(a->nentry, 1);
	ck_assert_uint_eq(a->entry[0].status, STATUS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(strstr(entry_text(&a->entry[0]), "actions are the most"));
	buf_done(&b);
	close_ranks();
}

TEST(a_token_that_is_none_of_a_request_is_refused)
{
	const struct msg_arm_ack *a;

	open_ranks();
	a = world_arm(&w, "p_7_000001",
		      with("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0), 0,
		      true);
	ck_assert_uint_eq(a->nentry, 1);
	ck_assert_uint_eq(a->entry[0].status, STATUS_PARAMETER_ERROR);
	ck_assert_ptr_nonnull(
		strstr(entry_text(&a->entry[0]), "not a token of a conditional request"));
	close_ranks();
}

/* A program that calls exec() has a new segment, and remains the same process. */
TEST(a_process_that_execs_is_watched_in_its_new_segment)
{
	static struct fake_segment after;
	const struct msg_triggered *t;

	open_ranks();
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([$par2])", rank0, 0, true);
	fake_segment_open(&after, 100, 0, 100);
	ck_assert_int_eq(registration_segment(w.lm->registration, dup(after.fd), 100, false), 0);
	world_run(&w, 20 * MS);
	ck_assert_str_eq(world_token(&w, 100), rank0);
	call(&after, "MPI_Send", 8, 1);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->proc, rank0);
	ck_assert_ptr_null(next_triggered());
	csrs_disarm(w.lm->csrs, "c_5");
	ck_assert_uint_eq(fake_segment_hook(&after, "MPI_Send"), 0);
	close_ranks();
	fake_segment_close(&after);
}

SUITE("lm several")
