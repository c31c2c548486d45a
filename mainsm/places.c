/* SPDX-License-Identifier: Apache-2.0 */
#include "mainsm/places.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "mainsm/mainsm_internal.h"

struct holder {
	struct peer *newest;
	char principal[IDENTITY_PRINCIPAL_BYTES];
	unsigned n;
};

struct census {
	struct holder holder[TOOLS_MAX];
	unsigned nholder, n, nadmin;
};

static struct holder *holder_of(struct census *c, const char *principal)
{
	unsigned i;

	for (i = 0; i < c->nholder; i++)
		if (str_eq(c->holder[i].principal, principal))
			return &c->holder[i];
	if (i == TOOLS_MAX)
		return NULL;
	str_copy(c->holder[i].principal, IDENTITY_PRINCIPAL_BYTES, principal);
	c->nholder++;
	return &c->holder[i];
}

/* Peers are in the order of their connections. */
static void count_peers(struct census *c, const struct mainsm *m)
{
	list_each (item, &m->peers) {
		struct peer *p = list_entry(item, struct peer, in_peers);
		struct holder *h = p->session ? holder_of(c, p->session->principal) : NULL;

		if (!h)
			continue;
		h->n++;
		h->newest = p;
		c->n++;
		c->nadmin += p->session->id.role == ROLE_TOOL_ADMIN;
	}
}

static struct holder *greediest(struct census *c)
{
	struct holder *most = NULL;

	for (unsigned i = 0; i < c->nholder; i++)
		if (!most || c->holder[i].n > most->n)
			most = &c->holder[i];
	return most;
}

/* Admins use their own places first, and then the common ones. */
static bool is_full(const struct census *c, const struct identity *id)
{
	unsigned kept = c->nadmin < TOOLS_ADMIN_PLACES ? TOOLS_ADMIN_PLACES - c->nadmin : 0;

	return c->n + (id->role == ROLE_TOOL_ADMIN ? 0 : kept) >= TOOLS_MAX;
}

int places_reserve(struct mainsm *m, const struct identity *id, struct err *why)
{
	static const char reason[] =
		"another user waits, and no identity has more connections than this one";
	char principal[IDENTITY_PRINCIPAL_BYTES];
	struct census c = { 0 };
	struct holder *most, *own;

	if (m->nsession + TOOLS_ADMIN_PLACES < TOOLS_MAX)
		return 0;
	count_peers(&c, m);
	if (!is_full(&c, id))
		return 0;
	most = greediest(&c);
	own = holder_of(&c, identity_principal(principal, id));
	if (!most || !own || most == own || most->n < own->n + 2)
		return err_set(why, ERR_LIMIT, "%u tools are connected already: end one of them",
			       c.n);
	log_notice("tools", "ending the newest of %u connections of %s: %s waits", most->n,
		   most->principal, own->principal);
	peer_end(most->newest, reason);
	return 0;
}
