/* SPDX-License-Identifier: Apache-2.0 */
/* An authority that enrols and renews at a time of the test's choice. */
#ifndef TESTS_UNIT_COMMON_AUTHORITY_AUTHORITY_H
#define TESTS_UNIT_COMMON_AUTHORITY_AUTHORITY_H

#include "common/authority/enrol_service.h"
#include "common/base/clock.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AUTHORITY_LIFE (90 * 86400 * NSEC_PER_SEC) /* of its certificates */

struct authority {
	char dir[32];
	struct pki_ca *ca;
	struct certs *certs;
	struct tokens *tokens;
	struct enrol_service *service;
	struct buf csr; /* of a key that is discarded */
	nsec_t now;
	struct identity got; /* identity granted last */
	char error[256]; /* of the last answer; "" = it was granted */
};

static inline nsec_t authority_wall(void *arg)
{
	return ((struct authority *)arg)->now;
}

static inline int authority_site(void *arg, const char *claim, const char *host, const char **out,
				 struct err *e)
{
	*out = claim[0] ? claim : "default";
	return 0;
}

static inline void authority_open(struct authority *a, nsec_t observer_lifetime)
{
	struct enrol_service_conf conf = { .cert_lifetime = AUTHORITY_LIFE,
					   .observer_lifetime = observer_lifetime,
					   .wall_now = authority_wall,
					   .choose_site = authority_site,
					   .arg = a };
	struct pki_key *key;

	*a = (struct authority){ .dir = "/tmp/omig-test-XXXXXX" };
	ck_assert_ptr_nonnull(mkdtemp(a->dir));
	ck_assert_int_eq(pki_ca_open(a->dir, "test", &a->ca, NULL), 0);
	ck_assert_int_eq(certs_open(NULL, NULL, &a->certs, NULL), 0);
	ck_assert_int_eq(tokens_open(NULL, NULL, &a->tokens, NULL), 0);
	conf.ca = a->ca;
	conf.certs = a->certs;
	conf.tokens = a->tokens;
	a->service = enrol_service_new(&conf);
	buf_init(&a->csr, PKI_DER_MAX_BYTES);
	ck_assert_int_eq(pki_key_new(&key, NULL), 0);
	ck_assert_int_eq(pki_csr_make(key, &a->csr, NULL), 0);
	pki_key_free(key);
	a->now = clock_wall() / NSEC_PER_SEC * NSEC_PER_SEC;
}

static inline void authority_close(struct authority *a)
{
	static const char *const files[] = { "ca.key", "ca.crt" };
	char path[64];

	enrol_service_free(a->service);
	certs_free(a->certs);
	tokens_free(a->tokens);
	pki_ca_free(a->ca);
	buf_done(&a->csr);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", a->dir, files[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(a->dir), 0);
}

/* Returns true with a certificate, whose identity is a->got; without one there are no bytes. */
static inline bool authority_take(struct authority *a, const struct msg_enrol_ack *ack,
				  struct buf *cert)
{
	bool is_granted = !ack->error[0];

	snprintf(a->error, sizeof(a->error), "%s", ack->error);
	ck_assert_int_eq(is_granted, cert->n > 0);
	if (is_granted)
		ck_assert_int_eq(pki_identity_from_der(&a->got, cert->p, cert->n, NULL), 0);
	buf_done(cert);
	return is_granted;
}

static inline bool authority_renews(struct authority *a, const struct identity *who)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	const struct msg_enrol m = { .csr_der = { a->csr.p, a->csr.n } };
	struct msg_enrol_ack ack;

	enrol_service_renew(a->service, who, &m, &cert, &ack);
	return authority_take(a, &ack, &cert);
}

#endif
