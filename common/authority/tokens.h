/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment tokens: what proves that somebody may have a certificate. Only a
 * hash of a secret is kept; a token ends by time or by use. Wall times are
 * arguments.
 */
#ifndef COMMON_AUTHORITY_TOKENS_H
#define COMMON_AUTHORITY_TOKENS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKENS_MAX 1024 /* valid at one time; sms that are being started need one each */
#define TOKEN_ID_LEN 8
#define TOKEN_SECRET_LEN 26 /* 128 random bits */

struct tokens;

struct token_grant {
	unsigned roles; /* set of ROLE_BIT(): what the token may become */
	char site[NAME_MAX_BYTES + 1]; /* only for this site; "" = any */
	nsec_t wall_until;
	uint32_t uses; /* that are left; 0 = as many as one likes */
	bool is_volatile; /* not worth a file: whoever has it is started again after a restart */
};

struct token_text {
	char id[TOKEN_ID_LEN + 1];
	char secret[TOKEN_SECRET_LEN + 1]; /* wipe it when done */
};

/* path: the file that keeps them, NULL = memory only. ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM. */
int tokens_open(const char *path, struct tokens **out, struct err *e);
void tokens_free(struct tokens *t);

/* ERR_LIMIT, ERR_INVALID (no role), ERR_SYS (not written: the token is void), ERR_NOMEM. */
int tokens_mint(struct tokens *t, const struct token_grant *g, nsec_t wall_now, struct token_text *out,
		struct err *e);

struct token_claim {
	const char *id;
	const void *secret; /* as written in the connection string */
	size_t nsecret;
	unsigned roles; /* any of these is meant */
	const char *site;
};

/*
 * ERR_DENIED: no such token, or another secret, in a time that does not tell how far it
 * agrees; of another role or site; ended. The texts for an unknown and a wrong one are the same.
 * *out is the grant; nothing is used up.
 */
int tokens_check(const struct tokens *t, const struct token_claim *c, nsec_t wall_now,
		 struct token_grant *out, struct err *e);

/* One use less; at none left the token is gone. Written before it returns. */
int tokens_use(struct tokens *t, const char *id, nsec_t wall_now, struct err *e);

/* How many could be used now. */
size_t tokens_count(const struct tokens *t, nsec_t wall_now);

#endif
