/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection strings: the addresses of a mainsm, the pin of its CA, and a token with which a
 * program may enrol. One line, safe in a shell without quotes:
 *	omig1:HOST[,HOST...]:PORT:PIN[:TOKENID.SECRET]
 * An IPv6 address is in brackets. PIN is base32 of the first 16 bytes of the SHA-256 of the CA's
 * certificate (DER).
 */
#ifndef COMMON_LINK_CONNSTR_H
#define COMMON_LINK_CONNSTR_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define CONNSTR_MAX_BYTES 4096
#define CONNSTR_HOSTS_MAX 8
#define CONNSTR_PIN_LEN 26
#define CONNSTR_CAID_LEN 8
#define CONNSTR_TOKEN_LEN_MAX 64
/* prefix of tokens that enrol lms only, which the environment of programs may contain */
#define CONNSTR_LM_PREFIX "lm-"

struct connstr {
	char host[CONNSTR_HOSTS_MAX][NAME_MAX_BYTES + 1]; /* without brackets */
	unsigned nhost; /* >= 1 */
	uint16_t port; /* not 0 */
	char pin[CONNSTR_PIN_LEN + 1]; /* lower case */
	char token_id[CONNSTR_TOKEN_LEN_MAX + 1]; /* "" = no token */
	/* as written; the caller wipes it with str_wipe() */
	char secret[CONNSTR_TOKEN_LEN_MAX + 1];
};

/*
 * Ignores surrounding white space. Fails with ERR_PARSE; the text names the invalid part, never the
 * secret.
 */
int connstr_parse(const char *s, struct connstr *out, struct err *e);

/* Appends the canonical form. Fails with ERR_NOMEM, ERR_LIMIT. */
int connstr_print(const struct connstr *c, bool with_token, struct buf *b);

/* True if the token enrols lms only. */
bool connstr_is_for_lms(const struct connstr *c);

/* Places to search, in this order. */
struct connstr_source {
	/*
	 * An option or a configuration key; "@FILE": a file of this user that contains it; NULL or
	 * "" = none.
	 */
	const char *given;
	const char *state_dir; /* <state_dir>/mainsm/mainsm.conn; NULL = none */
	/*
	 * OMIG_MAINSM of a program may be for its job only, and older than the file. If true, the
	 * file is preferred if it is of the same authority.
	 */
	bool prefers_own;
};

/*
 * Reads the string of the state directory, if it is of the authority with this pin. Fails with
 * ERR_NOTFOUND, or with the reason why it cannot be read.
 */
int connstr_own(const char *state_dir, const char *pin, struct connstr *out, struct err *e);

/*
 * Finds a string: source.given, then OMIG_MAINSM, then mainsm.conn of the state directory.
 * OMIG_MAINSM without a token gets that of mainsm.conn if both are of one authority. Does file I/O.
 * The text of ERR_NOTFOUND has the remedy.
 */
int connstr_find(const struct connstr_source *s, struct connstr *out, struct err *e);

/* Copies the first CONNSTR_CAID_LEN characters of the pin, which name this CA's files on a host. */
void connstr_caid(const struct connstr *c, char out[CONNSTR_CAID_LEN + 1]);

/*
 * Writes "host:port", with [] around the host if needed, for HELLO.listen, HELLO_ACK.redirect and
 * messages to users.
 */
int hostport_print(const char *host, uint16_t port, struct buf *b);

/* Splits "host:port"; host has NAME_MAX_BYTES + 1. Fails with ERR_PARSE. */
int hostport_parse(const char *s, char *host, uint16_t *port, struct err *e);

#endif
