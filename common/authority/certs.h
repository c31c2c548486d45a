/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificates that were issued, and which of them are revoked. Kept in a
 * file; wall times are arguments.
 */
#ifndef COMMON_AUTHORITY_CERTS_H
#define COMMON_AUTHORITY_CERTS_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CERTS_MAX 65536 /* valid at one time; ended ones are forgotten */

struct cert {
	char serial[2 * SERIAL_BYTES + 1]; /* hexadecimal */
	enum role role;
	char site[NAME_MAX_BYTES + 1], host[NAME_MAX_BYTES + 1];
	nsec_t wall_issued, wall_until;
	bool revoked;
};

struct certs;

/* path NULL = memory only. ERR_PARSE, ERR_DENIED, ERR_SYS, ERR_NOMEM. */
int certs_open(const char *path, struct certs **out, struct err *e);
void certs_free(struct certs *c);

/* Written before it returns. ERR_LIMIT, ERR_NOMEM, ERR_SYS: nothing was added. */
int certs_add(struct certs *c, const struct identity *issued, nsec_t wall_now, struct err *e);

/*
 * what: a serial, or a host (user@host for tools): all valid certificates that match. *n (may be NULL) =
 * how many were revoked by this call. ERR_NOTFOUND: nothing matches; ERR_SYS: revoked, but not written.
 */
int certs_revoke(struct certs *c, const char *what, nsec_t wall_now, size_t *n, struct err *e);

/* O(n) in the number of certificates, as all here. */
bool certs_is_revoked(const struct certs *c, const uint8_t serial[SERIAL_BYTES]);

/* Wall time of the last other one for the same role, site and host; 0 = none is valid. */
nsec_t certs_issued_last(const struct certs *c, const struct identity *who);

size_t certs_count(const struct certs *c);
const struct cert *certs_at(const struct certs *c, size_t i);

/* Calls fn for each that is revoked. */
void certs_each_revoked(const struct certs *c, void (*fn)(void *arg, const uint8_t serial[SERIAL_BYTES]), void *arg);

#endif
