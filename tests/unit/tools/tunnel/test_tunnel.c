/* SPDX-License-Identifier: Apache-2.0 */
/* Two tunnels and the channel between them; the streams are real, the net is in memory. */
#include "common/base/limits.h"
#include "common/net/mem.h"
#include "common/net/net.h"
#include "tests/suite.h"
#include "tools/tunnel/tunnel.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define TURNS_MAX 100000 /* of a test that waits: then it has failed */
#define MUCH (8u << 20) /* more than streams, channels and tunnels hold together */

struct side {
	struct net_ctx *ctx;
	struct tunnel *tunnel; /* NULL: it has ended */
	int stream; /* the other end of the tunnel's */
	bool has_why;
};

static struct loop *loop;
static struct mem_net *net;
static struct net_listener *listener;
static struct side near, far;
static struct chan *raw; /* a far end without a tunnel */
static bool is_raw;

static void on_end(void *arg, struct tunnel *t, const struct err *why)
{
	struct side *s = arg;

	ck_assert_ptr_eq(t, s->tunnel);
	s->has_why = why != NULL;
	tunnel_free(t);
	s->tunnel = NULL;
}

static struct tunnel *begin(struct side *s)
{
	struct tunnel_conf conf = { .loop = loop, .on_end = on_end, .arg = s };
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
			 0);
	conf.fd = pair[0];
	s->stream = pair[1];
	s->tunnel = tunnel_new(&conf);
	ck_assert_ptr_nonnull(s->tunnel);
	return s->tunnel;
}

static void on_accept(void *arg, struct chan *c)
{
	(void)arg;
	if (is_raw)
		raw = c;
	else
		tunnel_join(begin(&far), c);
}

static void open_side(struct side *s, const char *host, enum role role)
{
	struct identity self = { .role = role };

	snprintf(self.host, sizeof(self.host), "%s", host);
	*s = (struct side){ .stream = -1 };
	ck_assert_int_eq(mem_ctx_open(net, &self, &s->ctx, NULL), 0);
}

static void set_up(void)
{
	const struct net_listen_conf conf = { .port = 7, .roles = ROLES_TOOL };
	const struct net_accept accept = { .on_accept = on_accept };

	loop = loop_new();
	net = mem_net_new(loop, 1);
	open_side(&near, "near", ROLE_TOOL_OBSERVE);
	open_side(&far, "far", ROLE_RECEIVER);
	ck_assert_int_eq(net_listen(far.ctx, &conf, &accept, &listener, NULL), 0);
	raw = NULL;
	is_raw = false;
}

static void close_side(struct side *s)
{
	tunnel_free(s->tunnel);
	if (s->stream >= 0)
		close(s->stream);
}

static void clean_up(void)
{
	close_side(&near);
	close_side(&far);
	chan_close(raw, NULL);
	net_listener_close(listener);
	loop_turn(loop);
	net_ctx_free(near.ctx);
	net_ctx_free(far.ctx);
	mem_net_free(net);
	loop_free(loop);
}

static void dial(const struct net_expect *expect)
{
	const struct net_target to = { .host = "far", .port = 7, .expect = expect };
	struct tunnel *t = begin(&near);
	const struct chan_handler h = tunnel_handler(t);
	struct chan *c;

	ck_assert_int_eq(net_dial(near.ctx, &to, &h, &c, NULL), 0);
	tunnel_join(t, c);
}

static void connect_both(void)
{
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_RECEIVER) };

	dial(&expect);
}

#define until(EXPR)                                           \
	do {                                                  \
		unsigned left_ = TURNS_MAX;                   \
		while (!(EXPR) && left_--)                    \
			ck_assert_int_eq(loop_turn(loop), 0); \
		ck_assert_msg((EXPR), "never: %s", #EXPR);    \
	} while (0)

static uint8_t byte_at(size_t i)
{
	return (uint8_t)(i * 31 + i / 251);
}

/* As much as fits now. */
static size_t put(int fd, size_t from, size_t end)
{
	uint8_t b[4096];
	size_t n = end - from < sizeof(b) ? end - from : sizeof(b);
	ssize_t got;

	for (size_t i = 0; i < n; i++)
		b[i] = byte_at(from + i);
	got = send(fd, b, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	return got > 0 ? (size_t)got : 0;
}

static size_t get(int fd, size_t from)
{
	uint8_t b[4096];
	ssize_t n = recv(fd, b, sizeof(b), MSG_DONTWAIT);

	for (ssize_t i = 0; i < n; i++)
		ck_assert_uint_eq(b[i], byte_at(from + (size_t)i));
	return n > 0 ? (size_t)n : 0;
}

/* All bytes from one stream to the other, of which the reader is slow at first. */
static void pass(int from, int to)
{
	size_t sent = 0, got = 0;
	unsigned left = TURNS_MAX;

	for (unsigned i = 0; i < 1000; i++) {
		sent += put(from, sent, MUCH);
		loop_turn(loop);
	}
	ck_assert_uint_lt(sent, MUCH); /* the writer waits for the reader */
	while (got < MUCH && left--) {
		sent += sent < MUCH ? put(from, sent, MUCH) : 0;
		loop_turn(loop);
		got += get(to, got);
	}
	ck_assert_uint_eq(got, MUCH);
}

TEST(bytes_come_out_in_order_and_none_is_missing)
{
	connect_both();
	until(far.tunnel);
	pass(near.stream, far.stream);
	pass(far.stream, near.stream);
	ck_assert(near.tunnel && far.tunnel);
}

TEST(the_last_bytes_precede_the_end)
{
	connect_both();
	until(far.tunnel);
	ck_assert_uint_eq(put(near.stream, 0, 1000), 1000);
	shutdown(near.stream, SHUT_RDWR);
	until(!near.tunnel && !far.tunnel);
	ck_assert_uint_eq(get(far.stream, 0), 1000);
	ck_assert_int_eq(recv(far.stream, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
	ck_assert(!near.has_why); /* its stream has ended */
	ck_assert(far.has_why);
}

TEST(the_end_waits_for_a_stream_that_takes_no_more)
{
	size_t sent = 0, got = 0;
	unsigned left = TURNS_MAX;

	connect_both();
	until(far.tunnel);
	for (unsigned i = 0; i < 100; i++) {
		sent += put(near.stream, sent, 256 * 1024);
		loop_turn(loop);
	}
	ck_assert_uint_eq(sent, 256 * 1024);
	while (got < sent && left--) {
		loop_turn(loop);
		if (near.tunnel && left < TURNS_MAX - 1000)
			shutdown(near.stream, SHUT_RDWR);
		got += left < TURNS_MAX - 2000 ? get(far.stream, got) : 0;
	}
	ck_assert_uint_eq(got, sent);
	until(!far.tunnel);
}

TEST(a_peer_with_another_role_ends_the_tunnel_with_the_reason)
{
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };

	dial(&expect);
	until(!near.tunnel);
	ck_assert(near.has_why);
	ck_assert_int_eq(recv(near.stream, &(char){ 0 }, 1, MSG_DONTWAIT), 0);
}

/* A frame that no tunnel sends. */
static void foreign(uint8_t type, size_t bytes)
{
	uint8_t *frame = calloc(1, 5 + bytes);
	size_t n = bytes + 1;

	ck_assert_ptr_nonnull(frame);
	is_raw = true;
	connect_both();
	until(raw);
	for (int i = 0; i < 4; i++)
		frame[i] = (uint8_t)(n >> (24 - 8 * i));
	frame[4] = type;
	ck_assert_int_eq(chan_send(raw, frame, 5 + bytes), 0);
	until(!near.tunnel);
	ck_assert(near.has_why);
	free(frame);
}

TEST(a_frame_of_another_kind_ends_the_tunnel)
{
	foreign(TUNNEL_FRAME + 1, 8);
}

TEST(a_frame_that_is_too_long_ends_the_tunnel)
{
	foreign(TUNNEL_FRAME, TUNNEL_CHUNK_BYTES + 1);
}

SUITE_WITH("tools/tunnel", set_up, clean_up)
