/* SPDX-License-Identifier: Apache-2.0 */
/* Channels over TLS: accepted frames, refusals by the dialling side, and the end. */
#include "common/base/buf.h"
#include "common/net/internal.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct server s;
static struct net_ctx *client;
static struct seen mine;

static void set_up(void)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.enrol_type = ENROL_TYPE };

	memset(&s, 0, sizeof(s));
	server_start(&s, &conf);
	client = client_ctx(&s, test_creds(&s.ca, &LM_SPEC));
}

static void clean_up(void)
{
	chan_close(mine.chan, NULL);
	net_ctx_free(client);
	server_stop(&s);
}

static void both_up(void)
{
	client_dial(&s, client, &mine);
	UNTIL(&s, mine.opened && s.accepted);
}

TEST(both_sides_know_each_other_and_frames_pass_both_ways)
{
	s.echo = true;
	both_up();
	ck_assert_int_eq(chan_peer(mine.chan)->role, ROLE_MAINSM);
	ck_assert_str_eq(chan_peer(mine.chan)->host, "top");
	ck_assert_int_eq(chan_peer(s.peer[0].chan)->role, ROLE_LM);
	ck_assert(!chan_is_enrol(mine.chan));
	ck_assert_int_eq(strncmp(chan_remote(mine.chan), "127.0.0.1:", 10), 0);
	for (size_t n = 0; n < 100; n++)
		ck_assert_int_eq(send_frame(mine.chan, (uint8_t)n, n), 0);
	UNTIL(&s, mine.frames == 100);
	ck_assert_uint_eq(mine.bytes, 100 * 99 / 2);
	ck_assert_uint_eq(mine.last_type, 99);
}

TEST(nothing_is_sent_before_the_channel_is_open)
{
	client_dial(&s, client, &mine);
	ck_assert_int_eq(send_frame(mine.chan, 1, 1), -ERR_AGAIN);
	ck_assert_ptr_null(chan_peer(mine.chan));
	UNTIL(&s, mine.opened && s.accepted);
}

/*
 * Every record and every system call is counted: 1000 pairs may not wait for Nagle, nor cost more
 * than one each.
 */
static void ping_again(struct seen *seen, uint8_t type, const uint8_t *p, size_t n)
{
	if (seen->frames < 1000)
		send_frame(seen->chan, 1, 64);
}

static int nodelay_of(const struct chan *c)
{
	int on = 0;
	socklen_t n = sizeof(on);

	getsockopt(((const struct tls_chan *)c)->sock.fd, IPPROTO_TCP, TCP_NODELAY, &on, &n);
	return on;
}

static unsigned user_timeout_of(const struct chan *c)
{
	unsigned ms = 0;
	socklen_t n = sizeof(ms);

	getsockopt(((const struct tls_chan *)c)->sock.fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, &n);
	return ms;
}

TEST(a_thousand_pairs_need_one_write_each_without_delay)
{
	struct tls_chan *t;
	struct chan_stats out;
	uint64_t sends;

	s.echo = true;
	both_up();
	ck_assert_int_eq(nodelay_of(mine.chan), 1);
	ck_assert_int_eq(nodelay_of(s.peer[0].chan), 1);
	ck_assert_uint_eq(user_timeout_of(mine.chan), 20000);
	ck_assert_uint_eq(user_timeout_of(s.peer[0].chan), 20000);
	t = (struct tls_chan *)mine.chan;
	sends = t->sock.sends;
	mine.on_frame = ping_again;
	send_frame(mine.chan, 1, 64);
	UNTIL(&s, mine.frames == 1000);
	chan_get_stats(mine.chan, &out);
	ck_assert_uint_eq(out.frames_out, 1000);
	ck_assert_uint_eq(out.writes, 1000);
	ck_assert_uint_eq(t->sock.sends - sends, 1000);
}

TEST(frames_of_one_turn_share_one_write)
{
	struct tls_chan *t;
	uint64_t sends;

	both_up();
	t = (struct tls_chan *)mine.chan;
	sends = t->sock.sends;
	for (int i = 0; i < 100; i++)
		send_frame(mine.chan, 1, 64);
	ck_assert_uint_eq(chan_queued(mine.chan), 100 * 69);
	UNTIL(&s, s.peer[0].frames == 100);
	ck_assert_uint_eq(t->sock.sends - sends, 1);
	ck_assert_uint_eq(chan_queued(mine.chan), 0);
}

TEST(a_mebibyte_passes_once_the_role_is_known_and_not_before)
{
	s.role_known = true;
	both_up();
	ck_assert_int_eq(send_frame(mine.chan, 1, FRAME_MAX_BYTES - 1), 0);
	UNTIL(&s, s.peer[0].frames == 1);
	ck_assert_uint_eq(s.peer[0].bytes, FRAME_MAX_BYTES - 1);
	s.role_known = false;
	chan_close(mine.chan, NULL);
	client_dial(&s, client, &mine);
	UNTIL(&s, s.accepted == 2);
	UNTIL(&s, mine.opened);
	ck_assert_int_eq(send_frame(mine.chan, 1, FRAME_PREAUTH_MAX_BYTES - 1), 0);
	UNTIL(&s, s.peer[1].frames == 1);
	ck_assert_int_eq(send_frame(mine.chan, 1, FRAME_PREAUTH_MAX_BYTES), 0);
	UNTIL(&s, s.peer[1].closed);
	ck_assert_int_eq(s.peer[1].frames, 1);
	ck_assert_int_eq(s.peer[1].why.code, ERR_PROTO);
}

TEST(last_frames_are_reported_before_the_end_and_the_end_once)
{
	both_up();
	for (int i = 0; i < 50; i++)
		ck_assert_int_eq(send_frame(s.peer[0].chan, 7, 1000), 0);
	chan_close(s.peer[0].chan, "test");
	s.peer[0].chan = NULL;
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.frames, 50);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(mine.why.code, ERR_CLOSED);
	settle(&s);
	ck_assert_int_eq(mine.closed, 1);
}

TEST(frames_before_a_cut_are_reported_though_a_write_fails_first)
{
	struct tls_chan *peer;

	both_up();
	peer = (struct tls_chan *)s.peer[0].chan;
	for (int i = 0; i < 15; i++)
		ck_assert_int_eq(send_frame(s.peer[0].chan, 7, 1000), 0);
	/* Does what the kernel does when a process is killed: a reset without a TLS alert. */
	ck_assert_int_eq(SSL_write(peer->ssl, peer->out.p, (int)peer->out.n), (int)peer->out.n);
	ck_assert_int_eq(setsockopt(peer->sock.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
				    sizeof(struct linger)),
			 0);
	peer->broken = true;
	chan_close(s.peer[0].chan, NULL);
	s.peer[0].chan = NULL;
	send_frame(mine.chan, 1, 10);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.frames, 15);
}

TEST(no_callback_after_close_from_within_one)
{
	both_up();
	s.peer[0].close_on_frame = true;
	for (int i = 0; i < 10; i++)
		send_frame(mine.chan, 1, 10);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(s.peer[0].frames, 1);
	ck_assert_int_eq(s.peer[0].closed, 0);
}

TEST(a_paused_channel_keeps_frames_and_continues_where_it_was)
{
	both_up();
	chan_pause_reading(s.peer[0].chan, true);
	for (int i = 0; i < 10; i++)
		send_frame(mine.chan, (uint8_t)i, 10);
	settle(&s);
	ck_assert_int_eq(s.peer[0].frames, 0);
	chan_pause_reading(s.peer[0].chan, false);
	UNTIL(&s, s.peer[0].frames == 10);
	ck_assert_uint_eq(s.peer[0].last_type, 9);
}

TEST(a_heartbeat_causes_no_wake_up_and_is_found_by_a_poll)
{
	nsec_t before;

	both_up();
	before = chan_heard_at(s.peer[0].chan);
	chan_set_rcvlowat(s.peer[0].chan);
	send_frame(mine.chan, 5, 0);
	settle(&s);
	ck_assert_int_eq(s.peer[0].frames, 0);
	chan_poll(s.peer[0].chan);
	ck_assert_int_eq(s.peer[0].frames, 1);
	ck_assert_int_gt(chan_heard_at(s.peer[0].chan), before);
	/* The first poll reports its own time; the next one has the time of the heartbeat. */
	before = chan_heard_at(s.peer[0].chan);
	settle(&s);
	chan_poll(s.peer[0].chan);
	ck_assert_int_eq(s.peer[0].frames, 1);
	ck_assert_int_lt(chan_heard_at(s.peer[0].chan), before);
	/* A longer frame wakes the reader, with the heartbeat before it. */
	send_frame(mine.chan, 5, 0);
	settle(&s);
	send_frame(mine.chan, 7, 1);
	UNTIL(&s, s.peer[0].frames == 3);
	ck_assert_uint_eq(s.peer[0].last_type, 7);
}

/* Also if the last piece is smaller than a heartbeat, and if the peer closes after a heartbeat. */
TEST(a_large_message_is_never_left_lying_with_a_small_rest)
{
	struct tls_chan *t;
	int frames = 0;

	s.role_known = true;
	both_up();
	t = (struct tls_chan *)s.peer[0].chan;
	chan_set_rcvlowat(s.peer[0].chan);
	ck_assert(t->is_rcvlowat_raised);
	for (size_t rest = 1; rest < 8; rest++) {
		/* Records hold 16 KiB: the last one has `rest` bytes. */
		send_frame(mine.chan, 1, 2 * 16384 + rest - FRAME_HEADER_BYTES);
		frames++;
		UNTIL(&s, s.peer[0].frames == frames);
		ck_assert(t->is_rcvlowat_raised);
	}
	send_frame(mine.chan, 5, 0);
	settle(&s);
	ck_assert_int_eq(s.peer[0].frames, frames);
	chan_close(mine.chan, "test");
	mine.chan = NULL;
	UNTIL(&s, s.peer[0].closed);
	ck_assert_int_eq(s.peer[0].frames, frames + 1);
}

static ssize_t feed_bytes(struct tls_chan *t, const void *p, size_t n)
{
	return send(t->sock.fd, p, n, MSG_NOSIGNAL);
}

/* A record arrives byte by byte: from its first one on the kernel wakes for every piece. */
TEST(a_record_in_pieces_is_read_to_its_end)
{
	const uint8_t head[] = { 23, 3, 3, 0, 40 }, body[40] = { 0 };
	struct tls_chan *t, *from;

	both_up();
	t = (struct tls_chan *)s.peer[0].chan;
	from = (struct tls_chan *)mine.chan;
	chan_set_rcvlowat(s.peer[0].chan);
	ck_assert_int_eq(feed_bytes(from, head, sizeof(head)), sizeof(head));
	settle(&s);
	chan_poll(s.peer[0].chan);
	ck_assert(!t->is_rcvlowat_raised);
	ck_assert_int_eq(feed_bytes(from, body, 30), 30);
	UNTIL(&s, t->sock.body_left == 10);
	ck_assert_int_eq(feed_bytes(from, body, 10), 10);
	/* The bytes are not a valid record: only the number of reads matters here. */
	UNTIL(&s, s.peer[0].closed);
	ck_assert_int_eq(s.peer[0].why.code, ERR_PROTO);
}

static void pause_after_one(struct seen *seen, uint8_t type, const uint8_t *p, size_t n)
{
	chan_pause_reading(seen->chan, true);
}

TEST(a_pause_from_a_callback_holds_the_very_next_frame)
{
	both_up();
	s.peer[0].on_frame = pause_after_one;
	for (int i = 0; i < 3; i++)
		send_frame(mine.chan, 1, 10);
	for (int i = 1; i <= 3; i++) {
		UNTIL(&s, s.peer[0].frames == i);
		settle(&s);
		ck_assert_int_eq(s.peer[0].frames, i);
		chan_pause_reading(s.peer[0].chan, false);
	}
}

/* --- what the dialling side refuses */

static void dial_refused(const struct net_expect *x, enum err_code code, const char *words)
{
	struct chan_handler h = seen_handler(&mine);
	struct err e = { 0 };

	memset(&mine, 0, sizeof(mine));
	ck_assert_int_eq(
		net_dial(client,
			 &(struct net_target){ .host = "127.0.0.1", .port = s.port, .expect = x },
			 &h, &mine.chan, &e),
		0);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.opened, 0);
	ck_assert_int_eq(mine.why.code, code);
	ck_assert_msg(strstr(mine.why.text, words) != NULL, "\"%s\" does not say \"%s\"",
		      mine.why.text, words);
	settle(&s);
	ck_assert_int_eq(s.accepted, 0);
}

TEST(a_server_of_another_role_is_refused)
{
	dial_refused(&(struct net_expect){ .roles = ROLE_BIT(ROLE_SM) }, ERR_DENIED,
		     "sm was expected");
}

TEST(a_server_of_another_name_is_refused)
{
	dial_refused(&(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM), .host = "elsewhere" },
		     ERR_DENIED, "\"elsewhere\"");
}

TEST(a_server_of_another_site_is_refused)
{
	dial_refused(&(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM), .site = "b" },
		     ERR_DENIED, "of site");
}

TEST(a_pin_that_is_not_our_ca_is_refused_before_dialling)
{
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM),
				.pin = "00000000000000000000000000" };
	struct chan_handler h = seen_handler(&mine);
	struct err e = { 0 };

	ck_assert_int_eq(
		net_dial(client,
			 &(struct net_target){ .host = "127.0.0.1", .port = s.port, .expect = &x },
			 &h, &mine.chan, &e),
		-ERR_DENIED);
	ck_assert_msg(strstr(e.text, "enrol") != NULL, "%s", e.text);
}

static void bad_server(const struct test_ca *ca, struct cert_spec spec, const char *words)
{
	struct pki_creds creds = test_creds(ca, &spec);

	ck_assert_int_eq(net_ctx_reload(s.ctx, &creds, NULL), 0);
	pki_creds_done(&creds);
	dial_refused(&(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM) }, ERR_DENIED, words);
}

TEST(a_server_from_another_ca_is_refused)
{
	struct test_ca rogue;

	test_ca_new(&rogue, "another");
	bad_server(&rogue, MAINSM_SPEC, "from another CA");
	test_ca_done(&rogue);
}

TEST(a_server_without_extended_key_usage_is_refused)
{
	bad_server(&s.ca, (struct cert_spec){ .uri = "omig:mainsm//top" }, "extended key usage");
}

TEST(a_server_that_is_only_a_client_is_refused)
{
	bad_server(&s.ca, (struct cert_spec){ .uri = "omig:mainsm//top", .eku = "clientAuth" },
		   "extended key usage");
}

TEST(an_lm_that_plays_the_server_is_refused)
{
	bad_server(&s.ca, LM_SPEC, "has the role lm");
}

TEST(a_revoked_server_is_refused)
{
	ck_assert_int_eq(net_ctx_revoke(client, net_ctx_self(s.ctx)->serial), 0);
	dial_refused(&(struct net_expect){ .roles = ROLE_BIT(ROLE_MAINSM) }, ERR_DENIED, "revoked");
}

TEST(a_server_that_speaks_no_tls_is_named_as_such)
{
	int fd = -1;

	net_listener_close(s.listener);
	s.listener = NULL;
	loop_turn(s.loop);
	{
		struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(s.port) };
		struct chan_handler h = seen_handler(&mine);
		struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
		int on = 1, l = socket(AF_INET, SOCK_STREAM, 0);

		setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		ck_assert_int_eq(bind(l, (struct sockaddr *)&a, sizeof(a)), 0);
		ck_assert_int_eq(listen(l, 1), 0);
		ck_assert_int_eq(net_dial(client,
					  &(struct net_target){ .host = "127.0.0.1",
								.port = s.port,
								.expect = &x },
					  &h, &mine.chan, NULL),
				 0);
		fd = accept(l, NULL, NULL);
		ck_assert_int_eq(write(fd, "SSH-2.0-OpenSSH_9\r\n", 19), 19);
		UNTIL(&s, mine.closed);
		close(fd);
		close(l);
	}
	ck_assert_msg(strstr(mine.why.text, "another program") != NULL, "%s", mine.why.text);
}

TEST(a_refused_client_gets_the_reason)
{
	ck_assert_int_eq(net_ctx_revoke(s.ctx, net_ctx_self(client)->serial), 0);
	client_dial(&s, client, &mine);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.why.code, ERR_DENIED);
	ck_assert_msg(strstr(mine.why.text, "our certificate is revoked") != NULL, "%s",
		      mine.why.text);
}

TEST(an_address_without_a_listener_is_in_the_error)
{
	net_listener_close(s.listener);
	s.listener = NULL;
	client_dial(&s, client, &mine);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.why.code, ERR_SYS);
	ck_assert_msg(strstr(mine.why.text, "cannot reach 127.0.0.1:") != NULL, "%s",
		      mine.why.text);
}

TEST(names_are_looked_up_and_bad_ones_are_reported)
{
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct chan_handler h = seen_handler(&mine);

	ck_assert_int_eq(
		net_dial(client,
			 &(struct net_target){ .host = "localhost", .port = s.port, .expect = &x },
			 &h, &mine.chan, NULL),
		0);
	UNTIL(&s, mine.opened || mine.closed);
	ck_assert_msg(mine.opened, "%s", mine.why.text);
	chan_close(mine.chan, NULL);
	memset(&mine, 0, sizeof(mine));
	ck_assert_int_eq(net_dial(client,
				  &(struct net_target){ .host = "no.such.name.invalid",
							.port = s.port,
							.expect = &x },
				  &h, &mine.chan, NULL),
			 0);
	UNTIL(&s, mine.closed);
	ck_assert_msg(strstr(mine.why.text, "no.such.name.invalid") != NULL, "%s", mine.why.text);
	/* The channel is closed while the thread resolves the name. */
	ck_assert_int_eq(
		net_dial(client,
			 &(struct net_target){ .host = "localhost", .port = s.port, .expect = &x },
			 &h, &mine.chan, NULL),
		0);
	chan_close(mine.chan, NULL);
	mine.chan = NULL;
	settle(&s);
}

TEST(ipv6_works_with_and_without_brackets)
{
	struct net_listen_conf conf = { .addr = "::1", .roles = ROLE_BIT(ROLE_LM) };
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct chan_handler h = seen_handler(&mine);
	struct net_accept a = ((struct net_listener *)s.listener)->accept;
	struct net_listener *six;
	struct err e = { 0 };

	if (net_listen(s.ctx, &conf, &a, &six, &e)) {
		ck_assert_int_eq(e.code, ERR_SYS); /* a host without IPv6 */
		return;
	}
	for (int i = 0; i < 2; i++) {
		memset(&mine, 0, sizeof(mine));
		ck_assert_int_eq(net_dial(client,
					  &(struct net_target){ .host = i ? "[::1]" : "::1",
								.port = net_listener_port(six),
								.expect = &x },
					  &h, &mine.chan, NULL),
				 0);
		UNTIL(&s, mine.opened);
		ck_assert_int_eq(strncmp(chan_remote(mine.chan), "[::1]:", 6), 0);
		chan_close(mine.chan, NULL);
		mine.chan = NULL;
	}
	net_listener_close(six);
}

SUITE_WITH("net/tls", set_up, clean_up)
