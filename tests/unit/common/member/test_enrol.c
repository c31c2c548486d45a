/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/base/array.h"
#include "common/loop/loop.h"
#include "common/member/enrol.h"
#include "common/net/mem.h"
#include "common/net/net.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY (86400 * NSEC_PER_SEC)

/*
 * A mainsm that knows one token, and a host that wants to enrol. No assertion where the sweep may
 * fail an allocation: Check allocates itself.
 */
static struct {
	char dir[64], leaf[96];
	struct loop *loop;
	struct mem_net *net;
	struct net_ctx *top, *client;
	struct net_listener *listener;
	struct pki_ca *ca, *other;
	struct connstr conn;
	struct enrol_conf conf;
	nsec_t life, age; /* of issued certificates */
	enum role role; /* that is issued */
	bool is_mute;
	unsigned asked, done;
	struct err why;
} t;

static void answer(struct chan *c, const struct msg_enrol *m)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES), out = BUF_INIT(20000);
	struct identity as = { .role = t.role, .wall_not_before = clock_wall() - t.age };
	struct msg_enrol_ack ack = { .error = "" };
	struct err e = { 0 };
	size_t n;

	as.wall_not_after = as.wall_not_before + t.life;
	str_copy(as.site, sizeof(as.site), m->site);
	str_copy(as.host, sizeof(as.host), m->host);
	ack.ca_der.p = pki_ca_der(t.ca, &n);
	ack.ca_der.n = n;
	if (m->token_id[0] &&
	    (strcmp(m->token_id, "tok") || m->secret.n != 6 || memcmp(m->secret.p, "s3cret", 6)))
		ack.error = "the token has expired: get a new connection string";
	else if (pki_ca_issue(t.ca, m->csr_der, &as, &cert, &e))
		ack.error = e.text;
	ack.cert_der = (struct bytes){ cert.p, cert.n };
	if (!msg_enrol_ack_put(&out, &ack))
		chan_send(c, out.p, out.n);
	buf_done(&cert);
	buf_done(&out);
}

static void server_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n)
{
	struct msg *m = NULL;

	t.asked++;
	if (type == MSG_ENROL && !msg_get(type, p, n, &m, NULL) && !t.is_mute)
		answer(c, &m->enrol);
	msg_free(m);
}

static void server_event(void *arg, struct chan *c, enum chan_event ev, const struct err *why)
{
	if (ev == CHAN_CLOSED)
		chan_close(c, NULL);
}

static void on_accept(void *arg, struct chan *c)
{
	chan_set_handler(c, &(struct chan_handler){ server_frame, server_event, NULL });
}

static void set_up(void)
{
	struct identity top = { .role = ROLE_MAINSM, .host = "top", .wall_not_after = INT64_MAX };
	struct identity leaf = { .role = ROLE_LM, .host = "leaf", .wall_not_after = INT64_MAX };
	const struct net_listen_conf lc = { .roles = ROLE_BIT(ROLE_LM), .enrol_type = MSG_ENROL };
	struct err e = { 0 };
	char path[128];

	memset(&t, 0, sizeof(t));
	str_copy(t.dir, sizeof(t.dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t.dir));
	snprintf(t.leaf, sizeof(t.leaf), "%s/leaf", t.dir);
	snprintf(path, sizeof(path), "%s/ca", t.dir);
	ck_assert_msg(!pki_ca_open(path, "u@h", &t.ca, &e), "%s", e.text);
	t.loop = loop_new_virtual();
	t.net = mem_net_new(t.loop, 1);
	ck_assert_int_eq(mem_ctx_open(t.net, &top, &t.top, &e), 0);
	ck_assert_int_eq(mem_ctx_open(t.net, &leaf, &t.client, &e), 0);
	ck_assert_int_eq(net_listen(t.top, &lc, &(struct net_accept){ .on_accept = on_accept },
				    &t.listener, &e),
			 0);
	t.conn = (struct connstr){ .host = { "top" },
				   .nhost = 1,
				   .port = net_listener_port(t.listener),
				   .token_id = "tok",
				   .secret = "s3cret" };
	str_copy(t.conn.pin, sizeof(t.conn.pin), pki_ca_pin(t.ca));
	t.life = 30 * DAY;
	t.role = ROLE_LM;
	t.conf = (struct enrol_conf){ .loop = t.loop,
				      .ctx = t.client,
				      .dir = t.leaf,
				      .conn = &t.conn,
				      .role = "lm",
				      .site = "s",
				      .host = "leaf" };
}

static void clean_up(void)
{
	static const char *const files[] = {
		"leaf/key.pem", "leaf/cert.pem", "leaf/ca.pem", "leaf/creds.lock",
		"leaf",		"ca/ca.key",	 "ca/ca.crt",	"ca",
		"other/ca.key", "other/ca.crt",	 "other"
	};
	char path[128];

	loop_advance(t.loop, 30 * NSEC_PER_SEC);
	net_listener_close(t.listener);
	net_ctx_free(t.top);
	net_ctx_free(t.client);
	loop_turn(t.loop);
	mem_net_free(t.net);
	loop_free(t.loop);
	pki_ca_free(t.ca);
	pki_ca_free(t.other);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", t.dir, files[i]);
		remove(path);
	}
	rmdir(t.dir);
}

static void on_done(void *arg, const struct err *why)
{
	t.done++;
	t.why = why ? *why : (struct err){ .code = ERR_OK };
}

static void enrol(void)
{
	ck_assert_ptr_nonnull(enrol_run(&t.conf, on_done, NULL));
	ck_assert_uint_eq(t.done, 0); /* never from inside the call */
	loop_advance(t.loop, 20 * NSEC_PER_SEC);
	ck_assert_uint_eq(t.done, 1);
	t.done = 0;
}

TEST(a_token_becomes_a_certificate_that_is_fit_for_use)
{
	struct err why = { 0 };
	struct stat st;
	char path[128];
	nsec_t at;

	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), &why), 1);
	enrol();
	ck_assert_msg(!t.why.code, "%s", t.why.text);
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), &why), 0);
	snprintf(path, sizeof(path), "%s/key.pem", t.leaf);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	at = enrol_renew_at(t.leaf);
	ck_assert_int_le(llabs(at - (clock_wall() + 20 * DAY)), 60 * NSEC_PER_SEC);
}

TEST(a_certificate_is_asked_for_again_when_it_does_not_fit)
{
	struct enrol_conf other = t.conf;
	struct connstr elsewhere = t.conn;
	struct err why = { 0 };
	char path[128];

	enrol();
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall() + 31 * DAY, &why), 1);
	other.role = "sm";
	ck_assert_int_eq(enrol_check(&other, clock_wall(), &why), 1);
	ck_assert_ptr_nonnull(strstr(why.text, "not for the role 'sm'"));
	other = t.conf;
	other.host = "another";
	ck_assert_int_eq(enrol_check(&other, clock_wall(), &why), 1);
	other.host = NULL;
	ck_assert_int_eq(enrol_check(&other, clock_wall(), &why), 0);
	snprintf(path, sizeof(path), "%s/other", t.dir);
	ck_assert_int_eq(pki_ca_open(path, "u@h", &t.other, &why), 0);
	str_copy(elsewhere.pin, sizeof(elsewhere.pin), pki_ca_pin(t.other));
	other = t.conf;
	other.conn = &elsewhere;
	ck_assert_int_eq(enrol_check(&other, clock_wall(), &why), 1);
	snprintf(path, sizeof(path), "%s/key.pem", t.leaf);
	chmod(path, 0644);
	ck_assert_int_lt(enrol_check(&t.conf, clock_wall(), &why), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "key.pem"));
}

TEST(a_refused_token_reports_that)
{
	str_copy(t.conn.secret, sizeof(t.conn.secret), "wrong");
	enrol();
	ck_assert_int_eq(t.why.code, ERR_DENIED);
	ck_assert_str_eq(
		t.why.text,
		"mainsm refuses the enrolment: the token has expired: get a new connection string");
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), NULL), 1);
}

TEST(a_string_without_token_reports_how_to_get_one)
{
	t.conn.token_id[0] = 0;
	enrol();
	ck_assert_int_eq(t.why.code, ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(t.why.text, "omig cert token"));
	ck_assert_uint_eq(t.asked, 0);
}

TEST(a_certificate_of_another_ca_or_role_is_not_stored)
{
	struct pki_ca *real = t.ca;
	struct err e = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/other", t.dir);
	ck_assert_int_eq(pki_ca_open(path, "u@h", &t.other, &e), 0);
	t.ca = t.other;
	enrol();
	ck_assert_int_eq(t.why.code, ERR_DENIED);
	t.ca = real;
	t.role = ROLE_TOOL_MANIPULATE;
	enrol();
	ck_assert_int_eq(t.why.code, ERR_DENIED);
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), NULL), 1);
}

TEST(a_tool_may_get_either_right)
{
	t.conf.role = "tool";
	t.role = ROLE_TOOL_OBSERVE;
	enrol();
	ck_assert_int_eq(t.why.code, ERR_OK);
	t.role = ROLE_TOOL_MANIPULATE;
	enrol();
	ck_assert_int_eq(t.why.code, ERR_OK);
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), NULL), 0);
}

TEST(the_next_host_is_tried_when_one_does_not_answer)
{
	t.conn.nhost = 3;
	str_copy(t.conn.host[0], sizeof(t.conn.host[0]), "nowhere");
	str_copy(t.conn.host[1], sizeof(t.conn.host[1]), "elsewhere");
	str_copy(t.conn.host[2], sizeof(t.conn.host[2]), "top");
	enrol();
	ck_assert_msg(!t.why.code, "%s", t.why.text);
}

TEST(an_address_without_a_listener_is_reported)
{
	str_copy(t.conn.host[0], sizeof(t.conn.host[0]), "nowhere");
	enrol();
	ck_assert_int_ne(t.why.code, ERR_OK);
	ck_assert_ptr_nonnull(strstr(t.why.text, "mainsm at nowhere:"));
}

TEST(a_mute_mainsm_is_given_up_after_ten_seconds)
{
	t.is_mute = true;
	ck_assert_ptr_nonnull(enrol_run(&t.conf, on_done, NULL));
	loop_advance(t.loop, 9 * NSEC_PER_SEC);
	ck_assert_uint_eq(t.done, 0);
	loop_advance(t.loop, NSEC_PER_SEC);
	ck_assert_uint_eq(t.done, 1);
	ck_assert_int_eq(t.why.code, ERR_TIMEOUT);
}

TEST(a_cancelled_enrolment_never_calls_back)
{
	enrol_cancel(enrol_run(&t.conf, on_done, NULL));
	loop_advance(t.loop, 20 * NSEC_PER_SEC);
	ck_assert_uint_eq(t.done, 0);
	enrol_cancel(NULL);
}

TEST(a_live_link_can_carry_the_renewal)
{
	struct enrol_renewal *r = NULL;
	struct msg_enrol ask;
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct identity as = {
		.role = ROLE_LM, .site = "s", .host = "leaf", .wall_not_before = clock_wall()
	};
	struct err e = { 0 };
	struct msg_enrol_ack ack = { .error = "" };
	nsec_t before;

	t.life = 3 * DAY;
	enrol();
	before = enrol_renew_at(t.leaf);
	ck_assert_int_eq(enrol_renew_begin(&t.conf, &r, &ask, &e), 0);
	as.wall_not_after = as.wall_not_before + 300 * DAY;
	ck_assert_int_eq(pki_ca_issue(t.ca, ask.csr_der, &as, &cert, &e), 0);
	ck_assert_int_eq(enrol_renew_end(r, &(struct msg_enrol_ack){ .error = "no" }, &e),
			 -ERR_DENIED);
	ack.cert_der = (struct bytes){ cert.p, cert.n };
	ack.ca_der.p = pki_ca_der(t.ca, &ack.ca_der.n);
	ck_assert_msg(!enrol_renew_end(r, &ack, &e), "%s", e.text);
	ck_assert_int_gt(enrol_renew_at(t.leaf), before + 100 * DAY);
	enrol_renew_free(r);
	buf_done(&cert);
}

/* Opens the stored credentials; nothing is dialled. */
static struct net_ctx *open_stored(void)
{
	struct pki_creds creds;
	struct net_ctx *ctx = NULL;
	struct err e = { 0 };

	ck_assert_msg(!pki_creds_load(t.leaf, &creds, &e), "%s", e.text);
	ck_assert_msg(!net_ctx_open(t.loop, &(struct net_conf){ .creds = &creds }, &ctx, &e), "%s",
		      e.text);
	pki_creds_done(&creds);
	return ctx;
}

TEST(a_renewed_certificate_is_of_the_same_authority)
{
	struct enrol_conf conf = {
		.loop = t.loop, .dir = t.leaf, .role = "lm", .site = "s", .host = "leaf"
	};
	struct identity as = {
		.role = ROLE_LM, .site = "s", .host = "leaf", .wall_not_after = clock_wall() + DAY
	};
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct msg_enrol_ack ack = { .error = "" };
	struct enrol_renewal *r = NULL;
	struct msg_enrol ask;
	struct net_ctx *ctx;
	struct err e = { 0 };
	char path[128];

	snprintf(path, sizeof(path), "%s/other", t.dir);
	ck_assert_int_eq(pki_ca_open(path, "u@h", &t.other, &e), 0);
	enrol();
	conf.ctx = ctx = open_stored();
	ck_assert_int_eq(enrol_renew_begin(&conf, &r, &ask, &e), 0);
	ck_assert_int_eq(pki_ca_issue(t.other, ask.csr_der, &as, &cert, &e), 0);
	ack.cert_der = (struct bytes){ cert.p, cert.n };
	ack.ca_der.p = pki_ca_der(t.other, &ack.ca_der.n);
	ck_assert_int_eq(enrol_renew_end(r, &ack, &e), -ERR_DENIED);
	ck_assert_int_eq(enrol_check(&t.conf, clock_wall(), NULL), 0);
	buf_clear(&cert);
	ck_assert_int_eq(pki_ca_issue(t.ca, ask.csr_der, &as, &cert, &e), 0);
	ack.cert_der = (struct bytes){ cert.p, cert.n };
	ack.ca_der.p = pki_ca_der(t.ca, &ack.ca_der.n);
	ck_assert_msg(!enrol_renew_end(r, &ack, &e), "%s", e.text);
	enrol_renew_free(r);
	net_ctx_free(ctx);
	buf_done(&cert);
}

TEST(enrolment_without_memory_fails_with_a_text)
{
	ALLOC_SWEEP (k) {
		struct enrol *n = enrol_run(&t.conf, on_done, NULL);

		loop_advance(t.loop, 20 * NSEC_PER_SEC);
		alloc_sweep_pause();
		ck_assert_uint_eq(t.done, !!n);
		ck_assert(!t.why.code || t.why.text[0]);
		t.done = 0;
	}
}

SUITE_WITH("enrol", set_up, clean_up)
