/* SPDX-License-Identifier: Apache-2.0 */
/* Predicates at the top: of user events, and after other actions. */
#include "tests/suite.h"
#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a;
static struct above t;
static char text[512], event[CSR_TOKEN_BYTES];

static void open_site(void)
{
	sites_open(&w, &a, NULL, &t, ROLE_TOOL_OBSERVE);
	above_event(&t, event);
}

static void close_site(void)
{
	sites_close(&w, &a, NULL, &t);
}

static void arm(const char *request)
{
	char token[CSR_TOKEN_BYTES];

	above_arm(&t, request, token);
}

static void arm_on_event(const char *actions)
{
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]):%s", event, actions);
	arm(text);
}

static void raise_with(const char *values)
{
	snprintf(text, sizeof(text), ":user_event_raise([%s],[%s],1)", event, values);
	above_send(&t, text, 0);
	world_run(&w, 20 * MS);
}

static unsigned told(void)
{
	return t.kinds[STATUS_CSR_TRIGGERED / 2];
}

static const struct reply *last(void)
{
	return t.of_kind[STATUS_CSR_TRIGGERED / 2];
}

TEST(a_user_event_that_does_not_pass_is_silent)
{
	arm_on_event(" omig_if($par1,\">=\",10) omig_if($par2,\"==\",\"yes\") print([$par1])");
	raise_with("9,\"yes\"");
	raise_with("10,\"no\"");
	raise_with("10,3");
	raise_with("10");
	ck_assert_uint_eq(told(), 0);
	raise_with("10,\"yes\"");
	ck_assert_uint_eq(told(), 1);
	ck_assert_uint_eq(last()->nentry, 2);
	ck_assert_str_eq(entry_of(last(), 3, 0)->value, "1,10");
}

TEST(of_user_events_every_nth_continues)
{
	arm_on_event(" omig_every(3) print([$par1])");
	for (int i = 1; i <= 9; i++) {
		char value[8];

		snprintf(value, sizeof(value), "%d", i);
		raise_with(value);
		ck_assert_uint_eq(told(), (unsigned)i / 3);
	}
	ck_assert_str_eq(entry_of(last(), 2, 0)->value, "1,9");
}

TEST(a_predicate_behind_other_actions_ends_the_list_there)
{
	arm_on_event(" print([1]) omig_if($par1,\"==\",5) print([2]) ; omig_every(2) print([3])");
	raise_with("4");
	ck_assert_uint_eq(told(), 1);
	ck_assert_uint_eq(last()->nentry, 2);
	ck_assert_str_eq(entry_of(last(), 1, 0)->value, "1,1");
	raise_with("5");
	ck_assert_str_eq(entry_of(last(), 3, 0)->value, "1,2");
	ck_assert_ptr_null(entry_of(last(), 4, 0));
	ck_assert_ptr_null(entry_of(last(), 5, 0));
	raise_with("5");
	ck_assert_str_eq(entry_of(last(), 5, 0)->value, "1,3");
	ck_assert_uint_eq(told(), 3);
}

TEST(predicate_that_a_host_evaluated_is_not_repeated)
{
	arm(LIB_CALL " omig_every(100) proc_get_info([$proc],0) omig_every(2) print([$proc])");
	ck_assert_uint_eq(a.prefix, 2);
	ck_assert(a.wants_reply);
	below_trigger(&a, "p_1_a00000", "", "1");
	ck_assert_uint_eq(told(), 1);
	ck_assert_ptr_nonnull(entry_of(last(), 2, 0));
	ck_assert_ptr_null(entry_of(last(), 3, 0));
	ck_assert_ptr_null(entry_of(last(), 4, 0));
	below_trigger(&a, "p_1_a00000", "", "1");
	ck_assert_ptr_nonnull(entry_of(last(), 4, 0));
}

TEST(counters_behind_a_predicate_need_no_reply)
{
	char counter[40];

	str_copy(counter, sizeof(counter),
		 entry_of(above_ask(&t, ":pa_counter_local_create([])"), 1, 0)->value);
	snprintf(text, sizeof(text),
		 LIB_CALL " omig_if($par1,\">\",1) pa_counter_local_increment(%s,1)", counter);
	arm(text);
	ck_assert_uint_eq(a.prefix, 2);
	ck_assert(!a.wants_reply);
	arm(LIB_CALL " omig_every(10)");
	ck_assert_uint_eq(a.prefix, 1);
	ck_assert(a.wants_reply);
}

TEST(a_predicate_that_makes_no_sense_is_refused_at_once)
{
	ck_assert_uint_eq(above_status(&t, LIB_CALL " omig_every(0) print([1])"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, LIB_CALL " omig_if($par1,\"=>\",1) print([1])"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_every(3) print([1])"), STATUS_TYPE_MISMATCH);
}

SUITE_WITH("csr_predicate", open_site, close_site)
