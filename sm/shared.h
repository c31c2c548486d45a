/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sm as a process that serves many users: the state directory of the site, its own small
 * authority, the port of the site (site_admin.h) and the users (tenants.h).
 */
#ifndef SM_SHARED_H
#define SM_SHARED_H

#include "common/daemon/daemon.h"
#include "sm/settings.h"

struct shared;

/* Serves when it returns. ERR_EXISTS: another sm of this site runs; else as its parts. */
int shared_start(struct daemon *d, const struct settings *s, const char *host, struct shared **out,
		 struct err *e);

/* Applies the users of another configuration. */
int shared_reload(struct shared *sh, const struct settings *s, struct err *e);
void shared_dump(struct shared *sh, struct buf *out);

/* NULL is fine. */
void shared_free(struct shared *sh);

#endif
