/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for a measurement, and their later actions. */
#include "tests/suite.h"
#include "tests/unit/mainsm/measure/measured_hosts.h"

#define SPREAD                                                  \
	"Spread(Process[] procs, TimeInterval t) { Process p; " \
	"RETURN HISTOGRAM(Send_volume(p, t) WHERE p IN procs); }"

/* A histogram owns memory, which must be freed once. */
TEST(a_request_may_read_and_delete_a_histogram)
{
	char request[256];

	open_hosts();
	create("[]", SPREAD, "Spread", "[\"every_ms\",0]");
	snprintf(request, sizeof(request), ":dfg_start([%s]) dfg_read([%s]) dfg_delete([%s])", dfg,
		 dfg, dfg);
	above_send(&t, request, 0);
	world_run(&w, 20 * MS);
	measured_send(&in_a, 1, in_a.read_at);
	measured_send(&in_b, 1, in_b.read_at);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(entry_of(t.last, 2, 0)->value, "[[\"\",1,[["));
	ck_assert_uint_eq(above_status(&t, ":dfg_list()"), STATUS_OK);
	ck_assert_str_eq(entry_of(t.last, 1, 0)->value, "");
	close_hosts();
}

/*
 * The reply has a read that begins after the request, although b has sent all data of an earlier
 * read.
 */
TEST(a_request_during_a_read_gets_the_next_one)
{
	char request[64];
	uint64_t first, second;

	open_hosts();
	create("[]", "", "Send_volume", "[\"every_ms\",0]");
	ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
	snprintf(request, sizeof(request), ":dfg_read([%s])", dfg);
	first = above_send(&t, request, 0);
	world_run(&w, 10 * MS);
	measured_send(&in_b, 1, in_b.read_at);
	world_run(&w, 10 * MS);
	more = 1;
	second = above_send(&t, request, 0);
	world_run(&w, 10 * MS);
	measured_send(&in_a, 1, in_a.read_at);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(t.last->id, first);
	ck_assert_ptr_nonnull(strstr(entry_of(t.last, 1, 0)->value, "1,"));
	ck_assert_uint_eq(in_a.reads, 2);
	ck_assert_uint_eq(in_b.reads, 2);
	measured_send(&in_a, 2, in_a.read_at);
	measured_send(&in_b, 2, in_b.read_at);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(t.last->id, second);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(entry_of(t.last, 1, 0)->value, ",8,8,")); /* 8 of 8 */
	/* The value includes the increase since the earlier read. */
	ck_assert_ptr_nonnull(strstr(entry_of(t.last, 1, 0)->value, "[\"\",2,2048.0,"));
	close_hosts();
}

/* Sends a start and a deletion while site b does not confirm the load. */
static uint64_t begin_to_start_and_delete(const char *objects)
{
	char request[160];
	uint64_t id;

	open_hosts();
	in_b.no_ack = true;
	create(objects, "", "Send_volume", "[\"every_ms\",10000,\"by\",\"process\"]");
	snprintf(request, sizeof(request), ":dfg_start([%s]) dfg_delete([%s])", dfg, dfg);
	id = above_send(&t, request, 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(in_b.loads, 1);
	ck_assert_uint_ne(t.last->id, id);
	return id;
}

TEST(a_continuation_without_hosts_may_delete_the_measurement)
{
	uint64_t id = begin_to_start_and_delete("[n_1,n_3]");
	unsigned before = t.replies;
	char request[64];

	snprintf(request, sizeof(request), ":dfg_remove([%s],[n_3])", dfg);
	above_send(&t, request, 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(t.replies, before + 2);
	ck_assert_uint_eq(t.last->id, id);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_eq(reply_status(ask("dfg_stop", "")), STATUS_UNKNOWN_OBJECT);
	close_hosts();
}

TEST(a_continuation_after_lost_objects_may_delete_measurements)
{
	uint64_t id = begin_to_start_and_delete("[]");

	above_send(&t, ":node_detach([n_3,n_4])", 0);
	world_run(&w, 500 * MS);
	ck_assert_uint_eq(t.last->id, id);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_uint_eq(in_b.ends, 1);
	ck_assert_uint_eq(reply_status(ask("dfg_stop", "")), STATUS_UNKNOWN_OBJECT);
	close_hosts();
}

TEST(a_continuation_after_a_lost_site_may_delete_its_waiter)
{
	uint64_t id = begin_to_start_and_delete("[]");

	link_close(b.link, "a cut");
	world_run(&w, 500 * MS);
	below_again(&b);
	ck_assert_uint_eq(t.last->id, id);
	ck_assert_uint_eq(reply_status(t.last), STATUS_OK);
	ck_assert_uint_eq(in_a.ends, 1);
	ck_assert_uint_eq(reply_status(ask("dfg_stop", "")), STATUS_UNKNOWN_OBJECT);
	close_hosts();
}

/* Each measurement continues in a turn of the loop of its own. */
TEST(of_several_measurements_each_follows_what_has_come)
{
	open_hosts();
	for (int i = 0; i < 3; i++) {
		create("[]", "", "Send_volume", "[\"every_ms\",10000]");
		ck_assert_uint_eq(reply_status(ask("dfg_start", "")), STATUS_OK);
		world_run(&w, MS);
	}
	ck_assert_uint_eq(in_a.loads, 3);
	for (unsigned i = 0; i < 3; i++) {
		below_report_proc(&a, 1,
				  (const char *[]){ "p_1_c00000", "p_1_d00000", "p_1_e00000" }[i],
				  50 + i);
		ck_assert_uint_eq(above_status(&t, ":proc_attach([n_1])"), STATUS_OK);
		world_run(&w, 500 * MS);
		ck_assert_uint_eq(in_a.loads, 6 + 3 * i);
		ck_assert_uint_eq(in_b.loads, 3);
	}
	close_hosts();
}

SUITE("measure wait")
