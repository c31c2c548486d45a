/* SPDX-License-Identifier: Apache-2.0 */
/* Calls distinguished by regions: between two probes, of each thread, where they are made. */
#include "common/flow/batch/batch.h"
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "common/time/timebase.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <signal.h>

static struct flow_batch_room room;
static nsec_t start;
static uint64_t version;

static void set_up(void)
{
	open_ranks();
	above_skip_all(&w.mainsm);
	version = 0;
	start = timebase_at(&w.time, loop_now(w.loop));
}

static void clean_up(void)
{
	close_ranks();
	flow_batch_room_done(&room);
	room = (struct flow_batch_room){ 0 };
}

/* The input of "metric", of the process, in measurement m: a value per second. */
static const struct msg_flow_ack *load(uint32_t m, const char *metric, const char *regions)
{
	char graph[1024];
	const struct msg_flow_piece piece = { "n_7", { (const uint8_t *)graph, 0 } };
	struct msg_flow_piece sent = piece;
	const struct msg *ack;

	snprintf(
		graph, sizeof(graph),
		"[\"flow\",1,%u,[[\"input\",0,0,0,[],\"metric\",\"%s\",\"%s\",\"\",\"\",0,1,[],[%s]],"
		"[\"link_out\",0,0,0,[0],\"up\"]]]",
		m, metric, rank0, regions);
	sent.graph.n = strlen(graph);
	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_LOAD,
					     .flow_load = { .measurement = m,
							    .tool = 1,
							    .identity = OBSERVER,
							    .version = ++version,
							    .start_ns = start,
							    .every_ns = SEC,
							    .piece = &sent,
							    .npiece = 1 } });
	world_run(&w, 5 * MS);
	ack = above_next(&w.mainsm, MSG_FLOW_ACK);
	ck_assert_ptr_nonnull(ack);
	return &ack->flow_ack;
}

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

static void step(int64_t vt)
{
	fake_segment_probe(&seg, FAKE_STEP, &(union seg_value){ .i = vt });
}

static void region_end(void)
{
	fake_segment_probe(&seg, FAKE_REGION,
			   (const union seg_value[]){ { .i = 1 }, { .f = 0 }, { .u = 0 } });
}

static void send_bytes(int64_t bytes)
{
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Send",
						     .bytes_out = bytes,
						     .partner = 1,
						     .ticks = 1000000 });
}

#define STEP_TO_END "\"step..region_end\""

TEST(only_calls_of_the_region_count)
{
	struct flow_token t;

	ck_assert_uint_eq(load(7, "Send_volume", STEP_TO_END)->nentry, 0);
	ck_assert_uint_eq(load(8, "Send_count", STEP_TO_END)->nentry, 0);
	ck_assert_uint_eq(load(9, "Send_delay", STEP_TO_END)->nentry, 0);
	ck_assert_uint_eq(load(10, "Send_volume", "\"region_end..step\"")->nentry, 0);
	send_bytes(1);
	step(1);
	send_bytes(10);
	region_end();
	send_bytes(100);
	step(2);
	send_bytes(1000);
	world_run(&w, SEC);
	t = value_of(7, 1);
	/* The region is open, and its value so far counts. */
	ck_assert_double_eq(t.value, 1010);
	ck_assert_double_eq(t.error, 0);
	ck_assert_double_eq(value_of(8, 1).value, 2);
	ck_assert_double_gt(value_of(9, 1).value, 0);
	/* The thread left it first: it had been inside. */
	ck_assert_double_eq(value_of(10, 1).value, 101);
	send_bytes(10000);
	region_end();
	fake_proc_end(fake_proc_find(&w.host, 100), SIGKILL);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 2).value, 11010);
	ck_assert_uint_eq(value_of(7, 2).k, 1);
}

TEST(whoever_has_met_no_probe_may_be_inside)
{
	struct flow_token t;

	load(7, "Send_volume", STEP_TO_END);
	send_bytes(5);
	world_run(&w, SEC);
	t = value_of(7, 1);
	ck_assert_double_eq(t.value, 0);
	ck_assert_double_eq(t.error, 5);
	region_end();
	world_run(&w, SEC);
	t = value_of(7, 2);
	ck_assert_double_eq(t.value, 5);
	ck_assert_double_eq(t.error, 0);
}

TEST(a_thread_that_has_made_no_call_yet_may_be_inside)
{
	uint32_t tid = fake_segment_thread(&seg, 0)->tid;

	fake_segment_thread(&seg, 0)->tid = 0;
	load(7, "Send_volume", STEP_TO_END);
	fake_segment_thread(&seg, 0)->tid = tid;
	send_bytes(5);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 0);
	ck_assert_double_eq(value_of(7, 1).error, 5);
	region_end();
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 2).value, 5);
	ck_assert_double_eq(value_of(7, 2).error, 0);
}

TEST(a_new_version_continues_and_the_end_switches_the_probes_off)
{
	load(7, "Send_volume", STEP_TO_END);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP), PROBE_EDGE);
	step(1);
	send_bytes(5);
	load(7, "Send_volume", STEP_TO_END);
	send_bytes(5);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of(7, 1).value, 10);
	above_send(&w.mainsm,
		   &(struct msg){ .type = MSG_FLOW_END, .flow_end = { .measurement = 7 } });
	world_run(&w, 5 * MS);
	ck_assert_uint_eq(fake_segment_probe_word(&seg, FAKE_STEP) |
				  fake_segment_probe_word(&seg, FAKE_REGION),
			  0);
}

TEST(metric_without_regions_is_refused_with_a_reason)
{
	static const struct {
		const char *metric, *regions, *why;
		unsigned status;
	} bad[] = {
		{ "Send_volume", "\"step..nowhere\"", "has no probes of that name",
		  STATUS_UNKNOWN_OBJECT },
		{ "Send_volume", "\"step\"", "NAME_begin and NAME_end", STATUS_UNKNOWN_OBJECT },
		{ "Send_volume", STEP_TO_END ",\"function:nowhere\"", "the function is not on",
		  STATUS_UNKNOWN_OBJECT },
		{ "Send_volume", "\"a b\"", "a region is BEGIN..END", STATUS_PARAMETER_ERROR },
		{ "Memory_size", STEP_TO_END, "not a metric of calls", STATUS_UNSUPPORTED_SERVICE },
	};

	for (uint32_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct msg_flow_ack *ack = load(7 + i, bad[i].metric, bad[i].regions);

		ck_assert_uint_eq(ack->nentry, 1);
		ck_assert_ptr_nonnull(strstr(entry_text(&ack->entry[0]), bad[i].why));
		ck_assert_uint_eq(ack->entry[0].status, bad[i].status);
	}
	step(1);
	world_run(&w, SEC);
	ck_assert_uint_eq(value_of(7, 1).k, 0);
}

TEST(there_is_room_for_some_figures_of_regions_only)
{
	unsigned refused = 0;
	char name[40];

	for (uint32_t i = 0; i < SEG_METERS + 1; i++) {
		snprintf(name, sizeof(name), "%s_count", call_table[i].name);
		refused += load(7 + i, name, STEP_TO_END)->nentry != 0;
	}
	ck_assert_uint_eq(refused, 1);
}

SUITE_WITH("readings of regions", set_up, clean_up)
