/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/net/certs.h"

#include "common/base/str.h"

#include <check.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

static void add_ext(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX ctx;
	X509_EXTENSION *ext;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	ck_assert_ptr_nonnull(ext);
	ck_assert_int_eq(X509_add_ext(cert, ext, -1), 1);
	X509_EXTENSION_free(ext);
}

static void set_name(X509_NAME *name, const char *cn)
{
	X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8, (const unsigned char *)cn,
				   -1, -1, 0);
}

static void set_serial(X509 *cert)
{
	uint8_t serial[SERIAL_BYTES];
	BIGNUM *n;

	ck_assert_int_eq(RAND_bytes(serial, sizeof(serial)), 1);
	serial[0] = 0x41;
	n = BN_bin2bn(serial, sizeof(serial), NULL);
	BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
	BN_free(n);
}

void test_ca_new(struct test_ca *ca, const char *name)
{
	ca->key = EVP_EC_gen("P-256");
	ca->cert = X509_new();
	X509_set_version(ca->cert, X509_VERSION_3);
	set_serial(ca->cert);
	set_name(X509_get_subject_name(ca->cert), name);
	X509_set_issuer_name(ca->cert, X509_get_subject_name(ca->cert));
	X509_gmtime_adj(X509_getm_notBefore(ca->cert), -7200);
	X509_gmtime_adj(X509_getm_notAfter(ca->cert), 86400);
	X509_set_pubkey(ca->cert, ca->key);
	add_ext(ca->cert, ca->cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
	add_ext(ca->cert, ca->cert, NID_key_usage, "critical,keyCertSign");
	add_ext(ca->cert, ca->cert, NID_subject_key_identifier, "hash");
	ck_assert_int_gt(X509_sign(ca->cert, ca->key, EVP_sha256()), 0);
}

void test_ca_done(struct test_ca *ca)
{
	EVP_PKEY_free(ca->key);
	X509_free(ca->cert);
}

/* Making a real one of this size takes minutes; a random modulus is as large. */
static EVP_PKEY *rsa_public(int bits)
{
	OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	BIGNUM *n = BN_new(), *e = BN_new();
	EVP_PKEY *key = NULL;
	OSSL_PARAM *params;

	BN_rand(n, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD);
	BN_set_word(e, 65537);
	OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_N, n);
	OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_E, e);
	params = OSSL_PARAM_BLD_to_param(b);
	ck_assert_int_eq(EVP_PKEY_fromdata_init(ctx), 1);
	ck_assert_int_eq(EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params), 1);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(b);
	EVP_PKEY_CTX_free(ctx);
	BN_free(n);
	BN_free(e);
	return key;
}

static void add_san(X509 *cert, const struct cert_spec *spec)
{
	char value[1024];

	if (!spec->uri)
		return;
	snprintf(value, sizeof(value), "URI:%s%s%s", spec->uri, spec->dns ? ",DNS:" : "",
		 spec->dns ? spec->dns : "");
	add_ext(cert, cert, NID_subject_alt_name, value);
}

X509 *test_cert(const struct test_ca *ca, const struct cert_spec *spec, EVP_PKEY **key_out)
{
	EVP_PKEY *key = spec->rsa_bits ? rsa_public(spec->rsa_bits)
				       : EVP_EC_gen(spec->curve ? spec->curve : "P-256");
	X509 *cert = X509_new();
	X509 *issuer = spec->self_signed ? cert : ca->cert;

	X509_set_version(cert, X509_VERSION_3);
	set_serial(cert);
	set_name(X509_get_subject_name(cert), "somebody");
	X509_set_issuer_name(cert, X509_get_subject_name(issuer));
	X509_gmtime_adj(X509_getm_notBefore(cert), spec->from_s ? spec->from_s : -3600);
	X509_gmtime_adj(X509_getm_notAfter(cert), spec->to_s ? spec->to_s : 3600);
	X509_set_pubkey(cert, key);
	add_ext(cert, issuer, NID_basic_constraints,
		spec->constraints ? spec->constraints : "critical,CA:FALSE");
	add_ext(cert, issuer, NID_key_usage,
		spec->usage ? spec->usage : "critical,digitalSignature");
	if (spec->eku)
		add_ext(cert, issuer, NID_ext_key_usage, spec->eku);
	add_ext(cert, issuer, NID_subject_key_identifier, "hash");
	add_ext(cert, issuer, NID_authority_key_identifier, "keyid:always");
	add_san(cert, spec);
	ck_assert_int_gt(X509_sign(cert, spec->self_signed ? key : ca->key, EVP_sha256()), 0);
	if (key_out)
		*key_out = key;
	else
		EVP_PKEY_free(key);
	return cert;
}

static char *text_of(BIO *b)
{
	char *p;
	long n = BIO_get_mem_data(b, &p);
	char *copy = str_ndup(p, (size_t)n);

	BIO_free(b);
	return copy;
}

static char *cert_text(X509 *cert)
{
	BIO *b = BIO_new(BIO_s_mem());

	ck_assert_int_eq(PEM_write_bio_X509(b, cert), 1);
	return text_of(b);
}

static char *key_text(EVP_PKEY *key)
{
	BIO *b = BIO_new(BIO_s_mem());

	ck_assert_int_eq(PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL), 1);
	return text_of(b);
}

struct pki_creds test_creds(const struct test_ca *ca, const struct cert_spec *spec)
{
	EVP_PKEY *key;
	X509 *cert = test_cert(ca, spec, &key);
	struct pki_creds c = { cert_text(cert), key_text(key), cert_text(ca->cert) };

	X509_free(cert);
	EVP_PKEY_free(key);
	return c;
}
