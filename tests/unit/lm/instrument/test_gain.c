/* SPDX-License-Identifier: Apache-2.0 */
/* Gains of counters and integrators over a time; increments of calls that may not be meant. */
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/time/timebase.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <math.h>

struct gain {
	double value, from, to;
};

static struct gain gain_of(const char *request)
{
	struct gain g = { 0 };
	const char *text = entry_text(&world_ask(&w, OBSERVER, request)->entry[0]);
	const char *at = !strncmp(text, "pa_", 3) ? strchr(text, ',') + 1 : text;

	ck_assert_msg(sscanf(at, "%lf,%lf,%lf", &g.value, &g.from, &g.to) == 3, "%s", text);
	return g;
}

/* I and v of pa_il_1 */
static double integral, level;
static void read_integrator(void)
{
	const char *text =
		entry_text(&world_ask(&w, OBSERVER, ":pa_integrator_read([pa_il_1])")->entry[0]);

	ck_assert_msg(sscanf(text, "pa_il_1,%lf,%lf,", &integral, &level) == 2, "%s", text);
}

static void increment(const char *delta, const char *time, int potential)
{
	char text[128];

	snprintf(text, sizeof(text), ":patop_integrator_local_increment(pa_il_1,%s,%s,%d)", delta,
		 time, potential);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, text)->entry[0].status, STATUS_OK);
}

TEST(a_read_since_the_last_one_begins_where_that_ended)
{
	struct gain g;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask(&w, OBSERVER, ":pa_counter_local_increment(pa_cl_1,6)");
	world_run(&w, 2 * SEC);
	g = gain_of(":patop_measurement_counter_read([pa_cl_1],1)");
	ck_assert_double_eq(g.value, 6);
	ck_assert_double_eq_tol(g.to - g.from, 2, 0.1);
	world_ask(&w, OBSERVER, ":pa_counter_local_increment(pa_cl_1,4)");
	world_run(&w, 2 * SEC);
	/* Other modes do not move the mark. */
	ck_assert_double_eq(gain_of(":patop_measurement_counter_read([pa_cl_1],0)").value, 10);
	ck_assert_double_eq_tol(gain_of(":patop_measurement_counter_read([pa_cl_1],2)").value, 2.5,
				0.1);
	ck_assert_double_eq(gain_of(":patop_measurement_counter_read([pa_cl_1],3)").from, g.to);
	ck_assert_double_eq(gain_of(":patop_measurement_counter_read([pa_cl_1],1)").value, 0);
}

TEST(a_rate_is_of_the_time_since_the_last_read)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_c_1)", "n_7"));
	gain_of(":patop_measurement_counter_read([pa_c_1],1)");
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): "
	    "pa_counter_global_increment(pa_c_1,$par8)",
	    "n_7", 1, false);
	call(&seg, "MPI_Send", 30, 1);
	call(&other, "MPI_Send", 10, 0);
	world_run(&w, 4 * SEC);
	ck_assert_double_eq_tol(gain_of(":patop_measurement_counter_read([pa_c_1],3)").value, 10,
				0.5);
}

TEST(the_gain_of_an_integrator_is_its_integral)
{
	char text[128];
	struct gain g;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_1)", rank0));
	g = gain_of(":patop_measurement_integrator_read([pa_il_1],1)");
	ck_assert_double_eq(g.value, 0);
	snprintf(text, sizeof(text), ":pa_integrator_local_increment(pa_il_1,2.0,%.6f)", g.to);
	world_ask(&w, OBSERVER, text);
	world_run(&w, 3 * SEC);
	g = gain_of(":patop_measurement_integrator_read([pa_il_1],1)");
	ck_assert_double_eq_tol(g.value, 6, 0.2);
	world_run(&w, 3 * SEC);
	ck_assert_double_eq_tol(gain_of(":patop_measurement_integrator_read([pa_il_1],3)").value, 2,
				0.1);
}

/* A mainsm began with an earlier time: the interval between two reads is unchanged. */
TEST(an_integral_does_not_fall_with_the_time)
{
	char text[128];
	struct gain g;
	nsec_t now;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_1)", rank0));
	g = gain_of(":patop_measurement_integrator_read([pa_il_1],1)");
	snprintf(text, sizeof(text), ":pa_integrator_local_increment(pa_il_1,2.0,%.6f)", g.to);
	world_ask(&w, OBSERVER, text);
	now = timebase_at(&w.time, loop_now(w.loop));
	timebase_init_root(&w.mainsm.time, loop_now(w.loop), now - 1000 * SEC);
	world_run(&w, 10 * SEC);
	ck_assert_uint_eq(w.time.roots, 1);
	g = gain_of(":patop_measurement_integrator_read([pa_il_1],1)");
	ck_assert_double_eq_tol(g.value, 20, 0.5);
	ck_assert_double_eq_tol(g.to - g.from, 10, 0.5);
}

TEST(a_reset_is_a_new_start)
{
	struct gain g, after;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	world_ask(&w, OBSERVER, ":pa_counter_local_increment(pa_cl_1,6)");
	g = gain_of(":patop_measurement_counter_read([pa_cl_1],1)");
	world_run(&w, SEC);
	world_ask(&w, OBSERVER, ":pa_counter_reset([pa_cl_1])");
	for (int mode = 0; mode < 2; mode++) {
		char text[64];

		snprintf(text, sizeof(text), ":patop_measurement_counter_read([pa_cl_1],%d)", mode);
		after = gain_of(text);
		ck_assert_double_eq(after.value, 0);
		ck_assert_double_gt(after.from, g.to + 0.9);
	}
}

TEST(the_next_lm_continues_from_its_own_first_look)
{
	struct gain g;

	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	arm("thread_has_started_lib_call([@],\"MPI_Send\"): pa_counter_local_increment(pa_cl_1,5)",
	    rank0, 1, false);
	call(&seg, "MPI_Send", 1, 1);
	world_crash_lm(&w);
	world_start_lm(&w);
	world_run(&w, SEC);
	g = gain_of(":patop_measurement_counter_read([pa_cl_1],1)");
	ck_assert_double_eq(g.value, 0);
	ck_assert_double_le(g.from, g.to);
	ck_assert_double_eq(gain_of(":patop_measurement_counter_read([pa_cl_1],0)").value, 5);
}

TEST(modes_beyond_the_known_ones_are_refused)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_cl_1)", rank0));
	ck_assert_uint_eq(world_ask(&w, OBSERVER, ":patop_measurement_counter_read([pa_cl_1],4)")
				  ->entry[0]
				  .status,
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, ":patop_measurement_counter_read([pa_cl_1],-1)")
				  ->entry[0]
				  .status,
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(world_ask(&w, OBSERVER, ":patop_measurement_counter_read([pa_cl_9],0)")
				  ->entry[0]
				  .status,
			  STATUS_UNKNOWN_OBJECT);
}

/* Arms START of a receive from one named partner, with a potential increment. */
static void arm_potential(const char *partners)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "patop_lib_call_started([%s],\"MPI_Recv\",[%s]): "
		 "patop_integrator_local_increment(pa_il_1,1.0,$time,$par2)",
		 rank0, partners);
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_1)", rank0));
	ck_assert_ptr_nonnull(world_arm(&w, "c_5", text, 1, false));
}

TEST(a_call_that_may_be_meant_does_not_count_yet)
{
	arm_potential("1");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), HOOK_ACTION_START);
	call(&seg, "MPI_Recv", 0, -1);
	read_integrator();
	ck_assert_double_eq(level, 0);
	call(&seg, "MPI_Recv", 0, 2);
	read_integrator();
	ck_assert_double_eq(level, 0);
	call(&seg, "MPI_Recv", 0, 1);
	read_integrator();
	ck_assert_double_eq(level, 1);
}

TEST(with_any_partner_each_call_matches)
{
	arm_potential("");
	call(&seg, "MPI_Recv", 0, -1);
	read_integrator();
	ck_assert_double_eq(level, 1);
	arm("patop_lib_call_started([@],\"MPI_Recv\",[],[]): print([$par2])", rank0, 0, true);
	call(&seg, "MPI_Recv", 80, -1);
	ck_assert_str_eq(par(next_triggered(), 2), "0");
}

TEST(both_ends_of_a_filtered_call_are_done_in_the_rank)
{
	arm_potential("1");
	world_arm(&w, "c_6",
		  with("patop_lib_call_ended([@],\"MPI_Recv\",[1]): "
		       "patop_integrator_local_increment(pa_il_1,-1.0,$time,0)",
		       rank0),
		  1, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"), HOOK_ACTION_START | HOOK_ACTION_END);
	call(&seg, "MPI_Recv", 0, 1);
	read_integrator();
	ck_assert_double_eq(level, 0);
	/* From the records, not from the event. */
	world_arm(&w, "c_7",
		  with("patop_lib_call_started([@],\"MPI_Recv\",[1]): "
		       "patop_integrator_local_increment(pa_il_1,1.0,$time,1)",
		       rank0),
		  1, false);
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Recv"),
			  HOOK_ACTION_START | HOOK_ACTION_END | HOOK_EVENT_START);
}

TEST(a_negative_increment_confirms_the_potential_one_at_its_time)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_1)", rank0));
	increment("1.0", "5.0", 1);
	increment("1.0", "10.0", 1); /* in the place of the one before */
	read_integrator();
	ck_assert_double_eq(level, 0);
	increment("-1.0", "30.0", 0);
	read_integrator();
	ck_assert_double_eq(integral, 20);
	ck_assert_double_eq(level, 0);
	increment("-1.0", "40.0", 0); /* nothing was stored, and v would fall below 0 */
	read_integrator();
	ck_assert_double_eq(integral, 20);
}

TEST(a_call_that_is_meant_ends_what_another_might_have_been)
{
	world_ask(&w, OBSERVER, with(":omig_pa_create([@],pa_il_1)", rank0));
	increment("1.0", "10.0", 1);
	increment("1.0", "20.0", 0);
	increment("-1.0", "25.0", 0);
	increment("-1.0", "90.0", 0);
	read_integrator();
	ck_assert_double_eq(integral, 5);
	ck_assert_double_eq(level, 0);
}

SUITE_WITH("lm gains", open_ranks, close_ranks)
