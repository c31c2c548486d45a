/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens that mainsm grants, their holders and lifetimes, and expired tools. */
#include "tests/suite.h"
#include "tests/unit/mainsm/world.h"

static struct world w;
static struct fake_branch a;
static struct above t;

TEST(a_token_has_the_name_of_its_grantor)
{
	struct identity root = fake_identity(ROLE_TOOL_ADMIN, "", "root@h");

	str_copy(root.owner, sizeof(root.owner), "root");
	root.has_uid = true;
	world_open(&w);
	above_open_as(&w, &t, &root);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"tool\",60,1,\"carol\")"), STATUS_OK);
	ck_assert_uint_ne(above_status(&t, ":omig_cert_token(\"tool\",60,1,\"carol\")"), STATUS_OK);
	ck_assert_uint_ne(above_status(&t, ":omig_cert_token(\"tool\",60,1,\"root\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"tool\",60,1,\"a@b\")"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"lm\",60,1,\"carl\")"),
			  STATUS_PARAMETER_ERROR);
	/*
	 * A token without an end of its certificates is for daemons only, and must itself
	 * expire.
	 */
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"sm\",0,1,\"\",60)"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_cert_token(\"tool\",0,1,\"\",60)"),
			  STATUS_PARAMETER_ERROR);
	above_close(&t);
	world_done(&w);
}

TEST(a_job_gets_a_token_for_hosts_and_nothing_else)
{
	const struct reply *r;

	world_open(&w);
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	r = above_ask(&t, ":omig_job_token(\"heat\",\"a\")");
	ck_assert_ptr_nonnull(strstr(entry_of(r, 1, 0)->value, "omig1:h:1:pin:" TOKEN_LM_PREFIX));
	ck_assert_uint_eq(above_status(&t, ":omig_job_token(\"heat\",\"../a\")"),
			  STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(above_status(&t, ":omig_job_token(\"\")"), STATUS_PARAMETER_ERROR);
	ck_assert_uint_eq(tokens_count(mainsm_tokens(w.m), world_wall(&w)), 1);
	above_close(&t);
	world_done(&w);
}

TEST(a_jobs_token_lasts_as_long_as_its_processes)
{
	world_open(&w);
	below_open(&w, &a, ROLE_SM, "a", "sm-a");
	above_open(&w, &t, ROLE_TOOL_ADMIN, "t");
	below_report(&a, 1, "h1");
	below_report_rank(&a, 1, "p_1_a00000", 0, "heat");
	below_report_rank(&a, 1, "p_1_b00000", 0, "slurm-77.0");
	ck_assert_uint_eq(above_status(&t, ":omig_job_token(\"heat\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_job_token(\"77\")"), STATUS_OK);
	ck_assert_uint_eq(above_status(&t, ":omig_job_token(\"7\")"), STATUS_OK);
	for (int i = 0; i < 8; i++) {
		w.wall_ahead += TOKEN_JOB_IDLE_NS / 4;
		world_run(&w, TOKEN_JOB_IDLE_NS / 96 + SEC);
	}
	ck_assert_uint_eq(tokens_count(mainsm_tokens(w.m), world_wall(&w)), 2);
	above_close(&t);
	below_close(&a);
	world_done(&w);
}

TEST(a_tool_is_disconnected_when_its_certificate_ends)
{
	struct identity guest = fake_identity(ROLE_TOOL_OBSERVE, "", "guest@h"),
			own = fake_identity(ROLE_TOOL_ADMIN, "", "me@h");
	struct above other;

	world_open(&w);
	str_copy(guest.owner, sizeof(guest.owner), "guest");
	str_copy(own.owner, sizeof(own.owner), "me");
	own.has_uid = true;
	/* Channels use the true clock, by which the certificates are still valid. */
	guest.wall_not_after = own.wall_not_after = clock_wall() + 86400 * SEC;
	above_open_as(&w, &t, &guest);
	above_open_as(&w, &other, &own);
	w.wall_ahead = guest.wall_not_after - world_wall(&w) - 3 * SEC;
	world_run(&w, 2 * SEC);
	ck_assert_uint_eq(t.downs, 0);
	world_run(&w, 2 * SEC);
	ck_assert_uint_gt(t.downs, 0); /* may be up again: channels accept the certificate */
	ck_assert_uint_eq(other.downs, 0);
	above_close(&other);
	above_close(&t);
	world_done(&w);
}

SUITE("lapse")
