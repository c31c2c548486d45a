/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/tokens.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/net/pki.h"
#include "common/authority/fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (TOKENS_MAX * 512)

struct token_item {
	char id[TOKEN_ID_LEN + 1];
	char hash[PKI_PIN_BYTES]; /* of the secret */
	struct token_grant grant;
};

struct tokens {
	char *path;
	struct token_item *v;
	size_t n, cap;
};

/* The pin of a CA is a hash like any other: 128 bits of SHA-256 in letters. */
static void hash_secret(char out[PKI_PIN_BYTES], const void *p, size_t n)
{
	pki_pin(out, p, n);
}

static int parse_line(struct tokens *t, char *line, struct err *e)
{
	char *f[6];
	struct token_item *item;
	uint64_t roles, uses;
	int rc;

	if (fields_split(line, f, 6) != 6)
		return err_set(e, ERR_PARSE, "a token has six fields");
	rc = array_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v), TOKENS_MAX);
	if (rc)
		return err_set(e, (enum err_code)-rc, "too many tokens");
	item = &t->v[t->n];
	*item = (struct token_item){0};
	if (strlen(f[0]) != TOKEN_ID_LEN || strlen(f[1]) != PKI_PIN_BYTES - 1 ||
	    str_to_u64(f[2], 1, (1u << ROLE_COUNT) - 1, &roles) || str_to_u64(f[3], 0, UINT32_MAX, &uses) ||
	    str_to_i64(f[4], 0, INT64_MAX, &item->grant.wall_until) || strlen(f[5]) > NAME_MAX_BYTES)
		return err_set(e, ERR_PARSE, "a field of this token is wrong");
	str_copy(item->id, sizeof(item->id), f[0]);
	str_copy(item->hash, sizeof(item->hash), f[1]);
	str_copy(item->grant.site, sizeof(item->grant.site), f[5]);
	item->grant.roles = (unsigned)roles;
	item->grant.uses = (uint32_t)uses;
	t->n++;
	return 0;
}

static int parse_token(void *arg, char *line, struct err *e)
{
	return parse_line(arg, line, e);
}

int tokens_open(const char *path, struct tokens **out, struct err *e)
{
	struct tokens *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (!t)
		return err_nomem(e);
	if (path) {
		t->path = str_dup(path);
		rc = t->path ? fields_read(path, FILE_MAX_BYTES, parse_token, t, e) : err_nomem(e);
	}
	if (rc) {
		tokens_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

void tokens_free(struct tokens *t)
{
	if (!t)
		return;
	free(t->path);
	free(t->v);
	free(t);
}

static int save(const struct tokens *t, struct err *e)
{
	struct buf b = BUF_INIT(FILE_MAX_BYTES);
	int rc;

	if (!t->path)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		const struct token_item *item = &t->v[i];

		if (!item->grant.is_volatile)
			buf_printf(&b, "%s\t%s\t%u\t%u\t%" PRId64 "\t%s\n", item->id, item->hash,
				   item->grant.roles, item->grant.uses, item->grant.wall_until,
				   item->grant.site);
	}
	rc = b.failed ? err_nomem(e) : file_write_atomic(t->path, b.p ? (const char *)b.p : "", b.n, e);
	buf_done(&b);
	return rc;
}

static void drop_ended(struct tokens *t, nsec_t wall_now)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].grant.wall_until > wall_now)
			t->v[kept++] = t->v[i];
	t->n = kept;
}

static int make_text(struct token_text *out, struct err *e)
{
	uint8_t id[TOKEN_ID_LEN * 5 / 8], secret[16];
	int rc = rng_fill_random(id, sizeof(id), e);

	if (!rc)
		rc = rng_fill_random(secret, sizeof(secret), e);
	if (rc)
		return rc;
	str_base32(out->id, id, sizeof(id));
	str_base32(out->secret, secret, sizeof(secret));
	str_wipe(secret, sizeof(secret));
	return 0;
}

int tokens_mint(struct tokens *t, const struct token_grant *g, nsec_t wall_now, struct token_text *out,
		struct err *e)
{
	struct token_item *item;
	int rc;

	if (!g->roles || g->wall_until <= wall_now)
		return err_set(e, ERR_INVALID, "a token needs a role and a time to live");
	drop_ended(t, wall_now);
	rc = array_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v), TOKENS_MAX);
	if (rc)
		return err_set(e, (enum err_code)-rc, "there are %d valid tokens already", TOKENS_MAX);
	rc = make_text(out, e);
	if (rc)
		return rc;
	item = &t->v[t->n];
	*item = (struct token_item){ .grant = *g };
	str_copy(item->id, sizeof(item->id), out->id);
	hash_secret(item->hash, out->secret, TOKEN_SECRET_LEN);
	t->n++;
	rc = g->is_volatile ? 0 : save(t, e);
	if (rc)
		t->n--;
	return rc;
}

static struct token_item *find(const struct tokens *t, const char *id)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->v[i].id, id))
			return &t->v[i];
	return NULL;
}

int tokens_check(const struct tokens *t, const struct token_claim *c, nsec_t wall_now,
		 struct token_grant *out, struct err *e)
{
	static const struct token_item nobody;
	const struct token_item *item = find(t, c->id);
	char hash[PKI_PIN_BYTES];
	bool known = item != NULL;

	if (!item)
		item = &nobody;
	hash_secret(hash, c->secret, c->nsecret);
	if (!str_equal_ct(hash, item->hash, sizeof(hash)) || !known)
		return err_set(e, ERR_DENIED, "this token is not valid here: take a new connection string");
	if (item->grant.wall_until <= wall_now)
		return err_set(e, ERR_DENIED, "this token has ended: take a new connection string");
	if (!(item->grant.roles & c->roles))
		return err_set(e, ERR_DENIED, "this token is for another role");
	if (item->grant.site[0] && !str_eq(item->grant.site, c->site))
		return err_set(e, ERR_DENIED, "this token is for site %s", item->grant.site);
	*out = item->grant;
	return 0;
}

int tokens_use(struct tokens *t, const char *id, nsec_t wall_now, struct err *e)
{
	struct token_item *item = find(t, id);
	bool is_volatile;

	if (!item)
		return err_set(e, ERR_NOTFOUND, "no such token");
	if (item->grant.uses == 0)
		return 0;
	is_volatile = item->grant.is_volatile;
	if (item->grant.uses > 1)
		item->grant.uses--;
	else
		*item = t->v[--t->n];
	drop_ended(t, wall_now);
	return is_volatile ? 0 : save(t, e);
}

size_t tokens_count(const struct tokens *t, nsec_t wall_now)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].grant.wall_until > wall_now;
	return n;
}
