/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/net/internal.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <string.h>

#define MS NSEC_PER_MSEC

static struct loop *loop, *top_loop;
static struct mem_net *net;
static struct net_ctx *top, *node;
static struct net_listener *listener;
static struct seen peer, mine;
static struct err refused_why;
static int accepted, refused;
static nsec_t wall = 1000 * NSEC_PER_SEC;

static nsec_t wall_now(void *arg)
{
	return wall;
}

static struct identity who(enum role role, const char *host, uint8_t serial)
{
	struct identity id = { .role = role, .site = "a", .wall_not_after = 2000 * NSEC_PER_SEC };

	str_copy(id.host, sizeof(id.host), host);
	id.serial[0] = serial;
	return id;
}

static void on_accept(void *arg, struct chan *c)
{
	struct chan_handler h = seen_handler(&peer);

	memset(&peer, 0, sizeof(peer));
	peer.chan = c;
	accepted++;
	chan_set_handler(c, &h);
}

static void on_refused(void *arg, const char *remote, const struct err *why)
{
	refused++;
	refused_why = *why;
}

static void listen_at_top(void)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM),
					.enrol_type = ENROL_TYPE,
					.port = 7 };
	struct net_accept a = { on_accept, on_refused, NULL };

	ck_assert_int_eq(net_listen(top, &conf, &a, &listener, NULL), 0);
}

static void set_up(void)
{
	struct identity mainsm = who(ROLE_MAINSM, "top", 1), lm = who(ROLE_LM, "n1", 2);

	loop = loop_new_virtual();
	net = mem_net_new(loop, suite_seed(3));
	top_loop = loop_new_part(loop);
	loop_part_set_rate(top_loop, 50000);
	ck_assert_int_eq(mem_net_set_loop(net, "top", top_loop), 0);
	mem_net_set_wall(net, wall_now, NULL);
	ck_assert_int_eq(mem_ctx_open(net, &mainsm, &top, NULL), 0);
	ck_assert_int_eq(mem_ctx_open(net, &lm, &node, NULL), 0);
	listen_at_top();
}

static void clean_up(void)
{
	chan_close(mine.chan, NULL);
	chan_close(peer.chan, NULL);
	net_listener_close(listener);
	net_ctx_free(top);
	net_ctx_free(node);
	loop_turn(loop);
	mem_net_free(net);
	loop_free(loop);
}

static void dial_as(struct net_ctx *ctx, uint16_t port, const struct net_expect *x)
{
	struct chan_handler h = seen_handler(&mine);

	memset(&mine, 0, sizeof(mine));
	ck_assert_int_eq(net_dial(ctx,
				  &(struct net_target){ .host = "top", .port = port, .expect = x },
				  &h, &mine.chan, NULL),
			 0);
}

static void dial(void)
{
	dial_as(node, 7, &(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM) });
}

static void both_up(void)
{
	dial();
	loop_advance(loop, MS);
	ck_assert_int_eq(mine.opened, 1);
	ck_assert_int_eq(accepted, 1);
}

TEST(both_sides_know_each_other_as_over_tls)
{
	both_up();
	ck_assert_int_eq(chan_peer(mine.chan)->role, ROLE_MAINSM);
	ck_assert_str_eq(chan_peer(peer.chan)->host, "n1");
	ck_assert_str_eq(chan_remote(peer.chan), "n1");
	ck_assert_uint_eq(net_listener_port(listener), 7);
}

TEST(nothing_happens_inside_a_call)
{
	dial();
	ck_assert_int_eq(mine.opened, 0);
	ck_assert_int_eq(send_frame(mine.chan, 1, 1), -ERR_AGAIN);
	loop_advance(loop, MS);
	send_frame(mine.chan, 1, 1);
	ck_assert_int_eq(peer.frames, 0);
	chan_close(mine.chan, NULL);
	mine.chan = NULL;
	ck_assert_int_eq(peer.closed, 0);
	loop_advance(loop, 0);
	ck_assert_int_eq(peer.frames, 1);
	ck_assert_int_eq(peer.closed, 1);
}

TEST(a_delay_is_kept_to_the_nanosecond)
{
	both_up();
	mem_net_set_link(net, "top", "n1", &(struct mem_link){ .delay = 5 * MS });
	send_frame(mine.chan, 1, 1);
	loop_advance(loop, 5 * MS - 1);
	ck_assert_int_eq(peer.frames, 0);
	loop_advance(loop, 1);
	ck_assert_int_eq(peer.frames, 1);
}

TEST(a_host_with_a_pace_takes_one_thing_after_the_other)
{
	struct mem_load l;

	both_up();
	mem_net_set_pace(net, "top", &(struct mem_pace){ .frame_ns = 2 * MS });
	for (int i = 0; i < 3; i++)
		send_frame(mine.chan, 1, 1);
	for (int i = 0; i < 3; i++) {
		loop_advance(loop, 2 * MS - 1);
		ck_assert_int_eq(peer.frames, i);
		loop_advance(loop, 1);
		ck_assert_int_eq(peer.frames, i + 1);
	}
	mem_net_get_load(net, "top", &l);
	ck_assert_uint_eq(l.frames_in, 3);
	ck_assert_int_eq(l.busy, 6 * MS);
	mem_net_get_load(net, "nowhere", &l);
	ck_assert_uint_eq(l.frames_in, 0);
}

TEST(paced_host_sends_its_frames_one_after_another)
{
	struct mem_load l;

	both_up();
	mem_net_set_pace(net, "n1", &(struct mem_pace){ .byte_ns = 1e5 });
	for (int i = 0; i < 2; i++)
		send_frame(mine.chan, 1, 20 - FRAME_HEADER_BYTES);
	loop_advance(loop, 2 * MS - 1);
	ck_assert_int_eq(peer.frames, 0);
	loop_advance(loop, 1);
	ck_assert_int_eq(peer.frames, 1);
	loop_advance(loop, 2 * MS);
	ck_assert_int_eq(peer.frames, 2);
	mem_net_get_load(net, "n1", &l);
	ck_assert_uint_eq(l.frames_out, 2);
	ck_assert_uint_eq(l.bytes_out, 40);
}

TEST(frame_of_a_crashed_host_does_not_delay_later_frames)
{
	both_up();
	mem_net_set_pace(net, "top", &(struct mem_pace){ .frame_ns = 3600 * NSEC_PER_SEC });
	send_frame(mine.chan, 1, 1);
	loop_advance(loop, MS);
	mem_net_kill_host(net, "top");
	chan_close(peer.chan, NULL);
	chan_close(mine.chan, NULL);
	net_listener_close(listener);
	listen_at_top();
	accepted = 0;
	both_up();
	mem_net_set_pace(net, "top", &(struct mem_pace){ .frame_ns = MS });
	send_frame(mine.chan, 1, 1);
	loop_advance(loop, MS);
	ck_assert_int_eq(peer.frames, 1);
}

TEST(a_cut_holds_everything_back_and_healing_loses_nothing)
{
	both_up();
	mem_net_set_link(net, NULL, "n1", &(struct mem_link){ .cut = true });
	for (int i = 0; i < 5; i++)
		send_frame(mine.chan, (uint8_t)i, 1);
	loop_advance(loop, 3600 * NSEC_PER_SEC);
	ck_assert_int_eq(peer.frames, 0);
	ck_assert_int_eq(peer.closed + mine.closed, 0);
	mem_net_set_link(net, "n1", NULL, &(struct mem_link){ 0 });
	loop_advance(loop, 0);
	ck_assert_int_eq(peer.frames, 5);
	ck_assert_uint_eq(peer.last_type, 4);
}

TEST(a_deaf_host_sends_frames_and_receives_none)
{
	both_up();
	mem_net_set_link(net, "top", "n1", &(struct mem_link){ .deaf = "top" });
	send_frame(mine.chan, 1, 1);
	send_frame(peer.chan, 2, 1);
	loop_advance(loop, 3600 * NSEC_PER_SEC);
	ck_assert_int_eq(mine.frames, 1);
	ck_assert_int_eq(peer.frames, 0);
	mem_net_set_link(net, "top", "n1", &(struct mem_link){ 0 });
	loop_advance(loop, 0);
	ck_assert_int_eq(peer.frames, 1);
	mem_net_set_link(net, "top", "n1",
			 &(struct mem_link){ .deaf = "n1", .heard_until = loop_now(loop) + 5 });
	send_frame(mine.chan, 3, 1);
	loop_advance(loop, 4);
	loop_advance(loop, 1);
	send_frame(mine.chan, 4, 1);
	loop_advance(loop, 3600 * NSEC_PER_SEC); /* no side receives anything */
	ck_assert_int_eq(peer.frames, 2);
	for (int i = 0; i < 2; i++) { /* a handshake needs both ways */
		mem_net_set_link(net, "top", "n1", &(struct mem_link){ .deaf = i ? "top" : "n1" });
		chan_close(mine.chan, NULL);
		dial();
		loop_advance(loop, HANDSHAKE_MAX_NS);
		ck_assert_int_eq(mine.why.code, ERR_TIMEOUT);
	}
}

TEST(dialling_through_a_cut_takes_the_time_of_a_handshake)
{
	mem_net_set_link(net, NULL, NULL, &(struct mem_link){ .cut = true });
	dial();
	loop_advance(loop, HANDSHAKE_MAX_NS - 1);
	ck_assert_int_eq(mine.closed, 0);
	loop_advance(loop, 1);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(mine.why.code, ERR_TIMEOUT);
}

TEST(a_held_host_receives_its_frames_when_it_continues)
{
	both_up();
	loop_part_hold(top_loop, 20 * NSEC_PER_SEC);
	for (int i = 0; i < 5; i++)
		send_frame(mine.chan, (uint8_t)i, 1);
	loop_advance(loop, 20 * NSEC_PER_SEC - 1);
	ck_assert_int_eq(peer.frames, 0);
	ck_assert_int_eq(peer.closed + mine.closed, 0);
	loop_advance(loop, 1);
	ck_assert_int_eq(peer.frames, 5);
	ck_assert_uint_eq(peer.last_type, 4);
}

TEST(a_dial_to_a_held_host_waits_as_long_as_a_handshake)
{
	loop_part_hold(top_loop, HANDSHAKE_MAX_NS - 1);
	dial();
	loop_advance(loop, HANDSHAKE_MAX_NS - 2);
	ck_assert_int_eq(mine.opened + mine.closed, 0);
	loop_advance(loop, 1);
	ck_assert_int_eq(mine.opened, 1);
	chan_close(mine.chan, NULL);
	loop_part_hold(top_loop, HANDSHAKE_MAX_NS + 1);
	dial();
	loop_advance(loop, HANDSHAKE_MAX_NS);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(mine.why.code, ERR_TIMEOUT);
}

TEST(a_port_without_a_listener_refuses)
{
	dial_as(node, 8, &(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM) });
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.why.code, ERR_SYS);
	net_listener_close(listener);
	listener = NULL;
	dial();
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.why.code, ERR_SYS);
}

TEST(the_same_peers_are_refused_as_over_tls)
{
	struct identity tool = who(ROLE_TOOL_OBSERVE, "me@here", 3);
	struct net_ctx *bad;

	dial_as(node, 7, &(struct net_expect){ .roles = ROLE_BIT(ROLE_SM) });
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.opened, 0);
	ck_assert_int_eq(mine.why.code, ERR_DENIED);
	ck_assert_int_eq(mem_ctx_open(net, &tool, &bad, NULL), 0);
	dial_as(bad, 7, &(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM) });
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(refused, 1);
	net_ctx_free(bad);
	ck_assert_int_eq(net_ctx_revoke(top, net_ctx_self(node)->serial), 0);
	dial();
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(refused, 2);
	ck_assert_msg(strstr(refused_why.text, "revoked") != NULL, "%s", refused_why.text);
	ck_assert_int_eq(accepted, 0);
}

TEST(revoked_and_expired_peers_are_cut_within_the_period)
{
	both_up();
	wall = 3000 * NSEC_PER_SEC;
	loop_advance(loop, REVOKE_CHECK_NS);
	ck_assert_int_eq(peer.closed, 1);
	ck_assert_int_eq(peer.why.code, ERR_DENIED);
}

TEST(enrolling_works_without_an_identity)
{
	struct identity none = who(ROLE_NONE, "fresh", 0);
	struct chan_handler h = seen_handler(&mine);
	struct net_ctx *ctx;

	ck_assert_int_eq(mem_ctx_open(net, &none, &ctx, NULL), 0);
	ck_assert_ptr_null(net_ctx_self(ctx));
	ck_assert_int_eq(
		net_dial(ctx,
			 &(struct net_target){
				 .host = "top",
				 .port = 7,
				 .expect = &(
					 struct net_expect){ .pin = "00000000000000000000000000" },
				 .enrols = true },
			 &h, &mine.chan, NULL),
		0);
	loop_advance(loop, 0);
	ck_assert_int_eq(accepted, 1);
	ck_assert(chan_is_enrol(peer.chan));
	ck_assert_ptr_null(chan_peer(peer.chan));
	send_frame(mine.chan, ENROL_TYPE, 10);
	send_frame(mine.chan, ENROL_TYPE + 1, 10);
	loop_advance(loop, 0);
	ck_assert_int_eq(peer.frames, 1);
	ck_assert_int_eq(peer.closed, 1);
	chan_close(mine.chan, NULL);
	mine.chan = NULL;
	net_ctx_free(ctx);
}

TEST(a_pausing_reader_fills_window_queue_and_cap_in_this_order)
{
	int sent = 0;

	mem_net_set_link(net, NULL, NULL, &(struct mem_link){ .window = 1000 });
	both_up();
	chan_set_cap(mine.chan, 500);
	chan_pause_reading(peer.chan, true);
	while (!send_frame(mine.chan, 1, 95)) {
		sent++;
		loop_advance(loop, MS);
	}
	ck_assert_int_eq(sent, 15);
	ck_assert_uint_eq(chan_queued(mine.chan), 500);
	ck_assert_int_eq(peer.frames, 0);
	chan_pause_reading(peer.chan, false);
	loop_advance(loop, MS);
	ck_assert_int_eq(peer.frames, sent);
	ck_assert_int_eq(mine.writable, 1);
	ck_assert_uint_eq(chan_queued(mine.chan), 0);
}

TEST(a_drop_breaks_the_connection_for_both)
{
	both_up();
	mem_net_set_link(net, NULL, NULL, &(struct mem_link){ .drop = 1 });
	ck_assert_int_eq(send_frame(mine.chan, 1, 1), 0);
	loop_advance(loop, 0);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(peer.closed, 1);
	ck_assert_int_eq(peer.frames, 0);
}

TEST(a_killed_host_resets_its_peers_and_receives_nothing)
{
	both_up();
	send_frame(mine.chan, 1, 1);
	mem_net_kill_host(net, "n1");
	loop_advance(loop, MS);
	ck_assert_int_eq(peer.closed, 1);
	ck_assert_int_eq(mine.closed, 0);
}

/*
 * --- property: for any rules of the link, each side receives a prefix of the other's frames, in
 * order
 */

static unsigned expected[2];
static bool in_order;

static void ordered(struct seen *s, uint8_t type, const uint8_t *p, size_t n)
{
	unsigned side = s == &mine, number;

	if (n < sizeof(number)) {
		in_order = false;
		return;
	}
	memcpy(&number, p, sizeof(number));
	in_order = in_order && number == expected[side];
	expected[side]++;
}

static int send_number(struct chan *c, unsigned number, size_t extra)
{
	struct buf b = BUF_INIT(8192);
	size_t mark = frame_begin(&b, 9);
	int rc;

	buf_put(&b, &number, sizeof(number));
	for (size_t i = 0; i < extra; i++)
		buf_putc(&b, 0);
	frame_end(&b, mark);
	rc = chan_send(c, b.p, b.n);
	buf_done(&b);
	return rc;
}

static void random_step(struct rng *r, unsigned sent[2])
{
	struct chan *c[2] = { mine.chan, peer.chan };
	unsigned side = (unsigned)rng_below(r, 2);
	struct mem_link how = { .delay = (nsec_t)rng_below(r, 10) * MS,
				.jitter = (nsec_t)rng_below(r, 10) * MS,
				.window = 1 + rng_below(r, 4000),
				.cut = rng_below(r, 4) == 0 };

	switch (rng_below(r, 8)) {
	case 0:
		mem_net_set_link(net, "n1", "top", &how);
		break;
	case 1:
		chan_pause_reading(c[side], rng_below(r, 2));
		break;
	case 2:
		loop_advance(loop, (nsec_t)rng_below(r, 20) * MS);
		break;
	default:
		if (!send_number(c[side], sent[side], rng_below(r, 500)))
			sent[side]++;
	}
}

TEST(order_holds_under_delay_jitter_cuts_pauses_and_full_windows)
{
	struct rng r;

	rng_init(&r, suite_seed(8));
	for (int round = 0; round < 50; round++) {
		unsigned sent[2] = { 0 };

		mem_net_set_link(net, "n1", "top", &(struct mem_link){ 0 });
		accepted = 0;
		both_up();
		mine.on_frame = peer.on_frame = ordered;
		chan_set_cap(mine.chan, 5000);
		chan_set_cap(peer.chan, 5000);
		expected[0] = expected[1] = 0;
		in_order = true;
		for (int i = 0; i < 300; i++)
			random_step(&r, sent);
		ck_assert(in_order);
		mem_net_set_link(net, "n1", "top", &(struct mem_link){ 0 });
		chan_pause_reading(mine.chan, false);
		chan_pause_reading(peer.chan, false);
		loop_advance(loop, NSEC_PER_SEC);
		ck_assert(in_order);
		/* sent[0] went from mine to peer; peer is side 0 of `expected`. */
		ck_assert_uint_eq(expected[0], sent[0]);
		ck_assert_uint_eq(expected[1], sent[1]);
		chan_close(mine.chan, NULL);
		loop_advance(loop, MS);
		ck_assert_int_eq(peer.closed, 1);
		mine.chan = NULL;
	}
}

TEST(every_allocation_may_fail)
{
	ALLOC_SWEEP (k) {
		struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM), .host = "top" };
		struct chan_handler h = seen_handler(&mine);
		int rc;

		memset(&mine, 0, sizeof(mine));
		memset(&peer, 0, sizeof(peer));
		rc = net_dial(node, &(struct net_target){ .host = "top", .port = 7, .expect = &x },
			      &h, &mine.chan, NULL);
		for (int i = 0; i < 5 && !rc; i++) {
			if (mine.chan && mine.opened)
				send_frame(mine.chan, 1, 100);
			loop_advance(loop, MS);
		}
		alloc_sweep_pause();
		ck_assert(!rc || alloc_sweep_has_failed());
		chan_close(mine.chan, NULL);
		mine.chan = NULL;
		loop_advance(loop, MS);
		ck_assert(!peer.chan || peer.closed);
	}
}

SUITE_WITH("net/mem", set_up, clean_up)
