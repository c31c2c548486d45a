/* SPDX-License-Identifier: Apache-2.0 */
/*
 * omig-tunnel HOST PORT: the end of a tunnel beside a program that sends an event log by TLS
 * (eventlog/send). Descriptor 0 is the stream of that program. The reason of a failure goes to
 * descriptor 2, in one line. Started by libomig-event and others, never by hand.
 */
#include "common/base/file.h"
#include "common/base/limits.h"
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/member/enrol.h"
#include "common/net/net.h"
#include "tools/libomis/client.h"
#include "tools/tunnel/tunnel.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct near {
	struct loop *loop;
	struct net_ctx *net;
	struct tunnel *tunnel;
	bool has_failed;
};

static int fail(const struct err *e)
{
	fprintf(stderr, "%s\n", e->text);
	return 1;
}

static void on_end(void *arg, struct tunnel *t, const struct err *why)
{
	struct near *n = arg;

	n->has_failed = why && why->code;
	if (n->has_failed)
		fail(why);
	tunnel_free(t);
	n->tunnel = NULL;
	loop_stop(n->loop);
}

/* The monitor of the program's user, as for any tool. OMIG_EVENT_MAINSM: in a job OMIG_MAINSM may
 * be for lms only. */
static int open_net(struct near *n, char pin[PKI_PIN_BYTES], struct err *e)
{
	const struct client_conf conf = { .mainsm = secure_getenv("OMIG_EVENT_MAINSM"),
					  .timeout = HANDSHAKE_MAX_NS };
	char dir[FILE_PATH_BYTES];
	struct connstr mainsm;
	int rc = client_identity(&conf, "tool", dir, &mainsm, e);

	if (rc)
		return rc;
	str_copy(pin, PKI_PIN_BYTES, mainsm.pin);
	n->loop = loop_new();
	return n->loop ? enrol_open(n->loop, dir, pin, &n->net, e) : err_nomem(e);
}

static int dial(struct near *n, const char *host, uint64_t port, struct err *e)
{
	struct tunnel_conf conf = { .on_end = on_end, .arg = n };
	char pin[PKI_PIN_BYTES];
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_RECEIVER), .pin = pin };
	const struct net_target to = { .host = host, .port = (uint16_t)port, .expect = &expect };
	struct chan_handler h;
	struct chan *c;
	int rc = open_net(n, pin, e);

	if (rc)
		return rc;
	conf.loop = n->loop;
	n->tunnel = tunnel_new(&conf);
	if (!n->tunnel)
		return err_nomem(e);
	h = tunnel_handler(n->tunnel);
	rc = net_dial(n->net, &to, &h, &c, e);
	if (!rc)
		tunnel_join(n->tunnel, c);
	return rc;
}

int main(int argc, char **argv)
{
	struct near n = { 0 };
	struct err e = { 0 };
	uint64_t port;
	int rc;

	if (argc != 3 || str_to_u64(argv[2], 1, UINT16_MAX, &port)) {
		fprintf(stderr, "omig-tunnel is started by a program that sends events\n");
		return 2;
	}
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	fcntl(0, F_SETFL, O_NONBLOCK);
	rc = dial(&n, argv[1], port, &e);
	if (rc)
		fail(&e);
	else
		rc = loop_run(n.loop);
	tunnel_free(n.tunnel);
	if (n.loop)
		loop_turn(n.loop); /* frees closed objects */
	net_ctx_free(n.net);
	loop_free(n.loop);
	return rc || n.has_failed;
}
