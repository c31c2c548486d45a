/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from below about conditional requests that are armed there. */
#include "sm/csr/csr_internal.h"

#include <string.h>

static bool owns_list(const struct nodes *ns, const struct branch *b, const char *objects)
{
	size_t len;

	for (; *objects; objects += len + (objects[len] == ',')) {
		len = strcspn(objects, ",");
		if (!nodes_owns(ns, b, objects, len))
			return false;
	}
	return true;
}

static bool owns_entries(const struct nodes *ns, const struct branch *b,
			 const struct msg_entry *entry, size_t nentry)
{
	for (size_t i = 0; i < nentry; i++)
		if (!owns_list(ns, b, entry[i].objects))
			return false;
	return true;
}

int site_csrs_acked(struct site_csrs *a, const struct branch *b, const struct msg_arm_ack *m,
		    struct err *e)
{
	struct site_csr *c = smap_find(&a->by_token, m->csr);
	struct csr_part *s = c ? map_find(&c->parts, b->index) : NULL;

	/* One for an earlier version: the one that counts is under way. */
	if (!s || s->version != m->version) {
		a->stats.strays++;
		return err_set(e, ERR_NOTFOUND, "a confirmation without a request");
	}
	if (!owns_entries(a->conf.nodes, b, m->entry, m->nentry))
		return err_set(e, ERR_DENIED, "a confirmation about objects that are not its own");
	csr_part_confirmed(c, s);
	for (size_t i = 0; c->answer && i < m->nentry && c->answer->nentry < SITE_CSRS_ENTRIES_MAX;
	     i++)
		if (status_is_error(m->entry[i].status))
			reply_add_n(c->answer, 0, m->entry[i].objects, m->entry[i].status,
				    m->entry[i].value.p, m->entry[i].value.n);
	site_csr_check_answer(c, false);
	return 0;
}

static bool owns_or_none(const struct nodes *ns, const struct branch *b, const char *token)
{
	uint32_t number;

	return !token[0] || (token_node(token, strlen(token), &number) &&
			     nodes_owns(ns, b, token, strlen(token)));
}

static bool is_own_event(const struct nodes *ns, const struct branch *b,
			 const struct msg_triggered *m)
{
	return m->node[0] && owns_or_none(ns, b, m->node) && owns_or_none(ns, b, m->proc) &&
	       owns_or_none(ns, b, m->thread) && owns_entries(ns, b, m->entry, m->nentry);
}

/* The event is not reported: a thread that waits for its actions goes on at once. */
static void let_go(const struct site_csrs *a, struct branch *b, const struct msg_triggered *m)
{
	const struct msg go = { .type = MSG_RELEASE, .release = { m->csr, m->seq, m->node } };

	if (m->held)
		branch_send(a->conf.nodes, b, &go);
}

/* Events may be lost on the way: the next one reports how many. */
static void pass(struct site_csr *c, struct branch *b, const struct msg_triggered *m)
{
	struct site_csrs *a = c->a;
	struct msg up = { .type = MSG_TRIGGERED, .triggered = *m };

	up.triggered.tool = c->tool;
	up.triggered.dropped += c->dropped;
	if (a->conf.is_congested(a->conf.arg) || a->conf.send(a->conf.arg, &up)) {
		a->stats.dropped++;
		site_csr_lose(
			c, 1 + (m->dropped < SITE_CSRS_LOST_MAX ? m->dropped : SITE_CSRS_LOST_MAX));
		let_go(a, b, m);
		return;
	}
	a->stats.triggered++;
	c->dropped = 0;
}

int site_csrs_triggered(struct site_csrs *a, struct branch *b, const struct msg_triggered *m,
			struct err *e)
{
	struct site_csr *c = smap_find(&a->by_token, m->csr);
	const struct msg no = { .type = MSG_DISARM, .disarm = { .csr = m->csr } };

	if (!is_own_event(a->conf.nodes, b, m))
		return err_set(e, ERR_DENIED, "an event of objects that are not its own");
	if (!c || !map_find(&c->parts, b->index)) {
		a->stats.strays++;
		let_go(a, b, m);
		branch_send(a->conf.nodes, b, &no);
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	}
	pass(c, b, m);
	return 0;
}
