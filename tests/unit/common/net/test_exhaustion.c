/* SPDX-License-Identifier: Apache-2.0 */
/* Without descriptors or memory: existing channels continue, and all recovers. */
#include "common/net/internal.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEC NSEC_PER_SEC

static struct server s;
static struct raw r;
static struct pki_creds lm;
static struct raw_conf as_lm = { .creds = &lm };

static void set_up(void)
{
	memset(&s, 0, sizeof(s));
	s.is_virtual = true;
	server_start(&s, NULL);
	lm = test_creds(&s.ca, &LM_SPEC);
}

static void clean_up(void)
{
	pki_creds_done(&lm);
	server_stop(&s);
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

/* --- descriptors */

static int lowest_free_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

TEST(without_descriptors_the_listener_rests_and_returns)
{
	struct rlimit before, none;
	uint64_t accepted;
	int fd[3];

	connect_raw();
	s.peer[0].echo = true;
	accepted = stats_of_listener().accepted;
	for (int i = 0; i < 3; i++)
		fd[i] = raw_silent(&s, NULL);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = (rlim_t)lowest_free_fd();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 1000; i++)
		loop_turn(s.loop);
	ck_assert_uint_eq(stats_of_listener().fd_exhausted, 1);
	raw_frame(&r, 1, 10);
	UNTIL(&s, s.peer[0].frames == 1);
	loop_advance(s.loop, 3 * SEC);
	ck_assert_uint_le(stats_of_listener().fd_exhausted, 8);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	loop_advance(s.loop, SEC);
	ck_assert_uint_eq(stats_of_listener().accepted, accepted);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	others_are_served();
	raw_close(&r);
}

/* --- memory: a failure of any allocation causes neither loss nor crash */

static void one_life(struct net_ctx *ctx, struct seen *mine)
{
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM), .site = "", .host = "top" };
	struct chan_handler h = seen_handler(mine);
	struct err e = { 0 };
	int rc = net_dial(ctx,
			  &(struct net_target){ .host = "127.0.0.1", .port = s.port, .expect = &x },
			  &h, &mine->chan, &e);

	for (int i = 0; i < 40 && !rc && !mine->closed; i++) {
		if (mine->opened == 1 && i < 30)
			send_frame(mine->chan, 1, 100);
		loop_turn(s.loop);
	}
	alloc_sweep_pause();
	ck_assert_msg(!rc || rc == -ERR_NOMEM || alloc_sweep_has_failed(), "%s", e.text);
	chan_close(mine->chan, NULL);
	mine->chan = NULL;
	settle(&s);
}

TEST(every_allocation_of_a_connection_may_fail)
{
	struct net_ctx *ctx = client_ctx(&s, test_creds(&s.ca, &LM_SPEC));
	struct seen mine;
	int good = 0;

	ALLOC_SWEEP (k) {
		memset(&mine, 0, sizeof(mine));
		one_life(ctx, &mine);
		good = mine.opened == 1 && !mine.closed;
	}
	ck_assert_int_eq(good, 1);
	net_ctx_free(ctx);
	others_are_served();
}

TEST(every_allocation_of_a_context_and_a_listener_may_fail)
{
	struct net_listen_conf lconf = { .roles = ROLE_BIT(ROLE_LM) };
	struct net_accept a = { 0 };
	struct net_conf conf = { .creds = &lm };

	ALLOC_SWEEP (k) {
		struct net_ctx *ctx = NULL;
		struct net_listener *l = NULL;
		struct err e = { 0 };
		int rc = net_ctx_open(s.loop, &conf, &ctx, &e);

		if (!rc)
			rc = net_listen(ctx, &lconf, &a, &l, &e);
		alloc_sweep_pause();
		ck_assert_msg(!rc || alloc_sweep_has_failed(), "%s", e.text);
		net_listener_close(l);
		net_ctx_free(ctx);
		loop_turn(s.loop);
	}
}

SUITE_WITH("net/exhaustion", set_up, clean_up)
