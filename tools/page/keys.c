/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/page/keys.h"

#include "common/base/rng.h"
#include "common/base/str.h"

#include <string.h>

static int draw(char out[KEYS_TEXT_BYTES], struct err *e)
{
	uint8_t bits[KEYS_TEXT_BYTES / 2];
	int rc = rng_fill_random(bits, sizeof(bits), e);

	if (rc)
		return rc;
	str_hex(out, bits, sizeof(bits));
	out[KEYS_TEXT_BYTES - 1] = '\0';
	str_wipe(bits, sizeof(bits));
	return 0;
}

/* Compares with all of them: the time does not depend on the place. */
static struct keys_entry *find(struct keys_entry *all, size_t n, const char *text, nsec_t now)
{
	struct keys_entry *found = NULL;
	size_t len = strlen(text);

	if (len != KEYS_TEXT_BYTES - 1)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (str_equal_ct(all[i].text, text, len) && all[i].text[0] && all[i].until > now)
			found = &all[i];
	return found;
}

/* Returns a free one, or one that has ended; else the one that ends first. */
static struct keys_entry *oldest(struct keys_entry *all, size_t n)
{
	struct keys_entry *first = &all[0];

	for (size_t i = 0; i < n; i++) {
		if (!all[i].text[0])
			return &all[i];
		if (all[i].until < first->until)
			first = &all[i];
	}
	return first;
}

int keys_make_token(struct keys *k, nsec_t now, char out[KEYS_TEXT_BYTES], struct err *e)
{
	struct keys_entry *t = oldest(k->token, PAGE_TOKENS_MAX);
	char text[KEYS_TEXT_BYTES];
	int rc = draw(text, e);

	if (rc)
		return rc;
	memcpy(t->text, text, sizeof(text));
	memcpy(out, text, sizeof(text));
	t->until = now + PAGE_TOKEN_NS;
	return 0;
}

int keys_trade(struct keys *k, const char *token, nsec_t now, const struct keys_entry **out,
	       struct err *e)
{
	struct keys_entry *t = find(k->token, PAGE_TOKENS_MAX, token, now);
	struct keys_entry *key = oldest(k->key, PAGE_KEYS_MAX);
	int rc;

	if (!t)
		return err_set(e, ERR_DENIED, "this link was used before, or is too old");
	if (key->text[0] && key->until > now + PAGE_KEY_IDLE_NS - KEYS_IN_USE_NS)
		return err_set(e, ERR_LIMIT, "%d browsers have this page open already",
			       PAGE_KEYS_MAX);
	rc = draw(key->text, e);
	if (rc)
		return rc;
	str_wipe(t->text, sizeof(t->text));
	key->until = now + PAGE_KEY_IDLE_NS;
	*out = key;
	return 0;
}

const struct keys_entry *keys_use(struct keys *k, const char *text, nsec_t now)
{
	struct keys_entry *key = find(k->key, PAGE_KEYS_MAX, text, now);

	if (key)
		key->until = now + PAGE_KEY_IDLE_NS;
	return key;
}

void keys_wipe(struct keys *k)
{
	str_wipe(k, sizeof(*k));
}
