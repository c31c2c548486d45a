/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renews the certificate of a program that others dial, and that has no link to mainsm: it connects
 * for the time of a renewal.
 */
#ifndef COMMON_MEMBER_RENEWAL_H
#define COMMON_MEMBER_RENEWAL_H

#include "common/base/err.h"

struct connstr;
struct loop;
struct net_ctx;
struct renewal;

/* All are borrowed. */
struct renewal_conf {
	const char *role; /* "factory", "receiver"; lives as long */
	struct loop *loop;
	struct net_ctx *net;
	const char *dir; /* of the certificate */
	const struct connstr *mainsm;
};

/* Renews the certificate in dir, which net uses. All is borrowed; mainsm is copied. ERR_NOMEM. */
int renewal_new(const struct renewal_conf *conf, struct renewal **out, struct err *e);
/* Must be called before net is freed. NULL is fine. */
void renewal_free(struct renewal *r);

#endif
