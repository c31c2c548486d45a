/* SPDX-License-Identifier: Apache-2.0 */
/* Whose a certificate is comes from the token, whatever the peer says; and it lasts as long as that says. */
#include "common/authority/enrol_service.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR (3600 * NSEC_PER_SEC)
#define LIFE (90 * 24 * HOUR)

static char dir[32];
static struct pki_ca *ca;
static struct certs *certs;
static struct tokens *tokens;
static struct enrol_service *service;
static struct buf csr;
static nsec_t now;
static struct identity got; /* what was granted last */
static char error[256];

static nsec_t wall(void *arg)
{
	return now;
}

static int any_site(void *arg, const char *claim, const char *host, const char **out, struct err *e)
{
	*out = claim[0] ? claim : "default";
	return 0;
}

static void make(void)
{
	struct enrol_service_conf conf = { .cert_lifetime = LIFE, .wall_now = wall, .choose_site = any_site };
	struct pki_key *key;

	snprintf(dir, sizeof(dir), "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(pki_ca_open(dir, "test", &ca, NULL), 0);
	ck_assert_int_eq(certs_open(NULL, &certs, NULL), 0);
	ck_assert_int_eq(tokens_open(NULL, &tokens, NULL), 0);
	conf.ca = ca;
	conf.certs = certs;
	conf.tokens = tokens;
	service = enrol_service_new(&conf);
	buf_init(&csr, PKI_DER_MAX_BYTES);
	ck_assert_int_eq(pki_key_new(&key, NULL), 0);
	ck_assert_int_eq(pki_csr_make(key, &csr, NULL), 0);
	pki_key_free(key);
	now = clock_wall() / NSEC_PER_SEC * NSEC_PER_SEC;
}

static void drop(void)
{
	static const char *const files[] = { "ca.key", "ca.crt" };
	char path[64];

	enrol_service_free(service);
	certs_free(certs);
	tokens_free(tokens);
	pki_ca_free(ca);
	buf_done(&csr);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static struct token_text mint(struct token_grant g)
{
	struct token_text t;
	struct err e = { 0 };

	if (!g.wall_until)
		g.wall_until = now + HOUR;
	ck_assert_msg(!tokens_mint(tokens, &g, now, &t, &e), "%s", e.text);
	return t;
}

static bool take(const struct msg_enrol_ack *ack, const struct buf *cert)
{
	snprintf(error, sizeof(error), "%s", ack->error);
	if (!ack->error[0])
		ck_assert_int_eq(pki_identity_from_der(&got, cert->p, cert->n, NULL), 0);
	return !ack->error[0];
}

static bool enrols(const struct token_text *t, const char *role, const char *name, const char *host)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	const struct msg_enrol m = { .token_id = t->id, .secret = { (const uint8_t *)t->secret, strlen(t->secret) },
				     .role = role, .site = "", .host = host, .name = name,
				     .csr_der = { csr.p, csr.n } };
	struct msg_enrol_ack ack;
	bool is_granted;

	enrol_service_grant(service, &m, &cert, &ack);
	is_granted = take(&ack, &cert);
	buf_done(&cert);
	return is_granted;
}

static bool renews(void)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	const struct msg_enrol m = { .csr_der = { csr.p, csr.n } };
	struct identity who = got;
	struct msg_enrol_ack ack;
	bool is_granted;

	enrol_service_renew(service, &who, &m, &cert, &ack);
	is_granted = take(&ack, &cert);
	buf_done(&cert);
	return is_granted;
}

START_TEST(a_tool_that_calls_itself_the_owner_is_not_the_owner)
{
	struct token_grant own = { .roles = ROLES_TOOL, .owner = "root", .has_uid = true, .uid = 0 };
	struct token_text owner, colleague;
	struct identity root;

	make();
	owner = mint(own);
	colleague = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_TOOL_MANIPULATE) });
	ck_assert(enrols(&owner, "tool", "root@vm", "root@vm"));
	root = got;
	ck_assert(root.has_uid && root.uid == 0);
	ck_assert_str_eq(root.owner, "root");
	ck_assert(enrols(&colleague, "tool", "root@vm", "root@vm"));
	ck_assert(!got.has_uid);
	ck_assert_str_eq(got.owner, colleague.id);
	ck_assert_str_eq(got.token, colleague.id);
	ck_assert(!identity_is_same_user(&root, &got));
	/* Blame: neither is revoked with the other. */
	ck_assert_str_eq(cert_name(certs_at(certs, 1)), colleague.id);
	ck_assert_int_eq(certs_revoke(certs, "root@vm", now, NULL, NULL), 0);
	ck_assert(certs_is_revoked(certs, root.serial));
	ck_assert(!certs_is_revoked(certs, got.serial));
	ck_assert_int_eq(certs_revoke(certs, colleague.id, now, NULL, NULL), 0);
	ck_assert(certs_is_revoked(certs, got.serial));
	drop();
}
END_TEST

START_TEST(a_name_that_was_given_belongs_to_one_token)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_TOOL_OBSERVE), .owner = "carol", .uses = 1 };
	struct token_text t, other;

	make();
	g.wall_until = now + HOUR;
	t = mint(g);
	ck_assert_int_eq(tokens_mint(tokens, &g, now, &other, NULL), -ERR_EXISTS);
	ck_assert(enrols(&t, "tool", "whoever@vm", "h"));
	ck_assert_str_eq(got.owner, "carol");
	ck_assert_str_eq(got.host, "whoever@vm");
	/* The token is used up; its certificate goes on having the name. */
	other = mint(g);
	ck_assert(!enrols(&other, "tool", "carol@vm", "h"));
	ck_assert_ptr_nonnull(strstr(error, "carol"));
	ck_assert_int_eq(certs_revoke(certs, "carol", now, NULL, NULL), 0);
	ck_assert(enrols(&other, "tool", "carol@vm", "h"));
	g.owner[0] = '/';
	ck_assert_int_eq(tokens_mint(tokens, &g, now, &other, NULL), -ERR_INVALID);
	drop();
}
END_TEST

START_TEST(a_certificate_lasts_no_longer_than_its_token_says)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_TOOL_OBSERVE) };
	struct token_text t;

	make();
	g.wall_until = g.wall_certs_until = now + 2 * HOUR;
	t = mint(g);
	ck_assert(enrols(&t, "tool", "c@h", "h"));
	ck_assert_int_eq(got.wall_not_after, now + 2 * HOUR);
	now += 3 * HOUR / 2;
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(error, "ends with the token"));
	/* Nor by another enrolment of the same token. */
	ck_assert(enrols(&t, "tool", "c@h", "h"));
	ck_assert_int_eq(got.wall_not_after, now + HOUR / 2);
	drop();
}
END_TEST

START_TEST(a_daemon_is_renewed_up_to_what_its_token_says)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_SM) };
	struct token_text t;
	nsec_t limit;

	make();
	g.wall_until = limit = g.wall_certs_until = now + 4 * LIFE / 3;
	t = mint(g);
	ck_assert(enrols(&t, "sm", "", "h"));
	ck_assert_int_eq(got.wall_not_after, now + LIFE);
	now += 2 * LIFE / 3;
	ck_assert(renews());
	ck_assert_int_eq(got.wall_not_after, limit);
	now += LIFE / 2;
	ck_assert(!renews());
	/* One that says nothing of it: as long as it serves. */
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_SM) });
	ck_assert(enrols(&t, "sm", "", "h2"));
	for (int i = 0; i < 5; i++) {
		now += 2 * LIFE / 3;
		ck_assert_msg(renews(), "%s", error);
	}
	drop();
}
END_TEST

START_TEST(a_token_of_a_job_makes_hosts_and_no_tools)
{
	static const char *const roles[] = { "tool", "tool-observe", "tool-admin", "sm", "factory", "mainsm", "" };
	struct token_text t;

	make();
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM), .job = "j" });
	ck_assert(token_is_for_lms(t.id));
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		ck_assert_msg(!enrols(&t, roles[i], "root@vm", "h"), "%s", roles[i]);
	ck_assert(!enrols(&t, "tool", "root@vm", "h"));
	ck_assert_ptr_nonnull(strstr(error, "omig cert token"));
	ck_assert(enrols(&t, "lm", "", "h"));
	ck_assert_int_eq(got.role, ROLE_LM);
	ck_assert_int_le(got.wall_not_after, now + ENROL_JOB_LIFETIME_NS);
	/* Of a token for more than that it cannot be seen. */
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM) });
	ck_assert(!token_is_for_lms(t.id));
	drop();
}
END_TEST

static bool lives(void *arg, const char *job)
{
	return str_eq(job, arg);
}

START_TEST(a_token_of_a_job_ends_with_the_job)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .wall_until = TOKEN_JOB_IDLE_NS };
	struct token_text a, b;
	char job[] = "long";

	make();
	now = 0;
	str_copy(g.job, sizeof(g.job), "long");
	a = mint(g);
	str_copy(g.job, sizeof(g.job), "short");
	b = mint(g);
	for (now = HOUR; now < 3 * TOKEN_JOB_IDLE_NS; now += HOUR)
		ck_assert_int_eq(tokens_keep_jobs(tokens, lives, job, now, NULL), 0);
	ck_assert_uint_eq(tokens_count(tokens, now), 1);
	now = clock_wall(); /* a certificate begins today */
	ck_assert(!enrols(&a, "lm", "", "h"));
	ck_assert(!enrols(&b, "lm", "", "h"));
	drop();
}
END_TEST

START_TEST(many_jobs_leave_room_for_other_tokens)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .job = "j" };
	struct token_text first, t;

	make();
	g.wall_until = now + HOUR;
	first = mint(g);
	for (int i = 0; i < 2 * TOKENS_MAX; i++) {
		g.wall_until++;
		t = mint(g);
	}
	ck_assert_uint_eq(tokens_count(tokens, now), TOKEN_JOBS_MAX);
	ck_assert(!enrols(&first, "lm", "", "h"));
	ck_assert(enrols(&t, "lm", "", "h"));
	drop();
}
END_TEST

START_TEST(one_token_enrols_no_faster_than_its_pace)
{
	struct token_text t, other;

	make();
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	other = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	for (int i = 0; i < TOKEN_BURST; i++)
		ck_assert_int_eq(tokens_use(tokens, t.id, now, NULL), 0);
	ck_assert(!enrols(&t, "lm", "", "h"));
	ck_assert_ptr_nonnull(strstr(error, "at once"));
	ck_assert_uint_eq(certs_count(certs), 0);
	ck_assert(enrols(&other, "lm", "", "h"));
	now += TOKEN_PACE_NS;
	ck_assert(enrols(&t, "lm", "", "h"));
	ck_assert(!enrols(&t, "lm", "", "h"));
	/* A clock that was set back keeps nobody out for long. */
	now -= HOUR;
	ck_assert_int_eq(tokens_use(tokens, t.id, now, NULL), 0);
	drop();
}
END_TEST

START_TEST(names_are_checked_where_they_enter)
{
	static const char *const hosts[] = { "", "../x", "a/b", "..", "-h", "a b", "a@b", "a\tb" };
	static const char *const labels[] = { "../x", "a/b", "a\nb", "a\x1b[2J" };
	struct token_text lm, tool;

	make();
	lm = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	tool = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_TOOL_OBSERVE) });
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		ck_assert_msg(!enrols(&lm, "lm", "", hosts[i]), "%s", hosts[i]);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		ck_assert_msg(!enrols(&tool, "tool", labels[i], "h"), "%s", labels[i]);
	ck_assert(enrols(&lm, "lm", "", "node-1.example"));
	ck_assert(enrols(&tool, "tool", "me@node", "me@node"));
	drop();
}
END_TEST

START_TEST(owners_and_times_outlive_a_restart)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .owner = "carol", .has_uid = true, .uid = 7, .job = "a b",
				 .wall_until = HOUR, .wall_certs_until = 2 * HOUR, .site = "s" }, back;
	struct identity id = { .role = ROLE_TOOL_OBSERVE, .serial = { 0x41 }, .host = "l@h", .owner = "carol",
			       .token = "abcdefgh", .wall_not_after = HOUR };
	struct token_text t;
	struct token_claim c = { .roles = ROLE_BIT(ROLE_LM), .site = "s" };
	char tokens_path[64], certs_path[64];

	make();
	snprintf(tokens_path, sizeof(tokens_path), "%s/tokens", dir);
	snprintf(certs_path, sizeof(certs_path), "%s/certs", dir);
	tokens_free(tokens);
	certs_free(certs);
	ck_assert_int_eq(tokens_open(tokens_path, &tokens, NULL), 0);
	ck_assert_int_eq(certs_open(certs_path, &certs, NULL), 0);
	ck_assert_int_eq(tokens_mint(tokens, &g, 1, &t, NULL), 0);
	ck_assert_int_eq(certs_add(certs, &id, 3 * HOUR, 1, NULL), 0);
	tokens_free(tokens);
	certs_free(certs);
	ck_assert_int_eq(tokens_open(tokens_path, &tokens, NULL), 0);
	ck_assert_int_eq(certs_open(certs_path, &certs, NULL), 0);
	c.id = t.id;
	c.secret = t.secret;
	c.nsecret = strlen(t.secret);
	ck_assert_int_eq(tokens_check(tokens, &c, 1, &back, NULL), 0);
	ck_assert_mem_eq(&back, &g, sizeof(g));
	ck_assert_str_eq(certs_at(certs, 0)->owner, "carol");
	ck_assert_str_eq(certs_at(certs, 0)->token, "abcdefgh");
	ck_assert_int_eq(certs_at(certs, 0)->wall_limit, 3 * HOUR);
	ck_assert(certs_has_owner(certs, "carol", "other", 1));
	ck_assert(!certs_has_owner(certs, "carol", "abcdefgh", 1));
	unlink(tokens_path);
	unlink(certs_path);
	drop();
}
END_TEST

SUITE("enrolment", a_tool_that_calls_itself_the_owner_is_not_the_owner, a_name_that_was_given_belongs_to_one_token,
      a_certificate_lasts_no_longer_than_its_token_says, a_daemon_is_renewed_up_to_what_its_token_says,
      a_token_of_a_job_makes_hosts_and_no_tools, a_token_of_a_job_ends_with_the_job,
      many_jobs_leave_room_for_other_tokens, one_token_enrols_no_faster_than_its_pace,
      names_are_checked_where_they_enter, owners_and_times_outlive_a_restart)
