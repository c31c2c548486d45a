/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are divided by time. */
#include "common/flow/engine/flow.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/engine/one_world.h"
#include "tests/unit/common/flow/graph/made.h"

/* Writing 900 MB takes 6 s, and reports nothing before its end. */
TEST(a_call_without_interim_values_has_its_mean_over_all_its_time)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t bytes = made_metric(g, 0, "Write_volume"),
		 rate = made_node(g, (struct flow_node){ .kind = FLOW_DELTA, .per_second = true },
				  1, bytes);
	struct flow_token none = flow_token_make(0, NAN, 0, 0);

	made_result(g, 0, rate);
	made_result(g, 1, made_node(g, (struct flow_node){ .kind = FLOW_RATE }, 1, bytes));
	made_result(g, 2,
		    made_node(g, (struct flow_node){ .kind = FLOW_RATE, .since = FLOW_SINCE_LAST },
			      1, made_node(g, (struct flow_node){ .kind = FLOW_DELTA }, 1, bytes)));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 50, START + SECOND });
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 0), 50, 1, 1, 0);
	none.flags = FLOW_NONE_YET;
	for (int64_t r = 2; r < 7; r++) {
		none.key = r;
		none.time = START + r * SECOND;
		flow_push(w.f, flow_input(w.f, 1, 0), &none);
		world_read(&w, 1, r);
		token_is(world_last(&w, 1, 0), NAN, 1, 1, FLOW_NONE_YET);
	}
	world_push(&w, 1, 0, (struct world_value){ 7, 950, START + 7 * SECOND });
	world_read(&w, 1, 7);
	token_is(world_last(&w, 1, 0), 150, 1, 1, FLOW_LATE);
	ck_assert_int_eq(world_last(&w, 1, 0)->oldest, START + SECOND);
	token_is(world_last(&w, 1, 1), 950.0 / 7, 1, 1, 0);
	token_is(world_last(&w, 1, 2), 150, 1, 1, FLOW_LATE);
	world_push(&w, 1, 0, (struct world_value){ 7, 950, START + 7 * SECOND });
	ck_assert_uint_eq(world_counts(&w, 1, 0).late, 1);
	world_read(&w, 1, 8);
	token_is(world_last(&w, 1, 0), NAN, 0, 1, FLOW_MISSING | FLOW_PARTIAL);
}

/* A host does not know mainsm's time: by its own clock the measurement has not started. */
TEST(a_difference_is_between_its_oldest_and_newest_data)
{
	struct flow_graph *g = flow_graph_new(1);
	const struct flow_token *t;

	made_result(g, 0,
		    made_node(g, (struct flow_node){ .kind = FLOW_DELTA }, 1,
			      made_metric(g, 0, "Send_volume")));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 5, START - 9 * SECOND });
	world_read(&w, 1, 1);
	t = world_last(&w, 1, 0);
	token_is(t, 5, 1, 1, 0);
	ck_assert_int_le(t->oldest, t->time);
	ck_assert_int_le(t->time, t->newest);
}

static void push_ended(struct world *to, uint32_t place, int64_t read, double value, nsec_t at)
{
	struct flow_token t = flow_token_make(read, value, 0, START + read * SECOND);

	t.flags = FLOW_ENDED;
	t.oldest = t.newest = at;
	flow_push(to->f, flow_input(to->f, 1, place), &t);
}

/* One ends 1.5 s after the start, the other at 2.25 s: until then they have sent. */
TEST(a_rate_is_that_of_the_time_in_which_there_were_sources)
{
	struct flow_graph *g = flow_graph_new(1);
	uint32_t a = made_metric(g, 0, "Send_volume"), b = made_metric(g, 1, "Receive_volume");
	uint32_t sum =
		made_node(g, (struct flow_node){ .kind = FLOW_SET, .fold.agg = AGG_SUM }, 2, a, b);

	made_result(g, 0,
		    made_node(g, (struct flow_node){ .kind = FLOW_RATE, .since = FLOW_SINCE_START },
			      1, sum));
	made_result(g, 1,
		    made_node(g, (struct flow_node){ .kind = FLOW_RATE, .since = FLOW_SINCE_LAST },
			      1, a));
	made_result(
		g, 2,
		made_node(g, (struct flow_node){ .kind = FLOW_DELTA, .per_second = true }, 1, a));
	world_load(&w, g);
	world_push(&w, 1, 0, (struct world_value){ 1, 100, START + SECOND });
	world_push(&w, 1, 1, (struct world_value){ 1, 100, START + SECOND });
	world_read(&w, 1, 1);
	token_is(world_last(&w, 1, 0), 200, 2, 2, 0);
	push_ended(&w, 0, 2, 150, START + SECOND + SECOND / 2);
	world_push(&w, 1, 1, (struct world_value){ 2, 150, START + 2 * SECOND });
	world_read(&w, 1, 2);
	token_is(world_last(&w, 1, 0), 150, 2, 2, FLOW_ENDED);
	token_is(world_last(&w, 1, 1), 300, 1, 1, FLOW_ENDED);
	token_is(world_last(&w, 1, 2), 100, 1, 1, FLOW_ENDED);
	for (int64_t r = 3; r < 6; r++) {
		push_ended(&w, 0, r, 150, START + SECOND + SECOND / 2);
		push_ended(&w, 1, r, 210, START + 2 * SECOND + SECOND / 4);
		world_read(&w, 1, r);
		token_is(world_last(&w, 1, 0), 160, 2, 2, FLOW_ENDED);
		token_is(world_last(&w, 1, 1), NAN, 1, 1, FLOW_ENDED | FLOW_MISSING);
		token_is(world_last(&w, 1, 2), NAN, 1, 1, FLOW_ENDED | FLOW_MISSING);
	}
}

SUITE_WITH("rate", set_up, clean_up)
