/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FILE "ca.key"
#define CERT_FILE "ca.crt"
#define CN_BYTES 65 /* ub-common-name of RFC 5280 and a 0 */

struct pki_ca {
	EVP_PKEY *key;
	X509 *cert;
	struct buf der;
	char *pem;
	char pin[PKI_PIN_BYTES];
	nsec_t wall_not_after;
};

void pki_ca_free(struct pki_ca *ca)
{
	if (!ca)
		return;
	EVP_PKEY_free(ca->key);
	X509_free(ca->cert);
	buf_done(&ca->der);
	free(ca->pem);
	free(ca);
}

const char *pki_ca_pin(const struct pki_ca *ca)
{
	return ca->pin;
}

const char *pki_ca_pem(const struct pki_ca *ca)
{
	return ca->pem;
}

const uint8_t *pki_ca_der(const struct pki_ca *ca, size_t *n)
{
	*n = ca->der.n;
	return ca->der.p;
}

nsec_t pki_ca_wall_not_after(const struct pki_ca *ca)
{
	return ca->wall_not_after;
}

static bool add_ext(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;
	bool ok;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ok = ext && X509_add_ext(cert, ext, -1);
	X509_EXTENSION_free(ext);
	return ok;
}

/* Sets a serial of 126 random bits, which always has 16 bytes. */
static bool set_serial(X509 *cert)
{
	uint8_t serial[SERIAL_BYTES];
	BIGNUM *n;
	bool ok;

	if (rng_fill_random(serial, sizeof(serial), NULL))
		return false;
	serial[0] = (serial[0] & 0x3f) | 0x40;
	n = BN_bin2bn(serial, sizeof(serial), NULL);
	ok = n && BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
	return ok;
}

static bool set_times(X509 *cert, nsec_t from, nsec_t to)
{
	return ASN1_TIME_set(X509_getm_notBefore(cert), from / NSEC_PER_SEC) &&
	       ASN1_TIME_set(X509_getm_notAfter(cert), to / NSEC_PER_SEC);
}

static bool set_common_name(X509 *cert, const char *name)
{
	char cn[CN_BYTES];

	str_copy(cn, sizeof(cn), name);
	return X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName,
					  MBSTRING_UTF8, (const unsigned char *)cn, -1, -1, 0);
}

static bool fill_ca(X509 *cert, EVP_PKEY *key, const char *name, nsec_t now)
{
	return X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
	       set_common_name(cert, name) &&
	       X509_set_issuer_name(cert, X509_get_subject_name(cert)) &&
	       set_times(cert, now - 24 * PKI_BACKDATE_NS, now + PKI_CA_LIFETIME_NS) &&
	       X509_set_pubkey(cert, key) &&
	       add_ext(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
	       add_ext(cert, cert, NID_key_usage, "critical,keyCertSign") &&
	       add_ext(cert, cert, NID_subject_key_identifier, "hash") &&
	       X509_sign(cert, key, EVP_sha256()) > 0;
}

static int ca_make(struct pki_ca *ca, const char *name, struct err *e)
{
	ca->key = EVP_EC_gen("P-256");
	ca->cert = X509_new();
	if (!ca->key || !ca->cert || !fill_ca(ca->cert, ca->key, name, clock_wall()))
		return crypto_failed(e, "cannot make a certificate authority");
	return 0;
}

/*
 * Stores the key first: after a crash in between there is a key that has signed nothing, and the
 * next start makes both again.
 */
static int ca_store(const struct pki_ca *ca, const char *key_path, const char *cert_path,
		    struct err *e)
{
	char *key = pkey_to_pem(ca->key);
	int rc;

	if (!key)
		return err_nomem(e);
	rc = file_write_atomic(key_path, key, strlen(key), e);
	if (!rc)
		rc = file_write_atomic(cert_path, ca->pem, strlen(ca->pem), e);
	pem_wipe_free(key);
	return rc;
}

static int ca_load(struct pki_ca *ca, const char *key_path, const char *cert_path, struct err *e)
{
	struct buf key = BUF_INIT(PKI_PEM_MAX_BYTES), cert = BUF_INIT(PKI_PEM_MAX_BYTES);
	int rc = file_read(key_path, PKI_PEM_MAX_BYTES - 1, FILE_SECRET, &key, e);

	if (!rc)
		rc = file_read(cert_path, PKI_PEM_MAX_BYTES - 1, FILE_OWNED, &cert, e);
	if (!rc) {
		ca->key = pkey_from_pem(buf_str(&key), key_path, e);
		ca->cert = ca->key ? x509_from_pem(buf_str(&cert), cert_path, e) : NULL;
		rc = ca->cert ? 0 : -ERR_PARSE;
	}
	if (key.p)
		str_wipe(key.p, key.n);
	buf_done(&key);
	buf_done(&cert);
	return rc;
}

/* Checks properties that other code relies on, for a new CA and an old one. */
static int ca_finish(struct pki_ca *ca, const char *dir, struct err *e)
{
	int rc;

	if (X509_check_private_key(ca->cert, ca->key) != 1 || X509_check_ca(ca->cert) != 1)
		return err_set(e, ERR_INVALID,
			       "%s: " KEY_FILE " and " CERT_FILE " are not a certificate authority",
			       dir);
	buf_init(&ca->der, PKI_DER_MAX_BYTES);
	rc = x509_to_der(ca->cert, &ca->der, e);
	if (rc)
		return rc;
	pki_pin(ca->pin, ca->der.p, ca->der.n);
	ca->pem = x509_to_pem(ca->cert);
	if (!ca->pem || x509_wall_not_after(&ca->wall_not_after, ca->cert))
		return err_nomem(e);
	if (ca->wall_not_after <= clock_wall())
		return err_set(e, ERR_INVALID,
			       "%s: the certificate authority has expired: move " KEY_FILE
			       " and " CERT_FILE " away, start again and enrol all peers again",
			       dir);
	return 0;
}

static bool is_missing(const char *path)
{
	struct buf probe = BUF_INIT(0);

	return file_read(path, 0, 0, &probe, NULL) == -ERR_NOTFOUND;
}

static int ca_open(struct pki_ca *ca, const char *dir, const char *name, struct err *e)
{
	char key[FILE_PATH_BYTES], cert[FILE_PATH_BYTES];
	bool no_key, no_cert;
	int rc = file_private_dir(dir, e);

	if (!rc)
		rc = file_join(key, sizeof(key), dir, KEY_FILE, e);
	if (!rc)
		rc = file_join(cert, sizeof(cert), dir, CERT_FILE, e);
	if (rc)
		return rc;
	no_key = is_missing(key);
	no_cert = is_missing(cert);
	if (no_key && !no_cert)
		return err_set(e, ERR_INVALID, "%s: " CERT_FILE " is there, " KEY_FILE " is not",
			       dir);
	/*
	 * A key without a certificate is left from a crash during the first start, and has issued
	 * nothing.
	 */
	if (no_cert) {
		rc = ca_make(ca, name, e);
		if (!rc)
			rc = ca_finish(ca, dir, e);
		return rc ? rc : ca_store(ca, key, cert, e);
	}
	rc = ca_load(ca, key, cert, e);
	return rc ? rc : ca_finish(ca, dir, e);
}

int pki_ca_open(const char *dir, const char *name, struct pki_ca **out, struct err *e)
{
	struct pki_ca *ca;
	int rc;

	if (!str_is_name(name, strlen(name)))
		return err_set(e, ERR_INVALID, "a certificate authority needs a name");
	ca = calloc(1, sizeof(*ca));
	if (!ca)
		return err_nomem(e);
	rc = ca_open(ca, dir, name, e);
	if (rc)
		pki_ca_free(ca);
	else
		*out = ca;
	return rc;
}

bool role_listens(enum role r)
{
	return (ROLE_BIT(ROLE_MAINSM) | ROLE_BIT(ROLE_SM) | ROLES_SERVER) >> r & 1;
}

/* Returns the permitted usage of a certificate; verify.c requires exactly this. */
static const char *role_usage(enum role r)
{
	return role_listens(r) ? "serverAuth,clientAuth" : "clientAuth";
}

static bool fill_leaf(X509 *cert, struct pki_ca *ca, EVP_PKEY *key, const struct identity *as)
{
	char uri[IDENTITY_URI_BYTES];
	GENERAL_NAME *name = GENERAL_NAME_new();
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	ASN1_IA5STRING *text = ASN1_IA5STRING_new();
	bool ok = name && names && text && !identity_to_uri(uri, as, NULL) &&
		  ASN1_STRING_set(text, uri, -1) && sk_GENERAL_NAME_push(names, name);

	if (ok) {
		GENERAL_NAME_set0_value(name, GEN_URI, text);
		name = NULL;
		text = NULL;
	}
	ok = ok && X509_set_version(cert, X509_VERSION_3) && set_serial(cert) &&
	     set_common_name(cert, role_name(as->role)) &&
	     X509_set_issuer_name(cert, X509_get_subject_name(ca->cert)) &&
	     set_times(cert, as->wall_not_before, as->wall_not_after) &&
	     X509_set_pubkey(cert, key) &&
	     add_ext(cert, ca->cert, NID_basic_constraints, "critical,CA:FALSE") &&
	     add_ext(cert, ca->cert, NID_key_usage, "critical,digitalSignature") &&
	     add_ext(cert, ca->cert, NID_ext_key_usage, role_usage(as->role)) &&
	     add_ext(cert, ca->cert, NID_subject_key_identifier, "hash") &&
	     add_ext(cert, ca->cert, NID_authority_key_identifier, "keyid:always") &&
	     X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT) == 1 &&
	     X509_sign(cert, ca->key, EVP_sha256()) > 0;
	if (name)
		GENERAL_NAME_free(name);
	GENERAL_NAMES_free(names);
	ASN1_IA5STRING_free(text);
	return ok;
}

static int leaf_make(struct pki_ca *ca, EVP_PKEY *key, const struct identity *as, struct buf *der,
		     struct err *e)
{
	X509 *cert = X509_new();
	int rc;

	if (!cert || !fill_leaf(cert, ca, key, as))
		rc = crypto_failed(e, "cannot make a certificate");
	else
		rc = x509_to_der(cert, der, e);
	X509_free(cert);
	return rc;
}

/* Rounds to whole seconds, because certificates have no fractions. */
static nsec_t whole_seconds(nsec_t t)
{
	return t - t % NSEC_PER_SEC;
}

int pki_ca_issue(struct pki_ca *ca, struct bytes csr_der, const struct identity *as,
		 struct buf *cert, struct err *e)
{
	struct buf der = BUF_INIT(PKI_DER_MAX_BYTES);
	char uri[IDENTITY_URI_BYTES];
	struct identity id = *as;
	EVP_PKEY *key;
	int rc = identity_to_uri(uri, as, e);

	if (rc)
		return rc;
	if (id.wall_not_before <= 0)
		id.wall_not_before = clock_wall() - PKI_BACKDATE_NS;
	if (id.wall_not_after > ca->wall_not_after)
		id.wall_not_after = ca->wall_not_after;
	if (whole_seconds(id.wall_not_after) <= whole_seconds(id.wall_not_before))
		return err_set(e, ERR_INVALID, "a certificate must last at least one second");
	key = csr_check(csr_der.p, csr_der.n, e);
	if (!key)
		return -ERR_DENIED;
	rc = leaf_make(ca, key, &id, &der, e);
	EVP_PKEY_free(key);
	if (!rc)
		rc = pki_identity_from_der(&id, der.p, der.n, e);
	if (!rc && buf_put(cert, der.p, der.n))
		rc = err_nomem(e);
	buf_done(&der);
	return rc;
}
