/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a peer is. It comes from a verified certificate and from nowhere else:
 * the URI omig:ROLE/SITE/HOST in its subjectAltName, parts percent-encoded.
 */
#ifndef COMMON_NET_IDENTITY_H
#define COMMON_NET_IDENTITY_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum role {
	ROLE_NONE,
	ROLE_MAINSM,
	ROLE_SM,
	ROLE_LM,
	ROLE_TOOL_OBSERVE,
	ROLE_TOOL_MANIPULATE,
	ROLE_TOOL_ADMIN,
	ROLE_FACTORY, /* runs what tools of the same user bring: omig neko factory */
	ROLE_COUNT
};

/* Sets of roles. */
#define ROLE_BIT(role) (1u << (role))
#define ROLES_TOOL \
	(ROLE_BIT(ROLE_TOOL_OBSERVE) | ROLE_BIT(ROLE_TOOL_MANIPULATE) | ROLE_BIT(ROLE_TOOL_ADMIN))

/* "mainsm" "sm" "lm" "tool-observe" "tool-manipulate" "tool-admin" "factory"; "none" for anything else. */
const char *role_name(enum role r);
/* ROLE_NONE for an unknown name. */
enum role role_from_name(const char *name);
/* "sm or mainsm", for texts. Returns out. */
char *role_set_names(char *out, size_t size, unsigned roles);

#define SERIAL_BYTES 16
#define FINGERPRINT_BYTES 32

/* site and host are names (str_is_name) or "". Plain data, may be copied. */
struct identity {
	enum role role;
	char site[NAME_MAX_BYTES + 1];
	char host[NAME_MAX_BYTES +
		  1]; /* lm: its host; sm, mainsm: where it runs; tool, factory: user@host */
	uint8_t serial[SERIAL_BYTES]; /* big-endian, filled up with zeros in front */
	uint8_t fingerprint[FINGERPRINT_BYTES]; /* SHA-256 of the certificate */
	nsec_t wall_not_before, wall_not_after;
};

/*
 * "sm of site a on b.example", "lm on b.example": for texts; bytes that a
 * terminal minds are escaped. Returns out.
 */
char *identity_describe(char *out, size_t size, const struct identity *id);

#define IDENTITY_URI_BYTES (32 + 6 * NAME_MAX_BYTES)

/*
 * omig:ROLE/SITE/HOST. ERR_INVALID: no role, or a part that is not a name. out
 * has IDENTITY_URI_BYTES.
 */
int identity_to_uri(char *out, const struct identity *id, struct err *e);

/* Sets role, site, host. Only the form that identity_to_uri() writes is accepted. ERR_PARSE. */
int identity_from_uri(struct identity *id, const char *p, size_t n, struct err *e);

/* --- sets of serial numbers */

struct serial_set;

struct serial_set *serial_set_new(void); /* NULL: no memory */
void serial_set_free(struct serial_set *s);
int serial_set_add(struct serial_set *s,
		   const uint8_t serial[SERIAL_BYTES]); /* again: no change. -ERR_NOMEM */
bool serial_set_has(const struct serial_set *s, const uint8_t serial[SERIAL_BYTES]);
size_t serial_set_size(const struct serial_set *s);
/* In the order of adding; i < size. */
const uint8_t *serial_set_at(const struct serial_set *s, size_t i);

#endif
