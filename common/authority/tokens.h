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

#define TOKENS_MAX 1024 /* valid at one time; sms that are being started need one each */
#define TOKEN_ID_LEN 8
#define TOKEN_LM_PREFIX CONNSTR_LM_PREFIX
#define TOKEN_SECRET_LEN 26 /* 128 random bits */
#define TOKEN_BURST 1024 /* enrolments at once by one token: the hosts of a large job */
/* after a burst, one enrolment per this time: each certificate is written to the disk */
#define TOKEN_PACE_NS (100 * NSEC_PER_MSEC)
/* for jobs, of which a user may start many; the other half is for other tokens */
#define TOKEN_JOBS_MAX 512
/* the token of a job ends this long after its last process */
#define TOKEN_JOB_IDLE_NS (86400 * NSEC_PER_SEC)

struct tokens;

struct token_grant {
	unsigned roles; /* set of ROLE_BIT(): roles that its certificates may have */
	char site[NAME_MAX_BYTES + 1]; /* only for this site; "" = any */
	nsec_t wall_until; /* enrolments */
	/* end of its certificates; 0 = they are renewed while in use */
	nsec_t wall_certs_until;
	uint32_t uses; /* that are left; 0 = without limit */
	bool is_volatile; /* not stored: after a restart its holder is started with another token */
	/* owner of its certificates; "" = the token's id */
	char owner[IDENTITY_OWNER_MAX_BYTES + 1];
	bool has_uid; /* the monitor's own user */
	uint32_t uid;
	/* for the ranks of this job, with which it ends; "" = for no job */
	char job[NAME_MAX_BYTES + 1];
};

struct disk;

struct token_text {
	char id[IDENTITY_TOKEN_MAX_BYTES + 1];
	char secret[TOKEN_SECRET_LEN + 1]; /* wipe it when done */
};

/*
 * path: the file that stores them, NULL = memory only. disk: borrowed, NULL = the system's.
 * ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM.
 */
int tokens_open(const struct disk *disk, const char *path, struct tokens **out, struct err *e);
void tokens_free(struct tokens *t);

/* True if the token enrols lms only. */
bool token_is_for_lms(const char *id);

/*
 * ERR_LIMIT, ERR_INVALID (no role, owner is no name), ERR_EXISTS (another token has that owner; the
 * monitor's own user may have several), ERR_SYS (not written: the token is void), ERR_NOMEM. If
 * there are TOKEN_JOBS_MAX job tokens, a new one replaces the one that would end first.
 */
int tokens_mint(struct tokens *t, const struct token_grant *g, nsec_t wall_now,
		struct token_text *out, struct err *e);

struct token_claim {
	const char *id;
	const void *secret; /* as written in the connection string */
	size_t nsecret;
	unsigned roles; /* one of these is requested */
	const char *site;
};

/*
 * ERR_DENIED: no such token, or another secret; of another role or site; ended. The time of a
 * comparison does not depend on the length of the matching part. Unknown and wrong tokens get the
 * same text. *out is the grant, its owner never ""; does not count a use.
 */
int tokens_check(const struct tokens *t, const struct token_claim *c, nsec_t wall_now,
		 struct token_grant *out, struct err *e);

/*
 * Counts one use; the last use removes the token. The file is written before the return. ERR_AGAIN:
 * more than TOKEN_BURST at once, no use was counted.
 */
int tokens_use(struct tokens *t, const char *id, nsec_t wall_now, struct err *e);

/*
 * Extends the tokens of living jobs to TOKEN_JOB_IDLE_NS from now. ERR_SYS: in force, but not
 * written.
 */
int tokens_keep_jobs(struct tokens *t, bool (*lives)(void *arg, const char *job), void *arg,
		     nsec_t wall_now, struct err *e);

/* Returns how many are valid now. */
size_t tokens_count(const struct tokens *t, nsec_t wall_now);

#endif
