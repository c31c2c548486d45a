/* SPDX-License-Identifier: Apache-2.0 */
#include "common/authority/state.h"

#include "common/base/str.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SMALL_MAX_BYTES 8192

int state_init(struct state *s, const char *base, const char *name, struct err *e)
{
	int rc;

	*s = (struct state){ 0 };
	rc = file_join(s->dir, sizeof(s->dir), base, name, e);
	return rc ? rc : file_private_dir(s->dir, e);
}

int state_path(const struct state *s, const char *name, char out[FILE_PATH_BYTES], struct err *e)
{
	return file_join(out, FILE_PATH_BYTES, s->dir, name, e);
}

static void host_name(char *out, size_t size)
{
	out[0] = 0;
	gethostname(out, size);
	out[size - 1] = 0;
	if (!str_is_name(out, strlen(out)))
		str_copy(out, size, "localhost");
}

/* Writes user@host, the name in the CA's certificate. */
static void owner_name(char *out, size_t size)
{
	char host[HOST_NAME_MAX + 1];
	const struct passwd *pw = getpwuid(getuid());

	host_name(host, sizeof(host));
	if (pw)
		snprintf(out, size, "%s@%s", pw->pw_name, host);
	else
		snprintf(out, size, "%ld@%s", (long)getuid(), host);
}

void state_owner(char out[IDENTITY_OWNER_MAX_BYTES + 1])
{
	const struct passwd *pw = getpwuid(getuid());

	if (!pw || !str_copy(out, IDENTITY_OWNER_MAX_BYTES + 1, pw->pw_name) ||
	    !identity_owner_is_valid(out))
		snprintf(out, IDENTITY_OWNER_MAX_BYTES + 1, "%ld", (long)getuid());
}

/* Issues our own certificate into s->creds and the directory. On failure nothing changes. */
static int issue_own(struct state *s, const char *dir, nsec_t now, nsec_t lifetime, struct err *e)
{
	struct identity as = { .role = ROLE_MAINSM,
			       .wall_not_before = now - 300 * NSEC_PER_SEC,
			       .wall_not_after = now + lifetime };
	struct buf csr = BUF_INIT(PKI_DER_MAX_BYTES), cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct buf ca = BUF_INIT(PKI_DER_MAX_BYTES);
	struct pki_creds creds = { 0 };
	struct pki_key *key = NULL;
	size_t n;
	const uint8_t *der = pki_ca_der(s->ca, &n);
	int rc = pki_key_new(&key, e);

	host_name(as.host, sizeof(as.host));
	state_owner(as.owner);
	as.has_uid = true;
	as.uid = getuid();
	if (!rc)
		rc = pki_csr_make(key, &csr, e);
	if (!rc)
		rc = pki_ca_issue(s->ca, buf_bytes(&csr), &as, &cert, e);
	if (!rc && buf_put(&ca, der, n))
		rc = err_nomem(e);
	if (!rc)
		rc = pki_creds_make(&creds, key, &cert, &ca, e);
	if (!rc)
		rc = pki_creds_store(dir, &creds, e);
	if (!rc) {
		struct pki_creds old = s->creds;

		s->creds = creds;
		creds = old;
	}
	pki_creds_done(&creds);
	pki_key_free(key);
	buf_done(&csr);
	buf_done(&cert);
	buf_done(&ca);
	return rc;
}

/* True if this CA has issued the certificate, and it is not in the last third of its life. */
static bool is_fresh(const struct state *s, nsec_t now)
{
	struct identity who;

	return s->creds.cert_pem &&
	       !pki_creds_check(&s->creds, pki_ca_pin(s->ca), now, &who, NULL) &&
	       who.role == ROLE_MAINSM && who.has_uid &&
	       now < who.wall_not_after - (who.wall_not_after - who.wall_not_before) / 3;
}

int state_renew(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e)
{
	char dir[FILE_PATH_BYTES];
	int rc;

	if (is_fresh(s, wall_now))
		return 0;
	rc = state_path(s, "own", dir, e);
	if (!rc)
		rc = issue_own(s, dir, wall_now, cert_lifetime, e);
	return rc ? rc : 1;
}

int state_open(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e)
{
	char name[NAME_MAX_BYTES + 1], dir[FILE_PATH_BYTES];
	int got = state_path(s, "own", dir, e);

	owner_name(name, sizeof(name));
	if (!got)
		got = pki_ca_open(s->dir, name, &s->ca, e);
	if (got)
		return got;
	/* A certificate that cannot be read is replaced by a new one. */
	pki_creds_load(dir, &s->creds, NULL);
	got = state_renew(s, wall_now, cert_lifetime, e);
	return got < 0 ? got : 0;
}

int state_read_own(const struct state *s, nsec_t wall_now, struct pki_creds *out, struct err *e)
{
	struct pki_creds creds = { 0 };
	char dir[FILE_PATH_BYTES];
	struct identity who;
	int rc = state_path(s, "own", dir, e);

	if (!rc)
		rc = pki_creds_load(dir, &creds, e);
	if (!rc)
		rc = pki_creds_check(&creds, pki_ca_pin(s->ca), wall_now, &who, e);
	if (!rc && who.role != ROLE_MAINSM)
		rc = err_set(e, ERR_DENIED, "%s: the certificate is not that of a mainsm", dir);
	if (rc)
		pki_creds_done(&creds);
	else
		*out = creds;
	return rc;
}

void state_set_own(struct state *s, struct pki_creds *take)
{
	pki_creds_done(&s->creds);
	s->creds = *take;
	*take = (struct pki_creds){ 0 };
}

void state_done(struct state *s)
{
	pki_ca_free(s->ca);
	pki_creds_done(&s->creds);
	*s = (struct state){ 0 };
}

/* Reads a small file of one line; "" if it is missing. */
static void read_line(const struct state *s, const char *name, char *out, size_t size)
{
	struct buf b = BUF_INIT(SMALL_MAX_BYTES);
	char path[FILE_PATH_BYTES];

	out[0] = 0;
	if (!state_path(s, name, path, NULL) &&
	    !file_read(path, SMALL_MAX_BYTES - 1, FILE_SECRET, &b, NULL)) {
		str_copy(out, size, buf_str(&b));
		out[strcspn(out, "\n")] = 0;
	}
	buf_done(&b);
}

static int write_line(const struct state *s, const char *name, const char *line, struct err *e)
{
	char path[FILE_PATH_BYTES], *text;
	int rc = state_path(s, name, path, e);

	if (rc)
		return rc;
	if (asprintf(&text, "%s\n", line) < 0)
		return err_nomem(e);
	rc = file_write_atomic(path, text, strlen(text), e);
	str_wipe(text, strlen(text));
	free(text);
	return rc;
}

uint16_t state_last_port(const struct state *s)
{
	char text[16];
	uint64_t v;

	read_line(s, "port", text, sizeof(text));
	return str_to_u64(text, 1, UINT16_MAX, &v) ? 0 : (uint16_t)v;
}

int state_save_port(const struct state *s, uint16_t port, struct err *e)
{
	char text[8];

	snprintf(text, sizeof(text), "%u", port);
	return write_line(s, "port", text, e);
}

int state_read_conn(const struct state *s, const char *file, struct connstr *out, struct err *e)
{
	char text[CONNSTR_MAX_BYTES];
	int rc;

	read_line(s, file, text, sizeof(text));
	if (!text[0])
		return err_set(e, ERR_NOTFOUND, "no connection string yet");
	rc = connstr_parse(text, out, e);
	str_wipe(text, sizeof(text));
	return rc;
}

int state_save_conn(const struct state *s, const char *file, const struct connstr *c, struct err *e)
{
	struct buf b = BUF_INIT(CONNSTR_MAX_BYTES);
	int rc = connstr_print(c, true, &b);

	rc = rc ? err_set(e, (enum err_code)(-rc), "the connection string is too long")
		: write_line(s, file, buf_str(&b), e);
	if (b.p)
		str_wipe(b.p, b.n);
	buf_done(&b);
	return rc;
}

int state_keep_token(struct tokens *t, const struct token_grant *grant, nsec_t wall_now,
		     struct connstr *c, struct err *e)
{
	const struct token_claim claim = { .id = c->token_id,
					   .secret = c->secret,
					   .nsecret = strlen(c->secret),
					   .roles = grant->roles,
					   .site = "" };
	struct token_grant had;
	struct token_text text;
	int rc;

	if (c->token_id[0] && !tokens_check(t, &claim, wall_now, &had, NULL) &&
	    (had.roles & grant->roles) == grant->roles && had.has_uid == grant->has_uid &&
	    had.uid == grant->uid && had.wall_until - wall_now > (grant->wall_until - wall_now) / 2)
		return 0;
	rc = tokens_mint(t, grant, wall_now, &text, e);
	if (rc)
		return rc;
	str_copy(c->token_id, sizeof(c->token_id), text.id);
	str_copy(c->secret, sizeof(c->secret), text.secret);
	str_wipe(&text, sizeof(text));
	return 0;
}

long state_lock_owner(const struct state *s, const char *file)
{
	char text[24];
	int64_t pid;

	read_line(s, file, text, sizeof(text));
	return str_to_i64(text, 1, INT32_MAX, &pid) ? 0 : (long)pid;
}
