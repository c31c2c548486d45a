/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token determines the owner of a certificate, not the peer. It also determines the lifetime.
 */
#include "common/base/str.h"
#include "common/base/array.h"
#include "tests/unit/common/authority/authority.h"

#define HOUR (3600 * NSEC_PER_SEC)
#define LIFE AUTHORITY_LIFE

static struct authority a;

static void make(void)
{
	authority_open(&a, 0);
}

static void drop(void)
{
	authority_close(&a);
}

static struct token_text mint(struct token_grant g)
{
	struct token_text t;
	struct err e = { 0 };

	if (!g.wall_until)
		g.wall_until = a.now + HOUR;
	ck_assert_msg(!tokens_mint(a.tokens, &g, a.now, &t, &e), "%s", e.text);
	return t;
}

static bool enrols(const struct token_text *t, const char *role, const char *name, const char *host)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	const struct msg_enrol m = { .token_id = t->id,
				     .secret = { (const uint8_t *)t->secret, strlen(t->secret) },
				     .role = role,
				     .site = "",
				     .host = host,
				     .name = name,
				     .csr_der = { a.csr.p, a.csr.n } };
	struct msg_enrol_ack ack;

	enrol_service_grant(a.service, &m, &cert, &ack);
	return authority_take(&a, &ack, &cert);
}

static bool renews(void)
{
	const struct identity who = a.got;

	return authority_renews(&a, &who);
}

TEST(a_tool_that_calls_itself_the_owner_is_not_the_owner)
{
	struct token_grant own = {
		.roles = ROLES_TOOL, .owner = "root", .has_uid = true, .uid = 0
	};
	struct token_text owner, colleague;
	struct identity root;

	make();
	owner = mint(own);
	colleague = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_TOOL_MANIPULATE) });
	ck_assert(enrols(&owner, "tool", "root@vm", "root@vm"));
	root = a.got;
	ck_assert(root.has_uid && root.uid == 0);
	ck_assert_str_eq(root.owner, "root");
	ck_assert(enrols(&colleague, "tool", "root@vm", "root@vm"));
	ck_assert(!a.got.has_uid);
	ck_assert_str_eq(a.got.owner, colleague.id);
	ck_assert_str_eq(a.got.token, colleague.id);
	ck_assert(!identity_is_same_user(&root, &a.got));
	/* A revocation of one owner leaves the certificates of the other valid. */
	ck_assert_str_eq(cert_name(certs_at(a.certs, 1)), colleague.id);
	ck_assert_int_eq(certs_revoke(a.certs, "root@vm", a.now, NULL, NULL), 0);
	ck_assert(certs_is_revoked(a.certs, root.serial));
	ck_assert(!certs_is_revoked(a.certs, a.got.serial));
	ck_assert_int_eq(certs_revoke(a.certs, colleague.id, a.now, NULL, NULL), 0);
	ck_assert(certs_is_revoked(a.certs, a.got.serial));
	drop();
}

TEST(a_name_that_was_given_belongs_to_one_token)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_TOOL_OBSERVE),
				 .owner = "carol",
				 .uses = 1 };
	struct token_text t, other;

	make();
	g.wall_until = a.now + HOUR;
	t = mint(g);
	ck_assert_int_eq(tokens_mint(a.tokens, &g, a.now, &other, NULL), -ERR_EXISTS);
	ck_assert(enrols(&t, "tool", "whoever@vm", "h"));
	ck_assert_str_eq(a.got.owner, "carol");
	ck_assert_str_eq(a.got.host, "whoever@vm");
	/* The token is used up; its certificate still has the name. */
	other = mint(g);
	ck_assert(!enrols(&other, "tool", "carol@vm", "h"));
	ck_assert_ptr_nonnull(strstr(a.error, "carol"));
	ck_assert_int_eq(certs_revoke(a.certs, "carol", a.now, NULL, NULL), 0);
	ck_assert(enrols(&other, "tool", "carol@vm", "h"));
	g.owner[0] = '/';
	ck_assert_int_eq(tokens_mint(a.tokens, &g, a.now, &other, NULL), -ERR_INVALID);
	drop();
}

TEST(a_certificate_ends_with_its_token)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_TOOL_OBSERVE) };
	struct token_text t;

	make();
	g.wall_until = g.wall_certs_until = a.now + 2 * HOUR;
	t = mint(g);
	ck_assert(enrols(&t, "tool", "c@h", "h"));
	ck_assert_int_eq(a.got.wall_not_after, a.now + 2 * HOUR);
	a.now += 3 * HOUR / 2;
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(a.error, "ends with the token"));
	/* Another enrolment with the token ends at the same time, too. */
	ck_assert(enrols(&t, "tool", "c@h", "h"));
	ck_assert_int_eq(a.got.wall_not_after, a.now + HOUR / 2);
	drop();
}

TEST(a_daemon_is_renewed_up_to_the_limit_of_its_token)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_SM) };
	struct token_text t;
	nsec_t limit;

	make();
	g.wall_until = limit = g.wall_certs_until = a.now + 4 * LIFE / 3;
	t = mint(g);
	ck_assert(enrols(&t, "sm", "", "h"));
	ck_assert_int_eq(a.got.wall_not_after, a.now + LIFE);
	a.now += 2 * LIFE / 3;
	ck_assert(renews());
	ck_assert_int_eq(a.got.wall_not_after, limit);
	a.now += LIFE / 2;
	ck_assert(!renews());
	/* A token without a limit: its certificate can be renewed for ever. */
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_SM) });
	ck_assert(enrols(&t, "sm", "", "h2"));
	for (int i = 0; i < 5; i++) {
		a.now += 2 * LIFE / 3;
		ck_assert_msg(renews(), "%s", a.error);
	}
	drop();
}

TEST(a_token_of_a_job_makes_hosts_and_no_tools)
{
	static const char *const roles[] = { "tool", "tool-observe", "tool-admin",
					     "sm",   "factory",	     "mainsm",
					     "" };
	struct token_text t;

	make();
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM), .job = "j" });
	ck_assert(token_is_for_lms(t.id));
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		ck_assert_msg(!enrols(&t, roles[i], "root@vm", "h"), "%s", roles[i]);
	ck_assert(!enrols(&t, "tool", "root@vm", "h"));
	ck_assert_ptr_nonnull(strstr(a.error, "omig cert token"));
	ck_assert(enrols(&t, "lm", "", "h"));
	ck_assert_int_eq(a.got.role, ROLE_LM);
	ck_assert_int_le(a.got.wall_not_after, a.now + ENROL_JOB_LIFETIME_NS);
	/* The id of a token with further roles does not show that it is for lms. */
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM) });
	ck_assert(!token_is_for_lms(t.id));
	drop();
}

static bool lives(void *arg, const char *job)
{
	return str_eq(job, arg);
}

TEST(a_token_of_a_job_ends_with_the_job)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .wall_until = TOKEN_JOB_IDLE_NS };
	struct token_text long_one, short_one;
	char job[] = "long";

	make();
	a.now = 0;
	str_copy(g.job, sizeof(g.job), "long");
	long_one = mint(g);
	str_copy(g.job, sizeof(g.job), "short");
	short_one = mint(g);
	for (a.now = HOUR; a.now < 3 * TOKEN_JOB_IDLE_NS; a.now += HOUR)
		ck_assert_int_eq(tokens_keep_jobs(a.tokens, lives, job, a.now, NULL), 0);
	ck_assert_uint_eq(tokens_count(a.tokens, a.now), 1);
	a.now = clock_wall(); /* a certificate begins today */
	ck_assert(!enrols(&long_one, "lm", "", "h"));
	ck_assert(!enrols(&short_one, "lm", "", "h"));
	drop();
}

TEST(many_jobs_leave_room_for_other_tokens)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .job = "j" };
	struct token_text first, t;

	make();
	g.wall_until = a.now + HOUR;
	first = mint(g);
	for (int i = 0; i < 2 * TOKENS_MAX; i++) {
		g.wall_until++;
		t = mint(g);
	}
	ck_assert_uint_eq(tokens_count(a.tokens, a.now), TOKEN_JOBS_MAX);
	ck_assert(!enrols(&first, "lm", "", "h"));
	ck_assert(enrols(&t, "lm", "", "h"));
	drop();
}

TEST(one_token_enrols_no_faster_than_its_pace)
{
	struct token_text t, other;

	make();
	t = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	other = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	for (int i = 0; i < TOKEN_BURST; i++)
		ck_assert_int_eq(tokens_use(a.tokens, t.id, a.now, NULL), 0);
	ck_assert(!enrols(&t, "lm", "", "h"));
	ck_assert_ptr_nonnull(strstr(a.error, "at once"));
	ck_assert_uint_eq(certs_count(a.certs), 0);
	ck_assert(enrols(&other, "lm", "", "h"));
	a.now += TOKEN_PACE_NS;
	ck_assert(enrols(&t, "lm", "", "h"));
	ck_assert(!enrols(&t, "lm", "", "h"));
	/* A clock that was set back blocks enrolment only briefly. */
	a.now -= HOUR;
	ck_assert_int_eq(tokens_use(a.tokens, t.id, a.now, NULL), 0);
	drop();
}

TEST(names_are_checked_where_they_enter)
{
	static const char *const hosts[] = { "", "../x", "a/b", "..", "-h", "a b", "a@b", "a\tb" };
	static const char *const labels[] = { "../x", "a/b", "a\nb", "a\x1b[2J" };
	struct token_text lm, tool;

	make();
	lm = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_LM) });
	tool = mint((struct token_grant){ .roles = ROLE_BIT(ROLE_TOOL_OBSERVE) });
	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		ck_assert_msg(!enrols(&lm, "lm", "", hosts[i]), "%s", hosts[i]);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		ck_assert_msg(!enrols(&tool, "tool", labels[i], "h"), "%s", labels[i]);
	ck_assert(enrols(&lm, "lm", "", "node-1.example"));
	ck_assert(enrols(&tool, "tool", "me@node", "me@node"));
	drop();
}

TEST(owners_and_times_outlive_a_restart)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM),
				 .owner = "carol",
				 .has_uid = true,
				 .uid = 7,
				 .job = "a b",
				 .wall_until = HOUR,
				 .wall_certs_until = 2 * HOUR,
				 .site = "s" },
			   back;
	struct identity id = { .role = ROLE_TOOL_OBSERVE,
			       .serial = { 0x41 },
			       .host = "l@h",
			       .owner = "carol",
			       .token = "abcdefgh",
			       .wall_not_after = HOUR };
	struct token_text t;
	struct token_claim c = { .roles = ROLE_BIT(ROLE_LM), .site = "s" };
	char tokens_path[64], certs_path[64];

	make();
	snprintf(tokens_path, sizeof(tokens_path), "%s/tokens", a.dir);
	snprintf(certs_path, sizeof(certs_path), "%s/certs", a.dir);
	tokens_free(a.tokens);
	certs_free(a.certs);
	ck_assert_int_eq(tokens_open(NULL, tokens_path, &a.tokens, NULL), 0);
	ck_assert_int_eq(certs_open(NULL, certs_path, &a.certs, NULL), 0);
	ck_assert_int_eq(tokens_mint(a.tokens, &g, 1, &t, NULL), 0);
	ck_assert_int_eq(certs_add(a.certs, &id, 3 * HOUR, 1, NULL), 0);
	tokens_free(a.tokens);
	certs_free(a.certs);
	ck_assert_int_eq(tokens_open(NULL, tokens_path, &a.tokens, NULL), 0);
	ck_assert_int_eq(certs_open(NULL, certs_path, &a.certs, NULL), 0);
	c.id = t.id;
	c.secret = t.secret;
	c.nsecret = strlen(t.secret);
	ck_assert_int_eq(tokens_check(a.tokens, &c, 1, &back, NULL), 0);
	ck_assert_mem_eq(&back, &g, sizeof(g));
	ck_assert_str_eq(certs_at(a.certs, 0)->owner, "carol");
	ck_assert_str_eq(certs_at(a.certs, 0)->token, "abcdefgh");
	ck_assert_int_eq(certs_at(a.certs, 0)->wall_limit, 3 * HOUR);
	ck_assert(certs_has_owner(a.certs, "carol", "other", 1));
	ck_assert(!certs_has_owner(a.certs, "carol", "abcdefgh", 1));
	unlink(tokens_path);
	unlink(certs_path);
	drop();
}

SUITE("enrolment")
