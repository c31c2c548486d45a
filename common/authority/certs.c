/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/certs.h"

#include "common/base/array.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/store/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 4096 /* per line; the longest names have 255 bytes each */
/* lines of ended certificates that are kept, so that a small file is seldom rewritten */
#define LINES_KEPT 64
#define FIELDS 11
/* number of fields behind the identity: owner, token, whether it is the user's own, limit */
#define REST 7

static const struct store_kind file_kind = { .what = "certificates",
					     .version = 1,
					     .max_bytes = (size_t)CERTS_MAX * 384 };

struct certs {
	char *path; /* owned; NULL: stored in memory only */
	struct store file;
	size_t lines; /* lines in the file */
	struct cert *v;
	size_t n, cap;
};

static int grow(struct certs *c, struct err *e)
{
	int rc = array_grow(&c->v, &c->cap, c->n + 1, sizeof(*c->v), CERTS_MAX);

	return rc ? err_set(e, (enum err_code)(-rc), "there are %zu valid certificates already",
			    c->n)
		  : 0;
}

static int parse_rest(struct cert *cert, char **f, struct err *e)
{
	cert->has_uid = str_eq(f[2], "own");
	if (!str_copy(cert->owner, sizeof(cert->owner), f[0]) ||
	    !str_copy(cert->token, sizeof(cert->token), f[1]) ||
	    str_to_i64(f[3], 0, INT64_MAX, &cert->wall_limit))
		return err_set(e, ERR_PARSE, "a field of this certificate is wrong");
	return 0;
}

static int parse_cert(void *arg, char *line, struct err *e)
{
	struct certs *c = arg;
	uint8_t serial[SERIAL_BYTES];
	struct cert *cert;
	char *f[FIELDS];
	int rc;

	c->lines++;
	if (str_split_tabs(line, f, FIELDS) != FIELDS)
		return err_set(e, ERR_PARSE, "a certificate has %d fields", FIELDS);
	if (grow(c, e))
		return -ERR_LIMIT;
	cert = &c->v[c->n];
	*cert = (struct cert){ .role = role_from_name(f[1]), .revoked = str_eq(f[6], "revoked") };
	if (str_from_hex(serial, SERIAL_BYTES, f[0]) || cert->role == ROLE_NONE ||
	    !str_copy(cert->site, sizeof(cert->site), f[2]) ||
	    !str_copy(cert->host, sizeof(cert->host), f[3]) ||
	    str_to_i64(f[4], 0, INT64_MAX, &cert->wall_issued) ||
	    str_to_i64(f[5], 0, INT64_MAX, &cert->wall_until))
		return err_set(e, ERR_PARSE, "a field of this certificate is wrong");
	str_copy(cert->serial, sizeof(cert->serial), f[0]);
	rc = parse_rest(cert, f + REST, e);
	c->n += !rc;
	return rc;
}

int certs_open(const struct disk *disk, const char *path, struct certs **out, struct err *e)
{
	struct certs *c = calloc(1, sizeof(*c));
	int rc = 0;

	if (!c)
		return err_nomem(e);
	if (path) {
		c->path = str_dup(path);
		c->file = STORE_INIT(&file_kind, disk, c->path);
		rc = c->path ? store_read_lines(&c->file, parse_cert, c, e) : err_nomem(e);
	}
	if (rc) {
		certs_free(c);
		return rc;
	}
	*out = c;
	return 0;
}

void certs_free(struct certs *c)
{
	if (!c)
		return;
	free(c->path);
	free(c->v);
	free(c);
}

size_t certs_damaged(const struct certs *c)
{
	return c->file.damaged;
}

static void put_cert(struct buf *b, const struct cert *cert)
{
	buf_printf(b, "%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%s\t%s\t%s\t%s\t%" PRId64 "\n",
		   cert->serial, role_name(cert->role), cert->site, cert->host, cert->wall_issued,
		   cert->wall_until, cert->revoked ? "revoked" : "valid", cert->owner, cert->token,
		   cert->has_uid ? "own" : "", cert->wall_limit);
}

static int save(struct certs *c, struct err *e)
{
	struct buf b = BUF_INIT(file_kind.max_bytes);
	int rc;

	if (!c->path)
		return 0;
	for (size_t i = 0; i < c->n; i++)
		put_cert(&b, &c->v[i]);
	rc = store_write(&c->file, &b, e);
	c->lines = rc ? c->lines : c->n;
	buf_done(&b);
	return rc;
}

/* True if the file may grow. Ended certificates stay in it until they are as many as the others. */
static bool has_room(const struct certs *c)
{
	return c->lines < CERTS_MAX && c->lines < 2 * c->n + LINES_KEPT;
}

/* Appends the newest certificate. If that fails, writes the whole file. */
static int save_last(struct certs *c, struct err *e)
{
	struct buf b = BUF_INIT(LINE_MAX_BYTES);
	int rc = -ERR_LIMIT;

	if (!c->path)
		return 0;
	if (has_room(c)) {
		put_cert(&b, &c->v[c->n - 1]);
		rc = b.failed ? -ERR_NOMEM : store_add(&c->file, b.p, b.n, NULL);
		c->lines += !rc;
		buf_done(&b);
	}
	return rc ? save(c, e) : 0;
}

static void forget_ended(struct certs *c, nsec_t wall_now)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].wall_until > wall_now)
			c->v[kept++] = c->v[i];
	c->n = kept;
}

static int check_token(const struct certs *c, const char *token, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; token[0] && i < c->n; i++)
		n += str_eq(c->v[i].token, token);
	return n < CERTS_OF_TOKEN_MAX
		       ? 0
		       : err_set(e, ERR_LIMIT,
				 "%zu certificates by the token %s are valid: make another one", n,
				 token);
}

int certs_add(struct certs *c, const struct identity *issued, nsec_t limit, nsec_t wall_now,
	      struct err *e)
{
	struct cert *cert;
	int rc;

	forget_ended(c, wall_now);
	rc = check_token(c, issued->token, e);
	if (!rc)
		rc = grow(c, e);
	if (rc)
		return rc;
	cert = &c->v[c->n];
	*cert = (struct cert){ .role = issued->role,
			       .wall_issued = wall_now,
			       .has_uid = issued->has_uid,
			       .wall_until = issued->wall_not_after,
			       .wall_limit = limit };
	str_copy(cert->owner, sizeof(cert->owner), issued->owner);
	str_copy(cert->token, sizeof(cert->token), issued->token);
	str_hex(cert->serial, issued->serial, SERIAL_BYTES);
	str_copy(cert->site, sizeof(cert->site), issued->site);
	str_copy(cert->host, sizeof(cert->host), issued->host);
	c->n++;
	rc = save_last(c, e);
	if (rc)
		c->n--;
	return rc;
}

const char *cert_name(const struct cert *c)
{
	bool is_named = (ROLES_TOOL | ROLES_SERVER) >> c->role & 1;

	return is_named && !c->has_uid && c->owner[0] ? c->owner : c->host;
}

/*
 * True if a certificate matches `what`. A tool's own label is never compared: with the label of
 * another tool, it would be revoked with that tool, or protect it.
 */
static bool is_meant(const struct cert *c, const char *what)
{
	return str_eq(c->serial, what) || str_eq(cert_name(c), what) ||
	       (c->token[0] && str_eq(c->token, what));
}

int certs_revoke(struct certs *c, const char *what, nsec_t wall_now, size_t *n, struct err *e)
{
	size_t matched = 0, revoked = 0;
	int rc = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct cert *cert = &c->v[i];

		if (cert->wall_until <= wall_now || !is_meant(cert, what))
			continue;
		matched++;
		revoked += !cert->revoked;
		cert->revoked = true;
	}
	if (!matched)
		return err_set(e, ERR_NOTFOUND, "no valid certificate has that serial or name");
	/* Saves even if all were revoked before, because an earlier write may have failed. */
	rc = save(c, e);
	if (n)
		*n = revoked;
	return rc;
}

const struct cert *certs_find(const struct certs *c, const uint8_t serial[SERIAL_BYTES])
{
	char hex[2 * SERIAL_BYTES + 1];

	str_hex(hex, serial, SERIAL_BYTES);
	for (size_t i = 0; i < c->n; i++)
		if (str_eq(c->v[i].serial, hex))
			return &c->v[i];
	return NULL;
}

bool certs_is_revoked(const struct certs *c, const uint8_t serial[SERIAL_BYTES])
{
	const struct cert *cert = certs_find(c, serial);

	return cert && cert->revoked;
}

bool certs_has_owner(const struct certs *c, const char *owner, const char *token, nsec_t wall_now)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].wall_until > wall_now && !c->v[i].revoked &&
		    str_eq(c->v[i].owner, owner) && !str_eq(c->v[i].token, token))
			return true;
	return false;
}

nsec_t certs_issued_last(const struct certs *c, const struct identity *who)
{
	char own[2 * SERIAL_BYTES + 1];
	nsec_t last = 0;

	str_hex(own, who->serial, SERIAL_BYTES);
	for (size_t i = 0; i < c->n; i++) {
		const struct cert *x = &c->v[i];

		if (x->wall_issued > last && x->role == who->role && str_eq(x->host, who->host) &&
		    str_eq(x->site, who->site) && str_eq(x->owner, who->owner) &&
		    str_eq(x->token, who->token) && !str_eq(x->serial, own))
			last = x->wall_issued;
	}
	return last;
}

size_t certs_count(const struct certs *c)
{
	return c->n;
}

const struct cert *certs_at(const struct certs *c, size_t i)
{
	return i < c->n ? &c->v[i] : NULL;
}

void certs_each_revoked(const struct certs *c,
			void (*fn)(void *arg, const uint8_t serial[SERIAL_BYTES]), void *arg)
{
	uint8_t serial[SERIAL_BYTES];

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].revoked && !str_from_hex(serial, SERIAL_BYTES, c->v[i].serial))
			fn(arg, serial);
}
