/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of an lm: each grows with its events, by the right number. */
#include "common/omis/text/status.h"
#include "common/omis/text/value.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <fcntl.h>
#include <signal.h>

/* Of the dump; the status agrees, but for what the request itself changes. */
static int64_t counter(const char *name)
{
	struct buf b = BUF_INIT(100000);
	char line[64], pair[64];
	const char *at, *text;
	int64_t n;

	snprintf(line, sizeof(line), "\n%s=", name);
	snprintf(pair, sizeof(pair), "[\"%s\",", name);
	lm_dump(w.lm, &b);
	at = strstr(buf_str(&b), line);
	ck_assert_msg(at != NULL, "no %s in %s", name, buf_str(&b));
	n = strtoll(at + strlen(line), NULL, 10);
	buf_done(&b);
	text = entry_text(&world_ask(&w, OBSERVER, ":omig_status()")->entry[0]);
	ck_assert_int_eq(strncmp(text, "\"lm\",\"", 6), 0);
	at = strstr(text, pair);
	ck_assert_msg(at != NULL, "no %s in %s", name, text);
	if (strncmp(name, "link_", 5) != 0 && strcmp(name, "requests") != 0 &&
	    strcmp(name, "time_error_ns") != 0)
		ck_assert_int_eq(strtoll(at + strlen(pair), NULL, 10), n);
	return n;
}

#define IS(name, n) ck_assert_int_eq(counter(name), n)

TEST(processes_are_counted)
{
	IS("processes", 2);
	IS("processes_ended", 0);
	IS("processes_stopped", 0);
	IS("segments_taken", 2);
	IS("segments_adopted", 0);
	IS("segments_refused", 0);
	IS("segments_of_other_builds", 0);
	IS("segment_version", SEG_VERSION);
	IS("segments_corrupt", 0);
	world_ask(&w, MANIPULATOR, with(":thread_stop([@])", rank0));
	IS("processes_stopped", 1);
	world_ask(&w, MANIPULATOR, with(":thread_continue([@])", rank0));
	IS("processes_stopped", 0);
	fake_proc_end(fake_proc_find(&w.host, 200), SIGKILL);
	world_run(&w, 10 * MS);
	IS("processes", 1);
	IS("processes_ended", 1);
	ck_assert_int_lt(registration_segment(w.lm->registration,
					      open("/dev/null", O_RDONLY | O_CLOEXEC), 100, false),
			 0);
	IS("segments_refused", 1);
	IS("segments_taken", 2);
}

TEST(requests_and_the_link_are_counted)
{
	int64_t before;

	before = counter("requests");
	ck_assert_int_gt(counter("requests"), before);
	IS("requests_waiting", 0);
	IS("requests_repeated", 0);
	IS("replies_unsent", 0);
	IS("parent_connects", 1);
	IS("parent_dropped", 0);
	before = counter("parent_frames_out");
	ck_assert_int_eq(counter("parent_frames_out"), before + 1);
	before = counter("parent_bytes_out");
	ck_assert_int_gt(counter("parent_bytes_out"), before + 500);
	ck_assert_int_ge(counter("time_error_ns"), 0);
	ck_assert_int_gt(counter("certificate_expires_ns"), 0);
}

TEST(events_are_counted)
{
	IS("csrs_armed", 0);
	IS("rings_polled", 0);
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	IS("csrs_armed", 1);
	IS("rings_polled", 1);
	IS("events_fired", 0);
	for (int i = 0; i < 3; i++)
		call(&seg, "MPI_Send", 8, 1);
	world_run(&w, 50 * MS);
	IS("events_fired", 3);
	IS("events_dropped", 0);
	IS("records_dropped", 0);
	call(&seg, "MPI_Recv", 8, 1);
	call(&other, "MPI_Send", 8, 1);
	world_run(&w, 50 * MS);
	IS("events_fired", 3);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_DISARM, .disarm = { .csr = "c_5" } });
	world_run(&w, 50 * MS);
	IS("csrs_armed", 0);
	IS("rings_polled", 0);
}

TEST(events_beyond_the_rate_are_counted_as_dropped)
{
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): print([1])", rank0, 0, true);
	world_run(&w, SEC - loop_now(w.loop) % SEC);
	for (int i = 0; i < TOOL_FIRINGS_PER_SEC_MAX + 20; i++) {
		fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send", .partner = 1 });
		if (i % 20 == 19)
			world_run(&w, 10 * MS);
	}
	world_run(&w, 10 * MS);
	IS("events_dropped", 20);
}

TEST(objects_of_tools_are_counted)
{
	int64_t bytes;

	IS("counters", 0);
	IS("trace_buffers", 0);
	IS("trace_bytes", 0);
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_2)", rank0));
	IS("counters", 2);
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],trace_b_1)", rank0));
	IS("trace_buffers", 1);
	IS("counters", 2);
	world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.5,2,[7])");
	bytes = counter("trace_bytes");
	ck_assert_int_gt(bytes, 0);
	world_ask(&w, OBSERVER, ":trace_buffer_append(trace_b_1,1.5,2,[7])");
	IS("trace_bytes", 2 * bytes);
	IS("trace_records_dropped", 0);
	world_ask(&w, OBSERVER, ":trace_buffer_read([trace_b_1])");
	IS("trace_bytes", 0);
	world_ask(&w, OBSERVER, ":pa_counter_delete([pa_cl_1])");
	IS("counters", 1);
	IS("measurements", 0);
	IS("flow_nodes", 0);
	IS("flow_reads", 0);
	IS("subscriptions", 0);
	IS("spool_bytes", 0);
}

TEST(lm_status_counts_lost_requests_of_ranks)
{
	IS("threads_unwatched", 0);
	IS("calls_unwatched", 0);
	IS("calls_without_partner", 0);
	IS("actions_skipped", 0);
	IS("requests_uncounted", 0);
	seg.h->w.requests_lost = 4;
	IS("requests_uncounted", 4);
	other.h->w.requests_lost = 3;
	IS("requests_uncounted", 7);
}

TEST(the_dump_names_the_daemon_above)
{
	struct buf b = BUF_INIT(100000);

	lm_dump(w.lm, &b);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), " node=n_7\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\npeer="));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), " last_error=\"\"\n"));
	buf_done(&b);
}

SUITE_WITH("lm status", open_ranks, close_ranks)
