/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of an sm: each grows with its events, by the right number. */
#include "common/daemon/daemon.h"
#include "common/flow/batch/batch.h"
#include "sm/node/sm_internal.h"
#include "tests/suite.h"
#include "tests/unit/sm/world.h"

#define EVENT "thread_has_started_lib_call([p_1_000001,p_2_000001],\"MPI_Send\"): print([$time])"
#define SITE                                                                      \
	"[\"flow\",1,7,[[\"link_in\",0,0,0,[],\"a\",\"read\",0,\"SUM\",0.0,0,1]," \
	"[\"link_out\",0,0,0,[0],\"up\"]]]"
#define HOST                                                                          \
	"[\"flow\",1,7,[[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,1,[],[]]," \
	"[\"link_out\",0,0,0,[0],\"a\"]]]"

static struct world w;

static void set_up(void)
{
	world_open(&w);
	lms_start(&w, 2);
	world_run(&w, 20 * MS);
}

static void clean_up(void)
{
	world_done(&w);
}

static bool find(const char *name, struct sm_counter *out)
{
	struct sm_counters f;

	sm_collect(w.sm, &f);
	for (size_t i = 0; i < f.n; i++)
		if (!strcmp(f.counter[i].name, name)) {
			*out = f.counter[i];
			return true;
		}
	return false;
}

static int64_t counter(const char *name)
{
	struct sm_counter f;

	ck_assert_msg(find(name, &f), "no %s", name);
	ck_assert(!f.text);
	return f.value;
}

#define IS(name, n) ck_assert_int_eq(counter(name), n)

TEST(hosts_are_counted)
{
	IS("lms", 2);
	IS("nodes", 2);
	IS("objects", 8);
	IS("lms_accepted", 2);
	IS("lms_refused", 0);
	IS("sms", 0);
	IS("level", 1);
	IS("parent_up", 1);
	IS("parent_connects", 1);
	IS("parent_dropped", 0);
	IS("lms_cut_wrong", 0);
	ck_assert_int_gt(counter("object_bytes"), 8 * 64);
	lm_stop(&w, 1);
	world_run(&w, 10 * MS);
	IS("lms", 1);
	IS("nodes", 2);
	lm_start(&w, 1);
	world_run(&w, 10 * MS);
	IS("lms", 2);
	IS("lms_accepted", 3);
	lm_set(&w, 2, "b", "h3", 3); /* of another site */
	lm_start(&w, 2);
	world_run(&w, 10 * MS);
	ck_assert(!w.lm[2].b.is_up);
	IS("lms_accepted", 3);
}

TEST(requests_are_counted)
{
	top_ask(&w, ":node_get_info([n_1,n_2],1)", SEC);
	IS("requests_asked", 1);
	IS("requests_answered", 1);
	IS("requests_partial", 0);
	IS("tools", 1);
	w.lm[1].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_2],1)", 100 * MS);
	world_run(&w, 5 * MS);
	IS("requests", 1);
	IS("requests_asked", 2);
	IS("requests_answered", 1);
	world_run(&w, 200 * MS);
	IS("requests", 0);
	IS("requests_answered", 2);
	IS("requests_partial", 1);
	IS("strays", 0);
	lm_reply(&w.lm[1], w.lm[1].b.last_id, 1, "n_2");
	world_run(&w, 5 * MS);
	IS("strays", 1);
	IS("requests_unsent", 0);
	top_ask(&w, ":omig_pa_create([p_1_000001],pa_cl_1)", SEC);
	IS("cells", 1);
	top_ask(&w, ":pa_counter_delete([pa_cl_1])", SEC);
	IS("cells", 0);
}

TEST(a_request_ends_with_its_mainsm)
{
	w.lm[0].b.is_mute = w.lm[1].b.is_mute = true;
	top_send_request(&w, ":node_get_info([n_1,n_2],1)", SEC);
	world_run(&w, 5 * MS);
	top_stop(&w);
	world_run(&w, 2 * SEC);
	IS("parent_up", 0);
	IS("requests", 0);
	IS("requests_asked", 1);
	IS("requests_answered", 0);
	IS("requests_partial", 0);
}

TEST(events_are_counted)
{
	top_arm(&w, "c_1", 7, EVENT, 0);
	world_run(&w, 5 * MS);
	IS("csrs", 1);
	IS("events", 0);
	lm_trigger(&w.lm[0], "c_1", "t_1_000001");
	lm_trigger(&w.lm[1], "c_1", "t_2_000001");
	world_run(&w, 5 * MS);
	IS("events", 2);
	IS("strays", 0);
	lm_trigger(&w.lm[0], "c_9", "t_1_000001");
	world_run(&w, 5 * MS);
	IS("events", 2);
	IS("events_dropped", 0);
	IS("strays", 1);
}

static void load(nsec_t start)
{
	struct msg_flow_piece piece[2] = {
		{ "s_5", { (const uint8_t *)SITE, sizeof(SITE) - 1 } },
		{ "n_1", { (const uint8_t *)HOST, sizeof(HOST) - 1 } },
	};
	const struct msg m = { .type = MSG_FLOW_LOAD,
			       .flow_load = { .measurement = 7,
					      .tool = 1,
					      .identity = "omig:tool-observe//me",
					      .version = 1,
					      .start_ns = start,
					      .every_ns = SEC,
					      .piece = piece,
					      .npiece = 2 } };

	ck_assert_int_eq(top_send(&w, &m), 0);
	world_run(&w, 10 * MS);
}

static void send_value(nsec_t start, const char *link, int64_t read)
{
	const struct flow_token t = flow_token_make(read, 1, 0, start);
	const struct flow_batch batch = {
		.measurement = 7, .link = link, .read = read, .n = 1, .t = &t
	};
	struct buf b = BUF_INIT(1000);
	struct bytes bytes;
	const struct msg m = { .type = MSG_FLOW_BATCH,
			       .flow_batch = { .measurement = 7,
					       .read = (uint64_t)read,
					       .time_ns = start + read * SEC,
					       .object = "n_1",
					       .batch = &bytes,
					       .nbatch = 1 } };

	flow_batch_encode(&b, &batch);
	bytes = (struct bytes){ b.p, b.n };
	lm_send(&w.lm[0], &m);
	world_run(&w, 20 * MS);
	buf_done(&b);
}

TEST(measurements_are_counted)
{
	nsec_t start = timebase_at(&w.top_time, loop_now(w.loop));

	load(start);
	IS("measurements", 1);
	IS("flow_nodes", 2);
	IS("flow_reads", 0);
	ck_assert_int_gt(counter("flow_state_bytes"), 0);
	IS("flow_graph_bytes", sizeof(HOST) - 1);
	load(start); /* again: no change */
	IS("measurements", 1);
	IS("flow_graph_bytes", sizeof(HOST) - 1);
	world_run(&w, SEC - 20 * MS);
	send_value(start, "a", 1);
	IS("flow_reads", 1);
	IS("flow_reads_late", 0);
	IS("strays", 0);
	send_value(start, "b", 2);
	IS("strays", 1);
	IS("flow_reads", 1);
	world_run(&w, SEC + 600 * MS);
	IS("flow_reads", 2);
	IS("flow_reads_late", 1);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 7 } }), 0);
	world_run(&w, 10 * MS);
	IS("measurements", 0);
	IS("flow_nodes", 0);
	IS("flow_state_bytes", 0);
	IS("flow_graph_bytes", 0);
	IS("flow_reads", 2);
}

/* The text of a conditional request, and what each host has of it. */
TEST(disarm_frees_the_memory_of_a_csr)
{
	size_t before = sm_bytes(w.sm), with;

	top_arm(&w, "c_1", 7, EVENT, 0);
	world_run(&w, 5 * MS);
	with = sm_bytes(w.sm);
	ck_assert_uint_gt(with, before + 2 * (sizeof(EVENT) - 30));
	ck_assert_uint_lt(with, before + 4 * sizeof(EVENT));
	top_arm(&w, "c_1", 8, EVENT, 0);
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(sm_bytes(w.sm), with);
	ck_assert_int_eq(top_send(&w, &(struct msg){ .type = MSG_DISARM, .disarm = { "c_1" } }), 0);
	world_run(&w, 50 * MS);
	ck_assert_uint_eq(sm_bytes(w.sm), before);
	top_ask(&w, ":node_get_info([n_1,n_2],1)", SEC);
	ck_assert_uint_eq(sm_bytes(w.sm), before);
	IS("csrs", 0);
}

/* Requests that mainsm does not send again after its restart are over. */
TEST(a_restart_of_mainsm_leaves_what_it_sends_again)
{
	nsec_t start = timebase_at(&w.top_time, loop_now(w.loop));

	sm_set_times(w.sm, 60 * SEC, 5 * SEC);
	top_arm(&w, "c_1", 7, EVENT, 0);
	load(start);
	IS("csrs", 1);
	IS("measurements", 1);
	top_stop(&w);
	top_start(&w);
	world_run(&w, 15 * SEC);
	IS("parent_up", 1);
	IS("parent_connects", 2);
	IS("csrs", 0);
	IS("measurements", 0);
	ck_assert_ptr_nonnull(messages_next(&w.lm[0].flows, MSG_FLOW_END));
	ck_assert_uint_eq(w.lm[0].b.disarms, 1);
	load(start);
	IS("measurements", 1);
	top_stop(&w);
	top_start(&w);
	while (!w.top.up.link)
		world_run(&w, MS);
	load(start);
	world_run(&w, 15 * SEC);
	IS("measurements", 1);
}

TEST(time_to_hosts_and_mainsm_is_measured)
{
	const struct mem_link far = { .delay = 40 * MS };

	ck_assert_int_eq(mem_net_set_link(w.net, "h1", "sm-a", &far), 0);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &far), 0);
	world_run(&w, MEASURE_PERIOD_NS + SEC);
	ck_assert_int_ge(counter("lms_rtt_max_ns"), 40 * MS);
	ck_assert_int_ge(counter("parent_rtt_ns"), 40 * MS);
	ck_assert_int_gt(counter("time_error_ns"), 0);
	IS("certificate_expires_ns", INT64_MAX);
}

TEST(a_quota_is_among_the_counters)
{
	struct quota q = { .max = { 2, 8, 3, 0, 0 } };
	struct sm_counter f;

	ck_assert(!find("quota_hosts", &f) && !find("refused", &f));
	sm_set_quota(w.sm, &q);
	IS("quota_hosts", 2);
	IS("quota_objects", 8);
	IS("quota_csrs", 3);
	IS("over_hosts", 0);
	ck_assert_int_eq(counter("bytes"), (int64_t)sm_bytes(w.sm));
	ck_assert(!find("refused", &f));
	lm_start(&w, 2);
	world_run(&w, 50 * MS);
	ck_assert_int_gt(counter("over_hosts"), 0);
	IS("over_objects", 0);
	ck_assert(find("refused", &f));
	ck_assert_ptr_nonnull(strstr(f.text, "this user 2 hosts"));
}

static void health(void *arg, struct daemon_health *out)
{
	*out = (struct daemon_health){ .lag_max = 11, .rss_bytes = 12, .fds = 13, .fd_limit = 14 };
}

TEST(the_process_is_among_the_counters)
{
	struct sm_counter f;

	ck_assert(!find("fds", &f) && !find("rss_bytes", &f));
	world_stop_sm(&w);
	w.conf.health = health;
	world_start_sm(&w);
	IS("lag_max_ns", 11);
	IS("rss_bytes", 12);
	IS("fds", 13);
	IS("fd_limit", 14);
}

/* Eight in a line, spaces between them, texts in quotes. */
TEST(the_dump_has_lines_of_eight)
{
	struct buf b = BUF_INIT(100000);
	struct sm_counters f = { .n = 0 };

	for (int i = 0; i < 9; i++)
		sm_counters_add(&f, "a", i);
	sm_counters_add_text(&f, "b", "two words");
	sm_counters_dump(&f, &b);
	ck_assert_str_eq(buf_str(&b), "a=0 a=1 a=2 a=3 a=4 a=5 a=6 a=7\na=8 b=\"two words\"\n");
	buf_clear(&b);
	f.n = 8;
	sm_counters_dump(&f, &b);
	ck_assert_str_eq(buf_str(&b), "a=0 a=1 a=2 a=3 a=4 a=5 a=6 a=7\n");
	for (int i = 0; i < 2 * SM_COUNTERS_MAX; i++)
		sm_counters_add(&f, "c", i);
	ck_assert_uint_eq(f.n, SM_COUNTERS_MAX);
	sm_counters_add_text(&f, "d", "");
	ck_assert_uint_eq(f.n, SM_COUNTERS_MAX);
	buf_clear(&b);
	sm_dump(w.sm, &b);
	ck_assert_int_eq(strncmp(buf_str(&b), "lms=2 nodes=2 objects=8 ", 24), 0);
	buf_done(&b);
}

SUITE_WITH("sm status", set_up, clean_up)
