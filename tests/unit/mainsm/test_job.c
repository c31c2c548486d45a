/* SPDX-License-Identifier: Apache-2.0 */
/* Applications by name. */
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

static struct world w;
static struct below a, b;
static struct above t, other;

static void set_up(void)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_open(&w, &b, ROLE_SM, "b", "sm-b");
	below_tell(&a, 1, "h1");
	below_tell(&b, 2, "h2");
	below_tell_rank(&a, 1, "p_1_a00000", 0, "wind");
	below_tell_rank(&b, 2, "p_2_a00000", 1, "wind");
	below_tell_rank(&b, 2, "p_2_b00000", 0, "rain");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_open(&w, &other, ROLE_TOOL_OBSERVE, "o");
}

static void clean_up(void)
{
	above_close(&t);
	above_close(&other);
	below_close(&a);
	below_close(&b);
	world_done(&w);
}

START_TEST(all_processes_of_a_job_are_attached_and_no_other)
{
	ck_assert_str_eq(entry_of(above_ask(&t, ":omig_job_attach(\"wind\")"), 1, 0)->value, "2");
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([],1)"), STATUS_OK);
	ck_assert_ptr_nonnull(strstr(a.text, "[p_1_a00000]"));
	ck_assert_ptr_nonnull(strstr(b.text, "[p_2_a00000]"));
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([p_2_b00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	/* Their nodes are, too; another tool's view has not changed. */
	ck_assert_uint_eq(above_status(&t, ":node_get_info([n_1,n_2],1)"), STATUS_OK);
	ck_assert_uint_eq(above_status(&other, ":proc_get_info([p_1_a00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
}
END_TEST

START_TEST(one_job_after_the_other_adds_up)
{
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"wind\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"rain\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":proc_get_info([p_1_a00000,p_2_a00000,p_2_b00000],1)"),
			  STATUS_OK);
}
END_TEST

START_TEST(a_job_that_is_not_there_is_an_unknown_object)
{
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"snow\")"), STATUS_UNKNOWN_OBJECT);
	ck_assert_uint_eq(above_status(&t, ":omig_job_attach(\"win\")"), STATUS_UNKNOWN_OBJECT);
}
END_TEST

SUITE_WITH("jobs", set_up, clean_up, all_processes_of_a_job_are_attached_and_no_other,
	   one_job_after_the_other_adds_up, a_job_that_is_not_there_is_an_unknown_object)
