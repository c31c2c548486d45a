/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the page: links that open it once, and the keys that a link is traded for. Both are
 * 256 random bits, so a wrong one needs no pause after it: it cannot be guessed, and a pause would
 * let any user of this machine lock out the owner.
 */
#ifndef TOOLS_PAGE_KEYS_H
#define TOOLS_PAGE_KEYS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"

#include <stdbool.h>
#include <stddef.h>

#define KEYS_TEXT_BYTES (64 + 1) /* in base 16 */
/* An open page uses its key each few seconds. A key that rests for longer may make room. */
#define KEYS_IN_USE_NS (60 * NSEC_PER_SEC)

struct keys_entry {
	char text[KEYS_TEXT_BYTES]; /* "" = free */
	nsec_t until; /* of a token: its end; of a key: its end if it is not used before */
};

/* Zeros have none. */
struct keys {
	struct keys_entry token[PAGE_TOKENS_MAX], key[PAGE_KEYS_MAX];
};

/* Makes a token for one use within PAGE_TOKEN_NS; the oldest makes room. ERR_SYS. */
int keys_make_token(struct keys *k, nsec_t now, char out[KEYS_TEXT_BYTES], struct err *e);

/*
 * Trades a token for a key. *out is valid as long as the key. ERR_DENIED: it is wrong, used or too
 * old; ERR_LIMIT: PAGE_KEYS_MAX keys were used within KEYS_IN_USE_NS, and the token stays; ERR_SYS.
 * Without a free key, the one that was not used for the longest time makes room.
 */
int keys_trade(struct keys *k, const char *token, nsec_t now, const struct keys_entry **out,
	       struct err *e);

/* Returns the key with that text and notes its use; NULL: there is none. */
const struct keys_entry *keys_use(struct keys *k, const char *text, nsec_t now);

void keys_wipe(struct keys *k);

#endif
