/* SPDX-License-Identifier: Apache-2.0 */
/* Getting a certificate, and losing it. */
#include "common/base/buf.h"
#include "common/net/internal.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <string.h>

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

/* --- enrolling */

static void dial_enrol(const char *pin)
{
	struct chan_handler h = seen_handler(&mine);
	struct net_conf none = { 0 };
	struct net_ctx *ctx;
	struct err e = { 0 };

	net_ctx_free(client);
	ck_assert_int_eq(net_ctx_open(s.loop, &none, &ctx, &e), 0);
	client = ctx;
	memset(&mine, 0, sizeof(mine));
	ck_assert_msg(!net_dial(ctx,
				&(struct net_target){ .host = "127.0.0.1",
						      .port = s.port,
						      .expect = &(struct net_expect){ .pin = pin },
						      .enrols = true },
				&h, &mine.chan, &e),
		      "%s", e.text);
}

static void ca_pin(char pin[PKI_PIN_BYTES])
{
	ck_assert_int_eq(x509_pin(pin, s.ca.cert, NULL), 0);
}

TEST(enrolling_needs_no_certificate_but_the_right_pin)
{
	char pin[PKI_PIN_BYTES];

	ca_pin(pin);
	s.echo = true;
	dial_enrol(pin);
	UNTIL(&s, mine.opened && s.accepted);
	ck_assert(chan_is_enrol(mine.chan));
	ck_assert(chan_is_enrol(s.peer[0].chan));
	ck_assert_ptr_null(chan_peer(s.peer[0].chan));
	ck_assert_int_eq(chan_peer(mine.chan)->role, ROLE_MAINSM);
	send_frame(mine.chan, ENROL_TYPE, 100);
	UNTIL(&s, mine.frames == 1);
}

TEST(an_enrolling_peer_may_send_nothing_else)
{
	char pin[PKI_PIN_BYTES];

	ca_pin(pin);
	dial_enrol(pin);
	UNTIL(&s, mine.opened && s.accepted);
	send_frame(mine.chan, ENROL_TYPE + 1, 100);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(s.peer[0].frames, 0);
	ck_assert_int_eq(s.peer[0].closed, 1);
	ck_assert_int_eq(s.peer[0].why.code, ERR_PROTO);
}

TEST(an_enrolling_peer_stays_small_and_half_open)
{
	char pin[PKI_PIN_BYTES];
	struct net_listener_stats stats;

	ca_pin(pin);
	dial_enrol(pin);
	UNTIL(&s, mine.opened && s.accepted);
	chan_role_known(s.peer[0].chan);
	net_listener_get_stats(s.listener, &stats);
	ck_assert_uint_eq(stats.half_open, 1);
	send_frame(mine.chan, ENROL_TYPE, FRAME_PREAUTH_MAX_BYTES);
	UNTIL(&s, s.peer[0].closed);
	ck_assert_int_eq(s.peer[0].frames, 0);
	net_listener_get_stats(s.listener, &stats);
	ck_assert_uint_eq(stats.half_open, 0);
}

TEST(a_server_without_the_pinned_ca_is_not_enrolled_with)
{
	dial_enrol("00000000000000000000000000");
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.opened, 0);
	ck_assert_msg(strstr(mine.why.text, "pin") != NULL, "%s", mine.why.text);
}

TEST(only_a_mainsm_signed_by_the_pinned_ca_is_accepted)
{
	struct pki_creds creds = test_creds(&s.ca, &SM_SPEC);
	char pin[PKI_PIN_BYTES];

	ck_assert_int_eq(net_ctx_reload(s.ctx, &creds, NULL), 0);
	pki_creds_done(&creds);
	ca_pin(pin);
	dial_enrol(pin);
	UNTIL(&s, mine.closed);
	ck_assert_int_eq(mine.opened, 0);
	ck_assert_msg(strstr(mine.why.text, "mainsm was expected") != NULL, "%s", mine.why.text);
}

TEST(without_a_certificate_one_can_only_enrol)
{
	struct net_expect x = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct chan_handler h = seen_handler(&mine);
	struct net_conf none = { 0 };
	struct err e = { 0 };
	struct net_ctx *ctx;
	struct chan *c;

	ck_assert_int_eq(net_ctx_open(s.loop, &none, &ctx, &e), 0);
	ck_assert_ptr_null(net_ctx_self(ctx));
	ck_assert_int_eq(
		net_dial(ctx,
			 &(struct net_target){ .host = "127.0.0.1", .port = s.port, .expect = &x },
			 &h, &c, &e),
		-ERR_INVALID);
	ck_assert_int_eq(
		net_dial(ctx,
			 &(struct net_target){ .host = "127.0.0.1",
					       .port = s.port,
					       .expect = &(struct net_expect){ .pin = "short" },
					       .enrols = true },
			 &h, &c, &e),
		-ERR_INVALID);
	net_ctx_free(ctx);
}

/* --- life of credentials */

TEST(a_revoked_peer_is_cut_on_its_live_link)
{
	both_up();
	send_frame(mine.chan, 1, 1);
	UNTIL(&s, s.peer[0].frames == 1);
	ck_assert_int_eq(net_ctx_revoke(s.ctx, chan_peer(s.peer[0].chan)->serial), 0);
	UNTIL(&s, s.peer[0].closed && mine.closed);
	ck_assert_int_eq(s.peer[0].why.code, ERR_DENIED);
	ck_assert_msg(strstr(s.peer[0].why.text, "revoked") != NULL, "%s", s.peer[0].why.text);
}

TEST(a_peer_whose_certificate_expires_is_cut_on_its_live_link)
{
	both_up();
	settle(&s);
	ck_assert_int_eq(s.peer[0].closed, 0);
	s.wall_shift = 2 * 3600 * NSEC_PER_SEC;
	UNTIL(&s, s.peer[0].closed && mine.closed);
	ck_assert_msg(strstr(s.peer[0].why.text, "expired") != NULL, "%s", s.peer[0].why.text);
}

TEST(new_credentials_serve_the_next_handshake_and_keep_links)
{
	struct pki_creds creds = test_creds(
		&s.ca, &(struct cert_spec){ .uri = "omig:lm/b/n2", .eku = "clientAuth" });
	struct pki_creds bad =
		test_creds(&s.ca, &(struct cert_spec){ .uri = "omig:lm/b/n2", .to_s = -1 });
	struct seen second;

	both_up();
	ck_assert_int_eq(net_ctx_reload(client, &creds, NULL), 0);
	ck_assert_str_eq(net_ctx_self(client)->host, "n2");
	ck_assert_int_eq(net_ctx_reload(client, &bad, NULL), -ERR_TIMEOUT);
	client_dial(&s, client, &second);
	UNTIL(&s, second.opened && s.accepted == 2);
	ck_assert_str_eq(chan_peer(s.peer[0].chan)->host, "n1");
	ck_assert_str_eq(chan_peer(s.peer[1].chan)->host, "n2");
	ck_assert_int_eq(mine.closed, 0);
	chan_close(second.chan, NULL);
	pki_creds_done(&creds);
	pki_creds_done(&bad);
}

TEST(a_port_in_use_is_reported_with_the_remedy)
{
	struct net_listen_conf conf = { .port = s.port, .roles = ROLE_BIT(ROLE_LM) };
	struct net_accept a = { 0 };
	struct net_listener *l;
	struct err e = { 0 };

	ck_assert_int_eq(net_listen(s.ctx, &conf, &a, &l, &e), -ERR_SYS);
	ck_assert_msg(strstr(e.text, "--port") != NULL, "%s", e.text);
	conf = (struct net_listen_conf){ .addr = "nonsense" };
	ck_assert_int_eq(net_listen(s.ctx, &conf, &a, &l, &e), -ERR_INVALID);
}

SUITE_WITH("net/enrol", set_up, clean_up)
