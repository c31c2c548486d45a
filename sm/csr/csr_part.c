/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lost events, as counted by hosts and this sm, and the end of conditional requests: mainsm is
 * notified when all hosts have reported their losses.
 */
#include "sm/csr/csr_internal.h"

#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/text/token.h"

#include <stdlib.h>

int site_csrs_report_losses(struct site_csrs *a, const char *csr, uint64_t n, bool is_last)
{
	const struct msg up = { .type = MSG_LOSSES,
				.losses = { .csr = csr, .dropped = n, .is_last = is_last } };

	return a->conf.send(a->conf.arg, &up);
}

/* --- losses of armed csrs */

void site_csr_lose(struct site_csr *c, uint64_t n)
{
	c->dropped += n;
	if (n && !loop_timer_is_armed(c->a->losses))
		loop_timer_arm(c->a->losses, SITE_CSRS_LOSSES_NS);
}

/* Reports losses, or retries later while the link is congested. */
void site_csrs_on_losses(void *arg)
{
	struct site_csrs *a = arg;
	struct smap_iter i = { 0 };
	bool is_left = false;

	while (smap_next(&a->by_token, &i)) {
		struct site_csr *c = i.value;

		if (c->dropped && !a->conf.is_congested(a->conf.arg) &&
		    !site_csrs_report_losses(a, c->token, c->dropped, false))
			c->dropped = 0;
		is_left |= c->dropped > 0;
	}
	if (is_left)
		loop_timer_arm(a->losses, SITE_CSRS_LOSSES_NS);
}

/* --- losses of disarmed csrs */

static void free_parting(struct site_parting *p)
{
	parting_done(&p->parting);
	free(p);
}

void site_partings_free(struct site_csrs *a)
{
	list_each_safe (i, &a->partings.all)
		free_parting(list_entry(i, struct site_parting, parting.in_all));
}

static void finish(void *arg)
{
	struct site_parting *p = arg;

	if (!p->is_begun)
		return;
	site_csrs_report_losses(p->a, p->token.s, p->dropped, true);
	free_parting(p);
}

struct site_parting *site_parting_new(struct site_csrs *a, const char *token, uint64_t dropped)
{
	struct site_parting *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->a = a;
	p->dropped = dropped;
	str_copy(p->token.s, sizeof(p->token.s), token);
	if (!parting_init(&p->parting, &a->partings, finish, p))
		return p;
	free_parting(p);
	return NULL;
}

void site_parting_begin(struct site_parting *p)
{
	p->is_begun = true;
	if (!parting_is_open(&p->parting))
		finish(p);
}

static bool has_answered(struct site_csrs *a, const struct branch *b, const struct msg_losses *m)
{
	list_each_safe (i, &a->partings.all) {
		struct site_parting *p = list_entry(i, struct site_parting, parting.in_all);

		if (!str_eq(p->token.s, m->csr) || !parting_awaits(&p->parting, b->index))
			continue;
		p->dropped += parting_bounded(m->dropped);
		return parting_answered(&p->parting, b->index);
	}
	return false;
}

int site_csrs_losses(struct site_csrs *a, const struct branch *b, const struct msg_losses *m,
		     struct err *e)
{
	struct site_csr *c = smap_find(&a->by_token, m->csr);

	if (m->is_last && has_answered(a, b, m))
		return 0;
	if (!c || (!m->is_last && !standing_find(c->standing, b->index)))
		return err_set(e, ERR_NOTFOUND, "nothing is armed there");
	site_csr_lose(c, parting_bounded(m->dropped));
	return 0;
}
