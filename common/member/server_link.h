/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link to mainsm of a server: a program that others dial, and that is no daemon of the tree. It
 * renews the server's certificate, and gets the list of revoked ones: their holders are refused,
 * and live links of theirs are closed. While mainsm is away, the server goes on with the list that
 * it has.
 */
#ifndef COMMON_MEMBER_SERVER_LINK_H
#define COMMON_MEMBER_SERVER_LINK_H

#include "common/base/err.h"
#include "proto/msg.h"

struct connstr;
struct loop;
struct net_ctx;
struct server_link;

/* All are borrowed. */
struct server_link_conf {
	const char *role; /* "factory", "receiver"; lives as long */
	struct loop *loop;
	struct net_ctx *net;
	const char *dir; /* of the certificate, which net uses */
	const struct connstr *mainsm; /* copied */
};

/* Dials from the loop, again after each loss. ERR_NOMEM. */
int server_link_new(const struct server_link_conf *conf, struct server_link **out, struct err *e);
/* Must be called before net is freed. NULL is fine. */
void server_link_free(struct server_link *s);

/* Refuses these certificates from now on, and closes live links of theirs. -ERR_NOMEM. */
int revoked_apply(struct net_ctx *net, const struct msg_revoked *m);

#endif
