/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of a peer. It comes only from a verified certificate: the URI
 * omig:ROLE/SITE/HOST/OWNER/UID/TOKEN in its subjectAltName. Parts are percent-encoded; the last
 * three are left out together if all are empty. The authority has verified OWNER, UID and TOKEN.
 * The HOST of a tool is the tool's own choice: a label for users, not an identity.
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
/* programs of a user that accept connections */
#define ROLES_SERVER (ROLE_BIT(ROLE_FACTORY) | ROLE_BIT(ROLE_RECEIVER))

/*
 * Returns "mainsm" "sm" "lm" "tool-observe" "tool-manipulate" "tool-admin" "factory" "receiver";
 * "none" for other values.
 */
const char *role_name(enum role r);
/* Returns ROLE_NONE for an unknown name. */
enum role role_from_name(const char *name);
/* Writes text such as "sm or mainsm". Returns out. */
char *role_set_names(char *out, size_t size, unsigned roles);

#define SERIAL_BYTES 16
#define FINGERPRINT_BYTES 32

/* as for user names of the system; owners are in lists and in each request */
#define IDENTITY_OWNER_MAX_BYTES 63
#define IDENTITY_TOKEN_MAX_BYTES 15

/* site and host are names (str_is_name) or "". Plain data, which may be copied. */
struct identity {
	enum role role;
	char site[NAME_MAX_BYTES + 1];
	/* lm: its host; sm, mainsm: the host where it runs; tool, factory: user@host, its label */
	char host[NAME_MAX_BYTES + 1];
	/* The user of the monitor, the owner of the token, or the token's id. "" = not set. */
	char owner[IDENTITY_OWNER_MAX_BYTES + 1];
	bool has_uid; /* enrolled with a string of the monitor's own user, with this uid */
	uint32_t uid;
	char token[IDENTITY_TOKEN_MAX_BYTES +
		   1]; /* public part of the token with which it was enrolled; may be "" */
	uint8_t serial[SERIAL_BYTES]; /* big-endian, with leading zeros */
	uint8_t fingerprint[FINGERPRINT_BYTES]; /* SHA-256 of the certificate */
	nsec_t wall_not_before, wall_not_after;
};

/*
 * Writes text such as "sm of site a on b.example", "lm on b.example", "tool-observe of carol on
 * me@b". Control bytes are escaped. Returns out.
 */
char *identity_describe(char *out, size_t size, const struct identity *id);

#define IDENTITY_PRINCIPAL_BYTES (32 + 2 * NAME_MAX_BYTES)

/*
 * Writes the holder, which is the same for all its links and certificates. It is used for limits
 * and ownership. A daemon is its role, site and host; a tool or factory is its owner ("uid 1000"
 * for the monitor's own user). Returns out, which has IDENTITY_PRINCIPAL_BYTES.
 */
char *identity_principal(char *out, const struct identity *id);

/* True if both were enrolled by strings of the monitor's own user, which alone have a uid. */
bool identity_is_same_user(const struct identity *a, const struct identity *b);

/*
 * True for letters, digits, '.', '_', '-', '+', not first '.' or '-', at most
 * IDENTITY_OWNER_MAX_BYTES.
 */
bool identity_owner_is_valid(const char *name);

/*
 * True for a valid host name of a daemon: letters, digits, '.', '_', '-', ':' and bytes above 127
 * of UTF-8, not first '.' or '-'. It is part of paths and command lines.
 */
bool identity_host_is_valid(const char *name);

#define IDENTITY_URI_BYTES (32 + 6 * NAME_MAX_BYTES + 3 * IDENTITY_OWNER_MAX_BYTES + 32)

/*
 * Writes the URI; out has IDENTITY_URI_BYTES. Fails with ERR_INVALID without a role, or if a part
 * is not a name.
 */
int identity_to_uri(char *out, const struct identity *id, struct err *e);

/*
 * Sets all members that the URI contains. Accepts only the form of identity_to_uri(). Fails with
 * ERR_PARSE.
 */
int identity_from_uri(struct identity *id, const char *p, size_t n, struct err *e);

/* --- sets of serial numbers */

struct serial_set;

struct serial_set *serial_set_new(void); /* returns NULL without memory */
void serial_set_free(struct serial_set *s);
int serial_set_add(struct serial_set *s,
		   /* a serial that is in the set changes nothing. Fails with ERR_NOMEM */
		   const uint8_t serial[SERIAL_BYTES]);
bool serial_set_has(const struct serial_set *s, const uint8_t serial[SERIAL_BYTES]);
size_t serial_set_size(const struct serial_set *s);
/* Returns serial i < size, in the order of adding. */
const uint8_t *serial_set_at(const struct serial_set *s, size_t i);

#endif
