/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state directory of mainsm: the CA, its own certificate, the port of
 * the last start, and the connection string that the user's programs find
 * without any setting. Blocks as files do.
 */
#ifndef MAINSM_STATE_H
#define MAINSM_STATE_H

#include "common/base/file.h"
#include "common/daemon/connstr.h"
#include "common/net/pki.h"
#include "mainsm/tokens.h"

#include <stdint.h>

struct state {
	char dir[FILE_PATH_BYTES]; /* .../mainsm */
	struct pki_ca *ca; /* owned */
	struct pki_creds creds; /* owned */
};

/* Makes and checks <base>/mainsm. Files come later: after the lock is held. */
int state_init(struct state *s, const char *base, struct err *e);

/* A path of the directory. ERR_LIMIT. */
int state_path(const struct state *s, const char *name, char out[FILE_PATH_BYTES], struct err *e);

/* CA and our certificate, made or renewed when needed. */
int state_open(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e);

/*
 * Makes our certificate anew in the last third of its life: 1 when s->creds has changed, else 0.
 * On failure what we have stays.
 */
int state_renew(struct state *s, nsec_t wall_now, nsec_t cert_lifetime, struct err *e);
void state_done(struct state *s);

/* 0 = none yet. */
uint16_t state_last_port(const struct state *s);
int state_save_port(const struct state *s, uint16_t port, struct err *e);

/* The string that stands in mainsm.conn; ERR_NOTFOUND. */
int state_read_conn(const struct state *s, struct connstr *out, struct err *e);
int state_save_conn(const struct state *s, const struct connstr *c, struct err *e);

/* The pid in the lock file, 0 = unknown. */
long state_lock_owner(const struct state *s);

#endif
