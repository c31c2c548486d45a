/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of every kind, good and bad, for tests. */
#ifndef TESTS_UNIT_COMMON_NET_CERTS_H
#define TESTS_UNIT_COMMON_NET_CERTS_H

#include "common/net/pki.h"

#include <openssl/x509.h>

struct test_ca {
	EVP_PKEY *key;
	X509 *cert;
};

/* Zero means what a good certificate has. */
struct cert_spec {
	const char *uri; /* NULL: no subjectAltName */
	const char *eku; /* as in openssl.cnf; NULL: none at all */
	const char *usage; /* "critical,digitalSignature" */
	const char *constraints; /* "critical,CA:FALSE" */
	const char *dns; /* a second name */
	int from_s, to_s; /* from now; -3600 and 3600 */
	const char *curve; /* "P-256" */
	bool self_signed;
	int rsa_bits; /* a public key alone, made up */
};

#define MAINSM_SPEC \
	((struct cert_spec){ .uri = "omig:mainsm//top", .eku = "serverAuth,clientAuth" })
#define SM_SPEC ((struct cert_spec){ .uri = "omig:sm/a/front", .eku = "serverAuth,clientAuth" })
#define LM_SPEC ((struct cert_spec){ .uri = "omig:lm/a/n1", .eku = "clientAuth" })

void test_ca_new(struct test_ca *ca, const char *name);
void test_ca_done(struct test_ca *ca);

/* The caller frees both; key may be NULL when only the certificate is wanted. */
X509 *test_cert(const struct test_ca *ca, const struct cert_spec *spec, EVP_PKEY **key);

/* The same as PEM texts with the CA's beside them. */
struct pki_creds test_creds(const struct test_ca *ca, const struct cert_spec *spec);

#endif
