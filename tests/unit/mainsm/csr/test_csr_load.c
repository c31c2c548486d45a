/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of one tool delay other tools for a bounded part of a second. */
#include "mainsm/csr/csr.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/csr/csrs.h"

static struct world w;
static struct fake_branch a;
static struct above t;
static char text[4096];

static void open_site(void)
{
	sites_open(&w, &a, NULL, &t, ROLE_TOOL_OBSERVE);
}

static void close_site(void)
{
	sites_close(&w, &a, NULL, &t);
}

static unsigned told(void)
{
	return t.kinds[STATUS_CSR_TRIGGERED / 2];
}

static const char *last_reported(void)
{
	return t.of_kind[STATUS_CSR_TRIGGERED / 2]->entry[0].value;
}

static void trigger(const char *csr, int n, const struct msg_entry *done)
{
	const struct msg m = { .type = MSG_TRIGGERED,
			       .triggered = { .csr = csr,
					      .node = "n_1",
					      .proc = "p_1_a00000",
					      .entry = done,
					      .nentry = done ? 1 : 0 } };

	for (int i = 0; i < n; i++)
		ck_assert_int_eq(link_send(a.link, &m), 0);
	world_run(&w, 10 * MS);
}

TEST(the_firing_rate_of_a_tool_is_limited_over_all_its_csrs)
{
	char one[40], two[40];

	above_arm(&t, LIB_CALL " print([1])", one);
	above_arm(&t, LIB_CALL " print([2])", two);
	trigger(one, TOOL_FIRINGS_PER_SEC_MAX - 1, NULL);
	trigger(two, 1, NULL);
	ck_assert_uint_eq(told(), TOOL_FIRINGS_PER_SEC_MAX);
	trigger(two, 7, NULL);
	ck_assert_uint_eq(told(), TOOL_FIRINGS_PER_SEC_MAX);
	world_run(&w, 1010 * MS);
	ck_assert_uint_eq(told(), TOOL_FIRINGS_PER_SEC_MAX + 1);
	ck_assert_str_eq(last_reported(), "\"dropped\",7");
	trigger(two, 1, NULL);
	ck_assert_uint_eq(told(), TOOL_FIRINGS_PER_SEC_MAX + 2);
	ck_assert_str_eq(last_reported(), "");
}

/*
 * A host reports a huge number of dropped events, true or not: others' events are still
 * reported.
 */
TEST(drops_of_one_host_do_not_limit_events_of_others)
{
	struct msg m = { .type = MSG_TRIGGERED,
			 .triggered = {
				 .node = "n_1", .proc = "p_1_a00000", .dropped = UINT64_MAX / 2 } };
	char one[40];

	above_arm(&t, LIB_CALL " print([1])", one);
	m.triggered.csr = one;
	for (unsigned second = 1; second <= 5; second++) {
		ck_assert_int_eq(link_send(a.link, &m), 0);
		trigger(one, 5, NULL);
		ck_assert_uint_eq(told(), 6 * second);
		world_run(&w, 1010 * MS);
	}
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 0);
}

/* The lm has reported the permitted number of events, and dropped the rest. */
TEST(a_host_that_drops_each_second_is_a_flood)
{
	struct msg m = { .type = MSG_TRIGGERED,
			 .triggered = { .node = "n_1", .proc = "p_1_a00000", .dropped = 500 } };
	char one[40];

	above_arm(&t, LIB_CALL " print([1])", one);
	m.triggered.csr = one;
	for (int second = 0; second < 5; second++) {
		ck_assert_int_eq(link_send(a.link, &m), 0);
		trigger(one, TOOL_FIRINGS_PER_SEC_MAX - 1, NULL);
		world_run(&w, 1010 * MS);
	}
	ck_assert_uint_eq(above_count(&t, STATUS_CSR_DISABLED), 1);
}

TEST(executed_firings_are_forwarded_beyond_the_limit)
{
	const struct msg_entry done = { .action = 1,
					.objects = "p_1_a00000",
					.value = { (const uint8_t *)"5", 1 } };
	char one[40], two[40];

	above_arm(&t, LIB_CALL " print([1])", one);
	above_arm(&t, LIB_CALL " proc_get_info([$proc],0)", two);
	trigger(one, TOOL_FIRINGS_PER_SEC_MAX, NULL);
	trigger(two, 5, &done);
	ck_assert_uint_eq(told(), TOOL_FIRINGS_PER_SEC_MAX + 5);
}

/*
 * Three levels of forty conditions with sixteen actions each would be 2.6e8 firings without a
 * limit.
 */
TEST(a_cascade_of_user_events_ends_soon)
{
	char e[3][40], csr[40];
	int n;

	for (int i = 0; i < 3; i++)
		above_event(&t, e[i]);
	for (int i = 0; i < 120; i++) {
		n = snprintf(text, sizeof(text), "user_event_has_been_raised([%s]):", e[i / 40]);
		for (int k = 0; k < CSR_ACTIONS_MAX; k++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      " user_event_raise([%s],[],1)", e[(i / 40 + 1) % 3]);
		above_arm(&t, text, csr);
	}
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],1)", e[0]);
	above_ask_for(&t, text, 0, 20 * MS);
	ck_assert_uint_gt(told(), 40);
	ck_assert_uint_le(told(), TOOL_FIRINGS_PER_SEC_MAX);
}

TEST(user_events_per_second_are_limited)
{
	struct buf many = BUF_INIT(OMIS_REQUEST_MAX_BYTES);
	const struct reply *r;
	char e[40];

	for (int i = 0; i < 10; i++)
		above_event(&t, e);
	buf_putc(&many, ':');
	for (int i = 0; i < TOOL_RAISES_PER_SEC_MAX / 10; i++)
		buf_puts(&many, " user_event_raise([],[],1)");
	r = above_ask(&t, buf_str(&many));
	ck_assert_uint_eq(reply_status(r), STATUS_OK);
	snprintf(text, sizeof(text), ":user_event_raise([%s],[],1)", e);
	r = above_ask(&t, text);
	ck_assert_uint_eq(reply_status(r), STATUS_UNSPECIFIED_ERROR);
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "4000 user events a second"));
	world_run(&w, SEC);
	ck_assert_uint_eq(above_status(&t, text), STATUS_OK);
	buf_done(&many);
}

SUITE_WITH("csr_load", open_site, close_site)
