/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory of a daemon that is the root of a monitor. It has the CA, the daemon's own
 * certificate and the port of the last start. It also has the connection strings that programs find
 * without any setting. Functions here do file I/O and may block.
 */
#ifndef COMMON_AUTHORITY_STATE_H
#define COMMON_AUTHORITY_STATE_H

#include "common/authority/tokens.h"
#include "common/base/file.h"
#include "common/link/connstr.h"
#include "common/net/pki.h"

#include <stdint.h>

struct state {
	char dir[FILE_PATH_BYTES];
	struct pki_ca *ca; /* owned */
	struct pki_creds creds; /* owned */
};

/* Makes and checks <base>/<name>. Files are made later, when the lock is held. */
int state_init(struct state *s, const char *base, const char *name, struct err *e);

/* Writes a path in the directory. Fails with ERR_LIMIT. */
int state_path(const struct state *s, const char *name, char out[FILE_PATH_BYTES], struct err *e);

/* Writes the owner of the monitor, as a name of an identity. */
void state_owner(char out[IDENTITY_OWNER_MAX_BYTES + 1]);

/* Loads the CA and the certificate, or makes and renews them as needed. */
int state_open(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e);

/*
 * Renews the certificate in the last third of its life. Returns 1 if s->creds has changed,
 * otherwise 0. On failure s->creds is unchanged.
 */
int state_renew(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e);

/*
 * Reads the certificate again from the directory, because an administrator may have replaced it.
 * Refuses a certificate that does not fit. Fails with ERR_INVALID, ERR_DENIED, ERR_NOTFOUND.
 */
int state_read_own(const struct state *s, nsec_t wall_now, struct pki_creds *out, struct err *e);

/* Replaces s->creds. Consumes *take. */
void state_set_own(struct state *s, struct pki_creds *take);
void state_done(struct state *s);

/* Returns the port of the last start; 0 if there is none. */
uint16_t state_last_port(const struct state *s);
int state_save_port(const struct state *s, uint16_t port, struct err *e);

/* Reads the connection string in a file such as "mainsm.conn". Fails with ERR_NOTFOUND. */
int state_read_conn(const struct state *s, const char *file, struct connstr *out, struct err *e);
int state_save_conn(const struct state *s, const char *file, const struct connstr *c,
		    struct err *e);

/*
 * Sets the token of a connection string for users. The token in *c stays while it has all roles and
 * more than half of its life. Otherwise a new one is made from grant. Fails like tokens_mint().
 */
int state_keep_token(struct tokens *t, const struct token_grant *grant, nsec_t wall_now,
		     struct connstr *c, struct err *e);

/* Returns the pid in that lock file; 0 = unknown. */
long state_lock_owner(const struct state *s, const char *file);

#endif
