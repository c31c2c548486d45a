/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that a tool has detached alone: neither read nor watched, until its process is attached
 * again.
 */
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

static struct world w;
static struct fake_branch a;
static struct above t, other;

TEST(a_thread_that_is_detached_is_neither_asked_nor_watched)
{
	char text[80];
	const struct reply *r;

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t, ROLE_TOOL_OBSERVE, "t");
	above_open(&w, &other, ROLE_TOOL_OBSERVE, "other");
	above_attach_all(&t);
	above_attach_all(&other);
	r = above_ask(&t, "thread_has_terminated([]): print([$thread])");
	snprintf(text, sizeof(text), ":csr_enable([%s])", r->csr);
	above_send(&t, text, 0);
	world_run(&w, 100 * MS);
	ck_assert_str_eq(a.armed,
			 "thread_has_terminated([p_1_a00000,p_1_b00000]):print([$thread])");
	ck_assert_uint_eq(above_status(&t, ":thread_detach([t_1_a00000])"), STATUS_OK);
	world_run(&w, 2 * SEC);
	ck_assert_str_eq(a.armed, "thread_has_terminated([p_1_b00000]):print([$thread])");
	ck_assert_uint_eq(above_status(&t, ":thread_get_info([t_1_a00000],1)"),
			  STATUS_UNKNOWN_OBJECT);
	above_ask(&t, ":thread_get_info([],1)");
	ck_assert_str_eq(a.text, ":thread_get_info([t_1_b00000],1)");
	above_ask(&other, ":thread_get_info([],1)");
	ck_assert_str_eq(a.text, ":thread_get_info([t_1_a00000,t_1_b00000],1)");
	/* Detaching and attaching again enables the condition for the process again. */
	above_send(&t, ":proc_detach([p_1_a00000]) proc_attach([p_1_a00000])", 0);
	world_run(&w, 2 * SEC);
	ck_assert_str_eq(a.armed,
			 "thread_has_terminated([p_1_a00000,p_1_b00000]):print([$thread])");
	above_close(&t);
	above_close(&other);
	below_close(&a);
	world_done(&w);
}

SUITE("mainsm detach")
