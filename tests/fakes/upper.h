/* SPDX-License-Identifier: Apache-2.0 */
/* A fake daemon above the one under test, which connects to it. */
#ifndef TESTS_FAKES_UPPER_H
#define TESTS_FAKES_UPPER_H

#include "common/link/link.h"
#include "common/net/mem.h"

/* Set by the owner, before upper_listen(): loop, rng, time, epoch and what follows them. */
struct upper {
	struct loop *loop;
	struct rng *rng; /* borrowed */
	struct timebase *time; /* borrowed */
	uint64_t epoch; /* of its start */
	/* As in link.h. A link that is redirected has a user (link_set_user()). */
	int (*on_hello)(void *arg, struct link *l, const struct msg_hello *h,
			struct msg_hello_ack *ack, struct err *why);
	void (*on_msg)(void *arg, struct link *l, const struct msg *m);
	void *arg;

	struct net_ctx *ctx; /* NULL: it does not run */
	struct net_listener *listener;
	struct link *link; /* of the last that connected; NULL: none */
};

/* port: 0 in *port is replaced by a free one. */
void upper_listen(struct upper *u, struct mem_net *net, const struct identity *id, uint16_t *port);
/* Ends its links with BYE. No effect if it does not run. */
void upper_close(struct upper *u, nsec_t time);

#endif
