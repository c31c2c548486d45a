/* SPDX-License-Identifier: Apache-2.0 */
/* A tap between a host and the network in memory. */
#include "common/base/str.h"
#include "common/base/array.h"
#include "common/net/mem.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <string.h>

static struct loop *loop;
static struct mem_net *net;
static struct net_ctx *top, *node;
static struct net_listener *listener;
static struct seen peer, mine;
static uint8_t heard[64];
static size_t nheard;
static unsigned said;

static const uint8_t word[] = { 0, 0, 0, 2, 40, 'a' }, other[] = { 0, 0, 0, 2, 41, 'b' };

static struct identity who(enum role role, const char *host)
{
	struct identity id = { .role = role, .site = "a", .wall_not_after = INT64_MAX };

	str_copy(id.host, sizeof(id.host), host);
	return id;
}

static void on_accept(void *arg, struct chan *c)
{
	struct chan_handler h = seen_handler(&peer);

	peer.chan = c;
	chan_set_handler(c, &h);
}

/* Replaces each frame by two others. */
static void on_send(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	said++;
	ck_assert_uint_eq(n, sizeof(word));
	ck_assert_int_eq(mem_tap_send(c, other, sizeof(other)), 0);
	ck_assert_int_eq(mem_tap_send(c, other, sizeof(other)), 0);
}

static void on_receive(void *arg, struct chan *c, const uint8_t *p, size_t n)
{
	ck_assert_uint_eq(n, sizeof(word));
	memcpy(heard, p, n);
	nheard += n;
}

static const struct mem_tap tap = { on_send, on_receive, NULL };

static void set_up(void)
{
	const struct identity mainsm = who(ROLE_MAINSM, "top"), lm = who(ROLE_LM, "n1");
	const struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM), .port = 7 };
	const struct net_accept a = { .on_accept = on_accept };
	const struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct chan_handler h = seen_handler(&mine);

	memset(&peer, 0, sizeof(peer));
	memset(&mine, 0, sizeof(mine));
	nheard = said = 0;
	loop = loop_new_virtual();
	net = mem_net_new(loop, 1);
	ck_assert_int_eq(mem_ctx_open(net, &mainsm, &top, NULL), 0);
	ck_assert_int_eq(mem_ctx_open(net, &lm, &node, NULL), 0);
	ck_assert_int_eq(net_listen(top, &conf, &a, &listener, NULL), 0);
	ck_assert_int_eq(net_dial(node,
				  &(struct net_target){ .host = "top", .port = 7, .expect = &x },
				  &h, &mine.chan, NULL),
			 0);
	loop_advance(loop, NSEC_PER_MSEC);
	ck_assert_int_eq(mine.opened, 1);
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

static void say(struct chan *c)
{
	ck_assert_int_eq(chan_send(c, word, sizeof(word)), 0);
	loop_advance(loop, NSEC_PER_MSEC);
}

TEST(host_sends_the_frames_that_its_tap_returns)
{
	ck_assert_int_eq(mem_net_set_tap(net, "n1", &tap), 0);
	say(mine.chan);
	ck_assert_uint_eq(said, 1);
	ck_assert_int_eq(peer.frames, 2);
	ck_assert_uint_eq(peer.last_type, 41);
	ck_assert_int_eq(mem_net_set_tap(net, "n1", NULL), 0);
	say(mine.chan);
	ck_assert_int_eq(peer.frames, 3);
	ck_assert_uint_eq(peer.last_type, 40);
}

TEST(messages_to_a_host_are_tapped_and_arrive)
{
	ck_assert_int_eq(mem_net_set_tap(net, "n1", &tap), 0);
	say(peer.chan);
	ck_assert_uint_eq(nheard, sizeof(word));
	ck_assert_mem_eq(heard, word, sizeof(word));
	ck_assert_int_eq(mine.frames, 1);
	ck_assert_uint_eq(said, 0); /* the other host has none */
}

SUITE_WITH("net/tap", set_up, clean_up)
