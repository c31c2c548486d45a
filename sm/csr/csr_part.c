/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that were lost, as hosts and this sm count them, and the end of conditional requests:
 * mainsm hears of it when all hosts have said how many they have lost.
 */
#include "sm/csr/csr_internal.h"

#include "common/base/str.h"
#include "common/loop/loop.h"
#include "common/omis/text/token.h"

#include <stdlib.h>

/* A conditional request that is disarmed, while hosts are to answer. */
struct parting {
	struct list link;
	struct site_csrs *a;
	struct token token;
	struct map branches; /* that have not answered; the parting, as a mark */
	uint64_t dropped;
	struct loop_timer *timer;
};

static uint64_t bounded(uint64_t n)
{
	return n < SITE_CSRS_LOST_MAX ? n : SITE_CSRS_LOST_MAX;
}

static int report(struct site_csrs *a, const struct msg_losses *m)
{
	const struct msg up = { .type = MSG_LOSSES, .losses = *m };

	return a->conf.send(a->conf.arg, &up);
}

/* --- of what is armed */

void site_csr_lose(struct site_csr *c, uint64_t n)
{
	c->dropped += n;
	if (n && !loop_timer_is_armed(c->a->losses))
		loop_timer_arm(c->a->losses, SITE_CSRS_LOSSES_NS);
}

/* A congested link has no room for it yet. */
void site_csrs_on_losses(void *arg)
{
	struct site_csrs *a = arg;
	struct smap_iter i = { 0 };
	bool is_left = false;

	while (smap_next(&a->by_token, &i)) {
		struct site_csr *c = i.value;

		if (c->dropped && !a->conf.is_congested(a->conf.arg) &&
		    !report(a, &(struct msg_losses){ .csr = c->token, .dropped = c->dropped }))
			c->dropped = 0;
		is_left |= c->dropped > 0;
	}
	if (is_left)
		loop_timer_arm(a->losses, SITE_CSRS_LOSSES_NS);
}

/* --- of what is disarmed */

static void parting_free(struct parting *p)
{
	list_del(&p->link);
	loop_timer_free(p->timer);
	map_done(&p->branches);
	free(p);
}

void partings_free(struct site_csrs *a)
{
	list_each_safe (i, &a->partings)
		parting_free(list_entry(i, struct parting, link));
}

static void finish(struct parting *p)
{
	report(p->a,
	       &(struct msg_losses){ .csr = p->token.s, .dropped = p->dropped, .is_last = true });
	parting_free(p);
}

static void on_timer(void *arg)
{
	finish(arg);
}

/* NULL: no memory. */
static struct parting *parting_new(struct site_csrs *a, const char *token, uint64_t dropped)
{
	struct parting *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->a = a;
	p->dropped = dropped;
	map_init(&p->branches);
	list_init(&p->link);
	str_copy(p->token.s, sizeof(p->token.s), token);
	p->timer = loop_timer_new(a->conf.loop, on_timer, p);
	if (p->timer)
		return p;
	parting_free(p);
	return NULL;
}

void parting_await(struct parting *p, uint32_t branch)
{
	map_put(&p->branches, branch, p, NULL);
}

void site_csrs_disarm(struct site_csrs *a, const char *csr)
{
	struct site_csr *c = smap_find(&a->by_token, csr);
	struct parting *p = c ? parting_new(a, csr, c->dropped) : NULL;

	if (!p)
		report(a, &(struct msg_losses){
				  .csr = csr, .dropped = c ? c->dropped : 0, .is_last = true });
	else
		c->parting = p;
	if (c)
		site_csr_end(c);
	if (!p)
		return;
	list_push_back(&a->partings, &p->link);
	if (p->branches.n)
		loop_timer_arm(p->timer, SITE_CSRS_PARTED_MAX_NS);
	else
		finish(p);
}

static bool has_answered(struct site_csrs *a, const struct branch *b, const struct msg_losses *m)
{
	list_each_safe (i, &a->partings) {
		struct parting *p = list_entry(i, struct parting, link);

		if (!str_eq(p->token.s, m->csr) || !map_del(&p->branches, b->index))
			continue;
		p->dropped += bounded(m->dropped);
		if (!p->branches.n)
			finish(p);
		return true;
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
	site_csr_lose(c, bounded(m->dropped));
	return 0;
}

void partings_forget(struct site_csrs *a, const struct branch *b)
{
	list_each_safe (i, &a->partings) {
		struct parting *p = list_entry(i, struct parting, link);

		if (map_del(&p->branches, b->index) && !p->branches.n)
			finish(p);
	}
}
