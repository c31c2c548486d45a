/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements by partner on a host: volumes and times of the calls that name a partner. */
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

TEST(a_volume_by_partner_takes_these_ranks_only)
{
	start = now();
	load(&(struct load){ .graph = graph_of("Send_volume", rank0, "\"3\",\"1\""),
			     .every = SEC });
	call(&seg, "MPI_Send", 8, 1);
	call(&seg, "MPI_Send", 100, 2);
	call(&seg, "MPI_Send", 16, 3);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 24);
}

static void send_for(uint64_t ticks, int64_t partner)
{
	fake_segment_call(&seg, &(struct fake_call){
					.name = "MPI_Send", .ticks = ticks, .partner = partner });
}

static void load_by_partner(const char *metric)
{
	start = now();
	load(&(struct load){ .graph = graph_of(metric, rank0, "\"3\",\"1\""), .every = SEC });
}

TEST(a_delay_by_partner_is_the_time_of_calls_that_have_ended)
{
	struct flow_token t;
	double error;

	load_by_partner("Send_delay");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER);
	send_for(2 * MS, 1);
	send_for(500 * MS, 2);
	send_for(5 * MS, 3);
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_eq_tol(t.value, 0.007, t.error + 1e-9);
	ck_assert_double_lt(t.error, 1e-5);
	error = t.error;
	/* The partner is unknown until the call ends: each of them is possible. */
	fake_segment_enter(&seg, "MPI_Send");
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_eq_tol(t.value, 0.007, 1e-5);
	ck_assert_double_gt(t.error, error);
}

/*
 * Another tool had switched the measurement of time on: when the call ends, all its time is in the
 * sum.
 */
TEST(a_call_that_was_under_way_at_the_start_is_in_the_bound)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"partner\")", rank0));
	fake_segment_enter(&seg, "MPI_Send");
	world_run(&w, SEC);
	load_by_partner("Send_delay");
	fake_segment_leave(&seg, "MPI_Send");
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 0);
	world_run(&w, SEC);
	ck_assert_double_gt(value_of_read(2).error, 0);
}

static void wait_for(uint64_t ticks, int32_t a, int32_t b)
{
	const int32_t both[] = { a, b };

	fake_segment_wait(&seg, "MPI_Waitall", ticks, both, 1 + (a != b));
}

/* A shared wait may belong to each of the partners that share it. */
TEST(a_wait_is_of_the_partners_of_its_requests)
{
	struct flow_token t;

	load_by_partner("Wait_delay"); /* 1 and 3 */
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Waitall"),
			  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME | HOOK_PARTNER);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Isend"), HOOK_VOLUME);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Ibarrier"), HOOK_VOLUME);
	wait_for(20 * MS, 1, 1);
	wait_for(500 * MS, 2, 2);
	wait_for(8 * MS, 3, 1); /* among these two, so it is certain */
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_eq_tol(t.value, 0.028, t.error + 1e-9);
	ck_assert_double_lt(t.error, 1e-5);
	wait_for(10 * MS, 1, 2);
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_eq_tol(t.value, 0.033, 1e-5);
	ck_assert_double_eq_tol(t.error, 0.005, 1e-5);
	wait_for(2 * MS, CALL_PARTNER_UNKNOWN, CALL_PARTNER_UNKNOWN);
	world_run(&w, SEC);
	t = value_of_read(3);
	ck_assert_double_eq_tol(t.value, 0.033, 1e-5);
	ck_assert_double_eq_tol(t.error, 0.007, 1e-5);
}

/*
 * The bound of a total grows with the total, here by 5 ms a read. The bound of a difference does
 * not.
 */
TEST(a_difference_has_the_bound_of_what_came_between_its_reads)
{
	char text[1024];
	struct flow_token t;

	snprintf(
		text, sizeof(text),
		"[\"flow\",1,%d,[[\"input\",0,0,0,[],\"metric\",\"Wait_delay\",\"%s\",\"\",\"\",0,0,"
		"[\"1\"],[]],[\"delta\",0,0,0,[0],0],[\"link_out\",0,0,0,[1],\"up\"]]]",
		M, rank0);
	start = now();
	load(&(struct load){ .graph = text, .every = SEC });
	for (uint64_t read = 1; read <= 20; read++) {
		wait_for(10 * MS, 1, 2);
		world_run(&w, SEC);
		t = value_of_read(read);
		ck_assert_double_eq_tol(t.value, 0.005, 1e-4);
		ck_assert_double_eq_tol(t.error, 0.005, 1e-4);
	}
	world_run(&w, SEC);
	t = value_of_read(21);
	ck_assert_double_eq_tol(t.value, 0, 1e-4);
	ck_assert_double_lt(t.error, 1e-4);
}

/* Another tool had switched the counting of waits on before this measurement began. */
TEST(waits_from_before_are_in_no_bound)
{
	struct flow_token t;

	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"partner\")", rank0));
	wait_for(10 * SEC, 1, 2);
	world_run(&w, SEC);
	load_by_partner("Wait_delay");
	wait_for(10 * MS, 1, 2);
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_eq_tol(t.value, 0.005, 1e-3);
	ck_assert_double_eq_tol(t.error, 0.005, 1e-3);
}

static bool table_has(const char *list)
{
	const struct msg_reply *reply =
		world_ask(&w, OBSERVER, with(":omig_calls_read([@],2)", rank0));

	return strstr(entry_text(&reply->entry[0]), list);
}

TEST(the_table_of_partners_has_parts_and_what_is_possible)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"partner\")", rank0));
	wait_for(8 * MS, 3, 1);
	wait_for(2 * MS, CALL_PARTNER_ALL, CALL_PARTNER_ALL);
	ck_assert(table_has("[\"MPI_Waitall\",3,1,0,0,0,4000000,8000000,0,1,7]"));
	ck_assert(table_has("[\"MPI_Waitall\",-3,1,0,0,2000000,0,0,0,1,7]"));
	ck_assert(!table_has("[\"\",-1,"));
	fake_segment_thread(&seg, 0)->partner_lost = 5;
	ck_assert(table_has("[\"\",-1,5,0,0,0,0,0,0,0,-1]"));
}

TEST(calls_that_name_no_partner_have_no_time_by_partner)
{
	const struct msg_flow_ack *ack;

	start = now();
	ack = load(
		&(struct load){ .graph = graph_of("Barrier_delay", rank0, "\"3\""), .every = SEC });
	ck_assert_uint_eq(ack->nentry, 1);
	ck_assert_ptr_nonnull(strstr(entry_text(&ack->entry[0]), "name none"));
}

/* Only the call that completes a receive from any source knows the source. */
TEST(receives_by_partner_watch_what_completes_them)
{
	load_by_partner("Receive_delay");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Wait"), HOOK_VOLUME);
	load(&(struct load){
		.graph = graph_of("Send_delay", rank0, "\"3\""), .every = SEC, .version = 2 });
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Wait"), 0);
}

/* The bytes of persistent requests count at each start, for the call that created them. */
TEST(persistent_sends_watch_what_starts_them)
{
	load_metric("Send_volume");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send_init"), HOOK_COUNT | HOOK_VOLUME);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Startall"), HOOK_VOLUME);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Pready"), HOOK_VOLUME);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Wait"), 0);
	load(&(struct load){
		.graph = graph_of("MPI_Send_init_volume", rank0, ""), .every = SEC, .version = 2 });
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Start"), HOOK_VOLUME);
	load(&(struct load){
		.graph = graph_of("Send_count", rank0, ""), .every = SEC, .version = 3 });
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Start"), 0);
}

TEST(bytes_of_requests_without_room_are_in_the_bound)
{
	struct flow_token t;

	load_metric("Send_volume");
	seg.h->w.requests_lost = 1;
	call(&seg, "MPI_Send", 8, 1);
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_eq(t.value, 8);
	ck_assert(isinf(t.error));
}

SUITE_WITH("readings_partner", set_up, clean_up)
