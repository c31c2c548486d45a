/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the contents of certificates, and converts DER and PEM. */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

int crypto_failed(struct err *e, const char *what)
{
	unsigned long code = ERR_peek_last_error();
	char words[80];

	ERR_clear_error();
	if (ERR_GET_REASON(code) == ERR_R_MALLOC_FAILURE)
		return err_nomem(e);
	ERR_error_string_n(code, words, sizeof(words));
	return err_set(e, ERR_INTERNAL, "%s: %s", what,
		       code ? words : "refused by the TLS library");
}

void pki_pin(char out[PKI_PIN_BYTES], const void *ca_der, size_t n)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];

	SHA256(ca_der, n, digest);
	str_base32(out, digest, 16);
}

bool pki_pin_is_valid(const char *pin)
{
	uint8_t bytes[16];

	return !str_from_base32(bytes, sizeof(bytes), pin);
}

int x509_to_der(const X509 *cert, struct buf *out, struct err *e)
{
	uint8_t *der = NULL;
	int n = i2d_X509(cert, &der);
	int rc;

	if (n <= 0)
		return crypto_failed(e, "cannot write a certificate");
	rc = buf_put(out, der, (size_t)n);
	OPENSSL_free(der);
	return rc ? err_nomem(e) : 0;
}

int x509_pin(char out[PKI_PIN_BYTES], const X509 *ca, struct err *e)
{
	struct buf der = BUF_INIT(PKI_DER_MAX_BYTES);
	int rc = x509_to_der(ca, &der, e);

	if (!rc)
		pki_pin(out, der.p, der.n);
	buf_done(&der);
	return rc;
}

X509 *x509_from_der(const void *p, size_t n, struct err *e)
{
	const uint8_t *at = p;
	X509 *cert;

	if (n > PKI_DER_MAX_BYTES) {
		err_set(e, ERR_PARSE, "a certificate of %zu bytes is too large", n);
		return NULL;
	}
	cert = d2i_X509(NULL, &at, (long)n);
	if (!cert || at != (const uint8_t *)p + n) {
		X509_free(cert);
		ERR_clear_error();
		err_set(e, ERR_PARSE, "this is not a certificate");
		return NULL;
	}
	return cert;
}

X509 *x509_from_pem(const char *pem, const char *what, struct err *e)
{
	BIO *in = BIO_new_mem_buf(pem, -1);
	X509 *cert = in ? PEM_read_bio_X509(in, NULL, NULL, NULL) : NULL;

	BIO_free(in);
	ERR_clear_error();
	if (!cert)
		err_set(e, ERR_PARSE, "%s is not a certificate in PEM form", what);
	return cert;
}

/* Returns a text that the caller frees. */
char *bio_text(BIO *b)
{
	char *p;
	long n = BIO_get_mem_data(b, &p);

	return n > 0 ? str_ndup(p, (size_t)n) : NULL;
}

char *x509_to_pem(X509 *cert)
{
	BIO *out = BIO_new(BIO_s_mem());
	char *pem = out && PEM_write_bio_X509(out, cert) ? bio_text(out) : NULL;

	BIO_free(out);
	ERR_clear_error();
	return pem;
}

static int read_time(nsec_t *wall, const ASN1_TIME *t)
{
	struct tm tm;
	time_t s;

	if (!t || !ASN1_TIME_to_tm(t, &tm))
		return -ERR_PARSE;
	s = timegm(&tm);
	if (s < 0 || s > INT64_MAX / NSEC_PER_SEC)
		*wall = s < 0 ? 0 : INT64_MAX;
	else
		*wall = (nsec_t)s * NSEC_PER_SEC;
	return 0;
}

static int read_serial(uint8_t out[SERIAL_BYTES], const X509 *cert)
{
	BIGNUM *n = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL);
	int rc = -ERR_PARSE;

	if (n && !BN_is_negative(n) && BN_bn2binpad(n, out, SERIAL_BYTES) == SERIAL_BYTES)
		rc = 0;
	BN_free(n);
	return rc;
}

/* Requires exactly one name, which must be a URI. */
static int read_uri(struct identity *id, const X509 *cert, struct err *e)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
	GENERAL_NAME *name =
		sk_GENERAL_NAME_num(names) == 1 ? sk_GENERAL_NAME_value(names, 0) : NULL;
	int rc;

	if (!name || name->type != GEN_URI)
		rc = err_set(e, ERR_PARSE, "the certificate names no role");
	else
		rc = identity_from_uri(id, (const char *)name->d.uniformResourceIdentifier->data,
				       (size_t)name->d.uniformResourceIdentifier->length, e);
	GENERAL_NAMES_free(names);
	return rc;
}

int identity_from_x509(struct identity *out, const X509 *cert, struct err *e)
{
	struct identity id = { 0 };
	unsigned n = sizeof(id.fingerprint);
	int rc = read_uri(&id, cert, e);

	if (!rc && (read_serial(id.serial, cert) ||
		    read_time(&id.wall_not_before, X509_get0_notBefore(cert)) ||
		    read_time(&id.wall_not_after, X509_get0_notAfter(cert)) ||
		    !X509_digest(cert, EVP_sha256(), id.fingerprint, &n)))
		rc = err_set(
			e, ERR_PARSE,
			"the certificate's serial number or validity is not in the form of Omig");
	ERR_clear_error();
	if (!rc)
		*out = id;
	return rc;
}

int x509_wall_not_after(nsec_t *out, const X509 *cert)
{
	return read_time(out, X509_get0_notAfter(cert));
}

int pki_identity_from_der(struct identity *out, const void *cert_der, size_t n, struct err *e)
{
	X509 *cert = x509_from_der(cert_der, n, e);
	int rc = cert ? identity_from_x509(out, cert, e) : -ERR_PARSE;

	X509_free(cert);
	return rc;
}
