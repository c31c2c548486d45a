/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/core/net.h"

#include <stdio.h>
#include <stdlib.h>

int net_new(const struct net_conf *c, struct neko_net **out, struct err *e)
{
	struct neko_net *n = calloc(1, sizeof(*n) + c->ops->bytes);
	int rc;

	if (!n)
		return err_nomem(e);
	n->ops = c->ops;
	n->world = c->world;
	n->owner = c->owner;
	n->name = c->name;
	n->m = c->m;
	n->id = c->id;
	n->number = c->number;
	rng_init(&n->rng, c->seed);
	rc = c->ops->init ? c->ops->init(n, c->setup, e) : 0;
	if (rc)
		net_free(n);
	else
		*out = n;
	return rc;
}

void net_free(struct neko_net *n)
{
	if (n && n->ops->done)
		n->ops->done(n);
	free(n);
}

int net_check_simulated(const struct neko_net_ops *ops, const char *name, struct err *e)
{
	if (ops->send)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "network %s: %s cannot be simulated (it has no send); use --real, or choose "
		       "another network.%s.model",
		       name, ops->name, name);
}

int net_check_real(const struct neko_net_ops *ops, const char *name, struct err *e)
{
	if (ops->open && ops->meet && ops->fd && ops->transmit && ops->receive)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "network %s: %s is for simulations (it lacks open, meet, fd, transmit or "
		       "receive); use --simulate, or choose another network.%s.model",
		       name, ops->name, name);
}

/* --- functions for networks: neko.h */

void *neko_net_state(struct neko_net *n)
{
	return n->state;
}

const char *neko_net_name(const struct neko_net *n)
{
	return n->name;
}

uint32_t neko_net_count(const struct neko_net *n)
{
	return n->m;
}

uint32_t neko_net_id(const struct neko_net *n)
{
	return n->id;
}

const char *neko_net_key(struct neko_net *n, const char *what)
{
	snprintf(n->key, sizeof(n->key), "network.%s.%s", n->name, what);
	return n->key;
}

nsec_t neko_net_now(const struct neko_net *n)
{
	return n->world->now ? n->world->now(n) : 0;
}

double neko_net_random(struct neko_net *n)
{
	return rng_double(&n->rng);
}

void neko_net_arrive(struct neko_net *n, struct neko_msg *m, uint32_t to, nsec_t at)
{
	if (n->world->arrive)
		n->world->arrive(n, m, to, at);
}

void neko_net_lose(struct neko_net *n, struct neko_msg *m, uint32_t to)
{
	if (n->world->lose)
		n->world->lose(n, m, to);
}

void neko_net_wake(struct neko_net *n, nsec_t at, uint64_t what)
{
	if (n->world->wake && n->ops->wake)
		n->world->wake(n, at, what);
}

void neko_net_unref(struct neko_net *n, struct neko_msg *m)
{
	if (n->world->unref)
		n->world->unref(n, m);
}

void neko_net_received(struct neko_net *n, uint32_t from, const void *p, size_t bytes)
{
	if (n->world->received)
		n->world->received(n, from, p, bytes);
}
