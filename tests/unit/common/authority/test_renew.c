/* SPDX-License-Identifier: Apache-2.0 */
/* The holder of a certificate may request the next one when it is due, and not more often. */
#include "tests/unit/common/authority/authority.h"

#define LIFE AUTHORITY_LIFE

static struct authority a;
static struct identity who;

static void make_with(nsec_t observer_lifetime)
{
	authority_open(&a, observer_lifetime);
	who = (struct identity){ .role = ROLE_TOOL_OBSERVE,
				 .serial = { 0x41 },
				 .host = "u@h",
				 .wall_not_before = a.now,
				 .wall_not_after = a.now + LIFE };
	ck_assert_int_eq(certs_add(a.certs, &who, 0, a.now, NULL), 0);
}

static void make(void)
{
	make_with(0);
}

static void drop(void)
{
	authority_close(&a);
}

/* Renews the certificate, and checks that the new one has the same names. */
static bool renews(void)
{
	if (!authority_renews(&a, &who))
		return false;
	ck_assert_int_eq(a.got.role, who.role);
	ck_assert_str_eq(a.got.host, who.host);
	return true;
}

TEST(a_certificate_is_renewed_in_the_second_half_of_its_life)
{
	make();
	a.now += LIFE / 2 - NSEC_PER_SEC;
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(a.error, "half"));
	a.now += NSEC_PER_SEC;
	ck_assert(renews());
	drop();
}

TEST(no_holder_gets_one_certificate_after_the_other)
{
	make();
	a.now += LIFE * 2 / 3;
	ck_assert(renews());
	ck_assert(!renews());
	ck_assert_uint_eq(certs_count(a.certs), 2);
	a.now += ENROL_RENEW_MIN_NS;
	ck_assert(renews());
	/* The limit does not apply to another host. */
	who.host[0] = 'v';
	ck_assert(renews());
	ck_assert(!renews());
	drop();
}

TEST(a_revoked_one_is_not_renewed_before_its_link_is_cut)
{
	make();
	a.now += LIFE * 2 / 3;
	ck_assert_int_eq(certs_revoke(a.certs, "u@h", a.now, NULL, NULL), 0);
	ck_assert(!renews());
	ck_assert_ptr_nonnull(strstr(a.error, "revoked"));
	drop();
}

TEST(an_observer_may_have_a_shorter_certificate)
{
	make_with(3600 * NSEC_PER_SEC);
	a.now += LIFE * 2 / 3;
	ck_assert(renews());
	ck_assert_int_le(a.got.wall_not_after, a.now + 3600 * NSEC_PER_SEC);
	who.role = ROLE_TOOL_ADMIN;
	who.host[0] = 'v';
	ck_assert(renews());
	ck_assert_int_gt(a.got.wall_not_after, a.now + LIFE - 600 * NSEC_PER_SEC);
	drop();
}

SUITE("renew")
