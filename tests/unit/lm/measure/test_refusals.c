/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces that a host refuses, limits, and a process that changes its segment under a
 * measurement. */
#include "common/base/array.h"
#include "common/omis/text/status.h"
#include "lm/measure/measurements.h"
#include "tests/suite.h"
#include "tests/unit/lm/measurement.h"

#include <fcntl.h>
#include <math.h>

TEST(an_input_that_makes_no_sense_here_is_refused_with_the_reason)
{
	static const struct {
		const char *metric, *object, *partners, *words;
	} rows[] = {
		{ "Send_volume", NULL, "\"x\"", "the partner x has no rank" },
		{ "Send_volume", NULL, "\"1\",\"-1\"", "the partner -1 has no rank" },
		{ "Send_volume", NULL, "\"2147483648\"", "the partner 2147483648 has no rank" },
		{ "Send_volume", NULL, "\"p_1_a\"", "the partner p_1_a has no rank" },
		{ "Node_load", "n_8", "", "n_8 is not this node" },
		{ "Node_nothing", "n_7", "", "there is no metric Node_nothing" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *object = rows[i].object ? rows[i].object : rank0;
		const struct msg_flow_ack *ack;

		start = now();
		ack = load(
			&(struct load){ .graph = graph_of(rows[i].metric, object, rows[i].partners),
					.every = SEC });
		ck_assert_uint_eq(ack->nentry, 1);
		ck_assert(status_is_error(ack->entry[0].status));
		ck_assert_str_eq(ack->entry[0].objects, object);
		ck_assert_msg(strstr(entry_text(&ack->entry[0]), rows[i].words), "%s",
			      entry_text(&ack->entry[0]));
		ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send"), 0);
		world_run(&w, SEC);
		ck_assert_uint_eq(value_of_read(1).k, 0);
	}
}

/* The greatest rank that there may be. */
TEST(a_partner_is_any_rank_of_a_world)
{
	start = now();
	ck_assert_uint_eq(load(&(struct load){ .graph = graph_of("Send_volume", rank0,
								 "\"2147483647\",\"0\""),
					       .every = SEC })
				  ->nentry,
			  0);
	call(&seg, "MPI_Send", 8, 0);
	call(&seg, "MPI_Send", 4, INT32_MAX);
	call(&seg, "MPI_Send", 100, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 12);
}

/* Calls whose partner had no room in the rank's table may belong to this partner. */
TEST(calls_of_partners_without_room_are_in_the_bound)
{
	static const struct {
		const char *metric;
		double error;
	} rows[] = { { "Send_count", 5 }, { "Send_volume", INFINITY }, { "Send_delay", INFINITY } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flow_token t;

		start = now();
		load(&(struct load){ .graph = graph_of(rows[i].metric, rank0, "\"1\""),
				     .every = SEC });
		fake_segment_thread(&seg, 0)->partner_lost += 5; /* earlier ones do not count */
		world_run(&w, SEC);
		t = value_of_read(1);
		ck_assert_uint_eq(t.k, 1);
		ck_assert_msg(t.error == rows[i].error, "%s: %g", rows[i].metric, t.error);
	}
}

/* In both directions: sent and received. */
TEST(a_volume_in_both_ways_is_the_sum)
{
	load_metric("Communication_volume");
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Sendrecv",
						     .bytes_out = 8,
						     .bytes_in = 3,
						     .partner = 1 });
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 11);
	load_metric("Communication_volume_out");
	fake_segment_call(&seg, &(struct fake_call){ .name = "MPI_Sendrecv",
						     .bytes_out = 8,
						     .bytes_in = 3,
						     .partner = 1 });
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 8);
}

/* A process that calls exec begins to count at 0 in another segment. */
TEST(counts_continue_after_an_exec)
{
	struct fake_segment next;

	load_metric("Send_count");
	call(&seg, "MPI_Send", 80, 1);
	call(&seg, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(1).value, 2);
	fake_segment_open(&next, 100, 0, 100);
	fake_proc_find(&w.host, 100)->memfd = next.fd;
	ck_assert_int_eq(registration_segment(w.lm->registration,
					      fcntl(next.fd, F_DUPFD_CLOEXEC, 3), 100, false),
			 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(fake_segment_hook(&next, "MPI_Send"), HOOK_COUNT);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(2).value, 2);
	call(&next, "MPI_Send", 80, 1);
	world_run(&w, SEC);
	ck_assert_double_eq(value_of_read(3).value, 3);
	fake_segment_close(&next);
}

/* --- limits */

/* Returns the number of entries in the reply, without storing it. */
static size_t complaints(uint32_t measurement)
{
	static const char graph[] =
		"[\"flow\",1,%u,[[\"input\",0,0,0,[],\"time\",\"\",\"\",\"\",\"\",0,"
		"0,[],[]],[\"link_out\",0,0,0,[0],\"up\"]]]";
	char text[256];
	const struct msg_flow_piece piece = {
		"n_7",
		{ (const uint8_t *)text, (size_t)snprintf(text, sizeof(text), graph, measurement) }
	};
	const struct msg *ack;

	above_send(&w.mainsm, &(struct msg){ .type = MSG_FLOW_LOAD,
					     .flow_load = { .measurement = measurement,
							    .tool = 1,
							    .identity = OBSERVER,
							    .version = 1,
							    .start_ns = now(),
							    .every_ns = 0,
							    .piece = &piece,
							    .npiece = 1 } });
	world_run(&w, 5 * MS);
	ack = above_next(&w.mainsm, MSG_FLOW_ACK);
	ck_assert_msg(ack != NULL, "%u", measurement);
	return ack->flow_ack.nentry;
}

TEST(a_host_runs_so_many_measurements)
{
	for (uint32_t i = 1; i <= MEASUREMENTS_MAX; i++)
		ck_assert_msg(complaints(i) == 0, "%u", i);
	ck_assert_uint_eq(complaints(MEASUREMENTS_MAX + 1), 1);
	ck_assert_uint_eq(complaints(1), 0); /* already present */
	above_send(&w.mainsm, &(struct msg){ .type = MSG_TOOL_GONE, .tool_gone = { .tool = 1 } });
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(complaints(MEASUREMENTS_MAX + 1), 0);
}

SUITE_WITH("refusals", set_up, clean_up)
