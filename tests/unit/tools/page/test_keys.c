/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/page/keys.h"

#include <string.h>

static struct keys keys;
static char token[KEYS_TEXT_BYTES];

static void begin(nsec_t now)
{
	memset(&keys, 0, sizeof(keys));
	ck_assert_int_eq(keys_make_token(&keys, now, token, NULL), 0);
}

TEST(a_token_is_traded_once)
{
	const struct keys_entry *key, *other = NULL;

	begin(1);
	ck_assert_uint_eq(strlen(token), KEYS_TEXT_BYTES - 1);
	ck_assert_int_eq(keys_trade(&keys, token, 2, &key, NULL), 0);
	ck_assert_str_ne(key->text, token);
	ck_assert_ptr_eq(keys_use(&keys, key->text, 3), key);
	ck_assert_int_eq(keys_trade(&keys, token, 4, &other, NULL), -ERR_DENIED);
	ck_assert_ptr_null(other);
}

TEST(wrong_texts_open_nothing)
{
	static const char *const wrong[] = { "", "0", "x" };
	const struct keys_entry *key;
	char near[KEYS_TEXT_BYTES];

	begin(1);
	memcpy(near, token, sizeof(near));
	near[63] = near[63] == '0' ? '1' : '0';
	ck_assert_int_eq(keys_trade(&keys, near, 2, &key, NULL), -ERR_DENIED);
	memset(near, 0, sizeof(near));
	ck_assert_int_eq(keys_trade(&keys, near, 2, &key, NULL), -ERR_DENIED);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(keys_trade(&keys, wrong[i], 2, &key, NULL), -ERR_DENIED);
		ck_assert_ptr_null(keys_use(&keys, wrong[i], 2));
	}
	ck_assert_ptr_null(keys_use(&keys, token, 2));
	ck_assert_int_eq(keys_trade(&keys, token, 2, &key, NULL), 0);
}

TEST(tokens_and_keys_end)
{
	const struct keys_entry *key;
	char text[KEYS_TEXT_BYTES];

	begin(0);
	ck_assert_int_eq(keys_trade(&keys, token, PAGE_TOKEN_NS, &key, NULL), -ERR_DENIED);
	begin(0);
	ck_assert_int_eq(keys_trade(&keys, token, PAGE_TOKEN_NS - 1, &key, NULL), 0);
	memcpy(text, key->text, sizeof(text));
	ck_assert_ptr_nonnull(keys_use(&keys, text, PAGE_TOKEN_NS + PAGE_KEY_IDLE_NS - 2));
	ck_assert_ptr_nonnull(keys_use(&keys, text, PAGE_TOKEN_NS + 2 * PAGE_KEY_IDLE_NS - 3));
	ck_assert_ptr_null(keys_use(&keys, text, PAGE_TOKEN_NS + 3 * PAGE_KEY_IDLE_NS));
}

TEST(keys_have_a_limit_and_the_link_stays)
{
	const struct keys_entry *key;

	memset(&keys, 0, sizeof(keys));
	for (int i = 0; i < PAGE_KEYS_MAX; i++) {
		ck_assert_int_eq(keys_make_token(&keys, 1, token, NULL), 0);
		ck_assert_int_eq(keys_trade(&keys, token, 1 + i, &key, NULL), 0);
	}
	ck_assert_int_eq(keys_make_token(&keys, 1, token, NULL), 0);
	ck_assert_int_eq(keys_trade(&keys, token, 2, &key, NULL), -ERR_LIMIT);
	keys.key[3].until = 2;
	ck_assert_int_eq(keys_trade(&keys, token, 3, &key, NULL), 0);
	ck_assert_ptr_eq(key, &keys.key[3]);
}

TEST(a_key_that_rests_makes_room)
{
	const nsec_t later = PAGE_KEYS_MAX + 2 + KEYS_IN_USE_NS;
	const struct keys_entry *key;

	memset(&keys, 0, sizeof(keys));
	for (int i = 0; i < PAGE_KEYS_MAX; i++) {
		ck_assert_int_eq(keys_make_token(&keys, 1, token, NULL), 0);
		ck_assert_int_eq(keys_trade(&keys, token, 1 + i, &key, NULL), 0);
	}
	for (int i = 0; i < PAGE_KEYS_MAX; i++)
		if (i != 5)
			ck_assert_ptr_nonnull(keys_use(&keys, keys.key[i].text, later - 1));
	ck_assert_int_eq(keys_make_token(&keys, later, token, NULL), 0);
	ck_assert_int_eq(keys_trade(&keys, token, later, &key, NULL), 0);
	ck_assert_ptr_eq(key, &keys.key[5]);
	ck_assert_int_eq(keys_make_token(&keys, later, token, NULL), 0);
	ck_assert_int_eq(keys_trade(&keys, token, later, &key, NULL), -ERR_LIMIT);
}

TEST(the_oldest_link_makes_room)
{
	char first[KEYS_TEXT_BYTES];
	const struct keys_entry *key;

	begin(1);
	memcpy(first, token, sizeof(first));
	for (int i = 0; i < PAGE_TOKENS_MAX; i++)
		ck_assert_int_eq(keys_make_token(&keys, 2 + i, token, NULL), 0);
	ck_assert_int_eq(keys_trade(&keys, first, 10, &key, NULL), -ERR_DENIED);
	ck_assert_int_eq(keys_trade(&keys, token, 10, &key, NULL), 0);
}

SUITE("page_keys")
