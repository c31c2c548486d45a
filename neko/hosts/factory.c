/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/hosts/factory_internal.h"

#include "common/base/log.h"
#include "common/member/enrol.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void on_accept(void *arg, struct chan *c)
{
	struct factory *f = arg;
	const struct identity *peer = chan_peer(c), *self = net_ctx_self(f->net);

	if (!peer || !self || !identity_is_same_user(peer, self)) {
		log_notice("factory", "%s belongs to another user", chan_remote(c));
		chan_close(c, "of another user");
		return;
	}
	if (f->nwork == FACTORY_WORKS_MAX) {
		log_notice("factory", "refused: %u processes run already", f->nwork);
		chan_close(c, "too many processes");
		return;
	}
	work_take(f, c);
}

static void on_refused(void *arg, const char *remote, const struct err *why)
{
	log_notice("factory", "%s was refused: %s", remote, why->text);
}

/* Ends all processes. NULL is accepted. */
static void factory_close(struct factory *f)
{
	if (!f)
		return;
	work_end_all(f);
	net_listener_close(f->listener);
	server_link_free(f->mainsm);
	loop_turn(f->loop); /* frees closed objects */
	net_ctx_free(f->net);
	free(f);
}

static int factory_open(struct loop *l, const struct factory_conf *c, struct factory **out,
			struct err *e)
{
	struct net_listen_conf conf = {
		.addr = c->address,
		.port = c->port,
		.roles = ROLE_BIT(ROLE_TOOL_MANIPULATE) | ROLE_BIT(ROLE_TOOL_ADMIN),
	};
	struct factory *f = calloc(1, sizeof(*f));
	struct net_accept accept = { on_accept, on_refused, f };
	int rc;

	if (!f)
		return err_nomem(e);
	f->loop = l;
	f->takes_objects = c->takes_objects;
	list_init(&f->works);
	rc = enrol_open(f->loop, c->self.dir, c->self.pin, &f->net, e);
	if (!rc)
		rc = net_listen(f->net, &conf, &accept, &f->listener, e);
	if (!rc && c->mainsm)
		rc = server_link_new(&(struct server_link_conf){ .role = "factory",
								 .loop = l,
								 .net = f->net,
								 .dir = c->self.dir,
								 .mainsm = c->mainsm },
				     &f->mainsm, e);
	if (rc)
		factory_close(f);
	else
		*out = f;
	return rc;
}

static uint16_t factory_port(const struct factory *f)
{
	return net_listener_port(f->listener);
}

static void on_signal(void *arg, int signo)
{
	loop_stop(arg);
}

int factory_run(const struct factory_conf *c, void (*on_ready)(void *arg, uint16_t port), void *arg,
		struct err *e)
{
	struct loop *l = loop_new();
	struct loop_signal *term = NULL, *intr = NULL;
	struct factory *f = NULL;
	int rc;

	if (!l)
		return err_nomem(e);
	sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	term = loop_signal_new(l, SIGTERM, on_signal, l, e);
	intr = loop_signal_new(l, SIGINT, on_signal, l, e);
	rc = term && intr ? factory_open(l, c, &f, e) : -ERR_SYS;
	if (!rc) {
		on_ready(arg, factory_port(f));
		rc = loop_run(l);
	}
	factory_close(f);
	loop_signal_free(term);
	loop_signal_free(intr);
	loop_free(l);
	return rc;
}
