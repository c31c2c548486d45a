/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/container/map.h"
#include "common/net/internal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PORT 40000

struct mem_net {
	struct loop *loop;
	struct rng rng;
	struct list ctxs; /* entries: struct net_ctx.at */
	struct list elsewhere; /* contexts without a host in this network */
	/* host -> struct mem_place, because a network may have ten thousand hosts */
	struct smap places;
	struct smap links; /* "a\nb" in order, with "" for any host -> struct mem_link */
	struct mem_link plain; /* rules of pairs without a rule */
	uint64_t rules; /* number that increases with each change of rules */
	uint16_t next_port;
	nsec_t (*wall_now)(void *arg);
	void *wall_arg;
};

struct mem_listener {
	struct net_listener l; /* first */
	struct list at; /* entry of ctx->listeners */
	struct loop_job grave;
	struct admit admit;
	uint8_t enrol_type;
	uint16_t port;
	struct net_listener_stats stats;
};

struct mem_net *mem_net_new(struct loop *l, uint64_t seed)
{
	struct mem_net *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->loop = l;
	m->next_port = FIRST_PORT;
	m->rules = 1;
	rng_init(&m->rng, seed);
	list_init(&m->ctxs);
	smap_init(&m->links);
	smap_init(&m->places);
	list_init(&m->elsewhere);
	return m;
}

void mem_net_free(struct mem_net *m)
{
	if (!m)
		return;
	assert(list_is_empty(&m->ctxs));
	for (struct smap_iter i = { 0 }; smap_next(&m->links, &i);)
		free(i.value);
	smap_done(&m->links);
	for (struct smap_iter i = { 0 }; smap_next(&m->places, &i);)
		free(i.value);
	smap_done(&m->places);
	free(m);
}

void mem_net_set_wall(struct mem_net *m, nsec_t (*wall_now)(void *arg), void *arg)
{
	m->wall_now = wall_now;
	m->wall_arg = arg;
}

double mem_net_random(struct mem_net *m)
{
	return rng_double(&m->rng);
}

/* --- links */

#define LINK_KEY_BYTES (2 * NAME_MAX_BYTES + 2)

static const char *link_key(char out[LINK_KEY_BYTES], const char *a, const char *b)
{
	const char *first = a ? a : "", *second = b ? b : "";

	if (strcmp(first, second) > 0) {
		first = b ? b : "";
		second = a ? a : "";
	}
	snprintf(out, LINK_KEY_BYTES, "%.*s\n%.*s", NAME_MAX_BYTES, first, NAME_MAX_BYTES, second);
	return out;
}

const struct mem_link *mem_net_link(const struct mem_net *m, const char *a, const char *b)
{
	const char *const tries[4][2] = { { a, b }, { a, NULL }, { b, NULL }, { NULL, NULL } };
	char key[LINK_KEY_BYTES];
	const struct mem_link *found;

	for (size_t i = 0; i < 4 && m->links.n; i++) {
		found = smap_find(&m->links, link_key(key, tries[i][0], tries[i][1]));
		if (found)
			return found;
	}
	return &m->plain;
}

uint64_t mem_net_rules(const struct mem_net *m)
{
	return m->rules;
}

static void kick_all(struct mem_net *m)
{
	list_each (item, &m->ctxs) {
		struct net_ctx *ctx = list_entry(item, struct net_ctx, at);

		list_each (c, &ctx->chans)
			mem_chan_kick((struct mem_chan *)list_entry(c, struct chan, at));
	}
}

int mem_net_set_link(struct mem_net *m, const char *a, const char *b, const struct mem_link *how)
{
	char key[LINK_KEY_BYTES];
	struct mem_link *copy = malloc(sizeof(*copy));
	void *old;

	if (!copy)
		return -ERR_NOMEM;
	*copy = *how;
	if (smap_put(&m->links, link_key(key, a, b), copy, &old)) {
		free(copy);
		return -ERR_NOMEM;
	}
	free(old);
	m->rules++;
	kick_all(m);
	return 0;
}

/* --- hosts */

static struct mem_place *place_of(struct mem_net *m, const char *host)
{
	struct mem_place *p = smap_find(&m->places, host);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	list_init(&p->ctxs);
	if (smap_put(&m->places, host, p, NULL)) {
		free(p);
		return NULL;
	}
	return p;
}

int mem_net_set_loop(struct mem_net *m, const char *host, struct loop *part)
{
	struct mem_place *p = place_of(m, host);

	if (!p)
		return -ERR_NOMEM;
	p->loop = part;
	return 0;
}

int mem_net_set_tap(struct mem_net *m, const char *host, const struct mem_tap *tap)
{
	struct mem_place *p = place_of(m, host);

	if (!p)
		return -ERR_NOMEM;
	p->tap = tap;
	return 0;
}

int mem_net_set_pace(struct mem_net *m, const char *host, const struct mem_pace *pace)
{
	struct mem_place *p = place_of(m, host);

	if (!p)
		return -ERR_NOMEM;
	p->pace = *pace;
	return 0;
}

void mem_net_get_load(const struct mem_net *m, const char *host, struct mem_load *out)
{
	const struct mem_place *p = smap_find(&m->places, host);

	*out = p ? p->load : (struct mem_load){ 0 };
}

size_t mem_net_queued(const struct mem_net *m)
{
	size_t n = 0;

	list_each (item, &m->ctxs) {
		struct net_ctx *ctx = list_entry(item, struct net_ctx, at);

		list_each (c, &ctx->chans)
			n += ((struct mem_chan *)list_entry(c, struct chan, at))->out_bytes;
	}
	return n;
}

static const struct list *ctxs_on(const struct mem_net *m, const char *host)
{
	const struct mem_place *p = smap_find(&m->places, host);

	return p ? &p->ctxs : &m->elsewhere;
}

void mem_net_each_chan(const struct mem_net *m, const char *host,
		       void (*fn)(void *arg, const struct chan *c), void *arg)
{
	list_each (item, ctxs_on(m, host)) {
		struct net_ctx *ctx = list_entry(item, struct net_ctx, at_place);

		list_each (c, &ctx->chans)
			fn(arg, list_entry(c, struct chan, at));
	}
}

void mem_net_kill_host(struct mem_net *m, const char *host)
{
	struct mem_place *p = smap_find(&m->places, host);

	if (p)
		p->busy_until = p->sending_until = 0;
	list_each (item, ctxs_on(m, host)) {
		struct net_ctx *ctx = list_entry(item, struct net_ctx, at_place);

		while (list_pop_front(&ctx->listeners))
			; /* the owners close them */
		list_each (c, &ctx->chans) {
			struct mem_chan *mc = (struct mem_chan *)list_entry(c, struct chan, at);

			mem_chan_crash(mc);
			loop_timer_cancel(mc->timer);
		}
	}
}

/* --- dialling, which the timer of the dialling end completes */

static struct mem_listener *listener_at(const struct mem_net *m, const char *host, uint16_t port)
{
	list_each (item, ctxs_on(m, host)) {
		struct net_ctx *ctx = list_entry(item, struct net_ctx, at_place);

		list_each (l, &ctx->listeners) {
			struct mem_listener *found = list_entry(l, struct mem_listener, at);

			if (found->port == port)
				return found;
		}
	}
	return NULL;
}

static int server_admits(struct mem_listener *l, const struct mem_chan *client, struct verdict *v)
{
	if (client->c.enrol)
		return l->enrol_type
			       ? 0
			       : err_set(&v->why, ERR_PROTO,
					 "the peer does not offer this service: it does not enrol");
	if (ctx_admits(l->l.ctx, &client->c.ctx->self, v))
		return -ERR_DENIED;
	return admit_identity(&l->admit, &client->c.ctx->self, &v->why);
}

static int client_admits(const struct mem_chan *client, const struct net_ctx *server,
			 struct verdict *v)
{
	if (ctx_admits(client->c.ctx, &server->self, v))
		return -ERR_DENIED;
	return admit_identity(&client->dial->admit, &server->self, &v->why);
}

static void dial_over(struct mem_chan *m)
{
	admit_done(&m->dial->admit);
	free(m->dial);
	m->dial = NULL;
}

static void open_client(struct mem_chan *m, const struct net_ctx *server)
{
	dial_over(m);
	chan_up(&m->c, &server->self);
	mem_chan_kick(m);
	if (m->c.h.on_event)
		m->c.h.on_event(m->c.h.arg, &m->c, CHAN_OPEN, NULL);
}

/* As in TLS 1.3, the client counts as open until it receives the refusal. */
static void refused_by_server(struct mem_chan *m, struct mem_listener *l, const struct err *why)
{
	l->stats.refused++;
	open_client(m, l->l.ctx);
	chan_fail_later(&m->c, why);
	if (l->l.accept.on_refused)
		l->l.accept.on_refused(l->l.accept.arg, m->here, why);
}

static void accepted(struct mem_chan *m, struct mem_listener *l)
{
	struct net_ctx *server = l->l.ctx;
	struct err why = { 0 };
	struct loop *was = loop_enter(server->loop);
	struct mem_chan *s = mem_chan_new(server->loop, server, m->there, m->here);

	if (!s) {
		loop_enter(was);
		err_nomem(&why);
		chan_fail(&m->c, &why);
		return;
	}
	mem_chan_join(m, s);
	s->c.enrol = m->c.enrol;
	s->c.only_type = m->c.enrol ? l->enrol_type : 0;
	chan_up(&s->c, m->c.enrol ? NULL : &m->c.ctx->self);
	l->stats.accepted++;
	l->l.accept.on_accept(l->l.accept.arg, &s->c);
	loop_enter(was);
	open_client(m, server);
}

/*
 * Tries again when the part of the other side is no longer held. A repaired link causes its own
 * retry.
 */
static void await_there(struct mem_chan *m, nsec_t held)
{
	nsec_t left = m->dial->give_up_at - loop_now(m->c.loop),
	       stands = held - loop_whole_now(m->c.loop);

	loop_timer_arm(m->timer, held && stands < left ? stands : left);
}

void mem_dial_settle(struct mem_chan *m)
{
	struct mem_net *net = m->c.ctx->mem;
	struct mem_listener *l = listener_at(net, m->there, m->dial->port);
	nsec_t held = l ? loop_held_until(l->l.ctx->loop) : 0;
	const struct mem_link *how = mem_net_link(net, m->here, m->there);
	struct verdict v = { 0 };

	if (held || how->cut || how->deaf) {
		if (loop_now(m->c.loop) < m->dial->give_up_at) {
			await_there(m, held);
			return;
		}
		err_set(&v.why, ERR_TIMEOUT,
			"no answer from there: the host is down, or a firewall drops what we send");
	} else if (!l) {
		err_set(&v.why, ERR_SYS,
			"cannot reach %.60s:%u: Connection refused; is it running there?", m->there,
			m->dial->port);
	} else if (!client_admits(m, l->l.ctx, &v)) {
		if (server_admits(l, m, &v))
			refused_by_server(m, l, &v.why);
		else
			accepted(m, l);
		return;
	}
	chan_fail(&m->c, &v.why);
}

static int mem_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
		    struct chan **out, struct err *e)
{
	struct mem_chan *m = mem_chan_new(ctx->loop, ctx, ctx->mem_host, to->host);
	int rc;

	if (!m)
		return err_nomem(e);
	m->dial = calloc(1, sizeof(*m->dial));
	rc = m->dial ? admit_init(&m->dial->admit, to->expect, e) : err_nomem(e);
	if (rc) {
		chan_close(&m->c, NULL);
		return rc;
	}
	m->dial->port = to->port;
	m->dial->give_up_at = loop_now(ctx->loop) + HANDSHAKE_MAX_NS;
	m->c.h = *h;
	m->c.enrol = to->enrols;
	loop_timer_arm(m->timer, 2 * mem_net_link(ctx->mem, m->here, m->there)->delay);
	*out = &m->c;
	return 0;
}

/* --- listening */

static void listener_free(void *arg)
{
	struct mem_listener *l = arg;
	struct net_ctx *ctx = l->l.ctx;

	admit_done(&l->admit);
	free(l);
	ctx_unuse(ctx);
}

static void op_close(struct net_listener *base)
{
	struct mem_listener *l = (struct mem_listener *)base;

	if (l->grave.at.next)
		return;
	list_del(&l->at);
	l->l.accept.on_refused = NULL;
	loop_reap(l->l.ctx->loop, &l->grave, listener_free, l);
}

static uint16_t op_port(const struct net_listener *base)
{
	return ((const struct mem_listener *)base)->port;
}

static void op_stats(const struct net_listener *base, struct net_listener_stats *out)
{
	*out = ((const struct mem_listener *)base)->stats;
}

static void op_penalise(struct net_listener *base, const struct chan *c)
{
}

static const struct listener_ops mem_listener_ops = {
	.close = op_close,
	.port = op_port,
	.stats = op_stats,
	.penalise = op_penalise,
};

static int mem_listen(struct net_ctx *ctx, const struct net_listen_conf *conf,
		      const struct net_accept *a, struct net_listener **out, struct err *e)
{
	struct net_expect who = { .roles = conf->roles };
	uint16_t port = conf->port ? conf->port : ctx->mem->next_port++;
	struct mem_listener *l;
	int rc;

	if (listener_at(ctx->mem, ctx->mem_host, port))
		return err_set(
			e, ERR_SYS,
			"cannot listen on port %u (is one running already? choose another --port)",
			port);
	l = calloc(1, sizeof(*l));
	if (!l)
		return err_nomem(e);
	rc = admit_init(&l->admit, &who, e);
	if (rc) {
		free(l);
		return rc;
	}
	l->l = (struct net_listener){ &mem_listener_ops, ctx, *a };
	l->enrol_type = conf->enrol_type;
	l->port = port;
	list_push_back(&ctx->listeners, &l->at);
	ctx_use(ctx);
	*out = &l->l;
	return 0;
}

/* --- contexts */

static int mem_reload(struct net_ctx *ctx, struct creds_parsed *creds, struct err *e)
{
	return 0;
}

static void mem_done(struct net_ctx *ctx)
{
	if (ctx->mem) { /* the context belongs to a network in memory */
		list_del(&ctx->at);
		list_del(&ctx->at_place);
	}
	free(ctx->mem_host);
}

static const struct net_ctx_ops mem_ctx_ops = {
	.dial = mem_dial,
	.listen = mem_listen,
	.reload = mem_reload,
	.done = mem_done,
};

int mem_ctx_open(struct mem_net *m, const struct identity *self, struct net_ctx **out,
		 struct err *e)
{
	struct net_conf conf = { .wall_now = m->wall_now, .wall_arg = m->wall_arg };
	struct net_ctx *ctx;
	struct mem_place *place = place_of(m, self->host);
	char *host = str_dup(self->host);
	struct loop *loop = place && place->loop ? place->loop : m->loop;
	int rc = host && place ? ctx_new(loop, &mem_ctx_ops, &conf, &ctx, e) : err_nomem(e);

	if (rc) {
		free(host);
		return rc;
	}
	ctx->mem = m;
	ctx->mem_host = host;
	ctx->place = place;
	list_push_back(&m->ctxs, &ctx->at);
	list_push_back(&place->ctxs, &ctx->at_place);
	ctx->self = *self;
	ctx->has_self = self->role != ROLE_NONE;
	if (!ctx->self.wall_not_after)
		ctx->self.wall_not_after = INT64_MAX;
	*out = ctx;
	return 0;
}
