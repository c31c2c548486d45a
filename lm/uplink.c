/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/uplink.h"

#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/net/net.h"

#include <stdlib.h>
#include <string.h>

struct uplink {
	struct uplink_conf conf;
	struct connstr conn;
	char host[NAME_MAX_BYTES + 1];
	uint32_t node;
	uint64_t epoch; /* of the mainsm that was the parent last; 0 = none was */
	struct link *top, *site; /* NULL: not dialled */
	struct link_net *top_net, *site_net;
	struct link *parent; /* one of them that is UP and serves us; NULL: none */
	unsigned site_retries;
	struct loop_timer *ask;
	struct buf question; /* frame for mainsm that waits */
	bool is_closed;
};

static const char software[] = "lm " OMIG_VERSION;

static struct msg_hello hello_of(const struct uplink *u, bool is_top)
{
	const struct identity *self = net_ctx_self(u->conf.ctx);

	return (struct msg_hello){ .role = "lm",
				   .site = self ? self->site : "",
				   .host = u->host,
				   .epoch = u->conf.epoch,
				   .node = u->node,
				   .software = software,
				   .want_redirect = is_top };
}

static struct link_conf link_conf_of(struct uplink *u, struct link_handler h)
{
	h.arg = u;
	return (struct link_conf){ .loop = u->conf.loop,
				   .rng = u->conf.rng,
				   .timebase = u->conf.timebase,
				   .epoch = u->conf.epoch,
				   .handler = h };
}

static void drop_top(struct uplink *u, const char *reason)
{
	link_close(u->top, reason);
	link_net_free(u->top_net);
	u->top = NULL;
	u->top_net = NULL;
}

static void drop_site(struct uplink *u, const char *reason)
{
	link_close(u->site, reason);
	link_net_free(u->site_net);
	u->site = NULL;
	u->site_net = NULL;
}

static void become(struct uplink *u, struct link *parent, const struct msg_hello_ack *ack)
{
	bool is_other = parent == u->top && u->epoch && u->epoch != ack->epoch;

	u->parent = parent;
	if (parent == u->top)
		u->epoch = ack->epoch;
	if (ack->node)
		u->node = ack->node;
	u->site_retries = 0;
	u->conf.on_up(u->conf.arg, u->node, is_other);
}

static void lose(struct uplink *u, struct link *l, const struct err *why)
{
	if (u->parent != l)
		return;
	u->parent = NULL;
	u->conf.on_down(u->conf.arg, why);
}

static void on_msg(void *arg, struct link *l, const struct msg *m)
{
	struct uplink *u = arg;

	/* From the daemon that does not serve us only what we asked it for. */
	if (l == u->parent || m->type == MSG_ENROL_ACK || m->type == MSG_STOP ||
	    m->type == MSG_REVOKED)
		u->conf.on_msg(u->conf.arg, m);
	if (l == u->top && l != u->parent && m->type == MSG_ENROL_ACK && u->site)
		drop_top(u, "asked");
}

static void on_writable(void *arg, struct link *l)
{
	struct uplink *u = arg;

	if (l == u->parent)
		u->conf.on_writable(u->conf.arg);
}

/* --- the site's sm */

static void dial_top(struct uplink *u);

/* A link on which an earlier question was never answered says nothing of a parent, and asks no more. */
static void dial_top_anew(struct uplink *u)
{
	drop_top(u, "asked anew");
	dial_top(u);
}

static void on_site_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	become(arg, l, ack);
}

static void on_site_down(void *arg, struct link *l, const struct err *why)
{
	lose(arg, l, why);
}

static void on_site_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct uplink *u = arg;

	u->conf.on_trouble(u->conf.arg, why, retry_in);
	if (++u->site_retries < UPLINK_SITE_RETRIES_MAX)
		return;
	drop_site(u, "not reached");
	dial_top_anew(u);
}

/* "host:port,host:port,...": those with the port of the first. */
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
			if (hostport_parse(one, name, &p, e) == 0 && (!n || p == *port)) {
				*port = p;
				memcpy(host[n++], name, sizeof(name));
			}
		}
		at += len;
	}
	return n;
}

static int dial_site(struct uplink *u, const char *list, struct err *e)
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
		return err_set(e, ERR_PROTO, "mainsm sent us to no address that can be dialled");
	u->site_net = link_net_new(&net);
	if (!u->site_net)
		return err_nomem(e);
	dialer = link_net_dialer(u->site_net);
	u->site_retries = 0;
	u->site = link_dial(&conf, &dialer, &hello);
	if (u->site)
		return 0;
	drop_site(u, NULL);
	return err_nomem(e);
}

/* --- mainsm */

static void ask_again(struct uplink *u, uint64_t ms)
{
	nsec_t after = ms > UPLINK_ASK_MAX_NS / NSEC_PER_MSEC ? UPLINK_ASK_MAX_NS
							      : (nsec_t)ms * NSEC_PER_MSEC;

	loop_timer_arm(u->ask, after ? after : UPLINK_ASK_DEFAULT_NS);
}

static void on_ask(void *arg)
{
	struct uplink *u = arg;

	if (!u->top && !u->is_closed)
		dial_top(u);
}

static void send_question(struct uplink *u)
{
	if (u->question.n)
		link_send_frames(u->top, u->question.p, u->question.n);
	buf_done(&u->question);
}

static void on_top_up(void *arg, struct link *l, const struct msg_hello_ack *ack)
{
	struct uplink *u = arg;
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
	if (!ack->redirect[0]) {
		become(u, l, ack);
		return;
	}
	if (!strcmp(ack->redirect, "wait")) {
		ask_again(u, ack->retry_ms);
	} else if (dial_site(u, ack->redirect, &e) < 0) {
		u->conf.on_trouble(u->conf.arg, &e, UPLINK_ASK_MAX_NS);
		loop_timer_arm(u->ask, UPLINK_ASK_MAX_NS);
	}
	drop_top(u, "redirected");
}

static void on_top_down(void *arg, struct link *l, const struct err *why)
{
	lose(arg, l, why);
}

static void on_top_retry(void *arg, struct link *l, const struct err *why, nsec_t retry_in)
{
	struct uplink *u = arg;

	u->conf.on_trouble(u->conf.arg, why, retry_in);
}

static void dial_top(struct uplink *u)
{
	struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM), .pin = u->conn.pin };
	struct link_net_conf net = { .ctx = u->conf.ctx,
				     .nhost = u->conn.nhost,
				     .port = u->conn.port,
				     .host = (const char(*)[NAME_MAX_BYTES + 1]) u->conn.host,
				     .expect = &expect };
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
	u->top_net = link_net_new(&net);
	if (u->top_net) {
		dialer = link_net_dialer(u->top_net);
		u->top = link_dial(&conf, &dialer, &hello);
	}
	if (u->top)
		return;
	drop_top(u, NULL);
	loop_timer_arm(u->ask, UPLINK_ASK_MAX_NS); /* out of memory now is not for ever */
}

/* --- */

struct uplink *uplink_new(const struct uplink_conf *c)
{
	struct uplink *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->conf = *c;
	u->conn = *c->conn;
	u->node = c->node;
	str_wipe(u->conn.secret, sizeof(u->conn.secret));
	str_copy(u->host, sizeof(u->host), c->host);
	buf_init(&u->question, FRAME_PREAUTH_MAX_BYTES);
	u->ask = loop_timer_new(c->loop, on_ask, u);
	if (!u->ask) {
		free(u);
		return NULL;
	}
	dial_top(u);
	return u;
}

void uplink_close(struct uplink *u, const char *reason)
{
	u->is_closed = true;
	u->parent = NULL;
	loop_timer_cancel(u->ask);
	drop_top(u, reason);
	drop_site(u, reason);
}

void uplink_free(struct uplink *u)
{
	if (!u)
		return;
	uplink_close(u, "the lm ends");
	loop_timer_free(u->ask);
	buf_done(&u->question);
	free(u);
}

int uplink_send(struct uplink *u, const struct msg *m)
{
	return u->parent ? link_send(u->parent, m) : -ERR_CLOSED;
}

int uplink_send_frames(struct uplink *u, const uint8_t *p, size_t n)
{
	return u->parent ? link_send_frames(u->parent, p, n) : -ERR_CLOSED;
}

struct net_ctx *uplink_ctx(const struct uplink *u)
{
	return u->conf.ctx;
}

bool uplink_is_up(const struct uplink *u)
{
	return u->parent != NULL;
}

int uplink_ask_top(struct uplink *u, const struct msg *m)
{
	int rc;

	buf_clear(&u->question);
	rc = msg_put(&u->question, m);
	if (rc < 0)
		return rc;
	if (u->top && u->top == u->parent)
		send_question(u);
	else
		dial_top_anew(u);
	return 0;
}

bool uplink_stats(const struct uplink *u, struct link_stats *out)
{
	const struct link *l = u->parent ? u->parent : u->site ? u->site : u->top;

	if (!l)
		return false;
	link_stats(l, out);
	return true;
}

const char *uplink_parent(const struct uplink *u)
{
	if (!u->parent)
		return "none";
	return u->parent == u->site ? "sm" : "mainsm";
}
