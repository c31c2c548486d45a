/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fakes/upper.h"

#include "common/loop/loop.h"

#include <check.h>

static int on_hello(void *arg, struct link *l, const struct msg_hello *h, struct msg_hello_ack *ack,
		    struct err *why)
{
	struct upper *u = arg;

	return u->on_hello(u->arg, l, h, ack, why);
}

static void on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct upper *u = arg;

	if (!link_user(l))
		u->link = l;
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct upper *u = arg;

	u->on_msg(u->arg, l, m);
}

static void on_down(void *arg, struct link *l, const struct err *why)
{
	struct upper *u = arg;

	if (u->link == l)
		u->link = NULL;
}

static void on_accept(void *arg, struct chan *c)
{
	struct upper *u = arg;
	const struct link_conf conf = { .loop = u->loop,
					.rng = u->rng,
					.timebase = u->time,
					.epoch = u->epoch,
					.handler = { .on_hello = on_hello,
						     .on_up = on_up,
						     .on_msg = on_msg,
						     .on_down = on_down,
						     .arg = u } };

	ck_assert_ptr_nonnull(link_accept(&conf, &c));
}

void upper_listen(struct upper *u, struct mem_net *net, const struct identity *id, uint16_t *port)
{
	const struct net_listen_conf conf = { .port = *port,
					      .roles = ROLE_BIT(ROLE_SM) | ROLE_BIT(ROLE_LM) };
	const struct net_accept accept = { .on_accept = on_accept, .arg = u };
	struct err e = { 0 };

	ck_assert_msg(mem_ctx_open(net, id, &u->ctx, &e) == 0, "%s", e.text);
	ck_assert_msg(net_listen(u->ctx, &conf, &accept, &u->listener, &e) == 0, "%s", e.text);
	*port = net_listener_port(u->listener);
}

void upper_close(struct upper *u, nsec_t time)
{
	if (!u->ctx)
		return;
	net_listener_close(u->listener);
	link_close(u->link, "the daemon above ends");
	u->link = NULL;
	loop_advance(u->loop, time);
	net_ctx_free(u->ctx);
	u->ctx = NULL;
}
