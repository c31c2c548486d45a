/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of one user in an sm: each from both sides, and its message. */
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#define EVENT "thread_has_started_lib_call([p_1_000001],\"MPI_Send\"): print([$time])"

static struct world w;

static void allow(enum quota_what what, int64_t n)
{
	struct quota q = { .max = { 0 } };

	q.max[what] = n;
	sm_set_quota(w.sm, &q);
}

static void set_up(void)
{
	world_open(&w);
}

static void clean_up(void)
{
	world_done(&w);
}

TEST(hosts_up_to_the_limit_are_let_in)
{
	allow(QUOTA_HOSTS, 2);
	lms_start(&w, 2);
	lm_start(&w, 2);
	world_run(&w, 50 * MS);
	ck_assert(!w.lm[2].b.is_up);
	ck_assert_ptr_nonnull(
		strstr(w.lm[2].b.why, "quota hosts: the site allows this user 2 hosts"));
	ck_assert_uint_eq(world_counts(&w).lms, 2);
	allow(QUOTA_HOSTS, 3);
	world_run(&w, 20 * SEC);
	ck_assert(w.lm[2].b.is_up);
}

TEST(objects_beyond_the_limit_are_refused)
{
	allow(QUOTA_OBJECTS, 4); /* two processes with a thread each */
	lms_start(&w, 1);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(world_counts(&w).objects, 4);
	ck_assert_uint_eq(world_counts(&w).procs, 2);
	lm_start(&w, 1);
	world_run(&w, 50 * MS);
	ck_assert_ptr_nonnull(strstr(w.lm[1].b.why, "quota objects: the site allows this user 4"));
	ck_assert_uint_le(world_counts(&w).objects, 4);
	ck_assert(w.lm[0].b.is_up);
}

TEST(at_the_limit_of_objects_a_host_may_report_a_change)
{
	const struct msg_object shorter = {
		.token = "p_1_000001", .parent = "n_1", .name = "hea", .rank = 0, .pid = 77
	};
	const struct msg_object longer = { .token = "p_1_000001",
					   .parent = "n_1",
					   .name = "a longer name",
					   .rank = 0,
					   .pid = 78 };

	allow(QUOTA_OBJECTS, 4);
	lms_start(&w, 1);
	world_run(&w, 50 * MS);
	lm_report(&w.lm[0], false, &longer, 1);
	world_run(&w, 50 * MS);
	ck_assert(w.lm[0].b.is_up);
	ck_assert_uint_eq(w.lm[0].b.downs, 0);
	ck_assert_uint_eq(world_counts(&w).objects, 4);
	/* A user above a limit of bytes is not cut while usage does not grow. */
	allow(QUOTA_BYTES, 1);
	lm_report(&w.lm[0], false, &shorter, 1);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(w.lm[0].b.downs, 0);
	ck_assert_uint_eq(world_counts(&w).over_quota, 0);
}

TEST(csrs_beyond_the_quota_are_refused_with_a_reason)
{
	allow(QUOTA_CSRS, 1);
	lms_start(&w, 1);
	top_arm(&w, "c_1", 1, EVENT, 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 0);
	top_arm(&w, "c_2", 1, EVENT, 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 1);
	ck_assert_ptr_nonnull(
		strstr(w.top.ack_text, "quota csrs: the site allows this user 1 conditional"));
	ck_assert_uint_eq(world_counts(&w).csrs, 1);
	/* An existing csr may be changed at the limit. */
	top_arm(&w, "c_1", 2, EVENT, 1);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(w.top.ack_errors, 0);
	ck_assert_uint_eq(w.top.ack_version, 2);
}

TEST(a_request_beyond_the_byte_quota_is_refused)
{
	const struct reply *r;

	lms_start(&w, 1);
	r = top_ask(&w, ":proc_get_info([p_1_000001],1)", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	allow(QUOTA_BYTES, (int64_t)world_counts(&w).bytes + 10);
	r = top_ask(&w, ":proc_get_info([p_1_000001],1)", SEC);
	ck_assert_ptr_nonnull(
		strstr(entry_of(r, 0, 0)->value, "quota bytes: the site allows this user"));
	ck_assert_uint_ne(reply_status(r), STATUS_OK);
	/* The refusal can be queried with omig_status() alone. */
	r = top_ask(&w, ":omig_status()", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "\"refused\",\"quota bytes"));
	r = top_ask(&w, ":omig_status() proc_get_info([p_1_000001],1)", SEC);
	ck_assert_uint_ne(reply_status(r), STATUS_OK);
	allow(QUOTA_BYTES, 1024 * 1024);
	r = top_ask(&w, ":proc_get_info([p_1_000001],1)", SEC);
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
}

/* The parts of a reply are in memory until the last one arrives: here 2 MB. */
TEST(reply_parts_beyond_the_byte_quota_are_missing)
{
	const struct reply *r;
	size_t before;

	lms_start(&w, 2);
	before = world_counts(&w).bytes;
	allow(QUOTA_BYTES, (int64_t)before + 600 * 1000);
	w.lm[0].b.pad = 100;
	r = top_ask(&w, ":proc_get_info([n_1,n_2],1)", 2 * SEC);
	ck_assert_uint_eq(r->coverage.nmissing, 1);
	ck_assert_ptr_nonnull(strstr(r->coverage.missing[0].reason, "quota bytes"));
	ck_assert_ptr_nonnull(strstr(r->coverage.missing[0].object, "n_1"));
	ck_assert_ptr_nonnull(entry_of(r, 1, 0));
	ck_assert_uint_le(world_counts(&w).bytes, before + 1000);
	w.lm[0].b.pad = 0;
	r = top_ask(&w, ":proc_get_info([n_1,n_2],1)", 2 * SEC);
	ck_assert_uint_eq(r->coverage.nmissing, 0);
}

TEST(while_it_drains_known_hosts_return_and_new_ones_do_not)
{
	lms_start(&w, 2);
	sm_drain(w.sm, true);
	lm_stop(&w, 1);
	world_run(&w, SEC);
	lm_start(&w, 1);
	lm_start(&w, 2);
	world_run(&w, SEC);
	ck_assert(w.lm[1].b.is_up);
	ck_assert(!w.lm[2].b.is_up);
	ck_assert_ptr_nonnull(strstr(w.lm[2].b.why, "no more hosts"));
	sm_drain(w.sm, false);
	world_run(&w, 20 * SEC);
	ck_assert(w.lm[2].b.is_up);
}

SUITE_WITH("sm quota", set_up, clean_up)
