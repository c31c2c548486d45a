/* SPDX-License-Identifier: Apache-2.0 */
#include "common/member/parent.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parent {
	struct parent_conf conf;
	struct connstr conn;
	char host[NAME_MAX_BYTES + 1];
	uint32_t node;
	uint64_t epoch; /* epoch of the mainsm that was the last parent; 0 = none */
	uint64_t parent_epoch; /* epoch of the last parent, a mainsm or sm; 0 = none */
	bool has_lost_parent; /* the one before the present one */
	struct link *top, *site; /* NULL: not dialled */
	struct link_net *top_net, *site_net;
	struct link *parent; /* link that is UP and serves us; NULL: none */
	char *listen, *stated, *software; /* owned */
	char at[PARENT_ADDRESS_BYTES]; /* address of `site` */
	/* address of the sm that has redirected us; "" = mainsm, or a former parent */
	char sent_by[PARENT_ADDRESS_BYTES];
	/* addresses of alternatives, from the last parent */
	char way[PARENT_WAYS_MAX][PARENT_ADDRESS_BYTES];
	char ways[PARENT_ADDRESS_BYTES]; /* result of parent_ways() */
	unsigned nway, next_way, hops;
	uint64_t moves;
	uint32_t site_number, level;
	/* redirected to a daemon that does not answer: the next HELLO asks not to be redirected */
	bool is_stray;
	unsigned site_retries;
	struct loop_timer *ask;
	struct buf question; /* waiting frame for mainsm */
	bool is_closed;
};

static struct msg_hello hello_of(const struct parent *u, bool is_top)
{
	const struct identity *self = net_ctx_self(u->conf.ctx);

	return (struct msg_hello){ .role = u->conf.is_sm ? "sm" : "lm",
				   .site = self ? self->site : "",
				   .host = u->host,
				   .listen = u->listen,
				   .epoch = u->conf.epoch,
				   .node = u->node,
				   .software = u->software,
				   .want_redirect = is_top || !u->is_stray,
				   .attach = u->conf.epoch + u->moves * PARENT_MOVE };
}

static struct link_conf link_conf_of(struct parent *u, struct link_handler h)
{
	h.arg = u;
	return (struct link_conf){ .loop = u->conf.loop,
				   .rng = u->conf.rng,
				   .timebase = u->conf.timebase,
				   .epoch = u->conf.epoch,
				   .handler = h };
}

static void drop_top(struct parent *u, const char *reason)
{
	link_close(u->top, reason);
	link_net_free(u->top_net);
	u->top = NULL;
	u->top_net = NULL;
}

static void drop_site(struct parent *u, const char *reason)
{
	link_close(u->site, reason);
	link_net_free(u->site_net);
	u->site = NULL;
	u->site_net = NULL;
}

/* Stores the list of alternatives of the parent. */
static void take_ways(struct parent *u, const char *list)
{
	u->nway = u->next_way = 0;
	while (*list && u->nway < PARENT_WAYS_MAX) {
		size_t n = strcspn(list, " ");

		if (n && n < sizeof(u->way[0])) {
			memcpy(u->way[u->nway], list, n);
			u->way[u->nway++][n] = 0;
		}
		list += n + (list[n] == ' ');
	}
}

/* Writes the nearest parents for the branches, as many as fit in a message. */
static void report_ways(struct parent *u)
{
	size_t n = 0;

	u->ways[0] = 0;
	if (u->parent == u->top)
		return;
	for (unsigned i = 0; i <= u->nway; i++) {
		const char *one = i ? u->way[i - 1] : u->at;
		size_t len = strlen(one);

		if (n + len + 2 > sizeof(u->ways))
			return;
		n += (size_t)snprintf(u->ways + n, sizeof(u->ways) - n, "%s%s", n ? " " : "", one);
	}
}

static void become(struct parent *u, struct link *parent, const struct msg_hello_ack *ack)
{
	bool is_other = parent == u->top && u->epoch && u->epoch != ack->epoch;

	u->has_lost_parent = u->parent_epoch && u->parent_epoch != ack->epoch;
	u->parent_epoch = ack->epoch;
	u->parent = parent;
	u->hops = 0;
	u->sent_by[0] = 0;
	u->is_stray = false;
	u->site_number = ack->site_number;
	u->level = ack->level + 1;
	take_ways(u, ack->parents);
	report_ways(u);
	if (parent == u->top)
		u->epoch = ack->epoch;
	if (ack->node)
		u->node = ack->node;
	u->site_retries = 0;
	u->conf.on_up(u->conf.arg, u->node, is_other);
}

/*
 * Increases our number for the next search. The daemon on this link may still count us as its
 * branch: it was our parent, or its answer was lost.
 */
static void search_again(struct parent *u, struct link *l)
{
	struct msg_hello hello;

	u->moves++;
	hello = hello_of(u, l == u->top);
	/* without memory the HELLO stays as it was, and may be refused once */
	link_set_hello(l, &hello);
}

static void lose(struct parent *u, struct link *l, const struct err *why)
{
	if (u->parent != l)
		return;
	u->parent = NULL;
	search_again(u, l);
	u->conf.on_down(u->conf.arg, why);
}

static void redial_top(struct parent *u);

/* Requests our number from mainsm, because it belongs to another host. The sm does not know it. */
static void ask_for_number(struct parent *u)
{
	const struct err why = { .code = ERR_DENIED,
				 .text = "our number is another host's: asking mainsm for ours" };

	lose(u, u->site, &why);
	drop_site(u, why.text);
	u->nway = u->next_way = 0;
	redial_top(u);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct parent *u = arg;

	if (m->type == MSG_DISOWN && !u->conf.is_sm) {
		if (l == u->parent && l == u->site)
			ask_for_number(u);
		return;
	}
	/* A daemon that does not serve us may only send answers to our requests. */
	if (l == u->parent || m->type == MSG_ENROL_ACK || m->type == MSG_STOP ||
	    m->type == MSG_REVOKED)
		u->conf.on_msg(u->conf.arg, m);
	if (l == u->top && l != u->parent && m->type == MSG_ENROL_ACK && u->site)
		drop_top(u, "asked");
}

static void on_writable(void *arg, struct link *l)
{
	struct parent *u = arg;

	if (l == u->parent)
		u->conf.on_writable(u->conf.arg);
}

/* --- the site's sm */

static void dial_top(struct parent *u);

/* Dials again, because an unanswered request on a link blocks further ones. */
static void redial_top(struct parent *u)
{
	drop_top(u, "asked again");
	dial_top(u);
}

static int dial_site(struct parent *u, const char *list, struct err *e);

/* Dials the next alternative, or mainsm if there is none. */
static void dial_other(struct parent *u)
{
	char other[PARENT_ADDRESS_BYTES] = "";
	struct err e = { 0 };

	if (u->sent_by[0]) {
		/*
		 * Redirected to an sm that does not answer: returns to the sender, and asks not to
		 * be redirected.
		 */
		str_copy(other, sizeof(other), u->sent_by);
		u->sent_by[0] = 0;
		u->is_stray = true;
	} else if (u->next_way < u->nway) {
		str_copy(other, sizeof(other), u->way[u->next_way++]);
	}
	drop_site(u, "not reached");
	if (!other[0] || dial_site(u, other, &e))
		redial_top(u);
}

/* Dials an sm to which the current sm redirects this daemon. */
static void send_on(struct parent *u, const char *to)
{
	char by[PARENT_ADDRESS_BYTES];
	struct err e = { 0 };

	str_copy(by, sizeof(by), u->at);
	drop_site(u, "sent on");
	if (++u->hops <= PARENT_HOPS_MAX && !dial_site(u, to, &e)) {
		str_copy(u->sent_by, sizeof(u->sent_by), by);
		return;
	}
	u->is_stray = true;
	u->hops = 0;
	if (dial_site(u, by, &e))
		redial_top(u);
}

static void on_site_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct parent *u = arg;
	char to[PARENT_ADDRESS_BYTES];

	if (!ack->redirect[0]) {
		become(u, l, ack);
		return;
	}
	str_copy(to, sizeof(to), ack->redirect);
	send_on(u, to);
}

static void on_site_down(void *arg, struct link *l, const struct err *why)
{
	lose(arg, l, why);
}

static void on_site_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct parent *u = arg;

	search_again(u, l);
	u->conf.on_trouble(u->conf.arg, why, retry_in);
	if (++u->site_retries >= PARENT_SITE_RETRIES_MAX || u->sent_by[0] || u->next_way < u->nway)
		dial_other(u);
}

/* Splits "host:port,host:port,..." into the hosts with the port of the first one. */
static unsigned split_list(const char *list, char host[][NAME_MAX_BYTES + 1], uint16_t *port,
			   struct err *e)
{
	char one[NAME_MAX_BYTES + 16], name[NAME_MAX_BYTES + 1];
	unsigned n = 0;
	uint16_t p;

	for (const char *at = list; *at && n < CONNSTR_HOSTS_MAX; at += *at == ',') {
		size_t len = strcspn(at, ",");

		if (len < sizeof(one)) {
			memcpy(one, at, len);
			one[len] = 0;
			if (!hostport_parse(one, name, &p, e) && (!n || p == *port)) {
				*port = p;
				memcpy(host[n++], name, sizeof(name));
			}
		}
		at += len;
	}
	return n;
}

static int dial_site(struct parent *u, const char *list, struct err *e)
{
	const struct identity *self = net_ctx_self(u->conf.ctx);
	char host[CONNSTR_HOSTS_MAX][NAME_MAX_BYTES + 1];
	struct net_expect expect = { .roles = ROLE_BIT(ROLE_SM),
				     .site = self ? self->site : NULL,
				     .pin = u->conn.pin };
	struct link_handler h = { .on_up = on_site_up,
				  .on_msg = on_msg,
				  .on_down = on_site_down,
				  .on_retry = on_site_retry,
				  .on_writable = on_writable };
	struct link_net_conf net = { .ctx = u->conf.ctx,
				     .host = (const char(*)[NAME_MAX_BYTES + 1]) host,
				     .expect = &expect };
	struct link_conf conf = link_conf_of(u, h);
	struct msg_hello hello = hello_of(u, false);
	struct link_dialer dialer;

	net.nhost = split_list(list, host, &net.port, e);
	if (!net.nhost)
		return err_set(e, ERR_PROTO, "the redirection has no valid address");
	u->site_net = link_net_new(&net);
	if (!u->site_net)
		return err_nomem(e);
	dialer = link_net_dialer(u->site_net);
	u->site_retries = 0;
	str_copy(u->at, sizeof(u->at), list);
	u->site = link_dial(&conf, &dialer, &hello);
	if (u->site)
		return 0;
	drop_site(u, NULL);
	return err_nomem(e);
}

/* --- mainsm */

static void ask_again(struct parent *u, uint64_t ms)
{
	nsec_t after = ms > PARENT_ASK_MAX_NS / NSEC_PER_MSEC ? PARENT_ASK_MAX_NS
							      : (nsec_t)ms * NSEC_PER_MSEC;

	loop_timer_arm(u->ask, after ? after : PARENT_ASK_DEFAULT_NS);
}

static void on_ask(void *arg)
{
	struct parent *u = arg;

	if (!u->top && !u->is_closed)
		dial_top(u);
}

static void send_question(struct parent *u)
{
	if (u->question.n)
		link_send_frames(u->top, u->question.p, u->question.n);
	buf_done(&u->question);
}

static void on_top_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct parent *u = arg;
	bool asked = u->question.n > 0;
	struct err e = { 0 };

	if (ack->node)
		u->node = ack->node;
	send_question(u);
	if (u->site) {
		if (!asked)
			drop_top(u, "served elsewhere");
		return;
	}
	if (!ack->redirect[0] && !u->conf.is_sm) {
		become(u, l, ack);
		return;
	}
	u->sent_by[0] = 0;
	u->nway = u->next_way = u->hops = 0;
	if (!ack->redirect[0] || str_eq(ack->redirect, "wait")) {
		ask_again(u, ack->retry_ms);
	} else if (dial_site(u, ack->redirect, &e)) {
		u->conf.on_trouble(u->conf.arg, &e, PARENT_ASK_MAX_NS);
		loop_timer_arm(u->ask, PARENT_ASK_MAX_NS);
	}
	drop_top(u, "redirected");
}

static void on_top_down(void *arg, struct link *l, const struct err *why)
{
	lose(arg, l, why);
}

static void on_top_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct parent *u = arg;

	search_again(u, l);
	u->conf.on_trouble(u->conf.arg, why, retry_in);
}

static void dial_top(struct parent *u)
{
	struct link_handler h = { .on_up = on_top_up,
				  .on_msg = on_msg,
				  .on_down = on_top_down,
				  .on_retry = on_top_retry,
				  .on_writable = on_writable };
	struct link_conf conf = link_conf_of(u, h);
	struct msg_hello hello = hello_of(u, true);
	struct link_dialer dialer;

	if (u->top)
		return;
	if (!link_net_to_mainsm(u->conf.ctx, &u->conn, &u->top_net)) {
		dialer = link_net_dialer(u->top_net);
		u->top = link_dial(&conf, &dialer, &hello);
	}
	if (u->top)
		return;
	drop_top(u, NULL);
	loop_timer_arm(u->ask, PARENT_ASK_MAX_NS); /* a lack of memory is temporary */
}

/* --- */

static void begin(struct parent *u)
{
	struct err e = { 0 };

	if (u->stated[0] && !dial_site(u, u->stated, &e))
		return;
	dial_top(u);
}

struct parent *parent_new(const struct parent_conf *c)
{
	struct parent *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->conf = *c;
	u->conn = *c->conn;
	u->node = c->node;
	str_wipe(u->conn.secret, sizeof(u->conn.secret));
	str_copy(u->host, sizeof(u->host), c->host);
	buf_init(&u->question, FRAME_PREAUTH_MAX_BYTES);
	u->listen = str_dup(c->listen ? c->listen : "");
	u->stated = str_dup(c->stated ? c->stated : "");
	u->software = str_dup(c->software);
	u->ask = loop_timer_new(c->loop, on_ask, u);
	if (!u->ask || !u->listen || !u->stated || !u->software) {
		parent_free(u);
		return NULL;
	}
	begin(u);
	return u;
}

void parent_close(struct parent *u, const char *reason)
{
	u->is_closed = true;
	u->parent = NULL;
	if (u->ask)
		loop_timer_cancel(u->ask);
	drop_top(u, reason);
	drop_site(u, reason);
}

void parent_free(struct parent *u)
{
	if (!u)
		return;
	parent_close(u, u->conf.is_sm ? "the sm ends" : "the lm ends");
	loop_timer_free(u->ask);
	buf_done(&u->question);
	free(u->listen);
	free(u->stated);
	free(u->software);
	free(u);
}

int parent_send(struct parent *u, const struct msg *m)
{
	return u->parent ? link_send(u->parent, m) : -ERR_CLOSED;
}

int parent_send_frames(struct parent *u, const uint8_t *p, size_t n)
{
	return u->parent ? link_send_frames(u->parent, p, n) : -ERR_CLOSED;
}

struct net_ctx *parent_ctx(const struct parent *u)
{
	return u->conf.ctx;
}

struct link *parent_current_link(const struct parent *u)
{
	return u->parent;
}

uint32_t parent_site_number(const struct parent *u)
{
	return u->site_number;
}

uint32_t parent_level(const struct parent *u)
{
	return u->level;
}

const char *parent_ways(const struct parent *u)
{
	return u->ways;
}

int parent_ask_mainsm(struct parent *u, const struct msg *m)
{
	int rc;

	buf_clear(&u->question);
	rc = msg_put(&u->question, m);
	if (rc)
		return rc;
	if (u->top && u->top == u->parent)
		send_question(u);
	else
		redial_top(u);
	return 0;
}

bool parent_stats(const struct parent *u, struct link_stats *out)
{
	const struct link *l = u->parent ? u->parent : u->site ? u->site : u->top;

	if (!l)
		return false;
	link_stats(l, out);
	return true;
}

const char *parent_kind(const struct parent *u)
{
	if (!u->parent)
		return "none";
	return u->parent == u->site ? "sm" : "mainsm";
}

bool parent_is_another(const struct parent *u)
{
	return u->has_lost_parent;
}
