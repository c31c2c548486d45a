/* SPDX-License-Identifier: Apache-2.0 */
/* A network of a shared object, and the functions that a world provides for it. */
#ifndef NEKO_CORE_NET_H
#define NEKO_CORE_NET_H

#include "common/base/rng.h"
#include "neko/core/neko.h"
#include "neko/core/setup.h"

/* Functions of a simulated or a real run; the functions of the other kind are NULL. */
struct net_world {
	nsec_t (*now)(const struct neko_net *n);
	void (*arrive)(struct neko_net *n, struct neko_msg *m, uint32_t to, nsec_t at);
	void (*lose)(struct neko_net *n, struct neko_msg *m, uint32_t to);
	void (*wake)(struct neko_net *n, nsec_t at, uint64_t what);
	void (*unref)(struct neko_net *n, struct neko_msg *m);
	void (*received)(struct neko_net *n, uint32_t from, const void *p, size_t bytes);
};

struct neko_net {
	const struct neko_net_ops *ops;
	const struct net_world *world;
	void *owner; /* the world */
	const char *name; /* borrowed */
	uint32_t m, id;
	uint8_t number;
	struct rng rng;
	char key[SETUP_KEY_BYTES];
	max_align_t state[];
};

struct net_conf {
	const struct neko_net_ops *ops;
	const struct net_world *world;
	void *owner;
	const char *name;
	struct setup *setup;
	uint32_t m, id;
	uint8_t number;
	uint64_t seed;
};

/* Makes a network and calls init(). Fails with errors of init(), and ERR_NOMEM. */
int net_new(const struct net_conf *c, struct neko_net **out, struct err *e);
void net_free(struct neko_net *n); /* NULL is accepted */

/*
 * Check that the network can be simulated, or used in a real run. Fail with ERR_UNSUPPORTED and a
 * remedy in the text.
 */
int net_check_simulated(const struct neko_net_ops *ops, const char *name, struct err *e);
int net_check_real(const struct neko_net_ops *ops, const char *name, struct err *e);

#endif
