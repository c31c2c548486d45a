/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/certs.h"
#include "common/authority/tokens.h"
#include "common/base/array.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "mainsm/directory/numbers.h"
#include "tests/suite.h"
#include "tests/unit/common/store/each_fault.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOUR (3600 * NSEC_PER_SEC)

static char dir[] = "/tmp/omig-test-XXXXXX";
static char path[64];

static void make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/f", dir);
}

static void drop_dir(void)
{
	static const char *const names[] = { "f", "names", "boot" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static int try(const struct tokens *t, const struct token_text *x, unsigned roles, const char *site,
	       nsec_t now)
{
	struct token_claim c = { x->id, x->secret, strlen(x->secret), roles, site };
	struct token_grant g;

	return tokens_check(t, &c, now, &g, NULL);
}

TEST(a_token_is_for_its_roles_its_site_and_its_time)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .site = "a", .wall_until = 2 * HOUR };
	struct token_text x, other;
	struct tokens *t;

	ck_assert_int_eq(tokens_open(NULL, NULL, &t, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, HOUR, &x, NULL), 0);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "a", HOUR), 0);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_SM), "a", HOUR), -ERR_DENIED);
	ck_assert_int_eq(try(t, &x, 0, "a", HOUR), -ERR_DENIED);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "b", HOUR), -ERR_DENIED);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "a", 2 * HOUR - 1), 0);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "a", 2 * HOUR), -ERR_DENIED);
	other = x;
	other.secret[0] = other.secret[0] == 'a' ? 'b' : 'a';
	ck_assert_int_eq(try(t, &other, ROLE_BIT(ROLE_LM), "a", HOUR), -ERR_DENIED);
	other = x;
	other.secret[25] = 0;
	ck_assert_int_eq(try(t, &other, ROLE_BIT(ROLE_LM), "a", HOUR), -ERR_DENIED);
	ck_assert_int_eq(try(t, &(struct token_text){ 0 }, ROLE_BIT(ROLE_LM), "a", HOUR),
			 -ERR_DENIED);
	tokens_free(t);
}

TEST(unknown_and_wrong_secrets_read_the_same)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .wall_until = HOUR }, got;
	struct err a = { 0 }, b = { 0 };
	struct token_text x;
	struct token_claim c;
	struct tokens *t;

	ck_assert_int_eq(tokens_open(NULL, NULL, &t, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, 0, &x, NULL), 0);
	c = (struct token_claim){ x.id, "no", 2, ROLE_BIT(ROLE_LM), "" };
	ck_assert_int_eq(tokens_check(t, &c, 1, &got, &a), -ERR_DENIED);
	c.id = "zzzzzzzz";
	ck_assert_int_eq(tokens_check(t, &c, 1, &got, &b), -ERR_DENIED);
	ck_assert_str_eq(a.text, b.text);
	tokens_free(t);
}

TEST(a_token_of_two_uses_is_used_twice)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .wall_until = HOUR, .uses = 2 };
	struct token_text x;
	struct tokens *t;

	ck_assert_int_eq(tokens_open(NULL, NULL, &t, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, 0, &x, NULL), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "", 1), 0);
		ck_assert_int_eq(tokens_use(t, x.id, 1, NULL), 0);
	}
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_LM), "", 1), -ERR_DENIED);
	ck_assert_int_eq(tokens_use(t, x.id, 1, NULL), -ERR_NOTFOUND);
	ck_assert_uint_eq(tokens_count(t, 1), 0);
	tokens_free(t);
}

TEST(tokens_outlive_a_restart_without_their_secrets)
{
	struct token_grant g = {
		.roles = ROLE_BIT(ROLE_SM), .site = "a b", .wall_until = HOUR, .uses = 3
	};
	struct token_text x, y;
	struct buf b = BUF_INIT(4096);
	struct tokens *t;

	make_dir();
	ck_assert_int_eq(tokens_open(NULL, path, &t, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, 1, &x, NULL), 0);
	g.is_volatile = true;
	ck_assert_int_eq(tokens_mint(t, &g, 1, &y, NULL), 0);
	ck_assert_int_eq(tokens_use(t, x.id, 1, NULL), 0);
	tokens_free(t);
	ck_assert_int_eq(file_read(path, 4096, FILE_SECRET, &b, NULL), 0);
	ck_assert_ptr_null(strstr(buf_str(&b), x.secret));
	buf_done(&b);
	ck_assert_int_eq(tokens_open(NULL, path, &t, NULL), 0);
	ck_assert_int_eq(try(t, &x, ROLE_BIT(ROLE_SM), "a b", 2), 0);
	ck_assert_int_eq(try(t, &y, ROLE_BIT(ROLE_SM), "a b", 2), -ERR_DENIED);
	ck_assert_int_eq(tokens_use(t, x.id, 2, NULL), 0);
	ck_assert_int_eq(tokens_use(t, x.id, 2, NULL), 0);
	ck_assert_int_eq(tokens_use(t, x.id, 2, NULL), -ERR_NOTFOUND);
	tokens_free(t);
	drop_dir();
}

TEST(there_is_an_end_of_tokens_and_ended_ones_make_room)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_LM), .wall_until = 10 };
	struct token_text x;
	struct tokens *t;

	ck_assert_int_eq(tokens_open(NULL, NULL, &t, NULL), 0);
	for (int i = 0; i < TOKENS_MAX; i++)
		ck_assert_int_eq(tokens_mint(t, &g, 1, &x, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, 1, &x, NULL), -ERR_LIMIT);
	g.wall_until = 20;
	ck_assert_int_eq(tokens_mint(t, &g, 10, &x, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &(struct token_grant){ .wall_until = 99 }, 1, &x, NULL),
			 -ERR_INVALID);
	ck_assert_int_eq(tokens_mint(t, &g, 20, &x, NULL), -ERR_INVALID);
	tokens_free(t);
}

TEST(a_damaged_file_is_reported_with_its_line)
{
	static const char *const bad[] = { "x\n", "a\tb\tc\td\te\tf\n", "\n",
					   "zzzzzzzz\tshort\t2\t0\t9\t\n" };
	struct tokens *t;
	struct certs *c;

	make_dir();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };

		put_kept(NULL, path, "tokens 1", bad[i]);
		ck_assert_int_eq(tokens_open(NULL, path, &t, &e), -ERR_PARSE);
		ck_assert_ptr_nonnull(strstr(e.text, "/f:1: "));
		ck_assert_int_eq(certs_open(NULL, path, &c, &e), -ERR_PARSE); /* another kind */
		ck_assert_ptr_nonnull(strstr(e.text, "/f: byte 0: "));
		put_kept(NULL, path, "certificates 1", bad[i]);
		ck_assert_int_eq(certs_open(NULL, path, &c, &e), -ERR_PARSE);
		ck_assert_ptr_nonnull(strstr(e.text, "/f:1: "));
		/* in the form of an earlier version */
		ck_assert_int_eq(file_write_atomic(path, bad[i], strlen(bad[i]), NULL), 0);
		ck_assert_int_eq(tokens_open(NULL, path, &t, &e), -ERR_PARSE);
		ck_assert_ptr_nonnull(
			strstr(e.text, "/f: byte 0: not in the form of this version"));
	}
	drop_dir();
}

/* --- a disk that fails */

static struct token_text minted;

static void mint_with_two_uses(const struct disk *d)
{
	struct token_grant g = { .roles = ROLE_BIT(ROLE_SM), .wall_until = HOUR, .uses = 2 };
	struct tokens *t;

	ck_assert_int_eq(tokens_open(d, "tokens", &t, NULL), 0);
	ck_assert_int_eq(tokens_mint(t, &g, 1, &minted, NULL), 0);
	tokens_free(t);
}

static unsigned uses_left(const struct tokens *t)
{
	struct token_claim c = { .id = minted.id,
				 .secret = minted.secret,
				 .nsecret = TOKEN_SECRET_LEN,
				 .roles = ROLE_BIT(ROLE_SM),
				 .site = "" };
	struct token_grant g = { 0 };

	return tokens_check(t, &c, 2, &g, NULL) ? 0 : g.uses;
}

static int use_once(const struct disk *d)
{
	struct tokens *t;
	int rc = tokens_open(d, "tokens", &t, NULL);

	if (rc)
		return rc;
	rc = uses_left(t) == 2 ? tokens_use(t, minted.id, 2, NULL) : 0;
	tokens_free(t);
	return rc;
}

static enum kept_state uses_there(const struct disk *d)
{
	struct tokens *t;
	unsigned n;

	ck_assert_int_eq(tokens_open(d, "tokens", &t, NULL), 0);
	n = uses_left(t);
	tokens_free(t);
	return n == 2 ? KEPT_OLD : n == 1 ? KEPT_NEW : KEPT_OTHER;
}

TEST(token_is_stored_with_its_uses_after_each_fault)
{
	each_fault(&(struct kept_case){ "use", mint_with_two_uses, use_once, uses_there, false });
}

static struct identity somebody(uint8_t n, const char *host)
{
	struct identity id = { .role = ROLE_LM, .site = "a", .wall_not_after = 100 };

	id.serial[15] = n;
	snprintf(id.host, sizeof(id.host), "%s", host);
	return id;
}

static void count_revoked(void *arg, const uint8_t serial[SERIAL_BYTES])
{
	*(unsigned *)arg += serial[15];
}

TEST(certificates_are_revoked_by_serial_and_by_name_and_stay_so)
{
	struct identity one = somebody(1, "h1"), two = somebody(2, "h2"), three = somebody(4, "h2");
	struct certs *c;
	unsigned sum = 0;
	size_t n = 0;

	make_dir();
	ck_assert_int_eq(certs_open(NULL, path, &c, NULL), 0);
	ck_assert_int_eq(certs_add(c, &one, 0, 1, NULL), 0);
	ck_assert_int_eq(certs_add(c, &two, 0, 1, NULL), 0);
	ck_assert_int_eq(certs_add(c, &three, 0, 1, NULL), 0);
	ck_assert_int_eq(certs_revoke(c, "h2", 5, &n, NULL), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(certs_revoke(c, "h2", 5, &n, NULL), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(certs_revoke(c, "nobody", 5, &n, NULL), -ERR_NOTFOUND);
	certs_free(c);
	ck_assert_int_eq(certs_open(NULL, path, &c, NULL), 0);
	certs_each_revoked(c, count_revoked, &sum);
	ck_assert_uint_eq(sum, 6);
	ck_assert_int_eq(certs_revoke(c, certs_at(c, 0)->serial, 5, &n, NULL), 0);
	ck_assert_uint_eq(n, 1);
	/* Ended ones are forgotten, revoked or not. */
	one.wall_not_after = 1000;
	ck_assert_int_eq(certs_add(c, &one, 0, 100, NULL), 0);
	ck_assert_uint_eq(certs_count(c), 1);
	certs_free(c);
	drop_dir();
}

TEST(a_revocation_that_could_not_be_written_is_written_next_time)
{
	struct identity one = somebody(1, "h1");
	char away[64];
	struct certs *c;
	unsigned sum = 0;
	size_t n = 0;

	make_dir();
	snprintf(away, sizeof(away), "%s.away", dir);
	ck_assert_int_eq(certs_open(NULL, path, &c, NULL), 0);
	ck_assert_int_eq(certs_add(c, &one, 0, 1, NULL), 0);
	ck_assert_int_eq(rename(dir, away), 0);
	ck_assert_int_lt(certs_revoke(c, "h1", 5, &n, NULL), 0);
	/* The revocation applies although it was not written. */
	ck_assert_uint_eq(n, 1);
	ck_assert(certs_is_revoked(c, one.serial));
	ck_assert_int_eq(rename(away, dir), 0);
	ck_assert_int_eq(certs_revoke(c, "h1", 5, &n, NULL), 0);
	certs_free(c);
	ck_assert_int_eq(certs_open(NULL, path, &c, NULL), 0);
	certs_each_revoked(c, count_revoked, &sum);
	ck_assert_uint_eq(sum, 1);
	certs_free(c);
	drop_dir();
}

TEST(numbers_stay_with_their_names)
{
	struct numbers *n;
	uint32_t a, b, x, y, z;
	uint64_t first, second;

	make_dir();
	ck_assert_int_eq(numbers_open(NULL, dir, &n, NULL), 0);
	ck_assert_int_eq(numbers_site(n, "a", &a), 0);
	ck_assert_int_eq(numbers_site(n, "b", &b), 0);
	ck_assert_int_eq(numbers_node(n, "a", "h 1", &x), 0);
	ck_assert_int_eq(numbers_node(n, "b", "h 1", &y), 0);
	ck_assert_uint_eq(a, 1);
	ck_assert_uint_eq(b, 2);
	ck_assert(x != y);
	first = numbers_mint(n, NUMBER_CSR);
	ck_assert_uint_eq(first, 1);
	ck_assert(numbers_mint(n, NUMBER_CSR) != first);
	ck_assert(numbers_is_dirty(n));
	ck_assert_int_eq(numbers_flush(n, NULL), 0);
	ck_assert(!numbers_is_dirty(n));
	numbers_free(n);
	ck_assert_int_eq(numbers_open(NULL, dir, &n, NULL), 0);
	ck_assert_int_eq(numbers_node(n, "b", "h 1", &z), 0);
	ck_assert_uint_eq(z, y);
	ck_assert_int_eq(numbers_node(n, "b", "h 2", &z), 0);
	ck_assert(z != x && z != y);
	second = numbers_mint(n, NUMBER_CSR);
	ck_assert(second > 2);
	numbers_free(n);
	drop_dir();
}

TEST(a_counter_that_runs_over_continues_above_the_next_boot)
{
	struct numbers *n;
	uint64_t last = 0;

	ck_assert_int_eq(numbers_open(NULL, NULL, &n, NULL), 0);
	for (uint32_t i = 0; i < (1u << 20) + 5; i++) {
		uint64_t v = numbers_mint(n, NUMBER_EVENT);

		ck_assert(v > last);
		last = v;
	}
	numbers_free(n);
}

SUITE("tokens")
