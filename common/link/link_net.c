/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/str.h"
#include "common/link/connstr.h"
#include "common/link/link.h"
#include "common/net/net.h"

#include <stdlib.h>
#include <string.h>

struct link_net {
	struct net_ctx *ctx;
	char host[CONNSTR_HOSTS_MAX][NAME_MAX_BYTES + 1];
	unsigned nhost;
	uint16_t port;
	struct net_expect expect; /* its strings are the members below */
	char site[NAME_MAX_BYTES + 1], peer_host[NAME_MAX_BYTES + 1], pin[CONNSTR_PIN_LEN + 1];
};

static const char *keep(char *to, size_t size, const char *from)
{
	if (!from)
		return NULL;
	str_copy(to, size, from);
	return to;
}

struct link_net *link_net_new(const struct link_net_conf *c)
{
	struct link_net *n;

	if (!c->nhost || c->nhost > CONNSTR_HOSTS_MAX)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->ctx = c->ctx;
	n->nhost = c->nhost;
	n->port = c->port;
	memcpy(n->host, c->host, c->nhost * sizeof(n->host[0]));
	n->expect = *c->expect;
	n->expect.site = keep(n->site, sizeof(n->site), c->expect->site);
	n->expect.host = keep(n->peer_host, sizeof(n->peer_host), c->expect->host);
	n->expect.pin = keep(n->pin, sizeof(n->pin), c->expect->pin);
	return n;
}

int link_net_to_mainsm(struct net_ctx *ctx, const struct connstr *conn, struct link_net **out)
{
	const struct net_expect expect = { .roles = ROLE_BIT(ROLE_MAINSM), .pin = conn->pin };

	*out = link_net_new(
		&(struct link_net_conf){ .ctx = ctx,
					 .host = (const char(*)[NAME_MAX_BYTES + 1]) conn->host,
					 .nhost = conn->nhost,
					 .port = conn->port,
					 .expect = &expect });
	return *out ? 0 : -ERR_NOMEM;
}

void link_net_free(struct link_net *n)
{
	free(n);
}

static int dial(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		struct err *e)
{
	struct link_net *n = arg;

	return net_dial(n->ctx,
			&(struct net_target){ .host = n->host[attempt % n->nhost],
					      .port = n->port,
					      .expect = &n->expect },
			h, out, e);
}

struct link_dialer link_net_dialer(struct link_net *n)
{
	return (struct link_dialer){ dial, n };
}
