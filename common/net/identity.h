/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of a peer. It comes only from a verified certificate: the URI
 * omig:ROLE/SITE/HOST/OWNER/UID/TOKEN in its subjectAltName. Parts are percent-encoded; the last
 * three are left out together if all are empty. The authority vouches for OWNER, UID and TOKEN. The
 * HOST of a tool is its own choice: a label for people, and no identity.
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
	ROLE_FACTORY, /* runs programs of tools of the same user: omig neko factory */
	ROLE_RECEIVER, /* takes events of programs: omig log receive */
	ROLE_COUNT
};

/* Sets of roles. */
#define ROLE_BIT(role) (1u << (role))
#define ROLES_TOOL \
	(ROLE_BIT(ROLE_TOOL_OBSERVE) | ROLE_BIT(ROLE_TOOL_MANIPULATE) | ROLE_BIT(ROLE_TOOL_ADMIN))
/* programs of a user that others dial */
#define ROLES_SERVER (ROLE_BIT(ROLE_FACTORY) | ROLE_BIT(ROLE_RECEIVER))

/* "mainsm" "sm" "lm" "tool-observe" "tool-manipulate" "tool-admin" "factory" "receiver"; "none" for
 * anything else. */
const char *role_name(enum role r);
/* Returns ROLE_NONE for an unknown name. */
enum role role_from_name(const char *name);
/* Writes "sm or mainsm", for texts. Returns out. */
char *role_set_names(char *out, size_t size, unsigned roles);

#define SERIAL_BYTES 16
#define FINGERPRINT_BYTES 32

/* as user names of the system; part of lists and of each request */
#define IDENTITY_OWNER_MAX_BYTES 63
#define IDENTITY_TOKEN_MAX_BYTES 15

/* site and host are names (str_is_name) or "". Plain data, may be copied. */
struct identity {
	enum role role;
	char site[NAME_MAX_BYTES + 1];
	char host[NAME_MAX_BYTES + 1]; /* lm: its host; sm, mainsm: where it runs; tool, factory:
					  user@host, its label */
	/* The user of the monitor, the owner of the token, or the token's id. "" = not set. */
	char owner[IDENTITY_OWNER_MAX_BYTES + 1];
	bool has_uid; /* enrolled by a string of the monitor's own user, with that uid */
	uint32_t uid;
	char token[IDENTITY_TOKEN_MAX_BYTES +
		   1]; /* public part of the token that it was enrolled with; may be "" */
	uint8_t serial[SERIAL_BYTES]; /* big-endian, filled up with zeros in front */
	uint8_t fingerprint[FINGERPRINT_BYTES]; /* SHA-256 of the certificate */
	nsec_t wall_not_before, wall_not_after;
};

/*
 * Writes "sm of site a on b.example", "lm on b.example", "tool-observe of carol on me@b": for
 * texts; control bytes are escaped. Returns out.
 */
char *identity_describe(char *out, size_t size, const struct identity *id);

#define IDENTITY_PRINCIPAL_BYTES (32 + 2 * NAME_MAX_BYTES)

/*
 * Writes the holder, for fairness and ownership, which is the same for all its links and
 * certificates. A daemon is its role, site and host; a tool or factory is its owner ("uid 1000" for
 * the monitor's own user). Returns out, which has IDENTITY_PRINCIPAL_BYTES.
 */
char *identity_principal(char *out, const struct identity *id);

/* True if both were enrolled by strings of the monitor's own user, which alone have a uid. */
bool identity_is_same_user(const struct identity *a, const struct identity *b);

/* Letters, digits, '.', '_', '-', '+', not first '.' or '-', at most IDENTITY_OWNER_MAX_BYTES. */
bool identity_owner_is_valid(const char *name);

/*
 * True for a valid host name of a daemon: letters, digits, '.', '_', '-', ':' and bytes above 127
 * of UTF-8, not first '.' or '-'. It is part of paths and command lines.
 */
bool identity_host_is_valid(const char *name);

#define IDENTITY_URI_BYTES (32 + 6 * NAME_MAX_BYTES + 3 * IDENTITY_OWNER_MAX_BYTES + 32)

/*
 * Writes the URI. ERR_INVALID: no role, or a part that is not a name. out has IDENTITY_URI_BYTES.
 */
int identity_to_uri(char *out, const struct identity *id, struct err *e);

/*
 * Sets all members that the URI contains. Only the form of identity_to_uri() is accepted.
 * ERR_PARSE.
 */
int identity_from_uri(struct identity *id, const char *p, size_t n, struct err *e);

/* --- sets of serial numbers */

struct serial_set;

struct serial_set *serial_set_new(void); /* NULL: no memory */
void serial_set_free(struct serial_set *s);
int serial_set_add(struct serial_set *s,
		   const uint8_t serial[SERIAL_BYTES]); /* again: no change. -ERR_NOMEM */
bool serial_set_has(const struct serial_set *s, const uint8_t serial[SERIAL_BYTES]);
size_t serial_set_size(const struct serial_set *s);
/* Returns the serials in the order of adding; i < size. */
const uint8_t *serial_set_at(const struct serial_set *s, size_t i);

#endif
