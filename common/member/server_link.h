/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link of a server to mainsm. A server accepts connections and does not belong to the tree.
 * Over this link its certificate is renewed, and it gets the list of revoked certificates. Peers
 * with revoked certificates are refused, and their links are closed. Without a link to mainsm, the
 * last list remains valid.
 */
#ifndef COMMON_MEMBER_SERVER_LINK_H
#define COMMON_MEMBER_SERVER_LINK_H

#include "common/base/err.h"
#include "proto/msg.h"

struct connstr;
struct loop;
struct net_ctx;
struct server_link;

/* Pointers are borrowed. */
struct server_link_conf {
	const char *role; /* "factory", "receiver"; must live as long as the link */
	struct loop *loop;
	struct net_ctx *net;
	const char *dir; /* directory of the certificate, which net uses */
	const struct connstr *mainsm; /* copied */
};

/* Dials from the loop, and again after each loss. Fails with ERR_NOMEM. */
int server_link_new(const struct server_link_conf *conf, struct server_link **out, struct err *e);
/* Must be called before net is freed. NULL is accepted. */
void server_link_free(struct server_link *s);

/*
 * Refuses these certificates from now on, and closes links of their owners. Fails with ERR_NOMEM.
 */
int revoked_apply(struct net_ctx *net, const struct msg_revoked *m);

#endif
