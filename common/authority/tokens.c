/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/tokens.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/net/pki.h"
#include "common/store/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 10
#define REST 6 /* number of fields behind the roles: owner, uid, end of certificates, job */

static const struct store_kind file_kind = { .what = "tokens",
					     .version = 1,
					     .max_bytes = TOKENS_MAX * 1024 };

struct token_item {
	char id[IDENTITY_TOKEN_MAX_BYTES + 1];
	char hash[PKI_PIN_BYTES]; /* hash of the secret */
	struct token_grant grant;
	/* wall time up to which uses are paid for: each use costs TOKEN_PACE_NS */
	nsec_t paid_until;
};

struct tokens {
	struct store file;
	char *path; /* owned; NULL: stored in memory only */
	struct token_item *v;
	size_t n, cap;
};

/* Hashes a secret like the pin of a CA: 128 bits of SHA-256 in letters. */
static void hash_secret(char out[PKI_PIN_BYTES], const void *p, size_t n)
{
	pki_pin(out, p, n);
}

static bool is_id(const char *s)
{
	return strlen(s) == TOKEN_ID_LEN ||
	       (token_is_for_lms(s) && strlen(s) == strlen(TOKEN_LM_PREFIX) + TOKEN_ID_LEN);
}

static int parse_rest(struct token_grant *g, char **f, struct err *e)
{
	uint64_t uid = 0;

	if ((f[0][0] && !identity_owner_is_valid(f[0])) ||
	    (f[1][0] && str_to_u64(f[1], 0, UINT32_MAX, &uid)) ||
	    str_to_i64(f[2], 0, INT64_MAX, &g->wall_certs_until) || strlen(f[3]) > NAME_MAX_BYTES)
		return err_set(e, ERR_PARSE, "a field of this token is wrong");
	str_copy(g->owner, sizeof(g->owner), f[0]);
	str_copy(g->job, sizeof(g->job), f[3]);
	g->has_uid = f[1][0];
	g->uid = (uint32_t)uid;
	return 0;
}

static int parse_token(void *arg, char *line, struct err *e)
{
	struct tokens *t = arg;
	char *f[FIELDS];
	struct token_item *item;
	uint64_t roles, uses;
	int rc;

	if (str_split_tabs(line, f, FIELDS) != FIELDS)
		return err_set(e, ERR_PARSE, "a token has %d fields", FIELDS);
	rc = array_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v), TOKENS_MAX);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "too many tokens");
	item = &t->v[t->n];
	*item = (struct token_item){ 0 };
	if (!is_id(f[0]) || strlen(f[1]) != PKI_PIN_BYTES - 1 ||
	    str_to_u64(f[2], 1, (1u << ROLE_COUNT) - 1, &roles) ||
	    str_to_u64(f[3], 0, UINT32_MAX, &uses) ||
	    str_to_i64(f[4], 0, INT64_MAX, &item->grant.wall_until) ||
	    strlen(f[5]) > NAME_MAX_BYTES)
		return err_set(e, ERR_PARSE, "a field of this token is wrong");
	str_copy(item->id, sizeof(item->id), f[0]);
	str_copy(item->hash, sizeof(item->hash), f[1]);
	str_copy(item->grant.site, sizeof(item->grant.site), f[5]);
	item->grant.roles = (unsigned)roles;
	item->grant.uses = (uint32_t)uses;
	rc = parse_rest(&item->grant, f + REST, e);
	t->n += !rc;
	return rc;
}

int tokens_open(const struct disk *disk, const char *path, struct tokens **out, struct err *e)
{
	struct tokens *t = calloc(1, sizeof(*t));
	int rc = 0;

	if (!t)
		return err_nomem(e);
	if (path) {
		t->path = str_dup(path);
		t->file = STORE_INIT(&file_kind, disk, t->path);
		rc = t->path ? store_read_lines(&t->file, parse_token, t, e) : err_nomem(e);
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

static void put_item(struct buf *b, const struct token_item *item)
{
	const struct token_grant *g = &item->grant;
	char uid[16] = "";

	if (g->has_uid)
		snprintf(uid, sizeof(uid), "%" PRIu32, g->uid);
	buf_printf(b, "%s\t%s\t%u\t%u\t%" PRId64 "\t%s\t%s\t%s\t%" PRId64 "\t%s\n", item->id,
		   item->hash, g->roles, g->uses, g->wall_until, g->site, g->owner, uid,
		   g->wall_certs_until, g->job);
}

static int save(struct tokens *t, struct err *e)
{
	struct buf b = BUF_INIT(file_kind.max_bytes);
	int rc;

	if (!t->path)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].grant.is_volatile)
			put_item(&b, &t->v[i]);
	rc = store_write(&t->file, &b, e);
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

/*
 * Leaves at most TOKEN_JOBS_MAX - 1 tokens of jobs: removes the one that ends first, whose job has
 * been inactive for longest.
 */
static void make_room_for_job(struct tokens *t)
{
	size_t n = 0, first = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].grant.job[0] &&
		    (!n++ || t->v[i].grant.wall_until < t->v[first].grant.wall_until))
			first = i;
	if (n >= TOKEN_JOBS_MAX)
		t->v[first] = t->v[--t->n];
}

bool token_is_for_lms(const char *id)
{
	return str_has_prefix(id, TOKEN_LM_PREFIX);
}

static int make_text(unsigned roles, struct token_text *out, struct err *e)
{
	char id[TOKEN_ID_LEN + 1];
	uint8_t bytes[TOKEN_ID_LEN * 5 / 8], secret[16];
	int rc = rng_fill_random(bytes, sizeof(bytes), e);

	if (!rc)
		rc = rng_fill_random(secret, sizeof(secret), e);
	if (rc)
		return rc;
	str_base32(id, bytes, sizeof(bytes));
	snprintf(out->id, sizeof(out->id), "%s%s",
		 roles == ROLE_BIT(ROLE_LM) ? TOKEN_LM_PREFIX : "", id);
	str_base32(out->secret, secret, sizeof(secret));
	str_wipe(secret, sizeof(secret));
	return 0;
}

static int check_owner(const struct tokens *t, const struct token_grant *g, struct err *e)
{
	if (!g->owner[0])
		return 0;
	if (!identity_owner_is_valid(g->owner))
		return err_set(e, ERR_INVALID,
			       "a name has 1 to %d letters, digits, '.', '_', '-', '+'",
			       IDENTITY_OWNER_MAX_BYTES);
	for (size_t i = 0; i < t->n; i++)
		if (str_eq(t->v[i].grant.owner, g->owner) && !(t->v[i].grant.has_uid && g->has_uid))
			return err_set(e, ERR_EXISTS,
				       "another token has the name %s: it ends by time or by use",
				       g->owner);
	return 0;
}

static int check_grant(struct tokens *t, const struct token_grant *g, nsec_t wall_now,
		       struct err *e)
{
	if (!g->roles || g->wall_until <= wall_now)
		return err_set(e, ERR_INVALID, "a token needs a role and a time to live");
	drop_ended(t, wall_now);
	if (g->job[0])
		make_room_for_job(t);
	return check_owner(t, g, e);
}

int tokens_mint(struct tokens *t, const struct token_grant *g, nsec_t wall_now,
		struct token_text *out, struct err *e)
{
	struct token_item *item;
	int rc = check_grant(t, g, wall_now, e);

	if (rc)
		return rc;
	rc = array_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v), TOKENS_MAX);
	if (rc)
		return err_set(e, (enum err_code)(-rc), "there are %d valid tokens already",
			       TOKENS_MAX);
	rc = make_text(g->roles, out, e);
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

static int refuse_role(const struct token_grant *g, const char *id, struct err *e)
{
	char roles[128];

	if (token_is_for_lms(id))
		return err_set(
			e, ERR_DENIED,
			"this token is for another role: it is for programs that are watched; "
			"a tool takes one of its own (omig cert token)");
	return err_set(e, ERR_DENIED, "this token is for another role: %s",
		       role_set_names(roles, sizeof(roles), g->roles));
}

int tokens_check(const struct tokens *t, const struct token_claim *c, nsec_t wall_now,
		 struct token_grant *out, struct err *e)
{
	static const struct token_item no_item;
	const struct token_item *item = find(t, c->id);
	char hash[PKI_PIN_BYTES];
	bool known = item != NULL;

	if (!item)
		item = &no_item;
	hash_secret(hash, c->secret, c->nsecret);
	if (!str_equal_ct(hash, item->hash, sizeof(hash)) || !known)
		return err_set(e, ERR_DENIED,
			       "this token is not valid here: take a new connection string");
	if (item->grant.wall_until <= wall_now)
		return err_set(e, ERR_DENIED, "this token has ended: take a new connection string");
	if (!(item->grant.roles & c->roles))
		return refuse_role(&item->grant, c->id, e);
	if (item->grant.site[0] && !str_eq(item->grant.site, c->site))
		return err_set(e, ERR_DENIED, "this token is for site %s", item->grant.site);
	*out = item->grant;
	if (!out->owner[0])
		str_copy(out->owner, sizeof(out->owner), item->id);
	return 0;
}

/* True if the token is used too fast, by all hosts together. */
static bool is_too_fast(struct token_item *item, nsec_t wall_now)
{
	const nsec_t most = TOKEN_BURST * TOKEN_PACE_NS;

	/* The wall clock may have been set: no peer waits longer than for the burst. */
	if (item->paid_until < wall_now || item->paid_until > wall_now + 2 * most)
		item->paid_until = wall_now;
	if (item->paid_until - wall_now >= most)
		return true;
	item->paid_until += TOKEN_PACE_NS;
	return false;
}

int tokens_use(struct tokens *t, const char *id, nsec_t wall_now, struct err *e)
{
	struct token_item *item = find(t, id);
	bool is_volatile;

	if (!item)
		return err_set(e, ERR_NOTFOUND, "no such token");
	if (is_too_fast(item, wall_now))
		return err_set(
			e, ERR_AGAIN,
			"more than %d have enrolled with this token at once: one every %d ms may follow",
			TOKEN_BURST, (int)(TOKEN_PACE_NS / NSEC_PER_MSEC));
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

int tokens_keep_jobs(struct tokens *t, bool (*lives)(void *arg, const char *job), void *arg,
		     nsec_t wall_now, struct err *e)
{
	bool is_changed = false;

	for (size_t i = 0; i < t->n; i++) {
		struct token_grant *g = &t->v[i].grant;

		/* Small extensions are skipped, because each change is written. */
		if (!g->job[0] || g->wall_until <= wall_now ||
		    g->wall_until > wall_now + TOKEN_JOB_IDLE_NS - TOKEN_JOB_IDLE_NS / 8 ||
		    !lives(arg, g->job))
			continue;
		g->wall_until = wall_now + TOKEN_JOB_IDLE_NS;
		is_changed = true;
	}
	return is_changed ? save(t, e) : 0;
}

size_t tokens_count(const struct tokens *t, nsec_t wall_now)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		n += t->v[i].grant.wall_until > wall_now;
	return n;
}
