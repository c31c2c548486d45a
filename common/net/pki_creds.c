/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void pki_creds_done(struct pki_creds *c)
{
	free(c->cert_pem);
	pem_wipe_free(c->key_pem);
	free(c->ca_pem);
	*c = (struct pki_creds){ 0 };
}

void creds_parsed_done(struct creds_parsed *c)
{
	X509_free(c->cert);
	EVP_PKEY_free(c->key);
	X509_free(c->ca);
	*c = (struct creds_parsed){ 0 };
}

int creds_parse(struct creds_parsed *out, const struct pki_creds *c, struct err *e)
{
	struct creds_parsed p = { 0 };

	p.cert = x509_from_pem(c->cert_pem, "our certificate", e);
	p.key = p.cert ? pkey_from_pem(c->key_pem, "our key", e) : NULL;
	p.ca = p.key ? x509_from_pem(c->ca_pem, "the CA's certificate", e) : NULL;
	if (!p.ca) {
		creds_parsed_done(&p);
		return -ERR_PARSE;
	}
	*out = p;
	return 0;
}

static int check_pin(const X509 *ca, const char *pin, struct err *e)
{
	char have[PKI_PIN_BYTES];
	int rc = x509_pin(have, ca, e);

	if (rc || !pin || !strcmp(have, pin))
		return rc;
	return err_set(e, ERR_DENIED,
		       "our certificate is from the monitor %.8s, not from %.8s: enrol with a "
		       "connection string of that one",
		       have, pin);
}

static int check_times(const struct identity *id, nsec_t wall, struct err *e)
{
	char at[CLOCK_TEXT_BYTES];

	if (wall >= id->wall_not_after)
		return err_set(e, ERR_TIMEOUT, "the certificate expired on %s: enrol again",
			       clock_format_rfc3339(at, id->wall_not_after, 0));
	if (wall < id->wall_not_before)
		return err_set(e, ERR_INVALID,
			       "our certificate is valid only from %s on: check this host's clock",
			       clock_format_rfc3339(at, id->wall_not_before, 0));
	return 0;
}

int creds_check(const struct creds_parsed *p, const char *pin, nsec_t wall, struct identity *out,
		struct err *e)
{
	struct identity id;
	EVP_PKEY *ca_key = X509_get0_pubkey(p->ca);
	int rc = 0;

	if (X509_check_private_key(p->cert, p->key) != 1)
		rc = err_set(e, ERR_INVALID,
			     "our key does not belong to our certificate: enrol again");
	else if (!ca_key || X509_verify(p->cert, ca_key) != 1)
		rc = err_set(e, ERR_INVALID,
			     "our certificate is not from the CA beside it: enrol again");
	ERR_clear_error();
	if (!rc)
		rc = check_pin(p->ca, pin, e);
	if (!rc)
		rc = identity_from_x509(&id, p->cert, e);
	if (!rc)
		rc = check_times(&id, wall, e);
	if (!rc && out)
		*out = id;
	return rc;
}

int pki_creds_check(const struct pki_creds *c, const char *pin, nsec_t wall, struct identity *out,
		    struct err *e)
{
	struct creds_parsed p;
	int rc = creds_parse(&p, c, e);

	if (rc)
		return rc;
	rc = creds_check(&p, pin, wall, out, e);
	creds_parsed_done(&p);
	return rc;
}

static char *der_to_pem(const struct buf *der, struct err *e)
{
	X509 *cert = x509_from_der(der->p, der->n, e);
	char *pem = cert ? x509_to_pem(cert) : NULL;

	if (cert && !pem)
		err_nomem(e);
	X509_free(cert);
	return pem;
}

int pki_creds_make(struct pki_creds *out, const struct pki_key *k, const struct buf *cert_der,
		   const struct buf *ca_der, struct err *e)
{
	struct pki_creds c = { 0 };
	int rc = -ERR_PARSE;

	c.cert_pem = der_to_pem(cert_der, e);
	c.ca_pem = c.cert_pem ? der_to_pem(ca_der, e) : NULL;
	if (c.ca_pem) {
		c.key_pem = pkey_to_pem(pki_key_peek(k));
		rc = c.key_pem ? pki_creds_check(&c, NULL, clock_wall(), NULL, e) : err_nomem(e);
	}
	if (rc)
		pki_creds_done(&c);
	else
		*out = c;
	return rc;
}

static const struct part {
	const char *file;
	size_t at;
	unsigned flags;
} parts[] = {
	/* the certificate is last: if it exists, all files exist */
	{ "key.pem", offsetof(struct pki_creds, key_pem), FILE_SECRET },
	{ "ca.pem", offsetof(struct pki_creds, ca_pem), FILE_OWNED },
	{ "cert.pem", offsetof(struct pki_creds, cert_pem), FILE_OWNED },
};

#define LOCK_FILE "creds.lock"
/*
 * Enough for a process that writes three files and waits for the disk. It blocks the loop of a
 * daemon, so it is less than HEARTBEAT_PERIOD_NS. A process that gets no lock in time tries again
 * later, as if mainsm could not be reached.
 */
#define LOCK_WAIT_NS (2 * NSEC_PER_SEC)
#define LOCK_STEP_NS (5 * NSEC_PER_MSEC)
#define NPARTS ARRAY_LEN(parts)

static char **part_of(struct pki_creds *c, const struct part *p)
{
	return (char **)((char *)c + p->at);
}

static int load_part(const char *dir, const struct part *p, struct pki_creds *c, struct err *e)
{
	struct buf text = BUF_INIT(PKI_PEM_MAX_BYTES);
	char path[FILE_PATH_BYTES];
	int rc = file_join(path, sizeof(path), dir, p->file, e);

	if (!rc)
		rc = file_read(path, PKI_PEM_MAX_BYTES - 1, p->flags, &text, e);
	if (!rc) {
		*part_of(c, p) = str_ndup(buf_str(&text), text.n);
		rc = *part_of(c, p) ? 0 : err_nomem(e);
	}
	if (text.p)
		str_wipe(text.p, text.n);
	buf_done(&text);
	return rc;
}

/*
 * Locks the directory, which processes of a user may share. So a reader gets all files of one
 * writer. *fd -1: no lock is needed. No process has stored here with locks, or the file system has
 * none.
 */
static int lock(const char *dir, bool is_shared, int *fd, struct err *e)
{
	const struct timespec step = { .tv_nsec = LOCK_STEP_NS };
	nsec_t until = clock_mono() + LOCK_WAIT_NS;
	char path[FILE_PATH_BYTES];
	struct err why = { 0 };
	int rc = file_join(path, sizeof(path), dir, LOCK_FILE, e);

	*fd = -1;
	if (rc)
		return rc;
	while ((rc = file_lock(path, is_shared, fd, &why)) == -ERR_AGAIN && clock_mono() < until)
		nanosleep(&step, NULL);
	if (!rc || rc == -ERR_UNSUPPORTED || (is_shared && rc == -ERR_NOTFOUND))
		return 0;
	if (e)
		*e = why;
	return rc;
}

static void unlock(int fd)
{
	if (fd >= 0)
		close(fd);
}

int pki_creds_load(const char *dir, struct pki_creds *out, struct err *e)
{
	struct pki_creds c = { 0 };
	int rc, turn = -1;

	/* not file_private_dir(), which would make the directory */
	if (access(dir, F_OK))
		return err_set(e, ERR_NOTFOUND, "%s: not enrolled yet", dir);
	rc = file_private_dir(dir, e);
	if (!rc)
		rc = lock(dir, true, &turn, e);
	for (size_t i = 0; i < NPARTS && !rc; i++)
		rc = load_part(dir, &parts[i], &c, e);
	unlock(turn);
	if (rc)
		pki_creds_done(&c);
	else
		*out = c;
	return rc;
}

static int store_part(const char *dir, const struct part *p, struct pki_creds *c, struct err *e)
{
	char path[FILE_PATH_BYTES];
	int rc = file_join(path, sizeof(path), dir, p->file, e);

	return rc ? rc : file_write_atomic(path, *part_of(c, p), strlen(*part_of(c, p)), e);
}

int pki_creds_store(const char *dir, const struct pki_creds *c, struct err *e)
{
	struct pki_creds view = *c;
	int turn, rc = file_private_dir(dir, e);

	if (!rc)
		rc = lock(dir, false, &turn, e);
	if (rc)
		return rc;
	for (size_t i = 0; i < NPARTS && !rc; i++)
		rc = store_part(dir, &parts[i], &view, e);
	unlock(turn);
	return rc;
}

static void erase(const char *dir, const char *file)
{
	char path[FILE_PATH_BYTES];

	if (!file_join(path, sizeof(path), dir, file, NULL))
		file_remove(path, NULL);
}

void pki_creds_erase(const char *dir)
{
	for (size_t i = 0; i < NPARTS; i++)
		erase(dir, parts[i].file);
	erase(dir, LOCK_FILE);
}
