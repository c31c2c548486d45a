/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of branches about enabled conditional requests. */
#include "sm/csr/csr_internal.h"

int site_csrs_acked(struct site_csrs *a, const struct branch *b, const struct msg_arm_ack *m,
		    struct err *e)
{
	struct site_csr *c = smap_find(&a->by_token, m->csr);

	if (!c || !standing_has(c->standing, b->index, m->version)) {
		a->stats.strays++;
		return err_set(e, ERR_NOTFOUND, "a confirmation without a request");
	}
	if (!branch_owns_entries(b, m->entry, m->nentry))
		return err_set(e, ERR_DENIED, "a confirmation about objects that are not its own");
	standing_confirm(c->standing, b->index);
	for (size_t i = 0; c->answer && i < m->nentry && c->answer->nentry < SITE_CSRS_ENTRIES_MAX;
	     i++)
		if (status_is_error(m->entry[i].status))
			reply_add_n(c->answer, 0, m->entry[i].objects, m->entry[i].status,
				    m->entry[i].value);
	site_csr_check_answer(c);
	return 0;
}

/* Releases a thread that waits for the actions of an event that is not reported. */
static void let_go(struct branch *b, const struct msg_triggered *m)
{
	const struct msg go = { .type = MSG_RELEASE, .release = { m->csr, m->seq, m->node } };

	if (m->held)
		branch_send(b, &go);
}

/* Passes an event to the parent. The next one reports the number of lost events. */
static void pass(struct site_csr *c, struct branch *b, const struct msg_triggered *m)
{
	struct site_csrs *a = c->a;
	struct msg up = { .type = MSG_TRIGGERED, .triggered = *m };

	up.triggered.tool = c->tool;
	up.triggered.dropped += c->dropped;
	if (a->conf.is_congested(a->conf.arg) || a->conf.send(a->conf.arg, &up)) {
		a->stats.dropped++;
		site_csr_lose(c, 1 + parting_bounded(m->dropped));
		let_go(b, m);
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

	if (!branch_owns_event(b, m))
		return err_set(e, ERR_DENIED, "an event of objects that are not its own");
	if (!c || !standing_find(c->standing, b->index)) {
		a->stats.strays++;
		let_go(b, m);
		branch_send(b, &no);
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	}
	pass(c, b, m);
	return 0;
}
