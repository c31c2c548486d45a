/* SPDX-License-Identifier: Apache-2.0 */
/* Predicates in front of a list: asked here, or inside the rank, and events that do not pass leave
 * no trace. */
#include "common/base/limits.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

#define SENDS "thread_has_started_lib_call([@],\"MPI_Send\"):"

static unsigned reported(void)
{
	unsigned n = 0;

	while (next_triggered())
		n++;
	return n;
}

TEST(only_what_passes_is_reported)
{
	const struct msg_triggered *t;
	struct csrs_stats s;

	arm(SENDS " omig_if($par8,\">\",100) print([$proc,$par8])", rank0, 1, true);
	call(&seg, "MPI_Send", 80, 3);
	ck_assert_ptr_null(next_triggered());
	call(&seg, "MPI_Send", 180, 3);
	t = next_triggered();
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(par(t, 8), "180");
	ck_assert_uint_eq(t->nentry, 0);
	ck_assert_uint_eq(t->seq, 1);
	csrs_stats(w.lm->csrs, &s);
	ck_assert_uint_eq(s.fired, 1);
}

TEST(tokens_and_times_can_be_asked_for)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "thread_has_started_lib_call([n_7],\"MPI_Send\"): "
		 "omig_if($proc,\"!=\",%s) omig_if($time,\">\",0) print([$proc])",
		 rank0);
	world_arm(&w, "c_5", text, 2, true);
	call(&seg, "MPI_Send", 1, 1);
	call(&other, "MPI_Send", 1, 1);
	ck_assert_str_eq(next_triggered()->proc, rank1);
	ck_assert_ptr_null(next_triggered());
}

TEST(every_nth_counts_on_a_host_over_its_processes)
{
	arm(SENDS " omig_every(3) print([$proc])", "n_7", 1, true);
	call(&seg, "MPI_Send", 1, 1);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(reported(), 0);
	call(&other, "MPI_Send", 1, 1);
	ck_assert_str_eq(next_triggered()->proc, rank1);
	/*
	 * The request is armed again because an object was added: omig_every() continues
	 * counting.
	 */
	call(&seg, "MPI_Send", 1, 1);
	call(&seg, "MPI_Send", 1, 1);
	arm(SENDS " omig_every(3) print([$proc])", rank0, 1, true);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(reported(), 1);
}

TEST(at_most_limits_reports_per_second)
{
	arm(SENDS " omig_at_most(2) print([1])", rank0, 1, true);
	for (int i = 0; i < 10; i++)
		call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(reported(), 2);
	world_run(&w, SEC);
	call(&seg, "MPI_Send", 1, 1);
	ck_assert_uint_eq(reported(), 1);
}

TEST(failed_predicate_skips_only_its_action)
{
	const struct msg_triggered *t;

	arm(SENDS
	    " omig_if($par8,\">\",100) thread_stop([$thread]) proc_get_info([$proc],1) print([1])",
	    rank0, 3, true);
	call(&seg, "MPI_Send", 80, 3);
	ck_assert_uint_eq(fake_proc_find(&w.host, 100)->nsignal, 0);
	call(&seg, "MPI_Send", 180, 3);
	ck_assert_int_eq(fake_proc_find(&w.host, 100)->signal[0], SIGSTOP);
	t = next_triggered();
	ck_assert_uint_eq(t->nentry, 2);
	ck_assert_uint_eq(t->entry[0].action, 2);
	ck_assert_uint_eq(t->entry[1].action, 3);
	ck_assert_str_eq(entry_text(&t->entry[1]), "0");
}

/* Thousands pass in a second: counting drops none of them. */
static void count_those_above(const char *predicate, bool in_rank, uint32_t prefix)
{
	char text[256];

	open_ranks();
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	snprintf(text, sizeof(text), SENDS " %s pa_counter_local_increment(pa_cl_1,$par8)",
		 predicate);
	arm(text, rank0, prefix, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  in_rank ? HOOK_ACTION_START : HOOK_EVENT_START);
	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 20; k++)
			fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send",
								     .bytes_out = k,
								     .partner = 1 });
		world_run(&w, 15 * MS);
	}
	ck_assert_int_eq(read_counter("pa_cl_1"), 200 * (16 + 17 + 18 + 19));
	ck_assert_uint_eq(reported(), 0);
	close_ranks();
}

BARE_TEST(a_simple_test_is_made_in_the_rank)
{
	count_those_above("omig_if($par8,\">\",15)", true, 2);
}

BARE_TEST(counters_behind_other_predicates_count_all_that_pass)
{
	count_those_above("omig_if(15,\"<\",$par8)", false, 2);
	count_those_above("omig_if($par8,\">\",15) omig_every(1)", false, 3);
}

TEST(a_predicate_that_never_passes_is_refused_with_a_reason)
{
	static const struct {
		const char *text;
		unsigned status;
	} cell[] = {
		{ SENDS " omig_if($par15,\">\",1) print([1])", STATUS_UNKNOWN_ECP },
		{ SENDS " omig_if($par0,\">\",1) print([1])", STATUS_UNKNOWN_ECP },
		{ "patop_lib_call_ended([@],\"MPI_Recv\",[]): omig_if($par2,\">\",1) print([1])",
		  STATUS_UNKNOWN_ECP },
		{ SENDS " omig_every(0) print([1])", STATUS_PARAMETER_ERROR },
		{ SENDS " omig_if(1,\"~\",1) print([1])", STATUS_PARAMETER_ERROR },
	};

	for (size_t i = 0; i < ARRAY_LEN(cell); i++) {
		const struct msg_arm_ack *a = arm(cell[i].text, rank0, 1, true);

		ck_assert_uint_eq(a->nentry, 1);
		ck_assert_msg(a->entry[0].status == cell[i].status, "%s: %u", cell[i].text,
			      a->entry[0].status);
		ck_assert_uint_eq(csrs_count(w.lm->csrs), 0);
	}
	arm("thread_has_ended_lib_call([@],\"MPI_Recv\"): omig_if($par0,\"==\",17) print([1])",
	    rank0, 1, true);
	ck_assert_uint_eq(csrs_count(w.lm->csrs), 1);
}

SUITE_WITH("lm predicates", open_ranks, close_ranks)
