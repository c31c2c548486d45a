/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invalid credentials: the handshake fails, or the server ends it, and no later byte is ever
 * decoded.
 */
#include "common/base/str.h"
#include "common/net/internal.h"
#include "tests/suite.h"
#include "tests/unit/common/net/harness.h"

#include <string.h>
#include <unistd.h>

static struct server s;

static void set_up(void)
{
	memset(&s, 0, sizeof(s));
	server_start(&s, NULL);
}

static void clean_up(void)
{
	server_stop(&s);
}

/* Shakes hands, sends a frame at once if TLS permits it, and expects a refusal. */
static void refused(const struct raw_conf *conf, const char *words)
{
	struct raw r;

	raw_open(&r, &s, conf);
	if (raw_handshake(&r, &s))
		raw_frame(&r, 1, 10);
	UNTIL(&s, s.refused);
	settle(&s);
	ck_assert_int_eq(s.accepted, 0);
	ck_assert_int_eq(s.refused, 1);
	ck_assert_msg(strstr(s.refused_why.text, words) != NULL, "\"%s\" does not say \"%s\"",
		      s.refused_why.text, words);
	raw_close(&r);
}

static void refused_cert(const struct test_ca *ca, struct cert_spec spec, const char *words)
{
	struct pki_creds c = test_creds(ca, &spec);
	struct raw_conf conf = { .creds = &c };

	refused(&conf, words);
	pki_creds_done(&c);
}

static struct cert_spec lm_with(struct cert_spec spec)
{
	if (!spec.uri)
		spec.uri = LM_SPEC.uri;
	return spec;
}

TEST(a_good_certificate_is_let_in_by_the_same_means)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c };
	struct raw r;

	raw_open(&r, &s, &conf);
	ck_assert(raw_handshake(&r, &s));
	ck_assert_int_gt(raw_frame(&r, 1, 10), 0);
	UNTIL(&s, s.peer[0].frames);
	ck_assert_int_eq(s.accepted, 1);
	ck_assert_int_eq(s.refused, 0);
	ck_assert_str_eq(chan_peer(s.peer[0].chan)->host, "n1");
	ck_assert_str_eq(chan_peer(s.peer[0].chan)->site, "a");
	ck_assert_int_eq(chan_peer(s.peer[0].chan)->role, ROLE_LM);
	raw_close(&r);
	pki_creds_done(&c);
}

TEST(no_certificate)
{
	refused(&(struct raw_conf){ 0 }, "shows no certificate");
}

TEST(another_ca)
{
	struct test_ca rogue;

	test_ca_new(&rogue, "another CA");
	refused_cert(&rogue, LM_SPEC, "from another CA");
	test_ca_done(&rogue);
}

TEST(another_ca_of_the_same_name)
{
	struct test_ca rogue;

	test_ca_new(&rogue, "our own CA");
	refused_cert(&rogue, LM_SPEC, "from another CA");
	test_ca_done(&rogue);
}

TEST(self_signed)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth", .self_signed = true }),
		     "another CA");
}

TEST(expired)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth", .to_s = -10 }),
		     "has expired");
}

TEST(not_yet_valid)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth", .from_s = 600 }),
		     "valid only from");
}

TEST(for_servers_only)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "serverAuth" }),
		     "extended key usage");
}

TEST(without_extended_key_usage)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ 0 }), "extended key usage");
}

TEST(any_extended_key_usage)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "anyExtendedKeyUsage" }),
		     "extended key usage");
}

TEST(any_extended_key_usage_beside_the_right_one)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth,anyExtendedKeyUsage" }),
		     "extended key usage");
}

TEST(an_lm_that_could_serve)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth,serverAuth" }),
		     "extended key usage");
}

TEST(a_name_written_in_another_way)
{
	refused_cert(&s.ca,
		     (struct cert_spec){ .uri = "omig:tool-observe//u%40h", .eku = "clientAuth" },
		     "does not name a role");
}

TEST(a_role_that_is_not_expected)
{
	refused_cert(&s.ca,
		     (struct cert_spec){ .uri = "omig:tool-observe//u@h", .eku = "clientAuth" },
		     "sm or lm was expected");
}

TEST(no_name_at_all)
{
	refused_cert(&s.ca, (struct cert_spec){ .eku = "clientAuth" }, "names no role");
}

TEST(a_second_name)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth", .dns = "n1.example" }),
		     "names no role");
}

TEST(an_intermediate_authority)
{
	refused_cert(&s.ca,
		     lm_with((struct cert_spec){ .eku = "clientAuth",
						 .constraints = "critical,CA:TRUE" }),
		     "not made for links");
}

TEST(not_for_signatures)
{
	refused_cert(&s.ca,
		     lm_with((struct cert_spec){ .eku = "clientAuth", .usage = "keyAgreement" }),
		     "not made for links");
}

TEST(another_curve)
{
	refused_cert(&s.ca, lm_with((struct cert_spec){ .eku = "clientAuth", .curve = "P-384" }),
		     "shows no certificate");
}

TEST(a_revoked_serial)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c };
	struct identity id;

	ck_assert_int_eq(pki_creds_check(&c, NULL, clock_wall(), &id, NULL), 0);
	ck_assert_int_eq(net_ctx_revoke(s.ctx, id.serial), 0);
	ck_assert(net_ctx_is_revoked(s.ctx, id.serial));
	refused(&conf, "is revoked");
	pki_creds_done(&c);
}

TEST(a_chain_of_a_hundred)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c, .extra = s.ca.cert, .extras = 100 };

	refused(&conf, "more certificates than it may");
	pki_creds_done(&c);
}

TEST(a_chain_of_three)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c, .extra = s.ca.cert, .extras = 2 };

	refused(&conf, "more certificates than two");
	pki_creds_done(&c);
}

TEST(tls_1_2)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c, .max_version = TLS1_2_VERSION };

	refused(&conf, "TLS 1.3");
	pki_creds_done(&c);
}

TEST(another_protocol_in_tls)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);

	refused(&(struct raw_conf){ .creds = &c, .alpn = "\x08http/1.1" }, "not offered here");
	pki_creds_done(&c);
}

TEST(no_protocol_in_tls)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);

	refused(&(struct raw_conf){ .creds = &c, .alpn = "" }, "not offered here");
	pki_creds_done(&c);
}

TEST(two_protocols_to_choose_from)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);

	refused(&(struct raw_conf){ .creds = &c, .alpn = "\x06omig/1\x0comig-enrol/1" },
		"not offered here");
	pki_creds_done(&c);
}

TEST(enrolling_where_it_is_not_offered)
{
	refused(&(struct raw_conf){ .alpn = "\x0comig-enrol/1" }, "not offered here");
}

TEST(plain_http)
{
	static const char get[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = raw_tcp(&s, NULL);

	ck_assert_int_eq(write(fd, get, strlen(get)), (ssize_t)strlen(get));
	UNTIL(&s, s.refused);
	ck_assert_int_eq(s.accepted, 0);
	ck_assert_msg(strstr(s.refused_why.text, "HTTP") != NULL, "%s", s.refused_why.text);
	close(fd);
}

TEST(a_saved_session_is_neither_issued_nor_resumed)
{
	struct pki_creds c = test_creds(&s.ca, &LM_SPEC);
	struct raw_conf conf = { .creds = &c };
	struct raw r;

	s.echo = true;
	raw_open(&r, &s, &conf);
	ck_assert(raw_handshake(&r, &s));
	raw_frame(&r, 1, 10);
	UNTIL(&s, s.peer[0].frames == 1);
	/* A ticket would come before the echo. */
	for (char echo[15]; SSL_read(r.ssl, echo, sizeof(echo)) <= 0;)
		loop_wait(s.loop, NSEC_PER_MSEC);
	ck_assert_int_eq(r.sessions, 0);
	conf.session = SSL_get1_session(r.ssl);
	ck_assert(!SSL_SESSION_has_ticket(conf.session));
	raw_close(&r);
	raw_open(&r, &s, &conf);
	ck_assert(raw_handshake(&r, &s));
	UNTIL(&s, s.accepted == 2);
	ck_assert(!SSL_session_reused(r.ssl));
	SSL_SESSION_free(conf.session);
	raw_close(&r);
	pki_creds_done(&c);
}

/* No current TLS client signs with such a key, so the check is called directly. */
TEST(a_key_of_16384_bits_costs_nothing)
{
	struct cert_spec spec =
		lm_with((struct cert_spec){ .eku = "clientAuth", .rsa_bits = 16384 });
	struct admit a = { .roles = ROLE_BIT(ROLE_LM) };
	X509 *cert = test_cert(&s.ca, &spec, NULL);
	struct verdict v = { 0 };
	struct identity id;

	ck_assert_int_eq(verify_peer(s.ctx, &a, &(struct presented){ .leaf = cert }, &id, &v),
			 -ERR_DENIED);
	ck_assert_msg(strstr(v.why.text, "P-256") != NULL, "%s", v.why.text);
	X509_free(cert);
}

TEST(the_certificate_must_be_there)
{
	struct admit a = { .roles = ~0u };
	struct verdict v = { 0 };
	struct identity id;

	ck_assert_int_eq(verify_peer(s.ctx, &a, &(struct presented){ NULL }, &id, &v), -ERR_DENIED);
	ck_assert_int_ne(v.x509_error, X509_V_OK);
}

SUITE_WITH("net/refused", set_up, clean_up)
