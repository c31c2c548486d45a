/* SPDX-License-Identifier: Apache-2.0 */
/* The issued certificates and their revocations, stored in a file. Wall times are arguments. */
#ifndef COMMON_AUTHORITY_CERTS_H
#define COMMON_AUTHORITY_CERTS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CERTS_MAX 65536 /* valid certificates; expired ones are removed */
#define CERTS_OF_TOKEN_MAX (CERTS_MAX / 4) /* so that no single token can use all */

struct cert {
	char serial[2 * SERIAL_BYTES + 1]; /* in hexadecimal */
	enum role role;
	char site[NAME_MAX_BYTES + 1], host[NAME_MAX_BYTES + 1];
	char owner[IDENTITY_OWNER_MAX_BYTES + 1], token[IDENTITY_TOKEN_MAX_BYTES + 1];
	bool has_uid; /* the holder is the monitor's own user */
	nsec_t wall_issued, wall_until;
	/* end of all certificates of a holder, through all renewals; 0 = no end */
	nsec_t wall_limit;
	bool revoked;
};

struct certs;
struct disk;

/* Opens the file like tokens_open(). Cut or damaged records are left out: certs_damaged(). */
int certs_open(const struct disk *disk, const char *path, struct certs **out, struct err *e);
void certs_free(struct certs *c);

/* Returns how many bytes of the file were left out. */
size_t certs_damaged(const struct certs *c);

/*
 * Adds a certificate, and writes it to disk before it returns. limit: as in wall_limit. Fails with
 * ERR_LIMIT, ERR_NOMEM, ERR_SYS, and then adds nothing.
 */
int certs_add(struct certs *c, const struct identity *issued, nsec_t limit, nsec_t wall_now,
	      struct err *e);

/* Returns the name of a holder: a host, the label of a tool of this user, or the owner. */
const char *cert_name(const struct cert *c);

/*
 * Revokes all valid certificates that match `what`: a serial, a name as cert_name(), or a token's
 * id. *n (may be NULL) = how many this call has revoked. Fails with ERR_NOTFOUND if nothing
 * matches. After ERR_SYS they are revoked, but not written.
 */
int certs_revoke(struct certs *c, const char *what, nsec_t wall_now, size_t *n, struct err *e);

/* O(n) in the number of certificates, like all functions here. */
bool certs_is_revoked(const struct certs *c, const uint8_t serial[SERIAL_BYTES]);

const struct cert *certs_find(const struct certs *c, const uint8_t serial[SERIAL_BYTES]);

/* True if a valid certificate has this owner, and another token than this one. */
bool certs_has_owner(const struct certs *c, const char *owner, const char *token, nsec_t wall_now);

/*
 * Returns the wall time of issue of the last other certificate for the same role, site, host, owner
 * and token. Returns 0 if none is valid.
 */
nsec_t certs_issued_last(const struct certs *c, const struct identity *who);

size_t certs_count(const struct certs *c);
const struct cert *certs_at(const struct certs *c, size_t i);

/* Calls fn for each revoked certificate. */
void certs_each_revoked(const struct certs *c,
			void (*fn)(void *arg, const uint8_t serial[SERIAL_BYTES]), void *arg);

#endif
