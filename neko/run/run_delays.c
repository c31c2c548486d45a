/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/run/run_delays.h"

#include "common/base/array.h"

#include <stdlib.h>

/* lost messages in a row that are reported: a larger gap is not one of message numbers */
#define GAP_MAX 100000

void run_delays_done(struct run_delays *d)
{
	free(d->delay);
	*d = (struct run_delays){ 0 };
}

bool run_delays_add(struct run_delays *d, const struct neko_delay *v)
{
	if (array_grow(&d->delay, &d->cap, d->n + 1, sizeof(*v), RUN_DELAYS_MAX)) {
		d->has_lost = true;
		return false;
	}
	d->delay[d->n++] = *v;
	return true;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int same_way(const struct neko_delay *a, const struct neko_delay *b)
{
	int c = compare(a->net, b->net);

	if (c == 0)
		c = compare(a->from, b->from);
	return c ? c : compare(a->to, b->to);
}

/* Orders reports so that those of one message are adjacent. */
static int by_way(const void *p, const void *q)
{
	const struct neko_delay *a = p, *b = q;
	int c = same_way(a, b);

	return c ? c : compare(a->number, b->number);
}

/* Puts the receiver's report before the sender's, whose delay LOST is the largest value here. */
static int by_report(const void *p, const void *q)
{
	const struct neko_delay *a = p, *b = q;
	int c = by_way(p, q);

	return c ? c : compare((uint64_t)a->delay, (uint64_t)b->delay);
}

static int by_time(const void *p, const void *q)
{
	const struct neko_delay *a = p, *b = q;
	int c = compare((uint64_t)a->sent_at, (uint64_t)b->sent_at);

	return c ? c : by_way(p, q);
}

/* Keeps the first of several reports of a message. */
static void drop_doubles(struct run_delays *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (!n || by_way(&d->delay[n - 1], &d->delay[i]))
			d->delay[n++] = d->delay[i];
	d->n = n;
}

static bool add_gap(struct run_delays *d, const struct neko_delay *before,
		    const struct neko_delay *after)
{
	uint32_t first = before ? before->number + 1 : 0, n = after->number - first;
	nsec_t from = before ? before->sent_at : 0;
	struct neko_delay v = *after;

	v.type = NEKO_TYPES_MAX;
	v.bytes = v.error = 0;
	for (uint32_t k = 0; k < n && n <= GAP_MAX; k++) {
		v.number = first + k;
		v.sent_at = from + (after->sent_at - from) / (n + 1) * (k + 1);
		v.delay = NEKO_DELAY_LOST;
		if (!run_delays_add(d, &v))
			return false;
	}
	return true;
}

static bool add_lost(struct run_delays *d)
{
	size_t n = d->n;

	for (size_t i = 0; i < n; i++) {
		/* copies, because an addition may move the array */
		struct neko_delay after = d->delay[i], before = i ? d->delay[i - 1] : after;
		bool is_same = i && same_way(&before, &after) == 0;

		if (!add_gap(d, is_same ? &before : NULL, &after))
			return false;
	}
	return true;
}

/*
 * Marks messages behind the last arrival of each link as unknown: they may be lost or in transit.
 */
static void mark_unknown(struct run_delays *d)
{
	const struct neko_delay *next = NULL;
	bool has_arrived = false;

	for (size_t i = d->n; i-- > 0; next = &d->delay[i]) {
		if (!next || same_way(&d->delay[i], next))
			has_arrived = false;
		has_arrived |= d->delay[i].delay >= 0;
		if (!has_arrived)
			d->delay[i].delay = NEKO_DELAY_UNKNOWN;
	}
}

int run_delays_report(struct run_delays *d, void (*fn)(void *arg, const struct neko_delay *v),
		      void *arg, struct err *e)
{
	if (!d->n)
		return 0;
	qsort(d->delay, d->n, sizeof(*d->delay), by_report);
	drop_doubles(d);
	mark_unknown(d);
	if (!d->has_lost && !add_lost(d) && d->n < RUN_DELAYS_MAX)
		return err_nomem(e);
	qsort(d->delay, d->n, sizeof(*d->delay), by_time);
	for (size_t i = 0; i < d->n; i++)
		fn(arg, &d->delay[i]);
	return 0;
}
