/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a certificate may ask for the next one, when it is time and not more often. */
#include "common/base/clock.h"
#include "common/authority/enrol_service.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIFE (90 * 86400 * NSEC_PER_SEC)

static char dir[] = "/tmp/omig-test-XXXXXX";
static struct pki_ca *ca;
static struct certs *certs;
static struct enrol_service *service;
static struct buf csr;
static nsec_t now, until; /* the end of the last one granted */
static struct identity who;
static char error[128];

static nsec_t wall(void *arg)
{
	return now;
}

static void make_with(nsec_t observer_lifetime)
{
	struct enrol_service_conf conf = { .cert_lifetime = LIFE,
					   .wall_now = wall,
					   .observer_lifetime = observer_lifetime };
	struct pki_key *key;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(pki_ca_open(dir, "test", &ca, NULL), 0);
	ck_assert_int_eq(certs_open(NULL, &certs, NULL), 0);
	conf.ca = ca;
	conf.certs = certs;
	service = enrol_service_new(&conf);
	buf_init(&csr, PKI_DER_MAX_BYTES);
	ck_assert_int_eq(pki_key_new(&key, NULL), 0);
	ck_assert_int_eq(pki_csr_make(key, &csr, NULL), 0);
	pki_key_free(key);
	now = clock_wall();
	who = (struct identity){ .role = ROLE_TOOL_OBSERVE,
				 .serial = { 0x41 },
				 .host = "u@h",
				 .wall_not_before = now,
				 .wall_not_after = now + LIFE };
	ck_assert_int_eq(certs_add(certs, &who, 0, now, NULL), 0);
}

static void make(void)
{
	make_with(0);
}

static void drop(void)
{
	static const char *const files[] = { "ca.key", "ca.crt" };
	char path[64];

	enrol_service_free(service);
	certs_free(certs);
	pki_ca_free(ca);
	buf_done(&csr);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static bool renews(void)
{
	struct msg_enrol m = { .csr_der = { csr.p, csr.n } };
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct msg_enrol_ack ack;
	struct identity next = { 0 };
	bool granted;

	enrol_service_renew(service, &who, &m, &cert, &ack);
	snprintf(error, sizeof(error), "%s", ack.error);
	granted = !ack.error[0];
	if (granted) {
		ck_assert_int_eq(pki_identity_from_der(&next, cert.p, cert.n, NULL), 0);
		ck_assert_int_eq(next.role, who.role);
		ck_assert_str_eq(next.host, who.host);
		until = next.wall_not_after;
	}
	ck_assert(granted || !cert.n);
	buf_done(&cert);
	return granted;
}

START_TEST(a_certificate_is_renewed_in_the_second_half_of_its_life)
{
	make();
	now += LIFE / 2 - NSEC_PER_SEC;
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(error, "half"));
	now += NSEC_PER_SEC;
	ck_assert(renews());
	drop();
}
END_TEST

START_TEST(nobody_is_given_one_after_the_other)
{
	make();
	now += LIFE * 2 / 3;
	ck_assert(renews());
	ck_assert(!renews());
	ck_assert_uint_eq(certs_count(certs), 2);
	now += ENROL_RENEW_MIN_NS;
	ck_assert(renews());
	/* Others are not concerned. */
	who.host[0] = 'v';
	ck_assert(renews());
	ck_assert(!renews());
	drop();
}
END_TEST

START_TEST(a_revoked_one_is_not_renewed_before_its_link_is_cut)
{
	make();
	now += LIFE * 2 / 3;
	ck_assert_int_eq(certs_revoke(certs, "u@h", now, NULL, NULL), 0);
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(error, "revoked"));
	drop();
}
END_TEST

START_TEST(who_only_looks_may_have_a_shorter_one)
{
	make_with(3600 * NSEC_PER_SEC);
	now += LIFE * 2 / 3;
	ck_assert(renews());
	ck_assert_int_le(until, now + 3600 * NSEC_PER_SEC);
	who.role = ROLE_TOOL_ADMIN;
	who.host[0] = 'v';
	ck_assert(renews());
	ck_assert_int_gt(until, now + LIFE - 600 * NSEC_PER_SEC);
	drop();
}
END_TEST

SUITE("renew", a_certificate_is_renewed_in_the_second_half_of_its_life,
      nobody_is_given_one_after_the_other, who_only_looks_may_have_a_shorter_one,
      a_revoked_one_is_not_renewed_before_its_link_is_cut)
