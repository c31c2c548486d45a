/* SPDX-License-Identifier: Apache-2.0 */
/* Action lists in braces lock their nodes; other lists for these nodes wait in a queue. */
#include "mainsm/tool/locks.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a, b;
static struct above t, u;

/* Nodes n_1 and n_2, each of which answers when the test requests it. */
static void open_sites(void)
{
	sites_open(&w, &a, &b, &t, ROLE_TOOL_MANIPULATE);
	above_open(&w, &u, ROLE_TOOL_OBSERVE, "u");
	above_attach_all(&u);
	a.is_mute = b.is_mute = true;
}

static void close_sites(void)
{
	above_close(&u);
	sites_close(&w, &a, &b, &t);
}

static void ask(struct above *tool, const char *text)
{
	above_send(tool, text, 0);
	world_run(&w, 20 * MS);
}

/* Lets the host answer the last list that was sent to it. */
static void answers(struct fake_branch *host, const char *node)
{
	below_reply(host, node, "1");
}

TEST(two_in_braces_on_one_node_come_one_after_the_other)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	ck_assert_uint_eq(a.requests, 1);
	ck_assert_str_eq(a.text, ":{node_get_info([n_1],1)}");
	ask(&u, ":{proc_get_info([p_1_a00000],1)}");
	ck_assert_uint_eq(a.requests, 1);
	answers(&a, "n_1");
	ck_assert_uint_eq(a.requests, 2);
	ck_assert_str_eq(a.text, ":{proc_get_info([p_1_a00000],1)}");
	answers(&a, "p_1_a00000");
	ck_assert_uint_eq(reply_status(u.last), STATUS_OK);
	ck_assert_ptr_nonnull(entry_of(u.last, 1, 0));
}

TEST(on_different_nodes_they_run_at_once)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	ask(&u, ":{node_get_info([n_2],1)}");
	ck_assert_uint_eq(a.requests, 1);
	ck_assert_uint_eq(b.requests, 1);
}

TEST(others_on_its_nodes_wait_and_do_not_overtake)
{
	ask(&t, ":node_get_info([n_1],1)");
	ask(&t, ":{node_get_info([n_1],2) ; node_get_info([n_2],2)}");
	ck_assert_uint_eq(a.requests, 1);
	/* Later lists wait, else the list in braces might never get its nodes. */
	ask(&u, ":node_get_info([n_1],3)");
	ask(&u, ":node_get_info([n_2],3)");
	ask(&u, ":print([1])");
	ck_assert_uint_eq(a.requests, 1);
	ck_assert_uint_eq(b.requests, 0);
	ck_assert_str_eq(entry_of(u.last, 1, 0)->value, "1,1");
	answers(&a, "n_1");
	ck_assert_uint_eq(a.requests, 2);
	ck_assert_str_eq(a.text, ":{node_get_info([n_1],2)}");
	answers(&a, "n_1");
	ck_assert_uint_eq(a.requests, 2);
	ck_assert_str_eq(b.text, ":{node_get_info([n_2],2)}");
	/* No other request runs between its barriers. */
	answers(&b, "n_2");
	ck_assert_uint_eq(a.requests, 3);
	ck_assert_str_eq(a.text, ":node_get_info([n_1],3)");
	ck_assert_str_eq(b.text, ":node_get_info([n_2],3)");
}

TEST(without_braces_nothing_waits)
{
	for (unsigned i = 0; i < 10; i++)
		ask(i % 2 ? &t : &u, ":node_get_info([n_1],1)");
	ck_assert_uint_eq(a.requests, 10);
}

TEST(an_empty_list_and_a_site_are_all_nodes)
{
	ask(&t, ":{node_get_info([n_2],1)}");
	ask(&u, ":{node_get_info([],1)}");
	ask(&u, ":{proc_get_info([s_1],1)}");
	ck_assert_uint_eq(a.requests, 0);
	ck_assert_uint_eq(b.requests, 1);
	answers(&b, "n_2");
	ck_assert_uint_eq(a.requests, 1);
	ck_assert_uint_eq(b.requests, 2);
}

TEST(a_deadline_ends_the_waiting)
{
	above_send(&t, ":{node_get_info([n_1],1)}", 10 * SEC);
	world_run(&w, 20 * MS);
	above_send(&u, ":node_get_info([n_1],1)", SEC);
	world_run(&w, 900 * MS);
	ck_assert_uint_eq(u.replies, 1);
	world_run(&w, 200 * MS);
	ck_assert_uint_eq(u.replies, 2);
	ck_assert_uint_eq(reply_status(u.last), STATUS_UNSPECIFIED_ERROR);
	ck_assert_ptr_nonnull(strstr(u.last->entry[0].value, "other lists were active"));
	/* The list in braces ends at its own deadline, which frees the node. */
	above_send(&u, ":node_get_info([n_1],2)", 20 * SEC);
	world_run(&w, 10 * SEC);
	ck_assert_str_eq(a.text, ":node_get_info([n_1],2)");
}

TEST(a_deadline_that_is_never_still_has_a_bound)
{
	above_send(&t, ":{node_get_info([n_1],1)}", INT64_MAX);
	world_run(&w, 20 * MS);
	above_send(&u, ":node_get_info([n_1],1)", INT64_MAX);
	world_run(&w, SEC);
	ck_assert_uint_eq(u.replies, 1); /* the second request waits */
	answers(&a, "n_1");
	ck_assert_uint_eq(a.requests, 2);
	ck_assert_int_gt(a.deadline, 500 * SEC);
	ck_assert_int_le(a.deadline, EXECUTOR_DEADLINE_MAX_NS);
}

TEST(a_waiting_list_keeps_the_rest_of_its_deadline)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	above_send(&u, ":node_get_info([n_1],2)", 10 * SEC);
	world_run(&w, SEC);
	answers(&a, "n_1");
	ck_assert_str_eq(a.text, ":node_get_info([n_1],2)");
	ck_assert_int_lt(a.deadline, 9 * SEC);
	ck_assert_int_gt(a.deadline, 7 * SEC);
}

TEST(a_disconnected_tool_leaves_nothing_locked)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	ask(&t, ":{node_get_info([n_1],2)}");
	ask(&u, ":node_get_info([n_1],3)");
	ck_assert_uint_eq(a.requests, 1);
	above_close(&t);
	t.link = NULL;
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(a.requests, 2);
	ck_assert_str_eq(a.text, ":node_get_info([n_1],3)");
}

TEST(one_that_waits_can_be_cancelled)
{
	struct msg m = { .type = MSG_CANCEL };

	ask(&t, ":{node_get_info([n_1],1)}");
	m.cancel.id = above_send(&u, ":node_get_info([n_1],2)", 0);
	world_run(&w, 20 * MS);
	ck_assert_int_eq(link_send(u.link, &m), 0);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(u.last->id, m.cancel.id);
	answers(&a, "n_1");
	ck_assert_uint_eq(a.requests, 1);
}

TEST(the_number_of_waiting_lists_is_limited)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	for (unsigned i = 0; i < LOCKS_WAITING_MAX / 2; i++) {
		above_send(&t, ":node_get_info([n_1],1)", 60 * SEC);
		above_send(&u, ":node_get_info([n_1],1)", 60 * SEC);
	}
	world_run(&w, 100 * MS);
	ck_assert_uint_eq(u.replies, 1);
	above_send(&u, ":node_get_info([n_1],1)", 60 * SEC);
	world_run(&w, 20 * MS);
	ck_assert_uint_eq(u.replies, 2);
	ck_assert_ptr_nonnull(strstr(u.last->entry[0].value, "lists wait"));
}

TEST(the_actions_of_events_wait_in_the_same_row)
{
	const struct reply *r;
	char text[128], csr[40];

	r = above_ask(
		&t, "thread_has_started_lib_call([n_1],\"MPI_Barrier\"): {node_get_info([$node],1) "
		    "node_get_info([n_2],1)}");
	ck_assert_uint_eq(r->kind, STATUS_CSR_DEFINED);
	str_copy(csr, sizeof(csr), r->csr);
	snprintf(text, sizeof(text), ":csr_enable([%s])", csr);
	ask(&t, text);
	/* No action runs on the host of the event, which has no locks. */
	ck_assert_uint_eq(a.prefix, 0);
	ask(&u, ":node_get_info([n_2],4)");
	below_trigger(&a, "p_1_a00000", "", "1");
	ck_assert_uint_eq(a.requests, 0);
	answers(&b, "n_2");
	ck_assert_uint_eq(a.requests, 1);
	ck_assert_str_eq(a.text, ":{node_get_info([n_1],1)}");
	ck_assert_str_eq(b.text, ":{node_get_info([n_2],1)}");
}

static void ask_outcome(struct above *tool, const char *text)
{
	struct msg m = { .type = MSG_REQUEST };

	m.request = (struct msg_request){ .id = tool->next_id++,
					  .flags = MSG_REQUEST_OUTCOME,
					  .text = { (const uint8_t *)text, strlen(text) },
					  .deadline_ns = 500 * MS };
	ck_assert_int_eq(link_send(tool->link, &m), 0);
	world_run(&w, 20 * MS);
}

TEST(a_query_for_an_outcome_waits_for_no_lock)
{
	ask(&t, ":{node_get_info([n_1],1)}");
	ck_assert_uint_eq(a.requests, 1);
	ask_outcome(&t, ":{thread_stop([p_1_a00000])}");
	ck_assert_uint_eq(a.requests, 2);
	ask(&t, ":{node_get_info([n_1],1)}");
	ck_assert_uint_eq(a.requests, 2);
}

TEST(an_outcome_that_could_not_be_asked_is_unknown)
{
	const struct reply *r;

	ask_outcome(&t, ":thread_stop([p_1_a00000]) ; thread_stop([p_1_b00000])");
	world_run(&w, SEC);
	r = t.last;
	ck_assert(!strncmp(r->coverage.missing[0].reason, "outcome unknown: ", 17));
	ck_assert(!strncmp(entry_of(r, 2, 0)->value, "outcome unknown: ", 17));
}

SUITE_WITH("locks", open_sites, close_sites)
