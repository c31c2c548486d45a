/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of the cost of a peer: time, memory, descriptors, handshakes. Real TLS over loopback under
 * a virtual clock, so that ten seconds take no time.
 */
#include "common/net/internal.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEC NSEC_PER_SEC

static struct server s;
static struct raw r;
static struct pki_creds lm;
static struct raw_conf as_lm = { .creds = &lm };

static void start(const struct net_listen_conf *conf)
{
	memset(&s, 0, sizeof(s));
	s.is_virtual = true;
	server_start(&s, conf);
	lm = test_creds(&s.ca, &LM_SPEC);
}

static void set_up(void)
{
	start(NULL);
}

static void clean_up(void)
{
	pki_creds_done(&lm);
	server_stop(&s);
}

static void restart(const struct net_listen_conf *conf)
{
	clean_up();
	start(conf);
}

static void connect_raw(void)
{
	raw_open(&r, &s, &as_lm);
	ck_assert(raw_handshake(&r, &s));
	UNTIL(&s, s.accepted);
}

static struct net_listener_stats stats_of_listener(void)
{
	struct net_listener_stats st;

	net_listener_get_stats(s.listener, &st);
	return st;
}

/* A normal peer is served while and after another one misbehaves. */
static void others_are_served(void)
{
	struct net_ctx *ctx = client_ctx(&s, test_creds(&s.ca, &SM_SPEC));
	struct seen mine;

	s.echo = true;
	client_dial(&s, ctx, &mine);
	UNTIL(&s, mine.opened || mine.closed);
	ck_assert_msg(mine.opened, "%s", mine.why.text);
	send_frame(mine.chan, 1, 100);
	UNTIL(&s, mine.frames == 1);
	chan_close(mine.chan, NULL);
	net_ctx_free(ctx);
	s.echo = false;
}

/* --- frames */

static void bad_length(uint32_t length)
{
	uint8_t p[4] = { (uint8_t)(length >> 24), (uint8_t)(length >> 16), (uint8_t)(length >> 8),
			 (uint8_t)length };

	connect_raw();
	chan_role_known(s.peer[0].chan);
	ck_assert_int_eq(SSL_write(r.ssl, p, 4), 4);
	UNTIL(&s, s.peer[0].closed);
	ck_assert_int_eq(s.peer[0].why.code, ERR_PROTO);
	ck_assert_int_eq(s.peer[0].frames, 0);
	ck_assert_int_eq(s.peer[0].broken, 1);
	raw_close(&r);
	others_are_served();
}

TEST(a_length_of_zero_ends_this_channel_only)
{
	bad_length(0);
}

TEST(lengths_beyond_the_limit_end_the_channel_on_the_fourth_byte)
{
	static const uint32_t lengths[] = { 0x00100001, 0x7fffffff, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < 4; i++) {
		if (i)
			restart(NULL);
		bad_length(lengths[i]);
	}
}

TEST(a_slow_frame_is_cut_at_its_deadline)
{
	static const uint8_t header[4] = { 0, 0x10, 0, 0 };
	int seconds = 0;

	connect_raw();
	chan_role_known(s.peer[0].chan);
	SSL_write(r.ssl, header, 4);
	while (!s.peer[0].closed && seconds < 60) {
		SSL_write(r.ssl, "x", 1);
		loop_advance(s.loop, SEC);
		seconds++;
	}
	ck_assert_int_ge(seconds, 10);
	ck_assert_int_le(seconds, 12);
	ck_assert_int_eq(s.peer[0].why.code, ERR_TIMEOUT);
	raw_close(&r);
	others_are_served();
}

TEST(slow_frames_that_get_complete_are_not_cut)
{
	static const uint8_t half[3] = { 0, 0, 0 }, rest[4] = { 3, 1, 2, 3 };

	connect_raw();
	for (int i = 0; i < 10; i++) {
		SSL_write(r.ssl, half, 3);
		loop_advance(s.loop, 4 * SEC);
		SSL_write(r.ssl, rest, 4);
		loop_advance(s.loop, 4 * SEC);
	}
	ck_assert_int_eq(s.peer[0].closed, 0);
	ck_assert_int_eq(s.peer[0].frames, 10);
	raw_close(&r);
}

TEST(time_in_which_we_do_not_read_is_not_the_peers)
{
	connect_raw();
	SSL_write(r.ssl, "\0\0", 2);
	settle(&s);
	chan_pause_reading(s.peer[0].chan, true);
	loop_advance(s.loop, 60 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 0);
	chan_pause_reading(s.peer[0].chan, false);
	loop_advance(s.loop, 9 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 0);
	loop_advance(s.loop, 2 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 1);
	raw_close(&r);
}

TEST(an_idle_peer_costs_no_deadline)
{
	connect_raw();
	raw_frame(&r, 1, 10);
	UNTIL(&s, s.peer[0].frames);
	loop_advance(s.loop, 3600 * SEC / 2);
	ck_assert_int_eq(s.peer[0].closed, 0);
	raw_close(&r);
}

/* --- output */

#define CAP (512 * 1024)

static size_t fill(struct chan *c)
{
	size_t sent = 0;
	int rc;

	/* The kernel's buffers are full when the queue stays full over some turns. */
	for (int idle = 0; idle < 20; idle++) {
		while (!(rc = send_frame(c, 1, 10000))) {
			sent++;
			idle = 0;
		}
		ck_assert_int_eq(rc, -ERR_LIMIT);
		ck_assert_uint_le(chan_queued(c), CAP);
		loop_turn(s.loop);
		ck_assert_msg(!s.peer[0].closed, "%s", s.peer[0].why.text);
	}
	return sent;
}

TEST(a_peer_that_never_reads_is_cut_at_the_cap_and_stall)
{
	struct chan_stats st;

	connect_raw();
	chan_set_cap(s.peer[0].chan, CAP);
	chan_set_stall_max(s.peer[0].chan, TOOL_STALL_MAX_NS);
	fill(s.peer[0].chan);
	chan_get_stats(s.peer[0].chan, &st);
	ck_assert_uint_gt(st.refused, 0);
	ck_assert_uint_gt(chan_queued(s.peer[0].chan), CAP - 10100);
	loop_advance(s.loop, 9 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 0);
	others_are_served();
	loop_advance(s.loop, 2 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 1);
	ck_assert_int_eq(s.peer[0].why.code, ERR_LIMIT);
	ck_assert_msg(strstr(s.peer[0].why.text, "does not read") != NULL, "%s",
		      s.peer[0].why.text);
	raw_close(&r);
}

static void drain_raw(size_t want)
{
	uint8_t p[16384];

	while (want) {
		int n = SSL_read(r.ssl, p, sizeof(p));

		if (n > 0)
			want -= (size_t)n;
		else
			loop_turn(s.loop);
	}
}

TEST(a_slow_reader_is_notified_of_room_and_gets_every_frame)
{
	size_t sent;
	int reported;

	connect_raw();
	chan_set_cap(s.peer[0].chan, CAP);
	chan_set_stall_max(s.peer[0].chan, TOOL_STALL_MAX_NS);
	sent = fill(s.peer[0].chan);
	reported = s.peer[0].writable;
	loop_advance(s.loop, 9 * SEC);
	ck_assert_int_eq(s.peer[0].writable, reported);
	drain_raw(sent * 10005);
	ck_assert_int_eq(s.peer[0].writable, reported + 1);
	ck_assert_uint_eq(chan_queued(s.peer[0].chan), 0);
	loop_advance(s.loop, 60 * SEC);
	ck_assert_int_eq(s.peer[0].closed, 0);
	raw_close(&r);
}

TEST(a_frame_larger_than_the_cap_is_refused_at_once)
{
	connect_raw();
	chan_set_cap(s.peer[0].chan, 100);
	ck_assert_int_eq(send_frame(s.peer[0].chan, 1, 96), -ERR_LIMIT);
	ck_assert_int_eq(send_frame(s.peer[0].chan, 1, 95), 0);
	ck_assert_int_eq(send_frame(s.peer[0].chan, 1, 0), -ERR_LIMIT);
	raw_close(&r);
}

/* --- after the handshake */

static void key_updates(int n)
{
	for (int i = 0; i < n; i++) {
		if (SSL_key_update(r.ssl, SSL_KEY_UPDATE_NOT_REQUESTED) != 1 ||
		    SSL_do_handshake(r.ssl) != 1)
			return;
	}
}

TEST(twenty_key_updates_a_minute_pass_and_more_do_not)
{
	connect_raw();
	for (int minute = 0; minute < 3; minute++) {
		key_updates(KEY_UPDATES_PER_MIN_MAX);
		raw_frame(&r, 1, 1);
		UNTIL(&s, s.peer[0].frames == minute + 1);
		loop_advance(s.loop, 61 * SEC);
	}
	ck_assert_int_eq(s.peer[0].closed, 0);
	key_updates(KEY_UPDATES_PER_MIN_MAX + 1);
	UNTIL(&s, s.peer[0].closed);
	ck_assert_int_eq(s.peer[0].why.code, ERR_LIMIT);
	raw_close(&r);
	others_are_served();
}

TEST(a_flood_of_key_updates_in_one_go_is_cut_within_the_budget)
{
	const struct tls_chan *t;

	connect_raw();
	t = (const struct tls_chan *)s.peer[0].chan;
	/* All in the socket before the server looks: one read must not work through them. */
	key_updates(1500);
	while (!s.peer[0].closed) {
		ck_assert_uint_le(t->post_count, KEY_UPDATES_PER_MIN_MAX + 1);
		loop_turn(s.loop);
	}
	raw_close(&r);
}

/* --- handshakes */

TEST(a_silent_connection_is_dropped_after_five_seconds)
{
	int fd = raw_silent(&s, NULL);

	UNTIL(&s, stats_of_listener().half_open == 1);
	loop_advance(s.loop, 4 * SEC);
	ck_assert_int_eq(s.refused, 0);
	loop_advance(s.loop, 2 * SEC);
	ck_assert_int_eq(s.refused, 1);
	ck_assert_int_eq(s.refused_why.code, ERR_TIMEOUT);
	ck_assert_uint_eq(stats_of_listener().half_open, 0);
	close(fd);
}

TEST(a_server_that_does_not_answer_is_given_up_after_five_seconds)
{
	struct net_ctx *ctx = client_ctx(&s, test_creds(&s.ca, &LM_SPEC));
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	char name[REMOTE_BYTES];
	struct seen mine = { 0 };
	struct chan_handler h = seen_handler(&mine);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	listen(l, 8);
	getsockname(l, (struct sockaddr *)&a, &n);
	sock_name(name, &a);
	ck_assert_int_eq(
		net_dial(ctx,
			 &(struct net_target){ .host = "127.0.0.1",
					       .port = (uint16_t)atol(strchr(name, ':') + 1),
					       .expect = &x },
			 &h, &mine.chan, NULL),
		0);
	loop_advance(s.loop, 4 * SEC);
	ck_assert_int_eq(mine.closed, 0);
	loop_advance(s.loop, 2 * SEC);
	ck_assert_int_eq(mine.closed, 1);
	ck_assert_int_eq(mine.why.code, ERR_TIMEOUT);
	net_ctx_free(ctx);
	close(l);
}

#define MANY 40

TEST(half_open_connections_are_bounded_in_all)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.half_open_max = 10 };
	int fd[MANY];

	restart(&conf);
	for (int i = 0; i < MANY; i++)
		fd[i] = raw_silent(&s, NULL);
	settle(&s);
	ck_assert_uint_eq(stats_of_listener().half_open, 10);
	ck_assert_int_eq(s.refused, MANY - 10);
	ck_assert_int_eq(s.refused_why.code, ERR_LIMIT);
	for (int i = 0; i < MANY; i++)
		close(fd[i]);
	UNTIL(&s, stats_of_listener().half_open == 0);
	others_are_served();
}

TEST(silent_ones_however_young_make_room_when_others_wait)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.half_open_max = 10 };
	int fd[MANY];

	restart(&conf);
	for (int i = 0; i < MANY; i++)
		fd[i] = raw_silent(&s, NULL);
	settle(&s);
	ck_assert_uint_eq(stats_of_listener().half_open, 10);
	others_are_served(); /* at once: the silent ones have all their time before them */
	ck_assert_uint_eq(stats_of_listener().half_open, 9);
	ck_assert_int_eq(s.refused_why.code, ERR_LIMIT);
	for (int i = 0; i < MANY; i++)
		close(fd[i]);
	UNTIL(&s, stats_of_listener().half_open == 0);
}

/* They have sent their ClientHello only. */
TEST(a_slow_handshake_makes_room_for_others)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.half_open_max = 10 };
	struct raw some[12];

	restart(&conf);
	for (int i = 0; i < 12; i++) {
		raw_open(&some[i], &s, &(struct raw_conf){ .creds = NULL });
		ck_assert_int_ne(SSL_do_handshake(some[i].ssl), 1);
		settle(&s);
	}
	ck_assert_uint_eq(stats_of_listener().half_open, 10);
	ck_assert_uint_eq(stats_of_listener().over_limit, 2); /* none was slow yet */
	loop_advance(s.loop, SEC / 2);
	others_are_served();
	ck_assert_uint_eq(stats_of_listener().half_open, 9);
	for (int i = 0; i < 12; i++)
		raw_close(&some[i]);
	UNTIL(&s, stats_of_listener().half_open == 0);
}

TEST(one_source_cannot_take_the_place_of_others)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.strict_loopback = true };
	int fd[MANY];

	restart(&conf);
	for (int i = 0; i < MANY; i++)
		fd[i] = raw_silent(&s, "127.0.0.2");
	settle(&s);
	ck_assert_uint_eq(stats_of_listener().half_open, HALF_OPEN_PER_SOURCE_MAX);
	others_are_served();
	for (int i = 0; i < MANY; i++)
		close(fd[i]);
	UNTIL(&s, stats_of_listener().half_open == 0);
}

static bool refused_as_nobody(void)
{
	struct raw_conf nobody = { 0 };
	struct raw bad;
	int before = s.refused;

	raw_open(&bad, &s, &nobody);
	raw_handshake(&bad, &s);
	UNTIL(&s, s.refused == before + 1);
	raw_close(&bad);
	return s.refused_why.code == ERR_DENIED;
}

TEST(the_third_failure_is_punished_for_five_seconds)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.strict_loopback = true };

	restart(&conf);
	for (int i = 0; i < 3; i++)
		refused_as_nobody();
	ck_assert_uint_eq(stats_of_listener().penalised, 0);
	refused_as_nobody();
	ck_assert_uint_eq(stats_of_listener().penalised, 1);
	ck_assert_msg(strstr(s.refused_why.text, "has to wait") != NULL, "%s", s.refused_why.text);
	loop_advance(s.loop, PENALTY_AUTH_NS);
	others_are_served();
	ck_assert_uint_eq(stats_of_listener().penalised, 1);
}

TEST(a_crash_suspect_is_kept_out_for_ninety_seconds)
{
	struct net_listen_conf conf = { .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM),
					.strict_loopback = true };

	restart(&conf);
	connect_raw();
	net_listener_penalise(s.listener, s.peer[0].chan);
	raw_close(&r);
	refused_as_nobody();
	loop_advance(s.loop, 80 * SEC);
	refused_as_nobody();
	ck_assert_uint_eq(stats_of_listener().penalised, 2);
	loop_advance(s.loop, 11 * SEC);
	others_are_served();
}

TEST(on_loopback_one_bad_peer_does_not_lock_out_the_rest)
{
	for (int i = 0; i < 10; i++)
		refused_as_nobody();
	ck_assert_uint_eq(stats_of_listener().penalised, 0);
	others_are_served();
}

TEST(penalties_add_up_to_ten_minutes_and_are_forgotten)
{
	struct sources *all = sources_new();
	struct source *one = sources_get(all, 1, 0);

	for (int i = 0; i < 1000; i++)
		source_failed(one, 0);
	ck_assert(source_is_punished(one, PENALTY_MAX_NS - 1));
	ck_assert(!source_is_punished(one, PENALTY_MAX_NS));
	for (uint64_t i = 2; i <= 4096; i++)
		ck_assert_ptr_nonnull(sources_get(all, i, 0));
	ck_assert_ptr_null(sources_get(all, 5000, 0));
	ck_assert_ptr_nonnull(sources_get(all, 5000, 61 * SEC));
	ck_assert_ptr_eq(sources_get(all, 1, 61 * SEC), one);
	sources_free(all);
}

TEST(addresses_of_one_subscriber_are_one_source)
{
	static const char *const same[][2] = { { "127.0.0.1", "::ffff:127.0.0.1" },
					       { "2001:db8:1:2::1", "2001:db8:1:2:ffff::2" } };
	static const char *const other[][2] = { { "127.0.0.1", "127.0.0.2" },
						{ "2001:db8:1:2::1", "2001:db8:1:3::1" } };
	struct sockaddr_storage a, b;
	socklen_t n;

	for (int i = 0; i < 2; i++) {
		sock_addr(&a, &n, same[i][0], 1, NULL);
		sock_addr(&b, &n, same[i][1], 2, NULL);
		ck_assert_uint_eq(sock_source_key(&a), sock_source_key(&b));
		ck_assert_int_eq(sock_is_loopback(&a), i == 0);
		ck_assert_int_eq(sock_is_loopback(&b), i == 0);
		sock_addr(&a, &n, other[i][0], 1, NULL);
		sock_addr(&b, &n, other[i][1], 1, NULL);
		ck_assert_uint_ne(sock_source_key(&a), sock_source_key(&b));
	}
}

SUITE_WITH("net/limits", set_up, clean_up)
