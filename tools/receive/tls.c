/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses for TLS. A peer with a certificate of this monitor gets a tunnel. The other end of the
 * tunnel is handled like any connection.
 */
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/member/enrol.h"
#include "common/member/server_link.h"
#include "tools/libomis/client.h"
#include "tools/receive/receive_internal.h"
#include "tools/term/say.h"

#include <sys/socket.h>
#include <unistd.h>

#define WARN_NS NSEC_PER_SEC /* between two lines about refused peers */
#define LAST_TURNS 4 /* turns at the end, for acknowledgements in the tunnels */

static void on_end(void *arg, struct tunnel *t, const struct err *why)
{
	struct receiver *r = arg;
	size_t i = 0;

	/* Any other end is that of a connection. */
	if (why && why->code == ERR_DENIED) {
		r->counts.cut++;
		cmd_warn("connection ended: %s", why->text);
	}
	while (r->tunnel[i] != t)
		i++;
	r->tunnel[i] = r->tunnel[--r->ntunnels];
	tunnel_free(t);
}

/* Returns false if there is no room for the peer. */
static bool take(struct receiver *r, struct chan *c)
{
	struct tunnel_conf conf = { .loop = r->loop, .on_end = on_end, .arg = r };
	struct tunnel *t;
	int pair[2];

	if (r->is_ending || r->ntunnels == RECEIVE_CONNS_MAX ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return false;
	conf.fd = pair[1];
	t = tunnel_new(&conf);
	if (!t) {
		close(pair[0]);
		close(pair[1]);
		return false;
	}
	r->tunnel[r->ntunnels++] = t;
	tunnel_join(t, c);
	conns_add(r, pair[0]);
	return true;
}

static void on_accept(void *arg, struct chan *c)
{
	struct port *p = arg;

	if (take(p->receiver, c))
		return;
	p->receiver->counts.refused++;
	chan_close(c, "no room");
}

/* Logs a refused peer, at a limited rate. */
static void on_refused(void *arg, const char *remote, const struct err *why)
{
	struct port *p = arg;
	struct receiver *r = p->receiver;
	nsec_t now = loop_now(r->loop);
	char name[PORT_NAME_BYTES];

	r->counts.handshakes++;
	if (r->warned_at && now - r->warned_at < WARN_NS)
		return;
	r->warned_at = now;
	cmd_warn("%s: refused %s: %s", port_name(p, name), remote, why->text);
}

/* The first address for TLS needs a certificate. */
static int open_net(struct receiver *r)
{
	const struct client_conf conf = { .mainsm = r->options->mainsm,
					  .timeout = r->options->timeout_ns };
	struct server_link_conf link = { .role = "receiver", .loop = r->loop, .dir = r->dir };
	struct connstr mainsm;
	struct err e = { 0 };
	int rc = client_identity(&conf, "receiver", r->dir, &mainsm, &e);

	if (rc)
		return cmd_fail(e.code == ERR_DENIED ? CMD_DENIED : CMD_UNREACHABLE,
				"no certificate for TLS: %s", e.text);
	rc = enrol_open(r->loop, r->dir, mainsm.pin, &r->net, &e);
	link.net = r->net;
	link.mainsm = &mainsm;
	rc = rc ? rc : server_link_new(&link, &r->mainsm, &e);
	return rc ? cmd_fail(CMD_FAILURE, "%s", e.text) : CMD_OK;
}

int tls_listen_at(struct port *p, const char *text)
{
	struct receiver *r = p->receiver;
	char address[NET_ADDR_BYTES];
	const struct net_listen_conf conf = { .addr = address,
					      .port = p->url.port,
					      .roles = ROLES_TOOL };
	const struct net_accept accept = { on_accept, on_refused, p };
	struct err e = { 0 };
	int rc = r->net ? CMD_OK : open_net(r);

	if (rc != CMD_OK)
		return rc;
	if (net_own_address(p->url.host[0] ? p->url.host : "127.0.0.1", address, &e) ||
	    net_listen(r->net, &conf, &accept, &p->listener, &e))
		return cmd_fail(CMD_FAILURE, "%s: %s", text, e.text);
	p->number = net_listener_port(p->listener);
	return CMD_OK;
}

void tls_close(struct receiver *r)
{
	for (int i = 0; i < LAST_TURNS && r->ntunnels; i++)
		loop_turn(r->loop);
	while (r->ntunnels)
		tunnel_free(r->tunnel[--r->ntunnels]);
	server_link_free(r->mainsm);
	r->mainsm = NULL;
	if (r->net)
		loop_turn(r->loop); /* frees closed objects */
	net_ctx_free(r->net);
	r->net = NULL;
}
