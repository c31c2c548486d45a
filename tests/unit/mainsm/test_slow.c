/* SPDX-License-Identifier: Apache-2.0 */
/* A branch that does not read. */
#include "mainsm/tool/session.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

#include <stdlib.h>

#define OWNERS 20 /* each owner has a share of 4 MiB, and a queue holds 64 MiB */
#define REQUESTS 80
#define REQUEST_BYTES (OMIS_REQUEST_MAX_BYTES - 200)

static struct world w;
static struct fake_branch a;

static char *large_text(size_t bytes)
{
	char *text = calloc(1, bytes + 1);
	size_t n = (size_t)snprintf(text, 64, ":omig_calls_enable([p_1_a00000],\"");

	memset(text + n, 'x', bytes - 2 - n);
	memcpy(text + bytes - 2, "\")", 2);
	return text;
}

static void open_of(struct above *t, const char *owner)
{
	struct identity who = fake_identity(ROLE_TOOL_MANIPULATE, "", "t@h");

	str_copy(who.owner, sizeof(who.owner), owner);
	above_open_as(&w, t, &who);
	above_attach_all(t);
}

/*
 * No message to a branch is dropped: the branch is disconnected, and gets it again on its
 * return.
 */
TEST(a_child_whose_queue_is_full_is_cut)
{
	static struct above of[OWNERS], other;
	char *text = large_text(REQUEST_BYTES), owner[16];

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	open_of(&other, "other");
	for (int i = 0; i < OWNERS; i++) {
		snprintf(owner, sizeof(owner), "owner-%d", i);
		open_of(&of[i], owner);
	}
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ .cut = true }),
			 0);
	for (int i = 0; i < REQUESTS; i++) {
		for (int k = 0; k < OWNERS; k++)
			above_send(&of[k], text, 60 * SEC);
		world_run(&w, MS);
	}
	ck_assert_ptr_nonnull(strstr(entry_of(above_ask(&other, ":omig_tree()"), 1, 0)->value,
				     "[n_1,s_1,\"h1\",\"lost\""));
	ck_assert_int_eq(mem_net_set_link(w.net, "sm-a", "top", &(struct mem_link){ 0 }), 0);
	world_run(&w, 30 * SEC);
	ck_assert(a.is_up);
	for (int i = 0; i < OWNERS; i++)
		above_close(&of[i]);
	above_close(&other);
	below_close(&a);
	world_done(&w);
	free(text);
}

#define LINKS 4
#define EACH SESSION_RUNS_MAX

/* Requests that a site does not answer stay under way. */
TEST(all_links_of_one_user_have_one_share)
{
	static struct above carol[LINKS], bob;
	struct identity who = fake_identity(ROLE_TOOL_OBSERVE, "", "t@h");
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
	ck_assert_uint_eq(a.requests, before + 1); /* it was received next */
	/* all requests of carol are executed: those that waited in a link are read */
	world_run(&w, 20 * SEC);
	for (int k = 0; k < LINKS; k++) {
		ck_assert_uint_eq(carol[k].replies, bob.replies + EACH - 1);
		above_close(&carol[k]);
	}
	above_close(&bob);
	below_close(&a);
	world_done(&w);
}

#define MANY_LINKS 30
#define LARGE_BYTES 30000
#define LARGE_EACH 64
/* the most that is under way: the share, and one more large request for each link */
#define LARGE_MAX_BYTES                                      \
	((size_t)SESSION_RUNS_MAX * SESSION_RUN_UNIT_BYTES + \
	 (size_t)MANY_LINKS * (LARGE_BYTES + SESSION_RUN_UNIT_BYTES))

/* The bytes of requests count, not only their number, and all links of an owner have one share. */
TEST(large_requests_of_many_links_keep_to_one_share)
{
	static struct above carol[MANY_LINKS], bob;
	char *text = large_text(LARGE_BYTES);
	unsigned before;

	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	below_report(&a, 1, "h1");
	for (int i = 0; i < MANY_LINKS; i++)
		open_of(&carol[i], "carol");
	open_of(&bob, "bob");
	a.is_mute = true;
	before = a.requests;
	for (int i = 0; i < LARGE_EACH; i++) {
		for (int k = 0; k < MANY_LINKS; k++)
			above_send(&carol[k], text, SEC);
		world_run(&w, MS);
	}
	ck_assert_uint_gt(a.requests, before + MANY_LINKS); /* several in each link */
	ck_assert_uint_le(a.requests - before, LARGE_MAX_BYTES / LARGE_BYTES);
	before = a.requests;
	above_send(&bob, ":node_get_info([],1)", SEC);
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.requests, before + 1);
	world_run(&w, 60 * SEC); /* all links were read in turn */
	for (int k = 0; k < MANY_LINKS; k++) {
		ck_assert_uint_eq(carol[k].replies, bob.replies + LARGE_EACH - 1);
		above_close(&carol[k]);
	}
	above_close(&bob);
	below_close(&a);
	world_done(&w);
	free(text);
}

SUITE("slow")
