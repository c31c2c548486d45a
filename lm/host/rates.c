/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/host/rates.h"

#include "common/loop/loop.h"

#include <stdlib.h>

struct rates {
	struct loop *loop;
	struct host *host;
	struct loop_timer *timer;
	struct host_counts old[2]; /* newest first */
	nsec_t taken[2]; /* by the loop's clock; 0 = none */
	nsec_t wanted; /* time of the last request */
	struct list waiting;
};

static void look(struct rates *r)
{
	struct host_counts c;

	if (host_counts(r->host, &c, NULL))
		return;
	r->old[1] = r->old[0];
	r->taken[1] = r->taken[0];
	r->old[0] = c;
	r->taken[0] = loop_now(r->loop);
}

static void wake(struct rates *r)
{
	struct list due;
	struct list *i;

	list_init(&due);
	list_splice_back(&due, &r->waiting);
	while ((i = list_pop_front(&due))) {
		struct rates_wait *w = list_entry(i, struct rates_wait, link);

		w->fn(w->arg);
	}
}

/* Takes a sample. Waiters get the rates since the sample before. */
static void on_timer(void *arg)
{
	struct rates *r = arg;

	if (!list_is_empty(&r->waiting)) {
		wake(r);
	} else if (loop_now(r->loop) - r->wanted > RATES_WANTED_NS) {
		r->taken[0] = r->taken[1] = 0;
		return;
	} else {
		look(r);
	}
	loop_timer_arm(r->timer, RATES_STEP_NS);
}

struct rates *rates_new(struct loop *l, struct host *h)
{
	struct rates *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->loop = l;
	r->host = h;
	list_init(&r->waiting);
	r->timer = loop_timer_new(l, on_timer, r);
	if (r->timer)
		return r;
	free(r);
	return NULL;
}

void rates_free(struct rates *r)
{
	if (!r)
		return;
	loop_timer_free(r->timer);
	free(r);
}

/* Returns the newest sample that is old enough. */
static const struct host_counts *base(const struct rates *r, nsec_t now, nsec_t *age)
{
	for (int i = 0; i < 2; i++) {
		*age = now - r->taken[i];
		if (r->taken[i] && *age >= RATES_MIN_NS && *age <= RATES_MAX_NS)
			return &r->old[i];
	}
	return NULL;
}

int rates_get(struct rates *r, struct node_rates *out, struct err *e)
{
	const struct host_counts *from;
	struct host_counts now;
	int rc;

	r->wanted = loop_now(r->loop);
	from = base(r, r->wanted, &out->over);
	if (!from)
		return err_set(e, ERR_AGAIN, "rates need a second");
	rc = host_counts(r->host, &now, e);
	if (rc)
		return rc;
	for (int i = 0; i < HOST_NCOUNTS; i++) {
		double grown = (double)(now.v[i] - from->v[i]);

		if (now.v[i] < 0 || from->v[i] < 0)
			out->per_s[i] = -1;
		else /* packets of a link are lost when it is removed */
			out->per_s[i] = grown < 0 ? 0 : grown * 1e9 / (double)out->over;
	}
	return 0;
}

void rates_wait(struct rates *r, struct rates_wait *w, void (*fn)(void *), void *arg)
{
	nsec_t left;

	w->fn = fn;
	w->arg = arg;
	if (!r->taken[0] || loop_now(r->loop) - r->taken[0] > RATES_MAX_NS)
		look(r);
	list_push_back(&r->waiting, &w->link);
	left = r->taken[0] + RATES_MIN_NS - loop_now(r->loop);
	loop_timer_arm(r->timer, left > 0 ? left : 0);
}

void rates_unwait(struct rates_wait *w)
{
	if (w->link.next)
		list_del(&w->link);
}
