/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs at probes: each event once, in its interval, with the values read at it. */
#include "common/base/array.h"
#include "common/flow/batch/batch.h"
#include "common/omis/text/status.h"
#include "common/time/timebase.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>

static struct flow_batch_room room;
static nsec_t start;

static void set_up(void)
{
	open_ranks();
	above_skip_all(&w.mainsm);
	start = timebase_at(&w.time, loop_now(w.loop));
}

static void clean_up(void)
{
	close_ranks();
	flow_batch_room_done(&room);
	room = (struct flow_batch_room){ 0 };
}

static const struct msg_flow_ack *load_graph(uint32_t m, const char *graph)
{
	const struct msg_flow_piece piece = { "n_7", { (const uint8_t *)graph, strlen(graph) } };
	const struct msg *ack;

	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_LOAD,
					     .flow_load = { .measurement = m,
							    .tool = 1,
							    .identity = OBSERVER,
							    .version = 1,
							    .start_ns = start,
							    .every_ns = SEC,
							    .piece = &piece,
							    .npiece = 1 } });
	world_run(&w, 5 * MS);
	ack = above_next(&w.mainsm, MSG_FLOW_ACK);
	ck_assert_ptr_nonnull(ack);
	return &ack->flow_ack;
}

/* @: the process; measurement m. One input at the probe, aggregated by fold over the interval. */
static const struct msg_flow_ack *load(uint32_t m, const char *source, const char *process,
				       const char *fold)
{
	char graph[1024];

	snprintf(graph, sizeof(graph),
		 "[\"flow\",1,%u,[[\"input\",0,0,0,[],%s],[\"vt_agg\",0,0,0,[0],\"%s\",0.0,0,1],"
		 "[\"link_out\",0,0,0,[1],\"up\"]]]",
		 m, with(source, process), fold);
	return load_graph(m, graph);
}

/* Sets the segment's clock to the virtual time, a little later at each call. */
static void set_clock(struct fake_segment *s)
{
	static uint64_t later_ns;

	s->ticks = (uint64_t)loop_now(w.loop) + ++later_ns;
}

static void step(int64_t vt)
{
	set_clock(&seg);
	fake_segment_probe(&seg, FAKE_STEP, &(union seg_value){ .i = vt });
}

static void region(int64_t vt, double residuum)
{
	set_clock(&seg);
	fake_segment_probe(&seg, FAKE_REGION,
			   (const union seg_value[]){ { .i = vt }, { .f = residuum }, { .u = 9 } });
}

/* The value of that read of the measurement. */
static struct flow_token value_of(uint32_t m, uint64_t read)
{
	struct flow_batch b;

	for (size_t i = 0; i < w.mainsm.got.n; i++) {
		const struct msg *f = w.mainsm.got.m[i];

		if (f->type != MSG_FLOW_BATCH || f->flow_batch.measurement != m ||
		    f->flow_batch.read != read)
			continue;
		ck_assert_uint_eq(f->flow_batch.nbatch, 1);
		ck_assert_int_eq(flow_batch_decode(&room, f->flow_batch.batch[0].p,
						   f->flow_batch.batch[0].n, &b, NULL),
				 0);
		ck_assert_uint_eq(b.n, 1);
		return b.t[0];
	}
	ck_abort_msg("no read %u of measurement %u", (unsigned)read, m);
	return (struct flow_token){ 0 };
}

struct figure {
	const char *source, *fold;
};

/* Measurements 7 and up of rank0. */
static void load_all(const struct figure *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		load(7 + i, f[i].source, rank0, f[i].fold);
}

/* Their values of the first read. */
static void check_all(const double *value, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ck_assert_double_eq(value_of(7 + i, 1).value, value[i]);
}

#define EVENT "\"event\",\"\",\"\",\"step\",\"@\",0,0,[],[]"

TEST(each_event_counts_once_in_its_interval)
{
	struct flow_token t;

	step(1); /* not sampled yet */
	ck_assert_uint_eq(load(7, EVENT, rank0, "COUNT")->nentry, 0);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_RECORD);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_REGION), 0);
	for (int64_t vt = 2; vt < 5; vt++)
		step(vt);
	world_run(&w, SEC);
	t = value_of(7, 1);
	ck_assert_double_eq(t.value, 3);
	ck_assert_uint_eq(t.k, 1);
	ck_assert_uint_eq(t.n, 1);
	step(5);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 2).value, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 3).value, 0);
}

TEST(parameters_are_values)
{
	static const struct figure parameters[] = {
		{ "\"parameter\",\"\",\"\",\"region_end\",\"@\",1,0,[],[]", "MAX" },
		{ "\"parameter\",\"\",\"\",\"region_end\",\"@\",2,0,[],[]", "SUM" },
	};

	load_all(parameters, ARRAY_LEN(parameters));
	region(1, 0.25);
	region(2, 0.125);
	world_run(&w, SEC);
	check_all((const double[]){ 0.25, 18 }, 2);
}

#define RESIDUUM "\"parameter\",\"\",\"\",\"region_end\",\"@\",1,0,[],[]"

/* For any values of a program, each batch can be read and describes itself. */
TEST(infinite_values_are_flagged_and_affect_no_other)
{
	load(7, RESIDUUM, rank0, "MAX");
	load(8, RESIDUUM, rank0, "SUM");
	load(9, "\"parameter\",\"\",\"\",\"region_end\",\"@\",2,0,[],[]", rank0, "SUM");
	region(1, INFINITY);
	region(2, NAN);
	region(3, 2);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, INFINITY);
	ck_assert_uint_eq(value_of(7, 1).flags, FLOW_NAN | FLOW_PARTIAL);
	ck_assert_double_eq(value_of(7, 1).error, 0);
	ck_assert_double_eq(value_of(8, 1).value, INFINITY);
	ck_assert_double_eq(value_of(9, 1).value, 27);
	ck_assert_uint_eq(value_of(9, 1).flags, 0);
	region(4, 1.7e308);
	region(5, 1.7e308);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 2).value, 1.7e308);
	ck_assert_uint_eq(value_of(7, 2).flags, 0);
	ck_assert_double_eq(value_of(8, 2).value, INFINITY);
	ck_assert_uint_eq(value_of(8, 2).flags, FLOW_NAN);
	region(6, NAN);
	world_run(&w, SEC);
	ck_assert(isnan(value_of(7, 3).value));
	ck_assert_uint_eq(value_of(7, 3).flags & FLOW_NAN, FLOW_NAN);
	ck_assert_double_eq(value_of(9, 3).value, 9);
}

/*
 * A time since the start is mainsm's time, with its bound. Differences of times use the host's own
 * clock, which is exact.
 */
TEST(times_of_one_host_are_better_known_than_that_of_mainsm)
{
	struct flow_token own, system;

	load(7, "\"time\",\"\",\"\",\"step\",\"@\",0,0,[],[]", rank0, "MAX");
	load(8, "\"time\",\"\",\"\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	step(1);
	world_run(&w, SEC);
	own = value_of(7, 1);
	system = value_of(8, 1);
	ck_assert_double_lt(own.error, 1e-5);
	ck_assert_double_gt(own.value, system.value); /* its start is earlier */
	ck_assert_double_gt(system.error, own.error);
}

TEST(call_counters_are_read_at_the_probe)
{
	call(&seg, "MPI_Send", 8, 1);
	load(7, "\"metric\",\"Send_count\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	load(8, "\"metric\",\"Send_volume\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	load(9, "\"metric\",\"Send_delay\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"),
			  HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
	step(1);
	call(&seg, "MPI_Send", 80, 1);
	call(&seg, "MPI_Send", 8, 1);
	step(2);
	call(&seg, "MPI_Send", 800, 1); /* after the last probe */
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 2);
	ck_assert_double_eq(value_of(8, 1).value, 88);
	ck_assert_double_eq_tol(value_of(9, 1).value, 200e-9, 1e-12);
}

TEST(two_measurements_of_one_probe_do_not_double_it)
{
	load(7, EVENT, rank0, "COUNT");
	step(1);
	world_run(&w, MS);
	start = timebase_at(&w.time, loop_now(w.loop)); /* of the other one */
	load(8, EVENT, rank0, "COUNT");
	step(2);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 2);
	ck_assert_double_eq(value_of(8, 1).value, 1);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 7 } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_RECORD);
	step(3);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(8, 2).value, 1);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 8 } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), 0);
	ck_assert(!probes_wants_any(w.lm->probes));
}

TEST(a_figure_more_at_a_probe_loses_no_event)
{
	load(7, EVENT, rank0, "COUNT");
	step(1);
	load(8, "\"metric\",\"Send_count\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "COUNT");
	step(2);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 2);
	ck_assert_double_eq(value_of(8, 1).value, 1);
}

TEST(metric_unreadable_at_a_probe_has_a_status_and_no_value)
{
	static const struct {
		const char *source;
		unsigned status;
	} bad[] = {
		{ "\"metric\",\"Send_count\",\"@\",\"stop\",\"@\",0,1,[],[]",
		  STATUS_UNKNOWN_OBJECT },
		{ "\"parameter\",\"\",\"\",\"region_end\",\"@\",3,0,[],[]", STATUS_UNKNOWN_OBJECT },
		{ "\"metric\",\"Barrier_count\",\"@\",\"step\",\"@\",0,1,[\"1\"],[]",
		  STATUS_UNSUPPORTED_SERVICE },
		{ "\"metric\",\"Send_count\",\"@\",\"step\",\"@\",0,1,[],[\"a..b\"]",
		  STATUS_UNSUPPORTED_SERVICE },
	};

	for (uint32_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct msg_flow_ack *ack = load(7 + i, bad[i].source, rank0, "MAX");

		ck_assert_uint_eq(ack->nentry, 1);
		ck_assert_str_eq(ack->entry[0].objects, rank0);
		ck_assert_uint_eq(ack->entry[0].status, bad[i].status);
	}
	step(1);
	region(1, 0.5);
	world_run(&w, SEC);
	for (uint32_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert(isnan(value_of(7 + i, 1).value)); /* and no number */
		ck_assert_uint_eq(value_of(7 + i, 1).k, 0);
		ck_assert_uint_eq(value_of(7 + i, 1).n, 1);
	}
}

static void send_to(int64_t partner, int64_t bytes)
{
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send",
						     .bytes_out = bytes,
						     .partner = partner,
						     .ticks = 100 });
}

TEST(partners_are_distinguished_at_a_probe)
{
	static const struct figure of_partners[] = {
		{ "\"metric\",\"Send_volume\",\"@\",\"step\",\"@\",0,1,[\"1\",\"3\"],[]", "MAX" },
		{ "\"metric\",\"Send_count\",\"@\",\"step\",\"@\",0,1,[\"3\"],[]", "MAX" },
		{ "\"metric\",\"Send_volume\",\"@\",\"step\",\"@\",0,1,[],[]", "MAX" },
	};

	load_all(of_partners, ARRAY_LEN(of_partners));
	send_to(1, 10);
	send_to(2, 100);
	send_to(3, 1000);
	step(1);
	send_to(3, 1000);
	world_run(&w, SEC);
	check_all((const double[]){ 1010, 1, 1110 }, 3);
	fake_segment_thread(&seg, 0)->partner_lost = 1;
	step(2);
	world_run(&w, SEC);
	ck_assert(isinf(value_of(7, 2).error)); /* the owner of that call is unknown */
}

TEST(sampled_metrics_are_read_when_the_event_arrives)
{
	struct flow_token t;

	fake_proc_find(&w.host, 100)->resident = 4096;
	fake_proc_find(&w.host, 100)->used_s = 5;
	load(7, "\"metric\",\"Memory_size\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	load(8, "\"metric\",\"Compute_time\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	load(9, "\"metric\",\"Node_load\",\"n_7\",\"step\",\"@\",0,1,[],[]", rank0, "COUNT");
	fake_proc_find(&w.host, 100)->resident = 8192;
	fake_proc_find(&w.host, 100)->used_s = 7.5;
	step(1);
	step(2);
	world_run(&w, SEC);
	t = value_of(7, 1);
	ck_assert_double_eq(t.value, 8192);
	ck_assert(t.flags & FLOW_STALE);
	t = value_of(8, 1);
	ck_assert_double_eq(t.value, 2.5);
	/* the kernel's steps, and the increase until the read */
	ck_assert_double_ge(t.error, 0.02);
	ck_assert_double_eq(value_of(9, 1).value, 2);
}

TEST(the_last_events_of_a_process_count)
{
	struct flow_token t;

	load(7, EVENT, rank0, "COUNT");
	step(1);
	step(2);
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 2);
	world_run(&w, SEC);
	t = value_of(7, 2);
	ck_assert_uint_eq(t.k, 1); /* all data were reported */
	ck_assert_uint_eq(t.n, 1);
}

/*
 * Rings are read to their ends before a new interest. A process with an invalid ring is removed
 * meanwhile.
 */
TEST(a_segment_that_becomes_invalid_during_a_poll_is_detached)
{
	struct flow_token t;

	load(7, EVENT, rank0, "COUNT");
	fake_segment_thread(&seg, 0)->ring_head = seg.h->ring_bytes + 8;
	load(8, "\"metric\",\"Send_count\",\"@\",\"step\",\"@\",0,1,[],[]", rank0, "COUNT");
	load(9, EVENT, rank1, "COUNT");
	ck_assert_uint_eq(procs_detached(w.lm->procs), 1);
	set_clock(&other);
	fake_segment_probe(&other, FAKE_STEP, &(union seg_value){ .i = 1 });
	world_run(&w, SEC);
	t = value_of(7, 1);
	ck_assert_uint_eq(t.k, 0);
	ck_assert_uint_eq(t.n, 1);
	ck_assert_uint_eq(value_of(8, 1).k, 0);
	ck_assert_uint_eq(value_of(9, 1).k, 1);
}

/* That ring is unread, and two probes of the process are searched at once. */
TEST(an_invalid_segment_is_detached_at_the_first_check)
{
	const struct msg_flow_ack *ack;

	fake_segment_thread(&seg, 0)->ring_head = seg.h->ring_bytes + 8;
	ack = load_graph(7,
			 with("[\"flow\",1,7,["
			      "[\"input\",0,0,0,[],\"metric\",\"Send_count\",\"@\",\"step\",\"@\","
			      "0,1,[],[]],"
			      "[\"input\",0,0,0,[],\"metric\",\"Send_count\",\"@\","
			      "\"region_end\",\"@\",0,1,[],[]],"
			      "[\"vt_agg\",0,0,0,[0],\"MAX\",0.0,0,1],"
			      "[\"vt_agg\",0,0,0,[1],\"MAX\",0.0,0,1],"
			      "[\"link_out\",0,0,0,[2],\"up\"],"
			      "[\"link_out\",0,0,0,[3],\"too\"]]]",
			      rank0));
	ck_assert_uint_eq(ack->nentry, 0);
	ck_assert_uint_eq(procs_detached(w.lm->procs), 1);
	ck_assert(!probes_wants_any(w.lm->probes));
	world_run(&w, SEC);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_END, .flow_end = { 7 } });
	load(8, EVENT, rank1, "COUNT");
	world_run(&w, SEC);
	ck_assert_uint_eq(value_of(8, 2).k, 1);
}

/* It was held before it had called MPI_Init. */
TEST(probes_of_a_process_are_watched_when_its_segment_comes)
{
	struct fake_segment late;
	char token[TOKEN_BYTES];

	fake_proc_add(&w.host, 300, "late");
	world_ask(&w, OBSERVER, ":omig_proc_take([n_7],300,\"late\")");
	str_copy(token, sizeof(token), world_token(&w, 300));
	load(7, EVENT, token, "COUNT");
	fake_segment_open(&late, 300, 2, 300);
	fake_proc_find(&w.host, 300)->memfd = late.fd;
	ck_assert_int_eq(registration_segment(w.lm->registration,
					      fcntl(late.fd, F_DUPFD_CLOEXEC, 3), 300, false),
			 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(fake_segment_probe_word(&late, FAKE_STEP), PROBE_RECORD);
	set_clock(&late);
	fake_segment_probe(&late, FAKE_STEP, &(union seg_value){ .i = 1 });
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 1);
	fake_segment_close(&late);
}

TEST(the_time_of_an_event_is_the_measurements)
{
	struct flow_token t;

	load(7, "\"time\",\"\",\"\",\"step\",\"@\",0,1,[],[]", rank0, "MAX");
	world_run(&w, 300 * MS);
	step(1);
	world_run(&w, SEC);
	t = value_of(7, 1);
	ck_assert(!isnan(t.value));
	ck_assert(t.error >= 0);
}

SUITE_WITH("readings at probes", set_up, clean_up)
