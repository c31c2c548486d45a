/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/net/internal.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

struct pki_key {
	EVP_PKEY *pkey;
};

EVP_PKEY *pki_key_peek(const struct pki_key *k)
{
	return k->pkey;
}

int pki_key_new(struct pki_key **out, struct err *e)
{
	struct pki_key *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem(e);
	k->pkey = EVP_EC_gen("P-256");
	if (!k->pkey) {
		free(k);
		return crypto_failed(e, "cannot make a key");
	}
	*out = k;
	return 0;
}

void pki_key_free(struct pki_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->pkey);
	free(k);
}

bool pkey_is_p256(const EVP_PKEY *k)
{
	char group[32];
	size_t n;

	return k && EVP_PKEY_get_base_id(k) == EVP_PKEY_EC &&
	       EVP_PKEY_get_group_name(k, group, sizeof(group), &n) && !strcmp(group, "prime256v1");
}

char *pkey_to_pem(EVP_PKEY *k)
{
	BIO *out = BIO_new(BIO_s_secmem());
	char *pem = out && PEM_write_bio_PrivateKey(out, k, NULL, NULL, 0, NULL, NULL)
			    ? bio_text(out)
			    : NULL;

	BIO_free(out);
	ERR_clear_error();
	return pem;
}

/* Refuses a key with a pass phrase, for which OpenSSL would ask on the terminal. */
static int no_pass_phrase(char *out, int size, int writing, void *arg)
{
	return -1;
}

EVP_PKEY *pkey_from_pem(const char *pem, const char *what, struct err *e)
{
	BIO *in = BIO_new_mem_buf(pem, -1);
	EVP_PKEY *k = in ? PEM_read_bio_PrivateKey(in, NULL, no_pass_phrase, NULL) : NULL;

	BIO_free(in);
	ERR_clear_error();
	if (k && pkey_is_p256(k))
		return k;
	EVP_PKEY_free(k);
	err_set(e, ERR_PARSE, "%s is not a P-256 key in PEM form", what);
	return NULL;
}

void pem_wipe_free(char *pem)
{
	if (pem)
		str_wipe(pem, strlen(pem));
	free(pem);
}

static int sign_request(X509_REQ *req, EVP_PKEY *k)
{
	return X509_REQ_set_version(req, X509_REQ_VERSION_1) && X509_REQ_set_pubkey(req, k) &&
	       X509_REQ_sign(req, k, EVP_sha256()) > 0;
}

int pki_csr_make(const struct pki_key *k, struct buf *out, struct err *e)
{
	X509_REQ *req = X509_REQ_new();
	uint8_t *der = NULL;
	int n = req && sign_request(req, k->pkey) ? i2d_X509_REQ(req, &der) : 0;
	int rc;

	X509_REQ_free(req);
	if (n <= 0)
		return crypto_failed(e, "cannot make a certificate request");
	rc = buf_put(out, der, (size_t)n);
	OPENSSL_free(der);
	return rc ? err_nomem(e) : 0;
}

/* Returns the public key of the request, which the caller frees. */
EVP_PKEY *csr_check(const void *der, size_t n, struct err *e)
{
	const uint8_t *at = der;
	X509_REQ *req = n <= PKI_DER_MAX_BYTES ? d2i_X509_REQ(NULL, &at, (long)n) : NULL;
	EVP_PKEY *k = req && at == (const uint8_t *)der + n ? X509_REQ_get_pubkey(req) : NULL;

	if (!k)
		err_set(e, ERR_PARSE, "this is not a certificate request");
	else if (!pkey_is_p256(k))
		err_set(e, ERR_DENIED, "a certificate request must be for a P-256 key");
	else if (X509_REQ_verify(req, k) != 1)
		err_set(e, ERR_DENIED, "the certificate request is not signed by its own key");
	else
		goto out;
	EVP_PKEY_free(k);
	k = NULL;
out:
	X509_REQ_free(req);
	ERR_clear_error();
	return k;
}
