/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enrolment tokens, which entitle a peer to a certificate. Only a hash of a secret is stored; a
 * token ends by time or by use. Wall times are arguments.
 */
#ifndef COMMON_AUTHORITY_TOKENS_H
#define COMMON_AUTHORITY_TOKENS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/link/connstr.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKENS_MAX 1024 /* valid tokens; each sm that is being started needs one */
#define TOKEN_ID_LEN 8
#define TOKEN_LM_PREFIX CONNSTR_LM_PREFIX
#define TOKEN_SECRET_LEN 26 /* digits of 128 random bits */
#define TOKEN_BURST 1024 /* enrolments at once with one token: the hosts of a large job */
/* time between enrolments after a burst, because each certificate is written to the disk */
#define TOKEN_PACE_NS (100 * NSEC_PER_MSEC)
/* tokens of jobs, of which a user may start many; the other half is for other tokens */
#define TOKEN_JOBS_MAX 512
/* time from the last process of a job to the end of its token */
#define TOKEN_JOB_IDLE_NS (86400 * NSEC_PER_SEC)

struct tokens;

struct token_grant {
	unsigned roles; /* set of ROLE_BIT(): permitted roles of its certificates */
	char site[NAME_MAX_BYTES + 1]; /* the only permitted site; "" = any */
	nsec_t wall_until; /* end of enrolments */
	/* end of its certificates; 0 = they are renewed while they are used */
	nsec_t wall_certs_until;
	uint32_t uses; /* remaining uses; 0 = without limit */
	bool is_volatile; /* not stored: after a restart, its holder gets another token */
	/* owner of its certificates; "" = the id of the token */
	char owner[IDENTITY_OWNER_MAX_BYTES + 1];
	bool has_uid; /* true for the monitor's own user */
	uint32_t uid;
	/* job whose ranks use it, and with which it ends; "" = no job */
	char job[NAME_MAX_BYTES + 1];
};

struct disk;

struct token_text {
	char id[IDENTITY_TOKEN_MAX_BYTES + 1];
	char secret[TOKEN_SECRET_LEN + 1]; /* the caller wipes it after use */
};

/*
 * path: the file that stores the tokens; NULL = memory only. disk: borrowed; NULL = the system's.
 * Fails with ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int tokens_open(const struct disk *disk, const char *path, struct tokens **out, struct err *e);
void tokens_free(struct tokens *t);

/* True if the token enrols lms only. */
bool token_is_for_lms(const char *id);

/*
 * Makes a token. Fails with ERR_LIMIT, ERR_NOMEM, and with ERR_INVALID without a role or a valid
 * owner. Fails with ERR_SYS if the token could not be written: it is void then. Fails with
 * ERR_EXISTS if another token has that owner; the monitor's own user may have several. A job token
 * beyond TOKEN_JOBS_MAX replaces the one that would end first.
 */
int tokens_mint(struct tokens *t, const struct token_grant *g, nsec_t wall_now,
		struct token_text *out, struct err *e);

struct token_claim {
	const char *id;
	const void *secret; /* as in the connection string */
	size_t nsecret;
	unsigned roles; /* one of these roles is requested */
	const char *site;
};

/*
 * Sets *out to the grant of a token, whose owner is never "", without counting a use. Fails with
 * ERR_DENIED for an unknown token, a wrong secret, another role or site, or an ended token. The
 * time of a comparison does not depend on the length of the matching part. Unknown and wrong tokens
 * get the same text.
 */
int tokens_check(const struct tokens *t, const struct token_claim *c, nsec_t wall_now,
		 struct token_grant *out, struct err *e);

/*
 * Counts one use; the last use removes the token. The file is written before it returns. Fails with
 * ERR_AGAIN after TOKEN_BURST uses at once, and then counts none.
 */
int tokens_use(struct tokens *t, const char *id, nsec_t wall_now, struct err *e);

/*
 * Extends the tokens of living jobs to TOKEN_JOB_IDLE_NS from now. After ERR_SYS the extension is
 * in force, but not written.
 */
int tokens_keep_jobs(struct tokens *t, bool (*lives)(void *arg, const char *job), void *arg,
		     nsec_t wall_now, struct err *e);

/* Returns how many tokens are valid now. */
size_t tokens_count(const struct tokens *t, nsec_t wall_now);

#endif
