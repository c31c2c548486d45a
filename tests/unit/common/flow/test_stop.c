/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates of events of many processes since the start. */
#include "common/base/array.h"
#include "tests/suite.h"
#include "tests/unit/common/flow/made.h"
#include "tests/unit/common/flow/world.h"

#define PROCESSES 4

static struct world w;

static void set_up(void)
{
	world_init(&w);
}

static void clean_up(void)
{
	world_done(&w);
}

/* Of the events of all processes since the start: nodes 0 to 3 are their inputs. */
static uint32_t parts_of_all(struct flow_graph *g, enum agg_kind kind, bool partial_out)
{
	uint32_t in[PROCESSES];

	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_event(g, p, "loop");
	for (unsigned p = 0; p < PROCESSES; p++)
		in[p] = made_vt_agg(g, kind, true, FLOW_SINCE_START, in[p]);
	return made_set(g, kind, partial_out, in, PROCESSES);
}

START_TEST(one_value_in_each_part_is_no_fault_of_the_whole)
{
	struct flow_graph *g = flow_graph_new(1);

	made_result(g, 0, parts_of_all(g, AGG_VARIANCE, false));
	world_load(&w, g);
	for (uint32_t p = 0; p < PROCESSES; p++)
		world_push(&w, 1, p, 1, p, START + 1);
	world_read(&w, 1, 1);
	ck_assert_double_eq_tol(world_last(&w, 1, 0)->value, 5.0 / 3, 1e-15);
	ck_assert_uint_eq(world_last(&w, 1, 0)->flags, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		one_value_in_each_part_is_no_fault_of_the_whole,
	};

	return suite_run_with("stop", set_up, clean_up, tests, ARRAY_LEN(tests));
}
