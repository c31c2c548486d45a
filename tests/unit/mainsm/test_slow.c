/* SPDX-License-Identifier: Apache-2.0 */
/* A branch that does not take what it is sent. */
#include "mainsm/tool/session.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <stdlib.h>

#define REQUESTS 600
#define REQUEST_BYTES (OMIS_REQUEST_MAX_BYTES - 200)

static struct world w;
static struct below a;
static struct above t1, t2;

/* A message to a branch is never left out: the branch is cut, and gets it again on its return. */
START_TEST(a_child_whose_queue_is_full_is_cut)
{
	char *text = calloc(1, OMIS_REQUEST_MAX_BYTES);
	int n = snprintf(text, 64, ":omig_calls_enable([p_1_a00000],\"");

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	above_open(&w, &t1, ROLE_TOOL_MANIPULATE, "t1");
	above_open(&w, &t2, ROLE_TOOL_MANIPULATE, "t2");
	above_attach_all(&t1);
	above_attach_all(&t2);
	memset(text + n, 'x', REQUEST_BYTES);
	memcpy(text + n + REQUEST_BYTES, "\")", 3);
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true }),
			 0);
	for (int i = 0; i < REQUESTS; i++) {
		above_send(&t1, text, 60 * SEC);
		above_send(&t2, text, 60 * SEC);
		world_run(&w, MS);
	}
	ck_assert_ptr_nonnull(strstr(entry_of(above_ask(&t1, ":omig_tree()"), 1, 0)->value,
				     "[n_1,s_1,\"h1\",\"lost\""));
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ 0 }), 0);
	world_run(&w, 30 * SEC);
	ck_assert(a.is_up);
	above_close(&t1);
	above_close(&t2);
	below_close(&a);
	world_done(&w);
	free(text);
}
END_TEST

#define LINKS 4
#define EACH SESSION_RUNS_MAX

/* Requests that a site does not answer stay under way. */
START_TEST(all_links_of_one_user_have_one_share)
{
	static struct above carol[LINKS], bob;
	struct identity who = world_identity(ROLE_TOOL_OBSERVE, "", "t@h");
	unsigned before;

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	str_copy(who.owner, sizeof(who.owner), "carol");
	for (int i = 0; i < LINKS; i++) {
		above_open_as(&w, &carol[i], &who);
		above_attach_all(&carol[i]);
	}
	str_copy(who.owner, sizeof(who.owner), "bob");
	above_open_as(&w, &bob, &who);
	above_attach_all(&bob);
	a.is_mute = true;
	before = a.requests;
	for (int i = 0; i < EACH; i++) {
		for (int k = 0; k < LINKS; k++)
			above_send(&carol[k], ":node_get_info([],1)", SEC);
		if (i % 16 == 15)
			world_run(&w, MS);
	}
	ck_assert_uint_ge(a.requests, before + EACH);
	ck_assert_uint_lt(a.requests, before + 2 * EACH);
	above_send(&bob, ":node_get_info([],1)", SEC);
	before = a.requests;
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.requests, before + 1); /* none is before it */
	/* all of carol's have their turn: what waited in a link was read */
	world_run(&w, 20 * SEC);
	for (int k = 0; k < LINKS; k++) {
		ck_assert_uint_eq(carol[k].replies, bob.replies + EACH - 1);
		above_close(&carol[k]);
	}
	above_close(&bob);
	below_close(&a);
	world_done(&w);
}
END_TEST

SUITE("slow", a_child_whose_queue_is_full_is_cut, all_links_of_one_user_have_one_share)
