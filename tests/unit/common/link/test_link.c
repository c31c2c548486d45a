/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/link/world.h"

static struct world w;

static void set_delay(nsec_t delay, nsec_t jitter)
{
	ck_assert_int_eq(mem_net_set_link(w.net, "top", "leaf",
					  &(struct mem_link){ .delay = delay, .jitter = jitter }),
			 0);
}

static void cut(bool yes)
{
	ck_assert_int_eq(mem_net_set_link(w.net, "top", "leaf",
					  &(struct mem_link){ .delay = MS, .cut = yes }),
			 0);
}

static void open_up(void)
{
	world_open(&w, ROLE_LM);
	set_delay(MS, 0);
	ck_assert_ptr_nonnull(world_connect(&w, "lm"));
	loop_advance(w.loop, SEC / 2);
	ck_assert_uint_eq(w.a.ups, 1);
	ck_assert_uint_eq(w.b.ups, 1);
}

TEST(a_link_is_up_when_hello_was_answered)
{
	struct link_stats s;

	open_up();
	ck_assert_int_eq(link_state(w.a.link), LINK_UP);
	ck_assert_int_eq(link_state(w.b.link), LINK_UP);
	ck_assert_int_eq(link_peer(w.a.link), LINK_PEER_PARENT);
	ck_assert_int_eq(link_peer(w.b.link), LINK_PEER_BRANCH);
	ck_assert_str_eq(w.a.name, "n_7");
	ck_assert_int_eq(link_identity(w.b.link)->role, ROLE_LM);
	link_stats(w.a.link, &s);
	ck_assert_int_eq(s.rtt, 2 * MS);
	ck_assert_uint_eq(s.connects, 1);
	ck_assert_uint_eq(s.invalid, 0);
	world_done(&w);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_ptr_nonnull(strstr(w.b.why.text, "the end"));
	ck_assert_uint_eq(w.a.downs, 0);
}

TEST(messages_pass_both_ways_in_order)
{
	const struct msg dir = { .type = MSG_DIRECTORY, .directory = { .full = true, .node = 7 } };
	const struct msg req = { .type = MSG_REQUEST, .request = { .id = 5 } };

	open_up();
	ck_assert_int_eq(link_send(w.a.link, &dir), 0);
	ck_assert_int_eq(link_send(w.b.link, &req), 0);
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.msgs, 1);
	ck_assert_int_eq(w.b.last_type, MSG_DIRECTORY);
	ck_assert_uint_eq(w.a.msgs, 1);
	ck_assert_int_eq(w.a.last_type, MSG_REQUEST);
	world_done(&w);
}

TEST(ready_made_frames_are_sent_one_by_one)
{
	struct buf b = BUF_INIT(10000);

	open_up();
	for (int i = 0; i < 3; i++)
		msg_cancel_put(&b, &(struct msg_cancel){ .id = 1 });
	ck_assert_int_eq(link_send_frames(w.b.link, b.p, b.n), 0);
	ck_assert_int_eq(link_send_frames(w.b.link, b.p, b.n - 1), -ERR_INVALID);
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.a.msgs, 5);
	buf_done(&b);
	world_done(&w);
}

TEST(another_version_is_refused_with_a_remedy)
{
	char ours[60];

	world_open(&w, ROLE_LM);
	w.leaf_conf.version_min = 7;
	w.leaf_conf.version_max = 9;
	world_connect(&w, "lm");
	loop_advance(w.loop, 50 * MS);
	ck_assert_uint_eq(w.a.ups + w.b.ups + w.b.hellos, 0);
	ck_assert_uint_eq(w.a.retries, 1);
	ck_assert_int_eq(w.a.why.code, ERR_UNSUPPORTED);
	snprintf(ours, sizeof(ours), "protocol %d..%d is spoken here", MSG_VERSION_MIN,
		 MSG_VERSION_MAX);
	ck_assert_ptr_nonnull(strstr(w.a.why.text, ours));
	ck_assert_ptr_nonnull(strstr(
		w.a.why.text,
		"you speak 7..9: install one version on all hosts, and start its daemons again"));
	world_done(&w);
}

TEST(versions_that_overlap_agree_on_the_highest_common_one)
{
	world_open(&w, ROLE_LM);
	w.leaf_conf.version_min = 1;
	w.leaf_conf.version_max = 9;
	w.top_conf.version_min = 1;
	w.top_conf.version_max = 3;
	world_connect(&w, "lm");
	loop_advance(w.loop, 50 * MS);
	ck_assert_uint_eq(w.a.ups, 1);
	world_done(&w);
}

TEST(a_refusal_reaches_the_dialling_end)
{
	world_open(&w, ROLE_LM);
	w.b.refuse = "64 tools are connected";
	world_connect(&w, "lm");
	loop_advance(w.loop, 50 * MS);
	ck_assert_str_eq(w.a.why.text, "refused by the peer: 64 tools are connected");
	ck_assert_int_eq(w.a.why.code, ERR_AGAIN);
	ck_assert_uint_eq(w.b.downs, 0);
	w.b.refuse = NULL;
	loop_advance(w.loop, 10 * SEC);
	ck_assert_uint_eq(w.a.ups, 1);
	world_done(&w);
}

TEST(the_role_of_hello_must_be_the_role_of_the_certificate)
{
	static const struct {
		enum role certified;
		const char *claimed;
		bool good;
	} cells[] = {
		{ ROLE_LM, "lm", true },
		{ ROLE_LM, "sm", false },
		{ ROLE_LM, "tool", false },
		{ ROLE_LM, "mainsm", false },
		{ ROLE_SM, "sm", true },
		{ ROLE_SM, "lm", false },
		{ ROLE_TOOL_OBSERVE, "tool", true },
		{ ROLE_TOOL_MANIPULATE, "tool", true },
		{ ROLE_TOOL_OBSERVE, "lm", false },
		{ ROLE_TOOL_MANIPULATE, "sm", false },
		{ ROLE_LM, "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
		world_open(&w, cells[i].certified);
		world_connect(&w, cells[i].claimed);
		loop_advance(w.loop, 50 * MS);
		ck_assert_uint_eq(w.a.ups, cells[i].good);
		ck_assert_uint_eq(w.b.hellos, cells[i].good);
		if (!cells[i].good)
			ck_assert_ptr_nonnull(
				strstr(w.a.why.text, "the certificate does not allow the role"));
		world_done(&w);
	}
}

TEST(an_idle_link_lives_for_an_hour_of_heartbeats)
{
	struct link_stats s;

	open_up();
	loop_advance(w.loop, 3600 * SEC);
	ck_assert_uint_eq(w.a.downs + w.b.downs, 0);
	link_stats(w.a.link, &s);
	/* A word each 3 s, or at the next slot; some 60 times a PING and a PONG; HELLO. */
	ck_assert_uint_ge(s.frames_out, 1200);
	ck_assert_uint_le(s.frames_out, 1200 + 120 + 16);
	ck_assert_int_le(s.silence, HEARTBEAT_PERIOD_NS + HEARTBEAT_SLOT_NS + 2 * MS);
	ck_assert_int_eq(s.rtt, 2 * MS);
	link_stats(w.b.link, &s);
	ck_assert_uint_ge(s.frames_out, 3600 * SEC / (HEARTBEAT_PERIOD_NS + HEARTBEAT_SLOT_NS));
	ck_assert_uint_le(s.frames_out, 1200 + 120 + 16);
	ck_assert_int_le(s.silence, HEARTBEAT_PERIOD_NS + 2 * MS);
	ck_assert_int_eq(s.rtt, 2 * MS);
	/* The clock is measured again each minute: the bound grows by its drift and no more. */
	ck_assert_int_le(timebase_error(&w.leaf_time, loop_now(w.loop)), MS + 7 * MS);
	world_done(&w);
}

TEST(a_silent_peer_is_found_after_exactly_two_heartbeats)
{
	struct link_stats s;
	nsec_t last;

	open_up();
	loop_advance(w.loop, 5 * SEC + 123 * MS);
	cut(true);
	loop_advance(w.loop, 5 * MS); /* data in transit have arrived */
	link_stats(w.a.link, &s);
	last = loop_now(w.loop) - s.silence;
	loop_advance(w.loop,
		     last + HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS - 1 - loop_now(w.loop));
	ck_assert_uint_eq(w.a.downs, 0);
	loop_advance(w.loop, 1);
	ck_assert_uint_eq(w.a.downs, 1);
	ck_assert_int_eq(w.a.why.code, ERR_TIMEOUT);
	ck_assert_str_eq(w.a.why.text, "silent for 6 s: 2 heartbeats missed");
	loop_advance(w.loop, 2 * SEC);
	ck_assert_uint_eq(w.b.downs, 1);
	cut(false);
	loop_advance(w.loop, 20 * SEC);
	ck_assert_uint_eq(w.a.ups, 2);
	world_done(&w);
}

TEST(a_silent_child_is_found_within_a_slot_more)
{
	nsec_t last;

	open_up();
	loop_advance(w.loop, 60 * SEC + 123 * MS);
	mem_net_set_link(w.net, "leaf", "top", &(struct mem_link){ .delay = MS, .cut = true });
	loop_advance(w.loop, 5 * MS);
	last = loop_now(w.loop);
	while (!w.b.downs && loop_now(w.loop) < last + 20 * SEC)
		loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_int_ge(w.b.down_at - last, HEARTBEAT_PERIOD_NS - SEC);
	ck_assert_int_le(w.b.down_at - last,
			 HEARTBEAT_MISSED_MAX * HEARTBEAT_PERIOD_NS + HEARTBEAT_SLOT_NS);
	world_done(&w);
}

TEST(a_tool_that_is_busy_elsewhere_is_not_cut)
{
	world_open(&w, ROLE_TOOL_OBSERVE);
	ck_assert_ptr_nonnull(world_connect(&w, "tool"));
	loop_advance(w.loop, SEC);
	ck_assert_uint_eq(w.b.ups, 1);
	cut(true); /* neither reads nor sends */
	loop_advance(w.loop, 600 * SEC);
	ck_assert_uint_eq(w.b.downs, 0);
	ck_assert_uint_eq(w.a.downs, 1); /* a tool does miss its server */
	link_close(w.b.link, "test");
	world_done(&w);
}

TEST(retries_back_off_from_100_ms_to_10_s_with_full_jitter)
{
	nsec_t least = INT64_MAX, most = 0, bound = 2 * RECONNECT_MIN_NS;
	unsigned seen = 0;

	world_open(&w, ROLE_LM);
	net_listener_close(w.listener);
	w.listener = NULL;
	world_connect(&w, "lm");
	while (seen < 200) {
		loop_advance(w.loop, MS);
		if (w.a.retries == seen)
			continue;
		ck_assert_uint_eq(w.a.retries, ++seen);
		ck_assert_int_ge(w.a.retry_in, RECONNECT_MIN_NS);
		ck_assert_int_le(w.a.retry_in, bound);
		if (bound == RECONNECT_MAX_NS) {
			least = w.a.retry_in < least ? w.a.retry_in : least;
			most = w.a.retry_in > most ? w.a.retry_in : most;
		}
		bound = 2 * bound < RECONNECT_MAX_NS ? 2 * bound : RECONNECT_MAX_NS;
	}
	/* Evenly over the whole range: of 190 draws the ends are near. */
	ck_assert_int_lt(least, SEC);
	ck_assert_int_gt(most, 9 * SEC);
	world_listen(&w);
	loop_advance(w.loop, RECONNECT_MAX_NS);
	ck_assert_uint_eq(w.a.ups, 1);
	world_done(&w);
}

#define HERD 1000

TEST(a_thousand_links_reconnect_spread_over_time)
{
	static struct end ends[HERD];
	struct link *link[HERD];
	const struct link_dialer d = { world_dial, &w };
	const struct msg_hello h = { .role = "lm" };
	unsigned ups = 0, most = 0;
	nsec_t back;

	world_open(&w, ROLE_LM);
	for (int i = 0; i < HERD; i++) {
		ends[i] = (struct end){ .loop = w.loop };
		w.leaf_conf.handler = end_handler(&ends[i]);
		link[i] = link_dial(&w.leaf_conf, &d, &h);
	}
	loop_advance(w.loop, 30 * SEC);
	ck_assert_uint_eq(w.accepted, HERD);
	mem_net_kill_host(w.net, "top");
	net_listener_close(w.listener);
	loop_advance(w.loop, 15 * SEC);
	for (int i = 0; i < HERD; i++)
		ck_assert_uint_eq(ends[i].downs, 1);
	w.accepted = 0;
	world_listen(&w);
	back = loop_now(w.loop);
	loop_advance(w.loop, RECONNECT_MAX_NS);
	for (int i = 0; i < HERD; i++)
		ups += ends[i].ups == 2;
	ck_assert_uint_eq(ups, HERD);
	/* In each 100 ms at most three times the number of an even distribution. */
	for (unsigned i = 0; i < w.accepted; i++) {
		unsigned n = 0;

		ck_assert_int_ge(w.accepted_at[i], back);
		while (i + n < w.accepted && w.accepted_at[i + n] < w.accepted_at[i] + 100 * MS)
			n++;
		most = n > most ? n : most;
	}
	ck_assert_uint_le(most, 3 * HERD / 100);
	for (int i = 0; i < HERD; i++)
		link_close(link[i], "the end");
	world_done(&w);
}

TEST(a_link_may_be_closed_in_any_callback)
{
	static const char *const leaf_places[] = { "up", "msg", "down", "retry" };
	static const char *const top_places[] = { "hello", "up", "msg", "down" };
	const struct msg dir = { .type = MSG_DIRECTORY }, cancel = { .type = MSG_CANCEL };

	for (int i = 0; i < 8; i++) {
		world_open(&w, ROLE_LM);
		if (i < 4)
			w.a.close_in = leaf_places[i];
		else
			w.b.close_in = top_places[i - 4];
		world_connect(&w, "lm");
		loop_advance(w.loop, 20 * MS);
		if (w.a.link)
			link_send(w.a.link, &dir);
		if (w.b.link && w.b.ups)
			link_send(w.b.link, &cancel);
		loop_advance(w.loop, 20 * MS);
		mem_net_kill_host(w.net, "top");
		loop_advance(w.loop, 20 * SEC);
		ck_assert_uint_ge(i < 4 ? w.a.closes : w.b.closes, 1);
		world_done(&w);
	}
}

TEST(a_link_may_be_closed_in_any_state)
{
	static const nsec_t after[] = { 0, 1, MS, 3 * MS, 5 * MS, 9 * MS, 50 * MS, 3 * SEC };

	for (size_t i = 0; i < ARRAY_LEN(after); i++) {
		world_open(&w, ROLE_LM);
		set_delay(2 * MS, 0);
		world_connect(&w, "lm");
		loop_advance(w.loop, after[i]);
		link_close(w.a.link, "early");
		w.a.link = NULL;
		loop_advance(w.loop, 10 * SEC);
		ck_assert_uint_eq(w.a.downs, 0);
		ck_assert_uint_eq(w.b.downs, w.b.ups);
		world_done(&w);
	}
}

TEST(a_full_queue_refuses_and_counts_and_reports_room_later)
{
	static uint8_t text[60000];
	const struct msg m = {
		.type = MSG_REPLY,
		.reply = { .entry = &(struct msg_entry){ .value = { text, sizeof(text) } },
			   .nentry = 1 }
	};
	struct link_stats s;
	unsigned sent = 0;
	int rc = 0;

	world_open(&w, ROLE_LM);
	w.leaf_conf.queue_cap = 1 << 20;
	mem_net_set_link(w.net, "top", "leaf",
			 &(struct mem_link){ .delay = 10 * MS, .window = 1000 });
	world_connect(&w, "lm");
	loop_advance(w.loop, SEC);
	ck_assert(!link_is_congested(w.a.link, 1000));
	for (int i = 0; i < 100 && !rc; i++) {
		rc = link_send(w.a.link, &m);
		sent += !rc;
	}
	ck_assert_int_eq(rc, -ERR_AGAIN);
	ck_assert(link_is_congested(w.a.link, sizeof(text)));
	link_stats(w.a.link, &s);
	ck_assert_uint_eq(s.dropped, 1);
	ck_assert_uint_le(s.queued, 1 << 20);
	loop_advance(w.loop, 5 * SEC);
	ck_assert_uint_ge(w.a.writables, 1);
	ck_assert_uint_ge(sent, 17);
	ck_assert_uint_eq(w.b.msgs, sent);
	world_done(&w);
}

TEST(a_failed_link_sends_the_reason)
{
	open_up();
	link_fail(w.b.link, MSG_ERR_SLOW, "reads too slowly");
	ck_assert_int_eq(link_send(w.b.link, &(struct msg){ .type = MSG_CANCEL }), -ERR_CLOSED);
	ck_assert_uint_eq(w.b.downs, 0);
	loop_advance(w.loop, 10 * MS);
	ck_assert_uint_eq(w.b.downs, 1);
	ck_assert_str_eq(w.a.why.text, "refused by the peer: reads too slowly");
	loop_advance(w.loop, 10 * SEC);
	ck_assert_uint_eq(w.a.ups, 2);
	world_done(&w);
}

TEST(the_hosts_of_a_connection_string_are_tried_in_turn)
{
	static const char hosts[3][NAME_MAX_BYTES + 1] = { "nowhere", "elsewhere", "top" };
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct link_net *n;
	struct link_dialer d;

	world_open(&w, ROLE_LM);
	n = link_net_new(&(struct link_net_conf){ w.leaf, hosts, 3, w.port, &expect });
	d = link_net_dialer(n);
	w.a.link = link_dial(&w.leaf_conf, &d, &(struct msg_hello){ .role = "lm" });
	loop_advance(w.loop, 30 * SEC);
	ck_assert_uint_eq(w.a.ups, 1);
	ck_assert_uint_eq(w.a.retries, 2);
	world_done(&w);
	link_net_free(n);
	ck_assert_ptr_null(link_net_new(&(struct link_net_conf){ w.leaf, hosts, 0, 1, &expect }));
}

TEST(without_memory_a_link_fails_cleanly_and_comes_up_later)
{
	ALLOC_SWEEP (k) {
		unsigned ups;

		alloc_sweep_pause();
		world_open(&w, ROLE_LM);
		alloc_sweep_arm(k);
		world_connect(&w, "lm");
		if (w.a.link)
			loop_advance(w.loop, 3 * SEC);
		alloc_sweep_pause();
		if (!w.a.link)
			ck_assert_ptr_nonnull(world_connect(&w, "lm"));
		loop_advance(w.loop, 30 * SEC);
		ups = w.a.ups;
		ck_assert_uint_ge(ups, 1);
		ck_assert_int_eq(link_state(w.a.link), LINK_UP);
		world_done(&w);
	}
}

TEST(the_diagram_has_every_step)
{
	static const char *const edges[] = {
		"down -> dialing [label=\"DIAL",   "dialing -> greeting [label=\"OPEN",
		"greeting -> up [label=\"WELCOME", "up -> down [label=\"LOST",
		"up -> gone [label=\"CLOSE",	   "down -> gone [label=\"CLOSE"
	};
	struct buf b = BUF_INIT(10000);

	link_print_dot(&b);
	for (size_t i = 0; i < ARRAY_LEN(edges); i++)
		ck_assert_ptr_nonnull(strstr(buf_str(&b), edges[i]));
	buf_done(&b);
}

SUITE("link")
