/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: made for each connection, and freed with it. */
#include "mainsm/mainsm_internal.h"

#include <stdlib.h>

struct peer *peer_new(struct mainsm *m)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->m = m;
	list_init(&p->requests);
	list_push_back(&m->peers, &p->in_peers);
	m->npeer++;
	return p;
}

static void count_out(struct mainsm *m)
{
	m->npeer--;
	if (m->npeer == 0)
		m->lonely_since = loop_now(m->conf.loop);
}

void peer_serves(struct peer *p)
{
	p->is_server = true;
	count_out(p->m);
}

void peer_free(struct peer *p, const char *reason)
{
	if (p->on_end)
		p->on_end(p, reason);
	if (p->link)
		link_set_user(p->link, NULL);
	list_del(&p->in_peers);
	if (!p->is_server)
		count_out(p->m);
	free(p->listen);
	free(p);
}

void peer_end(struct peer *p, const char *reason)
{
	struct link *l = p->link;

	peer_free(p, reason);
	link_close(l, reason);
}

void peer_renew(struct peer *p, const struct msg_enrol *q)
{
	struct buf cert = BUF_INIT(PKI_DER_MAX_BYTES);
	struct msg m = { .type = MSG_ENROL_ACK };

	if (p->m->enrol) {
		enrol_service_renew(p->m->enrol, link_identity(p->link), q, &cert, &m.enrol_ack);
		link_send(p->link, &m);
	}
	buf_done(&cert);
}
