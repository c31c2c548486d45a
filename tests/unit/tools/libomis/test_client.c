/* SPDX-License-Identifier: Apache-2.0 */
/* libomis as a tool sees it, against something that talks like a mainsm. */
#include "common/base/clock.h"
#include "tests/suite.h"
#include "tests/unit/tools/libomis/fake_mainsm.h"
#include "tools/libomis/omis.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fake_mainsm fake;
static int tool;

static Omis_reply ask(const char *text)
{
	return omis_request_n(text, strlen(text), NULL, NULL, 0);
}

static void connect_tool(void)
{
	fake_mainsm_start(&fake, FAKE_KIND);
	ck_assert_msg(omis_init(NULL, NULL, NULL, &tool) == OMIS_OK, "%s", omis_last_error());
}

static void end(void)
{
	ck_assert_int_eq(omis_finalize(), OMIS_OK);
	fake_mainsm_stop(&fake);
}

/* Serves the library until *flag, but for a limited time. */
static void handle_until(const volatile int *count, int wanted)
{
	struct pollfd p = { .fd = omis_fd(), .events = POLLIN };
	nsec_t until = clock_mono() + 20 * NSEC_PER_SEC;

	ck_assert_int_ge(p.fd, 0);
	while (*count < wanted && clock_mono() < until) {
		poll(&p, 1, 100);
		omis_handler();
	}
	ck_assert_int_eq(*count, wanted);
}

TEST(a_tool_enrols_once_and_asks)
{
	Omis_reply r;
	Omis_coverage c;

	ck_assert_int_eq(tool, 1);
	r = ask(":print(1)");
	ck_assert_str_eq(r[1][0].obj_list, "n_1");
	ck_assert_str_eq(r[1][0].result, "9");
	omis_reply_coverage(r, &c);
	ck_assert_uint_eq(c.asked, 2);
	ck_assert_str_eq(c.missing[0].reason, "silent");
	omis_reply_free(r);
	ck_assert_int_eq(omis_finalize(), OMIS_OK);
	/* the token is not needed a second time */
	*strrchr(fake.conn, ':') = '\0';
	setenv("OMIG_MAINSM", fake.conn, 1);
	ck_assert_msg(omis_init(NULL, NULL, NULL, &tool) == OMIS_OK, "%s", omis_last_error());
	ck_assert_int_eq(tool, 2);
}

TEST(errors_and_parts_come_as_replies)
{
	Omis_reply r;

	r = ask("nonsense");
	ck_assert_int_eq(omis_reply_status(r), OMIS_SYNTAX_ERROR);
	ck_assert_ptr_nonnull(strstr(r[0][0].result, "offset 0"));
	omis_reply_free(r);
	r = ask(":parts()");
	ck_assert_ptr_nonnull(r[1][2].obj_list);
	ck_assert_ptr_null(r[1][3].obj_list);
	omis_reply_free(r);
}

TEST(the_wait_policy_travels_with_requests)
{
	Omis_reply r;

	ck_assert_int_eq(omis_request_policy(OMIS_WAIT_QUORUM, 7, 1234), OMIS_OK);
	r = ask(":policy()");
	ck_assert_str_eq(r[1][0].result, "1,7,1234");
	omis_reply_free(r);
	ck_assert_int_eq(omis_request_policy(OMIS_WAIT_ALL, 0, 0), OMIS_OK);
	r = ask(":policy()");
	ck_assert_str_eq(r[1][0].result, "0,0,2000");
	omis_reply_free(r);
	ck_assert_int_eq(omis_request_policy((Omis_wait)9, 0, 0), OMIS_PARAMETER_ERROR);
}

struct events {
	volatile int replies, triggered;
	Omis_status last;
};

static void on_event(Omis_reply r, void *arg)
{
	struct events *e = arg;

	e->replies++;
	e->last = r[0][0].status;
	e->triggered += e->last == OMIS_CSR_TRIGGERED;
	omis_reply_free(r);
}

TEST(a_conditional_request_calls_back_until_it_is_deleted)
{
	struct events e = { 0 };

	ck_assert_ptr_null(omis_request((char[]){ "x(): print(1)" }, on_event, &e, 0));
	handle_until(&e.replies, 5);
	ck_assert_int_eq(e.triggered, 2);
	ck_assert_int_eq(e.last, OMIS_CSR_DELETED);
}

TEST(flags_leave_out_replies_or_return_the_first)
{
	struct events e = { 0 };
	Omis_reply first;

	first = omis_request((char[]){ "x(): print(1)" }, on_event, &e,
			     OMIS_WAIT_FOR_FIRST_REPLY | OMIS_DONT_RETURN_EN_DIS);
	ck_assert_ptr_nonnull(first);
	ck_assert_int_eq(first[0][0].status, OMIS_CSR_DEFINED);
	ck_assert_str_eq(first[0][0].result, "c_1");
	omis_reply_free(first);
	handle_until(&e.replies, 3); /* triggered twice, deleted */
}

TEST(a_conditional_request_needs_a_callback)
{
	Omis_reply r;

	r = ask("user_event_has_been_raised([]): print([])");
	ck_assert_int_eq(omis_reply_status(r), OMIS_PARAMETER_ERROR);
	omis_reply_free(r);
}

TEST(a_request_that_is_not_answered_ends_by_itself)
{
	Omis_reply r;

	omis_request_policy(OMIS_WAIT_ALL, 0, 1);
	r = ask(":silence()");
	ck_assert_int_eq(omis_reply_status(r), OMIS_OS_ERROR);
	omis_reply_free(r);
	r = ask(":print(1)"); /* later requests work */
	ck_assert_int_eq(omis_reply_status(r), OMIS_OK);
	omis_reply_free(r);
}

static volatile int links;
static char link_text[200];

static void on_link(Omis_reply r)
{
	links++;
	snprintf(link_text, sizeof(link_text), "%s", r[0][0].result);
	omis_reply_free(r);
}

BARE_TEST(a_lost_connection_is_reported_and_restored)
{
	struct events e = { 0 };
	Omis_reply r;

	fake_mainsm_start(&fake, FAKE_KIND);
	ck_assert_int_eq(omis_init(NULL, NULL, on_link, NULL), OMIS_OK);
	ck_assert_ptr_null(omis_request((char[]){ ":silence()" }, on_event, &e, 0));
	r = ask(":drop()");
	ck_assert_int_eq(omis_reply_status(r), OMIS_OS_ERROR);
	omis_reply_free(r);
	ck_assert_int_eq(e.replies, 1); /* the waiting request was answered */
	ck_assert_int_eq(e.last, OMIS_OS_ERROR);
	handle_until(&links, 2);
	ck_assert_ptr_nonnull(strstr(link_text, "back"));
	r = ask(":print(1)");
	ck_assert_int_eq(omis_reply_status(r), OMIS_OK);
	omis_reply_free(r);
	end();
}

static void ask_inside(Omis_reply r, void *arg)
{
	Omis_reply inner = ask(":print(1)");

	ck_assert_int_eq(omis_reply_status(inner), OMIS_PARAMETER_ERROR);
	ck_assert_int_eq(omis_finalize(), OMIS_PARAMETER_ERROR);
	omis_reply_free(inner);
	omis_reply_free(r);
	ck_assert_ptr_null(omis_request((char[]){ ":print(2)" }, on_event, arg, 0));
}

TEST(a_callback_may_ask_but_not_wait)
{
	struct events e = { 0 };

	ck_assert_ptr_null(omis_request((char[]){ ":print(1)" }, ask_inside, &e, 0));
	handle_until(&e.replies, 1);
}

TEST(a_killed_mainsm_causes_no_sigpipe_in_the_tool)
{
	Omis_reply r;

	kill(fake.pid, SIGKILL);
	omis_request_policy(OMIS_WAIT_ALL, 0, 200);
	for (int i = 0; i < 3; i++) {
		r = ask(":print(1)");
		ck_assert_int_eq(omis_reply_status(r), OMIS_OS_ERROR);
		omis_reply_free(r);
	}
}

/* In a child of fork() the library refuses requests, and the parent's connection is unaffected. */
static int forked(void)
{
	Omis_reply r = ask(":print(1)");
	bool refused = omis_reply_status(r) == OMIS_PARAMETER_ERROR && omis_fd() == -1;

	omis_reply_free(r);
	omis_handler();
	return refused && omis_finalize() == OMIS_PARAMETER_ERROR ? 0 : 1;
}

TEST(a_child_of_the_tool_has_no_connection_and_ends_none)
{
	int status = -1;
	Omis_reply r;
	pid_t child;

	child = fork();
	if (child == 0)
		_exit(forked());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	r = ask(":print(1)");
	ck_assert_int_eq(omis_reply_status(r), OMIS_OK);
	omis_reply_free(r);
	ck_assert_int_eq(tool, 1);
}

static char seen[64];

static void keep_first(Omis_reply r)
{
	if (!seen[0])
		snprintf(seen, sizeof(seen), "%s", r[0][0].result);
	omis_reply_free(r);
}

BARE_TEST(debug_output_has_the_request_without_later_bytes)
{
	static const char text[] = ":print(1) and what is none of it";
	Omis_reply r;

	fake_mainsm_start(&fake, FAKE_KIND);
	ck_assert_int_eq(omis_init(NULL, NULL, keep_first, &tool), OMIS_OK);
	r = omis_request_n(text, 9, NULL, NULL, OMIS_DEBUG);
	ck_assert_int_eq(omis_reply_status(r), OMIS_OK);
	omis_reply_free(r);
	ck_assert_str_eq(seen, ":print(1)");
	end();
}

BARE_TEST(requests_that_still_wait_are_forgotten_at_the_end)
{
	struct events e = { 0 };

	connect_tool();
	ck_assert_ptr_null(omis_request((char[]){ ":silence()" }, on_event, &e, 0));
	end();
	ck_assert_int_eq(e.replies, 0);
}

/* Status and a word of the text that omis_init() fails with. */
static void expect_refusal(Omis_status status, const char *word)
{
	Omis_status s = omis_init(NULL, NULL, NULL, NULL);

	ck_assert_msg(s == status && strstr(omis_last_error(), word), "%d '%s', not %d '%s'", s,
		      omis_last_error(), status, word);
}

BARE_TEST(the_reason_for_a_refused_tool_is_reported)
{
	fake_mainsm_start(&fake, FAKE_REFUSES_ENROLMENT);
	expect_refusal(OMIS_NO_PERMISSION, "expired");
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1", 1);
	expect_refusal(OMIS_PARAMETER_ERROR, "");
	setenv("OMIG_MAINSM", "omig1:127.0.0.1:1:00000000000000000000000000:tok.secret", 1);
	expect_refusal(OMIS_OS_ERROR, "");
	unsetenv("OMIG_MAINSM");
	expect_refusal(OMIS_PARAMETER_ERROR, "");
	fake_mainsm_stop(&fake);
}

BARE_TEST(a_mainsm_of_another_ca_is_not_trusted)
{
	struct fake_mainsm other;
	char pin[27], *at;

	fake_mainsm_start(&other, FAKE_KIND);
	memcpy(pin, strchr(strchr(strchr(other.conn, ':') + 1, ':') + 1, ':') + 1, 26);
	fake_mainsm_start(&fake, FAKE_KIND);
	at = strchr(strchr(strchr(fake.conn, ':') + 1, ':') + 1, ':') + 1;
	memcpy(at, pin, 26);
	setenv("OMIG_MAINSM", fake.conn, 1);
	expect_refusal(OMIS_NO_PERMISSION, "");
	fake_mainsm_stop(&fake);
	fake_mainsm_stop(&other);
}

static struct {
	char sub[16], text[16];
	uint64_t stream, place;
	int end;
} events_seen;

static void on_events(const Omis_events *ev, void *param)
{
	snprintf(events_seen.sub, sizeof(events_seen.sub), "%s", ev->subscription);
	snprintf(events_seen.text, sizeof(events_seen.text), "%.*s", (int)ev->len,
		 (const char *)ev->blocks);
	events_seen.stream = ev->stream;
	events_seen.place = ev->place;
	events_seen.end = ev->end;
	++*(int *)param;
}

BARE_TEST(blocks_come_to_the_handler_and_are_acknowledged)
{
	volatile int n = 0;

	connect_tool();
	ck_assert_int_eq(omis_events_ack(NULL, 3, 10), OMIS_PARAMETER_ERROR);
	omis_events_handler(on_events, (void *)&n);
	omis_reply_free(ask(":events()"));
	handle_until(&n, 1);
	ck_assert_str_eq(events_seen.sub, "run7");
	ck_assert_str_eq(events_seen.text, "blocks");
	ck_assert_uint_eq(events_seen.stream, 3);
	ck_assert_uint_eq(events_seen.place, 10);
	ck_assert_int_eq(events_seen.end, 0);
	ck_assert_int_eq(omis_events_ack("run7", 3, 10), OMIS_OK);
	handle_until(&n, 2);
	ck_assert_uint_eq(events_seen.place, 11);
	ck_assert_int_eq(events_seen.end, 1);
	/* without a receiver: passed over */
	omis_events_handler(NULL, NULL);
	omis_reply_free(ask(":events()"));
	omis_reply_free(ask(":print(1)"));
	ck_assert_int_eq(n, 2);
	end();
	ck_assert_int_eq(omis_events_ack("run7", 3, 11), OMIS_PARAMETER_ERROR);
}

BARE_TEST(without_a_connection_every_call_reports_that)
{
	Omis_reply r = ask(":print(1)");

	ck_assert_int_eq(omis_reply_status(r), OMIS_PARAMETER_ERROR);
	omis_reply_free(r);
	ck_assert_int_eq(omis_finalize(), OMIS_PARAMETER_ERROR);
	ck_assert_int_eq(omis_fd(), -1);
	omis_handler();
}

SUITE_WITH("client", connect_tool, end)
