/* SPDX-License-Identifier: Apache-2.0 */
/* A factory has no line to mainsm: when its certificate is to be renewed, it makes one for as long
 * as that takes. */
#ifndef NEKO_HOSTS_RENEWAL_H
#define NEKO_HOSTS_RENEWAL_H

#include "common/base/err.h"

struct connstr;
struct loop;
struct net_ctx;
struct renewal;

/* All are borrowed. */
struct renewal_conf {
	struct loop *loop;
	struct net_ctx *net;
	const char *dir; /* of the certificate */
	const struct connstr *mainsm;
};

/* Of what lies in dir, in use in net. All is borrowed; mainsm is copied. ERR_NOMEM. */
int renewal_new(const struct renewal_conf *conf, struct renewal **out, struct err *e);
/* Before net. NULL is fine. */
void renewal_free(struct renewal *r);

#endif
