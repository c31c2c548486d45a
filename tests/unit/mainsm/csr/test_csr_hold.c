/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that hold a process until all has been done about its event; events of events. */
#include "tests/suite.h"
#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a, b;
static struct above t;
static char token[CSR_TOKEN_BYTES], event[CSR_TOKEN_BYTES], text[256];

static void open_sites(void)
{
	sites_open(&w, &a, &b, &t, ROLE_TOOL_MANIPULATE);
	above_event(&t, event);
}

static void close_sites(void)
{
	sites_close(&w, &a, &b, &t);
}

static void arm(const char *request)
{
	above_arm(&t, request, token);
}

static void trigger(const char *csr, uint64_t seq, uint32_t depth)
{
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = csr,
					      .seq = seq,
					      .node = "n_1",
					      .proc = "p_1_a00000",
					      .held = true,
					      .depth = depth } };

	ck_assert_int_eq(link_send(a.link, &m), 0);
	world_run(&w, 10 * MS);
}

TEST(a_held_process_is_released_when_others_have_acted)
{
	arm(LIB_CALL " thread_stop([n_2])");
	b.is_mute = true;
	trigger(token, 7, 0);
	ck_assert_str_eq(b.text, ":thread_stop([t_2_a00000,t_2_b00000])");
	ck_assert_uint_eq(a.releases, 0);
	below_reply(&b, "t_2_a00000,t_2_b00000", "");
	ck_assert_uint_eq(a.releases, 1);
	ck_assert_uint_eq(a.released, 7);
	ck_assert_uint_eq(b.releases, 0);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
}

TEST(the_source_of_a_user_event_waits_for_its_actions_too)
{
	char first[40];

	snprintf(text, sizeof(text), LIB_CALL " user_event_raise([%s],[],0)", event);
	arm(text);
	str_copy(first, sizeof(first), token);
	snprintf(text, sizeof(text), "user_event_has_been_raised([%s]): thread_stop([n_2])", event);
	arm(text);
	b.is_mute = true;
	trigger(first, 7, 0);
	ck_assert_uint_eq(a.releases, 0);
	below_reply(&b, "t_2_a00000,t_2_b00000", "");
	ck_assert_uint_eq(a.releases, 1);
	/* With resume 1 the user event has no source process, so nothing is held for it. */
	snprintf(text, sizeof(text), LIB_CALL " user_event_raise([%s],[],1)", event);
	arm(text);
	trigger(token, 8, 0);
	ck_assert_uint_eq(a.releases, 2);
}

TEST(a_one_shot_releases_when_its_list_has_ended)
{
	arm(LIB_CALL " csr_delete([$csr]) thread_stop([n_2])");
	b.is_mute = true;
	trigger(token, 7, 0);
	ck_assert_uint_eq(a.disarms, 1);
	ck_assert_uint_eq(a.releases, 0);
	below_reply(&b, "t_2_a00000,t_2_b00000", "");
	ck_assert_uint_eq(a.releases, 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 1);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DELETED), 1);
}

TEST(unexecuted_stop_is_released_at_once)
{
	arm(LIB_CALL " thread_stop([n_2])");
	trigger("c_999", 5, 0);
	ck_assert_uint_eq(a.releases, 1);
	b.is_mute = true;
	trigger(token, 6, 0);
	above_close(&t);
	t.link = NULL;
	world_run(&w, 10 * MS);
	ck_assert_uint_eq(a.releases, 2);
	ck_assert_uint_eq(a.released, 6);
}

TEST(requests_of_a_csr_carry_the_depth_of_the_chain)
{
	arm(LIB_CALL " thread_stop([n_2])");
	trigger(token, 1, 0);
	ck_assert_uint_eq(b.depth, 1);
	trigger(token, 2, 2);
	ck_assert_uint_eq(b.depth, 3);
	above_ask(&t, ":thread_continue([n_2])");
	ck_assert_uint_eq(b.depth, 0);
}

/* Each stop at b is the event of a csr at a, which stops at a; that is the event of one at b. */
TEST(a_circle_over_two_hosts_is_cut_and_reported_once)
{
	char one[40], two[40];
	unsigned acted = 0;
	uint32_t depth = 0;

	arm("proc_has_been_stopped([n_1]): thread_stop([n_2])");
	str_copy(one, sizeof(one), token);
	arm("proc_has_been_stopped([n_2]): thread_stop([n_1])");
	str_copy(two, sizeof(two), token);
	for (int i = 0; i < 20; i++) {
		struct fake_branch *from = i % 2 ? &b : &a, *to = i % 2 ? &a : &b;
		const struct msg m = { .type = MSG_TRIGGERED,
				       .triggered = { .csr = i % 2 ? two : one,
						      .node = i % 2 ? "n_2" : "n_1",
						      .proc = i % 2 ? "p_2_a00000" : "p_1_a00000",
						      .depth = depth } };
		unsigned before = to->requests;

		link_send(from->link, &m);
		world_run(&w, 10 * MS);
		if (to->requests == before)
			break;
		acted++;
		depth = to->depth;
	}
	ck_assert_uint_eq(acted, CAUSAL_DEPTH_MAX);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_ptr_nonnull(
		strstr(t.of_kind[STATUS_CSR_DISABLED / 2]->entry[0].value, "own event"));
}

TEST(a_depth_beyond_all_bounds_is_too_deep)
{
	arm(LIB_CALL " thread_stop([n_2])");
	trigger(token, 1, UINT32_MAX);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_TRIGGERED), 0);
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
	ck_assert_uint_eq(a.releases, 1);
}

SUITE_WITH("csr_hold", open_sites, close_sites)
