/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements that begin in the middle of a call, and calls that report their bytes at their end.
 */
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

TEST(a_call_from_before_counts_from_the_start)
{
	nsec_t began = clock_mono();
	const struct msg_reply *reply;
	struct flow_token t;
	double elapsed;

	fake_segment_be_in(&seg, "MPI_Recv", 1);
	load_metric("Receive_delay");
	world_run(&w, SEC);
	t = value_of_read(1);
	elapsed = (double)(clock_mono() - began) * 1e-9;
	ck_assert_double_gt(t.value, 0);
	ck_assert_double_le(t.value - t.error, elapsed);
	world_run(&w, SEC);
	ck_assert_double_gt(value_of_read(2).value, t.value);
	reply = world_ask(&w, OBSERVER, with(":omig_calls_read([@],0)", rank0));
	ck_assert_ptr_nonnull(strstr(entry_text(&reply->entry[0]), "\"MPI_Recv\",\"receive\",0,"));
	fake_segment_be_in(&seg, NULL, 0);
}

TEST(its_time_is_its_partners_where_that_is_known)
{
	struct flow_token t;

	fake_segment_be_in(&seg, "MPI_Recv", 1);
	start = now();
	load(&(struct load){ .graph = graph_of("Receive_delay", rank0, "\"3\",\"1\""),
			     .every = SEC });
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_gt(t.value, 0);
	ck_assert_double_lt(t.error, t.value);
	fake_segment_be_in(&seg, "MPI_Recv", 2);
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_le(t.value, t.error);
	fake_segment_be_in(&seg, "MPI_Recv", -2);
	world_run(&w, SEC);
	ck_assert_double_gt(value_of_read(3).error, t.error);
	fake_segment_thread(&seg, 0)->partner_unknown = 5 * SEC;
	world_run(&w, SEC);
	ck_assert_double_ge(value_of_read(4).error, 5);
}

/* Per second, of the increase since the last read that had a value. */
static void load_rate(const char *metric, const char *partners)
{
	static char text[1024];

	snprintf(
		text, sizeof(text),
		"[\"flow\",1,%d,[[\"input\",0,0,0,[],\"metric\",\"%s\",\"%s\",\"\",\"\",0,0,[%s],[]],"
		"[\"delta\",0,0,0,[0],1],[\"link_out\",0,0,0,[1],\"up\"]]]",
		M, metric, rank0, partners);
	start = now();
	load(&(struct load){ .graph = text, .every = SEC });
}

TEST(bytes_reported_at_the_end_are_none_yet_and_then_a_mean)
{
	struct flow_token t;

	load_rate("IO_volume", "");
	fake_segment_be_in(&seg, "MPI_File_write", 0);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 0); /* it may have begun a moment ago */
	for (uint64_t read = 2; read <= 4; read++) {
		world_run(&w, SEC);
		t = value_of_read(read);
		ck_assert(isnan(t.value));
		ck_assert_uint_eq(t.flags, FLOW_NONE_YET);
	}
	fake_segment_be_in(&seg, NULL, 0);
	fake_segment_call(
		&seg,
		&(struct fake_call){ .name = "MPI_File_write", .bytes_out = 400, .partner = -1 });
	world_run(&w, SEC);
	ck_assert_double_eq_tol(value_of_read(5).value, 100, 1);
	/* One call after the other is none that continues. */
	for (uint64_t read = 6; read <= 8; read++) {
		fake_segment_be_in(&seg, "MPI_File_write", 0);
		world_run(&w, SEC);
		ck_assert_double_eq(value_of_read(read).value, 0);
	}
	fake_segment_be_in(&seg, NULL, 0);
}

TEST(a_send_to_another_partner_is_not_awaited)
{
	load_rate("Send_volume", "\"1\"");
	fake_segment_be_in(&seg, "MPI_Send", 2);
	world_run(&w, 2 * SEC);
	value_of_read(1);
	ck_assert_double_eq(value_of_read(2).value, 0);
	fake_segment_be_in(&seg, "MPI_Send", 1);
	world_run(&w, 2 * SEC);
	value_of_read(3);
	ck_assert_uint_eq(value_of_read(4).flags, FLOW_NONE_YET);
	fake_segment_be_in(&seg, "MPI_Recv", 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(5).value, 0);
}

SUITE_WITH("readings of calls under way", set_up, clean_up)
