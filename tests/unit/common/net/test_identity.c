/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"
#include "common/base/array.h"
#include "common/base/str.h"
#include "common/net/identity.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

static struct identity make(enum role role, const char *site, const char *host)
{
	struct identity id = { .role = role };

	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	return id;
}

static void writes(struct identity id, const char *uri)
{
	char out[IDENTITY_URI_BYTES];
	struct identity back = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!identity_to_uri(out, &id, &e), "%s", e.text);
	ck_assert_str_eq(out, uri);
	ck_assert_msg(!identity_from_uri(&back, out, strlen(out), &e), "%s: %s", out, e.text);
	ck_assert_int_eq(back.role, id.role);
	ck_assert_str_eq(back.site, id.site);
	ck_assert_str_eq(back.host, id.host);
	ck_assert_str_eq(back.owner, id.owner);
	ck_assert_str_eq(back.token, id.token);
	ck_assert_int_eq(back.has_uid, id.has_uid);
	ck_assert_uint_eq(back.uid, id.uid);
}

static struct identity vouched(enum role role, const char *label, const char *owner,
			       const char *token)
{
	struct identity id = make(role, "", label);

	str_copy(id.owner, sizeof(id.owner), owner);
	str_copy(id.token, sizeof(id.token), token);
	return id;
}

static struct identity of_user(enum role role, const char *label, uint32_t uid)
{
	struct identity id = vouched(role, label, "me", "");

	id.has_uid = true;
	id.uid = uid;
	return id;
}

TEST(identities_are_written_as_uris_and_read_back)
{
	writes(make(ROLE_MAINSM, "", ""), "omig:mainsm//");
	writes(make(ROLE_SM, "cy", "front.example"), "omig:sm/cy/front.example");
	writes(make(ROLE_LM, "site a", "n1"), "omig:lm/site%20a/n1");
	writes(make(ROLE_TOOL_OBSERVE, "", "me@here"), "omig:tool-observe//me@here");
	writes(make(ROLE_TOOL_MANIPULATE, "", "100%/\xc3\xa4"),
	       "omig:tool-manipulate//100%25%2F%C3%A4");
	writes(vouched(ROLE_TOOL_OBSERVE, "me@here", "carol", "abcdefgh"),
	       "omig:tool-observe//me@here/carol//abcdefgh");
	writes(vouched(ROLE_LM, "n1", "", "lm-abcdefgh"), "omig:lm//n1///lm-abcdefgh");
	writes(of_user(ROLE_TOOL_ADMIN, "me@here", 0), "omig:tool-admin//me@here/me/0/");
	writes(of_user(ROLE_FACTORY, "me@here", UINT32_MAX),
	       "omig:factory//me@here/me/4294967295/");
}

TEST(only_the_form_that_is_written_is_read)
{
	static const char *const bad[] = {
		"",
		"omig:",
		"omig:lm",
		"omig:lm/a",
		"omig:lm/a/b/c",
		"omig:none/a/b",
		"omig:root/a/b",
		"OMIG:lm/a/b",
		"http://lm/a/b",
		"omig:lm/%61/b", /* needless escape */
		"omig:lm/%2f/b", /* lower case */
		"omig:lm/%0a/b", /* control character */
		"omig:lm/%0A/b",
		"omig:lm/%00/b",
		"omig:lm/%C0%AF/b", /* overlong */
		"omig:lm/%/b",
		"omig:lm/%2/b",
		"omig:lm/a b/c",
		"omig:lm/a/b%",
		"omig:lm/a/b%2",
		"omig:lm/a/b///", /* empty parts are left out */
		"omig:lm/a/b/c/",
		"omig:lm/a/b/c/0/t/",
		"omig:lm/a/b/c/00/t",
		"omig:lm/a/b/c/-1/t",
		"omig:lm/a/b/c/4294967296/t",
		"omig:lm/a/b/c@d//t",
		"omig:lm/a/b/.c//t",
		"omig:lm/a/b/c//t.t",
		"omig:lm/a/b/c//abcdefghijklmnop",
	};
	struct identity id = make(ROLE_SM, "before", "before"), before = id;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_msg(identity_from_uri(&id, bad[i], strlen(bad[i]), NULL) == -ERR_PARSE,
			      "%s", bad[i]);
		ck_assert_mem_eq(&id, &before, sizeof(id));
	}
	ck_assert_int_eq(identity_from_uri(&id, "omig:lm/a/b\0c", 13, NULL), -ERR_PARSE);
}

TEST(names_are_bounded_at_their_limit)
{
	char uri[IDENTITY_URI_BYTES + 16] = "omig:lm//";
	struct identity id;

	memset(uri + 9, 'x', NAME_MAX_BYTES + 1);
	ck_assert_int_eq(identity_from_uri(&id, uri, 9 + NAME_MAX_BYTES, NULL), 0);
	ck_assert_uint_eq(strlen(id.host), NAME_MAX_BYTES);
	ck_assert_int_eq(identity_from_uri(&id, uri, 9 + NAME_MAX_BYTES + 1, NULL), -ERR_PARSE);
	memset(id.host, ' ', NAME_MAX_BYTES);
	memset(id.site, ' ', NAME_MAX_BYTES);
	id.site[NAME_MAX_BYTES] = 0;
	ck_assert_int_eq(identity_to_uri(uri, &id, NULL), 0);
	ck_assert_uint_eq(strlen(uri), 9 + 6 * NAME_MAX_BYTES);
}

TEST(an_invalid_identity_is_not_written)
{
	char out[IDENTITY_URI_BYTES];
	struct identity id = make(ROLE_LM, "a\nb", "c");

	ck_assert_int_eq(identity_to_uri(out, &id, NULL), -ERR_INVALID);
	id = make(ROLE_NONE, "a", "c");
	ck_assert_int_eq(identity_to_uri(out, &id, NULL), -ERR_INVALID);
	id = make((enum role)99, "a", "c");
	ck_assert_int_eq(identity_to_uri(out, &id, NULL), -ERR_INVALID);
	id = vouched(ROLE_TOOL_OBSERVE, "c", "of/somebody", "");
	ck_assert_int_eq(identity_to_uri(out, &id, NULL), -ERR_INVALID);
	id = vouched(ROLE_TOOL_OBSERVE, "c", "carol", "a/b");
	ck_assert_int_eq(identity_to_uri(out, &id, NULL), -ERR_INVALID);
}

/* The name of a tool changes neither its owner nor its entry in the list. */
TEST(a_label_is_no_identity)
{
	struct identity carol = vouched(ROLE_TOOL_OBSERVE, "carol@a", "carol", "aaaaaaaa");
	struct identity liar = vouched(ROLE_TOOL_OBSERVE, "carol@a", "bbbbbbbb", "bbbbbbbb");
	struct identity other = vouched(ROLE_TOOL_MANIPULATE, "me@b", "carol", "cccccccc");
	struct identity root = of_user(ROLE_TOOL_ADMIN, "carol@a", 0),
			self = of_user(ROLE_FACTORY, "me@b", 0);
	char one[IDENTITY_PRINCIPAL_BYTES], two[IDENTITY_PRINCIPAL_BYTES], text[128];

	ck_assert_str_ne(identity_principal(one, &carol), identity_principal(two, &liar));
	ck_assert_str_eq(identity_principal(one, &carol), identity_principal(two, &other));
	ck_assert_str_eq(identity_principal(one, &root), identity_principal(two, &self));
	ck_assert_str_ne(identity_principal(one, &root), identity_principal(two, &carol));
	ck_assert(identity_is_same_user(&root, &self));
	ck_assert(!identity_is_same_user(&root, &carol));
	ck_assert(!identity_is_same_user(&carol, &carol));
	ck_assert_str_eq(identity_describe(text, sizeof(text), &liar),
			 "tool-observe of bbbbbbbb on carol@a");
}

TEST(hosts_are_no_paths_and_owners_no_texts)
{
	static const char *const bad[] = { "",	  "a/b",  "..",	 ".", "-x",
					   "a b", "a\nb", "a@b", "/", "\xff" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		ck_assert_msg(!identity_host_is_valid(bad[i]), "%s", bad[i]);
		ck_assert_msg(!identity_owner_is_valid(bad[i]), "%s", bad[i]);
	}
	ck_assert(identity_host_is_valid("node-1.a_b:7"));
	ck_assert(identity_host_is_valid("k\xc3\xb6ln"));
	ck_assert(identity_owner_is_valid("carol.x+1"));
	ck_assert(!identity_owner_is_valid("k\xc3\xb6ln"));
}

TEST(random_bytes_that_decode_encode_to_themselves)
{
	static const char alphabet[] = "omig:lms/%0123456789ABCDEFab-~@";
	struct rng r;

	rng_init(&r, suite_seed(5));
	for (int i = 0; i < 200000; i++) {
		char in[40] = "omig:lm/", out[IDENTITY_URI_BYTES];
		size_t n = 8 + rng_below(&r, 20);
		struct identity id = { 0 };

		for (size_t k = 8; k < n; k++)
			in[k] = alphabet[rng_below(&r, sizeof(alphabet) - 1)];
		if (identity_from_uri(&id, in, n, NULL))
			continue;
		ck_assert_int_eq(identity_to_uri(out, &id, NULL), 0);
		ck_assert_uint_eq(strlen(out), n);
		ck_assert_mem_eq(out, in, n);
	}
}

TEST(roles_have_names)
{
	char out[80], small[8];

	for (unsigned role = ROLE_NONE + 1; role < ROLE_COUNT; role++)
		ck_assert_uint_eq(role_from_name(role_name((enum role)role)), role);
	ck_assert_int_eq(role_from_name("nobody"), ROLE_NONE);
	ck_assert_str_eq(role_name((enum role)77), "none");
	ck_assert_str_eq(role_set_names(out, sizeof(out), ROLE_BIT(ROLE_SM) | ROLE_BIT(ROLE_LM)),
			 "sm or lm");
	ck_assert_str_eq(role_set_names(out, sizeof(out), 0), "nobody");
	ck_assert_uint_lt(strlen(role_set_names(small, sizeof(small), ROLES_TOOL)), sizeof(small));
}

TEST(a_description_is_fit_for_a_terminal)
{
	struct identity id = make(ROLE_SM, "a", "h\x1b[2J");
	char out[200];

	ck_assert_str_eq(identity_describe(out, sizeof(out), &id), "sm of site a on h\\x1b[2J");
	id = make(ROLE_MAINSM, "", "");
	ck_assert_str_eq(identity_describe(out, sizeof(out), &id), "mainsm");
}

static void serial_of(uint8_t out[SERIAL_BYTES], unsigned i)
{
	memset(out, 0, SERIAL_BYTES);
	memcpy(out, &i, sizeof(i));
	out[SERIAL_BYTES - 1] = (uint8_t)(i % 7); /* the key of the index: many share it */
}

TEST(a_set_of_serials_has_its_members_and_no_others)
{
	struct serial_set *s = serial_set_new();
	uint8_t serial[SERIAL_BYTES];

	for (unsigned i = 0; i < 1000; i += 2) {
		serial_of(serial, i);
		ck_assert_int_eq(serial_set_add(s, serial), 0);
		ck_assert_int_eq(serial_set_add(s, serial), 0);
	}
	ck_assert_uint_eq(serial_set_size(s), 500);
	for (unsigned i = 0; i < 1000; i++) {
		serial_of(serial, i);
		ck_assert_int_eq(serial_set_has(s, serial), i % 2 == 0);
	}
	serial_of(serial, 84);
	ck_assert_mem_eq(serial_set_at(s, 42), serial, SERIAL_BYTES);
	serial_set_free(s);
}

TEST(a_set_survives_every_failed_allocation)
{
	uint8_t serial[SERIAL_BYTES];

	ALLOC_SWEEP (k) {
		struct serial_set *s = serial_set_new();
		size_t added = 0;

		for (unsigned i = 0; s && i < 40; i++) {
			serial_of(serial, i);
			added += !serial_set_add(s, serial);
		}
		alloc_sweep_pause();
		if (!s)
			continue;
		ck_assert_uint_eq(serial_set_size(s), added);
		for (size_t i = 0; i < added; i++)
			ck_assert(serial_set_has(s, serial_set_at(s, i)));
		serial_set_free(s);
	}
}

SUITE("net/identity")
