/* SPDX-License-Identifier: Apache-2.0 */
/* Two hosts in a network of memory under a virtual clock: "top" accepts links, "leaf" dials. */
#ifndef TESTS_UNIT_COMMON_LINK_WORLD_H
#define TESTS_UNIT_COMMON_LINK_WORLD_H

#include "common/base/str.h"
#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/mem.h"
#include "common/net/net.h"

#include <check.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define SEC NSEC_PER_SEC

/* One end, with the messages that it received. */
struct end {
	struct link *link;
	unsigned hellos, ups, downs, gones, msgs, retries, writables;
	uint8_t last_type;
	struct err why;
	char fault[ERR_TEXT_BYTES]; /* of the last link that went down */
	nsec_t retry_in, down_at, up_at;
	char name[64];
	const char
		*close_in; /* "up", "msg", "down", "hello", "retry": where to call link_close() */
	unsigned closes; /* how often it was */
	const char *refuse; /* accepted end: refuse with this text */
	struct loop *loop;
	bool is_accepted;
};

struct world {
	struct loop *loop;
	struct mem_net *net;
	struct net_ctx *top, *leaf;
	struct net_listener *listener;
	uint16_t port;
	struct rng rng;
	struct timebase top_time, leaf_time;
	struct link_conf top_conf, leaf_conf;
	struct end a, b; /* a: leaf, dialled; b: top, accepted */
	struct chan *raw; /* an accepted channel that no link was made of */
	const struct chan_handler *raw_handler; /* NULL: links are made */
	unsigned accepted;
	nsec_t accepted_at[20000];
};

static inline void end_maybe_close(struct end *e, const char *where)
{
	struct link *l = e->link;

	if (!e->close_in || strcmp(e->close_in, where) != 0)
		return;
	e->link = NULL;
	e->closes++;
	link_close(l, "as the test wants");
}

static inline int end_on_hello(void *arg, struct link *l, const struct msg_hello *h,
			       struct msg_hello_ack *ack, struct err *why)
{
	struct end *e = arg;

	e->hellos++;
	e->link = l;
	if (e->refuse)
		return err_set(why, ERR_AGAIN, "%s", e->refuse);
	ack->name = "n_7";
	ack->node = 7;
	ack->site = h->site;
	end_maybe_close(e, "hello");
	return 0;
}

static inline void end_on_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct end *e = arg;

	e->ups++;
	e->link = l;
	e->up_at = loop_now(e->loop);
	if (ack)
		str_copy(e->name, sizeof(e->name), ack->name);
	end_maybe_close(e, "up");
}

static inline void end_on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct end *e = arg;

	e->msgs++;
	e->last_type = m->type;
	end_maybe_close(e, "msg");
}

static inline void end_on_down(void *arg, struct link *l, const struct err *why)
{
	struct end *e = arg;

	e->downs++;
	e->why = *why;
	str_copy(e->fault, sizeof(e->fault), link_fault(l) ? link_fault(l) : "");
	e->down_at = loop_now(e->loop);
	end_maybe_close(e, "down");
	if (e->is_accepted)
		e->link = NULL; /* gone after this call */
}

static inline void end_on_retry(void *arg, struct link *l, const struct err *why, nsec_t in)
{
	struct end *e = arg;

	e->retries++;
	e->why = *why;
	e->retry_in = in;
	end_maybe_close(e, "retry");
}

static inline void end_on_gone(void *arg, struct link *l)
{
	struct end *e = arg;

	e->gones++;
	end_maybe_close(e, "gone");
}

static inline void end_on_writable(void *arg, struct link *l)
{
	struct end *e = arg;

	e->writables++;
}

static inline struct link_handler end_handler(struct end *e)
{
	return (struct link_handler){ .on_hello = end_on_hello,
				      .on_up = end_on_up,
				      .on_msg = end_on_msg,
				      .on_down = end_on_down,
				      .on_gone = end_on_gone,
				      .on_retry = end_on_retry,
				      .on_writable = end_on_writable,
				      .arg = e };
}

static inline void world_on_accept(void *arg, struct chan *c)
{
	struct world *w = arg;

	if (w->accepted < sizeof(w->accepted_at) / sizeof(w->accepted_at[0]))
		w->accepted_at[w->accepted] = loop_now(w->loop);
	w->accepted++;
	if (w->raw_handler) {
		w->raw = c;
		chan_set_handler(c, w->raw_handler);
		return;
	}
	if (!link_accept(&w->top_conf, &c))
		chan_close(c, "no memory");
}

static inline struct identity world_identity(enum role role, const char *site, const char *host)
{
	struct identity id = { .role = role, .wall_not_before = 0, .wall_not_after = INT64_MAX };

	str_copy(id.site, sizeof(id.site), site);
	str_copy(id.host, sizeof(id.host), host);
	memset(id.serial, host[0], sizeof(id.serial));
	return id;
}

static inline void world_listen(struct world *w)
{
	const struct net_listen_conf lc = {
		.roles = ROLE_BIT(ROLE_LM) | ROLE_BIT(ROLE_SM) | ROLES_TOOL, .port = w->port
	};
	const struct net_accept a = { .on_accept = world_on_accept, .arg = w };
	struct err e = { 0 };

	ck_assert_msg(!net_listen(w->top, &lc, &a, &w->listener, &e), "%s", e.text);
	w->port = net_listener_port(w->listener);
}

static inline void world_open(struct world *w, enum role leaf_role)
{
	const struct identity top = world_identity(ROLE_MAINSM, "", "top");
	const struct identity leaf = world_identity(leaf_role, "s", "leaf");
	struct err e = { 0 };

	memset(w, 0, sizeof(*w));
	w->loop = loop_new_virtual();
	w->net = mem_net_new(w->loop, 1);
	rng_init(&w->rng, 1);
	ck_assert_msg(!mem_ctx_open(w->net, &top, &w->top, &e), "%s", e.text);
	ck_assert_msg(!mem_ctx_open(w->net, &leaf, &w->leaf, &e), "%s", e.text);
	world_listen(w);
	timebase_init_root(&w->top_time, loop_now(w->loop), INT64_C(1700000000) * SEC);
	timebase_init(&w->leaf_time, loop_now(w->loop), INT64_C(1600000000) * SEC);
	w->a.loop = w->b.loop = w->loop;
	w->b.is_accepted = true;
	w->leaf_conf = (struct link_conf){ .loop = w->loop,
					   .rng = &w->rng,
					   .timebase = &w->leaf_time,
					   .epoch = 1,
					   .handler = end_handler(&w->a) };
	w->top_conf = (struct link_conf){ .loop = w->loop,
					  .rng = &w->rng,
					  .timebase = &w->top_time,
					  .epoch = 2,
					  .handler = end_handler(&w->b) };
}

/* Dials net_dial() of the world, without the copies of link_net. */
static inline int world_dial(void *arg, unsigned attempt, const struct chan_handler *h,
			     struct chan **out, struct err *e)
{
	static const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM) };
	struct world *w = arg;

	return net_dial(w->leaf,
			&(struct net_target){ .host = "top", .port = w->port, .expect = &expect },
			h, out, e);
}

static inline struct link *world_connect(struct world *w, const char *role)
{
	const struct link_dialer d = { world_dial, w };
	const struct msg_hello h = {
		.role = role, .site = "s", .host = "leaf", .epoch = 1, .software = "test"
	};

	w->a.link = link_dial(&w->leaf_conf, &d, &h);
	return w->a.link;
}

static inline void world_done(struct world *w)
{
	link_close(w->a.link, "the end");
	loop_advance(w->loop, 10 * SEC);
	/*
	 * Accepted links have received the BYE by now, unless the network is cut: then heartbeats
	 * end them.
	 */
	net_listener_close(w->listener);
	net_ctx_free(w->top);
	net_ctx_free(w->leaf);
	loop_turn(w->loop);
	mem_net_free(w->net);
	loop_free(w->loop);
}

#endif
