/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements on a host: a loaded one is read when its intervals end, and reported once. */
#include "common/omis/text/status.h"
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>

/* It was held before it had called MPI_Init. */
TEST(calls_of_a_process_count_when_its_segment_comes)
{
	struct fake_segment late;
	struct flow_token t;

	fake_proc_add(&w.host, 300, "late");
	world_ask(&w, OBSERVER, ":omig_proc_take([n_7],300,\"late\")");
	start = now();
	load(&(struct load){ .graph = graph_of("Send_count", world_token(&w, 300), ""),
			     .every = SEC });
	world_run(&w, SEC);
	ck_assert_uint_eq(value_of_read(1).k, 0);
	fake_segment_open(&late, 300, 2, 300);
	fake_proc_find(&w.host, 300)->memfd = late.fd;
	ck_assert_int_eq(registration_segment(w.lm->registration,
					      fcntl(late.fd, F_DUPFD_CLOEXEC, 3), 300, false),
			 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(fake_segment_hook(&late, "MPI_Send"), HOOK_COUNT);
	call(&late, "MPI_Send", 80, 1);
	call(&late, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_eq(t.value, 2);
	ck_assert_uint_eq(t.k, 1);
	fake_segment_close(&late);
}

TEST(a_count_since_the_start_comes_once_a_read)
{
	struct flow_token t;

	call(&seg, "MPI_Send", 80, 1);
	ck_assert_uint_eq(load_metric("Send_count")->nentry, 0);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), 0);
	ck_assert_uint_eq(fake_segment_hook(&other, "MPI_Send"), 0);
	call(&seg, "MPI_Send", 80, 1);
	call(&seg, "MPI_Isend", 80, 1);
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_eq(t.value, 2);
	ck_assert_double_eq(t.error, 0);
	ck_assert_uint_eq(t.k, 1);
	ck_assert_uint_eq(t.flags, 0);
	ck_assert_int_ge(t.time, start + SEC);
	ck_assert_ptr_null(frame());
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(2).value, 3);
	ck_assert_ptr_null(frame());
}

TEST(measurement_excludes_calls_before_its_start)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"volume\")", rank0));
	call(&seg, "MPI_Send", 80, 1);
	load_metric("Send_volume");
	call(&seg, "MPI_Send", 8, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 8);
}

TEST(the_time_of_a_call_under_way_is_in_it_so_far)
{
	struct flow_token t;

	load_metric("Barrier_delay");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Barrier"), HOOK_COUNT | HOOK_TIME);
	fake_segment_enter(&seg, "MPI_Barrier");
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert_double_gt(t.value, 0);
	ck_assert_double_gt(t.error, 0);
	world_run(&w, SEC);
	ck_assert_double_gt(value_of_read(2).value, t.value);
}

TEST(unknown_metric_is_reported_and_its_value_is_missing)
{
	const struct msg_flow_ack *ack = load_metric("Send_nothing");
	struct flow_token t;

	ck_assert_uint_eq(ack->nentry, 1);
	ck_assert(status_is_error(ack->entry[0].status));
	ck_assert_str_eq(ack->entry[0].objects, rank0);
	ck_assert_ptr_nonnull(strstr(entry_text(&ack->entry[0]), "Send_nothing"));
	world_run(&w, SEC);
	t = value_of_read(1);
	ck_assert(isnan(t.value));
	ck_assert_uint_eq(t.k, 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(t.flags, FLOW_MISSING | FLOW_PARTIAL);
}

TEST(figures_of_the_system_are_sampled)
{
	static const struct {
		const char *metric, *object;
	} sampled[] = {
		{ "Time", NULL },
		{ "Compute_time", NULL },
		{ "Node_load", "n_7" },
		{ "Node_memory_free", "n_7" },
		{ "Node_network_in", "n_7" },
		{ "Node_disk_written", "n_7" },
	};

	for (size_t i = 0; i < ARRAY_LEN(sampled); i++) {
		const char *object = sampled[i].object ? sampled[i].object : rank0;

		start = now();
		ck_assert_uint_eq(
			load(&(struct load){ .graph = graph_of(sampled[i].metric, object, ""),
					     .every = SEC })
				->nentry,
			0);
		world_run(&w, SEC);
		ck_assert_msg(!isnan(value_of_read(1).value), "%s", sampled[i].metric);
	}
}

static struct flow_token look_at(const char *metric, const char *object)
{
	start = now();
	ck_assert_uint_eq(
		load(&(struct load){ .graph = graph_of(metric, object, ""), .every = SEC })->nentry,
		0);
	world_run(&w, SEC);
	return value_of_read(1);
}

TEST(figures_of_a_node_are_those_of_its_system)
{
	struct host_facts facts;
	const struct {
		const char *metric;
		double value;
	} row[] = {
		{ "Node_load", 0.5 },
		{ "Node_memory_free", 40 },
		{ "Node_swap_free", 30 },
		{ "Node_cpu_pressure", 0.125 },
		{ "Node_memory_pressure", 0.25 },
		{ "Node_io_pressure", 0.375 },
	};

	ck_assert_int_eq(host_facts(&w.host.host, &facts, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(row); i++) {
		double value = row[i].value * (row[i].value > 1 ? (double)facts.page_size : 1);

		ck_assert_msg(look_at(row[i].metric, "n_7").value == value, "%s", row[i].metric);
	}
}

TEST(the_time_of_processors_has_the_error_of_its_steps)
{
	struct flow_token t = look_at("Compute_time", rank0);

	ck_assert_double_eq(t.value, 0); /* since it is measured */
	fake_proc_find(&w.host, 100)->used_s += 1.5;
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_eq(t.value, 1.5);
	ck_assert_double_eq(t.error, 0.02); /* a step of each of its two times */
	t = look_at("CPU_usage", rank0);
	ck_assert_double_eq(t.value, 0);
	fake_proc_find(&w.host, 100)->used_s += 0.5;
	world_run(&w, SEC);
	t = value_of_read(2);
	ck_assert_double_eq_tol(t.value, 50, 1);
	ck_assert_double_eq_tol(t.error, 4, 0.1); /* two steps at each end of a second */
}

TEST(a_tool_that_may_not_observe_switches_nothing_on)
{
	static const char *const who[] = { "", "omig:lm/a/h1", "omig:root//me@here", "nobody" };

	start = now();
	for (size_t i = 0; i < ARRAY_LEN(who); i++) {
		const struct msg_flow_ack *ack =
			load(&(struct load){ .graph = graph_of("Send_count", rank0, ""),
					     .identity = who[i],
					     .every = SEC });

		ck_assert_uint_eq(ack->nentry, 1);
		ck_assert_uint_eq(ack->entry[0].status, STATUS_NO_PERMISSION);
	}
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	world_run(&w, 3 * SEC);
	ck_assert_ptr_null(frame());
}

TEST(a_graph_that_is_refused_leaves_the_old_one_running)
{
	static const char *const bad[] = {
		"",
		"[]",
		"[\"flow\",1,7,[]",
		"[\"flow\",2,7,[]]",
		"[\"flow\",1,7,[[\"op\",0,0,0,[0],\"+\"]]]",
		"[\"flow\",1,8,[[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,0,[],[]],"
		"[\"link_out\",0,0,0,[0],\"up\"]]]",
	};

	load_metric("Send_count");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct msg_flow_ack *ack =
			load(&(struct load){ .graph = bad[i], .every = SEC, .version = 2 });

		ck_assert_uint_eq(ack->nentry, 1);
		ck_assert(status_is_error(ack->entry[0].status));
		ck_assert_str_eq(ack->entry[0].objects, "n_7");
	}
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 1);
}

TEST(intervals_that_make_no_sense_are_refused)
{
	static const nsec_t steps[] = { -1, 1, FLOW_EVERY_MIN_NS - 1, FLOW_EVERY_MAX_NS + 1 };

	start = now();
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		ck_assert_uint_eq(
			load(&(struct load){ .graph = graph_of("Time", "", ""), .every = steps[i] })
				->nentry,
			1);
	ck_assert_uint_eq(load(&(struct load){ .graph = graph_of("Time", "", ""),
					       .every = SEC,
					       .read = UINT64_MAX })
				  ->nentry,
			  1);
	start = 5;
	ck_assert_uint_eq(
		load(&(struct load){ .graph = graph_of("Time", "", ""), .every = SEC })->nentry, 1);
}

TEST(a_new_version_continues_where_the_old_one_was)
{
	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 1);
	load(&(struct load){ .graph = graph_of("Send_count", rank0, ""),
			     .every = SEC,
			     .version = 2,
			     .read = 1 });
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(2).value, 2);
}

TEST(a_late_host_begins_with_the_next_read)
{
	struct flow_token t;

	start = now() - 10 * SEC - 500 * MS;
	load(&(struct load){ .graph = since_last("Send_count", rank0), .every = SEC, .read = 10 });
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	t = value_of_read(11);
	ck_assert_double_eq(t.value, 1);
	ck_assert_uint_eq(t.flags, 0);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(12).value, 0);
}

TEST(a_read_by_request_is_taken_when_it_is_asked_for)
{
	struct msg m = { .type = MSG_FLOW_READ, .flow_read = { .measurement = M, .read = 4 } };

	start = now();
	load(&(struct load){ .graph = graph_of("Send_count", rank0, "") });
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, 5 * SEC);
	ck_assert_ptr_null(frame());
	for (int i = 0; i < 2; i++) { /* no change the second time */
		m.flow_read.time_ns = now();
		above_send(&w.mainsm, &m);
		world_run(&w, 5 * MS);
	}
	ck_assert_double_eq(value_of_read(4).value, 1);
	ck_assert_ptr_null(frame());
	m.flow_read.read = UINT64_MAX;
	above_send(&w.mainsm, &m);
	m.flow_read.measurement = 99;
	above_send(&w.mainsm, &m);
	world_run(&w, 5 * MS);
	ck_assert_ptr_null(frame());
}

static double asked_for(uint64_t read)
{
	const nsec_t t = timebase_at(&w.mainsm.time, loop_now(w.loop));

	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_READ, .flow_read = { M, read, t } });
	world_run(&w, 5 * MS);
	return value_of_read(read).value;
}

/*
 * A mainsm began with an earlier time, unknown to this host: the process seemed to have begun after
 * the measurement.
 */
TEST(corrected_clock_excludes_calls_before_the_start)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"volume\")", rank0));
	call(&seg, "MPI_Send", 64, 1);
	timebase_init_root(&w.mainsm.time, loop_now(w.loop), now() - 1000 * SEC);
	start = timebase_at(&w.mainsm.time, loop_now(w.loop));
	load(&(struct load){ .graph = graph_of("Send_volume", rank0, "") });
	world_run(&w, 10 * SEC);
	ck_assert_double_eq(asked_for(1), 0);
	call(&seg, "MPI_Send", 10, 1);
	ck_assert_double_eq(asked_for(2), 10);
}

/*
 * The first read has the call; the second read has the increase since then, and is never negative.
 */
TEST(corrected_clock_makes_no_negative_increase)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"volume\")", rank0));
	call(&seg, "MPI_Send", 64, 1);
	timebase_init_root(&w.mainsm.time, loop_now(w.loop), now() - 1000 * SEC);
	start = timebase_at(&w.mainsm.time, loop_now(w.loop));
	load(&(struct load){ .graph = since_last("Send_volume", rank0) });
	ck_assert_double_eq(asked_for(1), 64);
	world_run(&w, 10 * SEC);
	call(&seg, "MPI_Send", 10, 1);
	ck_assert_double_eq(asked_for(2), 10);
	call(&seg, "MPI_Send", 3, 1);
	ck_assert_double_eq(asked_for(3), 3);
}

/* An lm that has just begun has the clock of its host, which may be anything. */
static void load_without_time(nsec_t ago)
{
	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"volume\")", rank0));
	call(&seg, "MPI_Send", 64, 1);
	start = timebase_at(&w.mainsm.time, loop_now(w.loop)) - ago;
	timebase_init(&w.time, loop_now(w.loop), now() + 1000 * SEC);
	load(&(struct load){ .graph = graph_of("Send_volume", rank0, "") });
	ck_assert_double_eq(asked_for(1), 0);
	world_run(&w, 10 * SEC);
	call(&seg, "MPI_Send", 10, 1);
}

TEST(a_process_is_no_newer_by_an_unknown_clock)
{
	load_without_time(0);
	ck_assert_double_eq(asked_for(2), 10);
}

TEST(a_process_is_newer_when_the_time_is_known)
{
	load_without_time(500 * SEC);
	ck_assert_double_eq(asked_for(2), 74);
}

/* The reads of the last two seconds of ten, by mainsm's time. */
static void check_reads_go_on(nsec_t step, const char *graph)
{
	const struct msg_flow_batch *f;
	double sum = 0;
	uint64_t last = 0;

	timebase_init_root(&w.mainsm.time, loop_now(w.loop), now() + step);
	start = timebase_at(&w.mainsm.time, loop_now(w.loop));
	ck_assert_uint_eq(load(&(struct load){ .graph = graph, .every = SEC })->nentry, 0);
	world_run(&w, 8 * SEC);
	while (frame())
		;
	call(&seg, "MPI_Send", 10, 1);
	world_run(&w, 2 * SEC);
	while ((f = frame())) {
		last = f->read;
		sum += token_of(f).value;
	}
	ck_assert_uint_ge(last, 9);
	ck_assert_uint_le(last, 10);
	ck_assert_double_eq(sum, 10);
}

TEST(reads_continue_when_the_time_turns_out_to_be_earlier)
{
	check_reads_go_on(-1000 * SEC, since_last("Send_volume", rank0));
}

TEST(reads_continue_when_the_time_turns_out_to_be_later)
{
	check_reads_go_on(1000 * SEC, since_last("Send_volume", rank0));
}

TEST(reads_at_probes_exclude_calls_before_the_start)
{
	static const char *const at_probe =
		"[\"flow\",1,7,[[\"input\",0,0,0,[],\"metric\",\"Send_volume\",\"@\",\"step\",\"@\",0,1,[],[]],"
		"[\"vt_agg\",0,0,0,[0],\"MAX\",0.0,0,1],[\"link_out\",0,0,0,[1],\"up\"]]]";

	world_ask(&w, OBSERVER, with(":omig_calls_enable([@],\"volume\")", rank0));
	call(&seg, "MPI_Send", 64, 1);
	timebase_init_root(&w.mainsm.time, loop_now(w.loop), now() - 1000 * SEC);
	start = timebase_at(&w.mainsm.time, loop_now(w.loop));
	load(&(struct load){ .graph = with(at_probe, rank0) });
	world_run(&w, 10 * SEC);
	for (uint64_t read = 1; read < 3; read++) {
		call(&seg, "MPI_Send", 10, 1);
		seg.ticks = (uint64_t)loop_now(w.loop);
		fake_segment_probe(&seg, FAKE_STEP, &(union seg_value){ .i = (int64_t)read });
		world_run(&w, MS);
		ck_assert_double_eq(asked_for(read), 10 * (double)read);
	}
}

TEST(the_last_value_of_a_process_that_ended_stays)
{
	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	call(&seg, "MPI_Send", 80, 1);
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, 2 * SEC);
	ck_assert_double_eq(value_of_read(1).value, 2);
	ck_assert_double_eq(value_of_read(2).value, 2);
}

TEST(a_value_of_an_ended_process_has_the_time_of_its_end)
{
	struct flow_token t;
	nsec_t end;

	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC + SEC / 2);
	ck_assert_uint_eq(value_of_read(1).flags, 0);
	end = now();
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	for (int read = 2; read < 5; read++) {
		world_run(&w, SEC);
		t = value_of_read((uint64_t)read);
		ck_assert_double_eq(t.value, 1);
		ck_assert_uint_eq(t.flags, FLOW_ENDED);
		ck_assert_int_ge(t.newest, end);
		ck_assert_int_lt(t.newest, end + SEC / 4);
	}
}

TEST(a_process_that_is_not_here_is_missing)
{
	start = now();
	load(&(struct load){ .graph = graph_of("Send_count", "p_7_zzzzzz", ""), .every = SEC });
	world_run(&w, SEC);
	ck_assert_uint_eq(value_of_read(1).k, 0);
}

TEST(an_end_or_the_tools_end_switches_all_off)
{
	load_metric("Send_count");
	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { M } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	load_metric("Send_count");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), HOOK_COUNT);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { 1 } });
	world_run(&w, 5 * SEC);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	ck_assert_ptr_null(frame());
}

static void cut(void)
{
	link_close(w.mainsm.up.link, "cut");
	w.mainsm.up.link = NULL;
	world_run(&w, 10 * MS);
}

static void wait_for_link(void)
{
	for (int i = 0; i < 300 && !w.mainsm.up.link; i++)
		world_run(&w, 100 * MS);
	ck_assert_ptr_nonnull(w.mainsm.up.link);
}

TEST(frames_of_a_lost_link_wait_until_it_is_loaded_again)
{
	uint64_t read;

	load_metric("Send_count");
	cut();
	call(&seg, "MPI_Send", 80, 1);
	wait_for_link();
	world_run(&w, 2 * SEC);
	ck_assert_ptr_null(frame()); /* the present hosts do not know it yet */
	above_skip_all(&w.mainsm);
	load(&(struct load){ .graph = graph_of("Send_count", rank0, ""), .every = SEC });
	w.mainsm.got.seen = 0;
	for (read = 1; read <= 2; read++)
		ck_assert_double_eq(value_of_read(read).value, 1);
	while (frame())
		read++;
	world_run(&w, SEC);
	ck_assert_uint_eq(frame()->read, read);
	ck_assert_ptr_null(frame());
}

TEST(a_measurement_that_nothing_loads_again_is_given_up)
{
	load_metric("Send_count");
	cut();
	wait_for_link();
	world_run(&w, MEASUREMENTS_RESTATE_NS + SEC);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
	ck_assert_ptr_null(frame());
}

TEST(a_mainsm_that_counts_again_gets_a_measurement_of_its_own)
{
	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, 2 * SEC);
	above_skip_all(&w.mainsm);
	load_metric("Send_count");
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 0);
}

SUITE_WITH("readings", set_up, clean_up)
