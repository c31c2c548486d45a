/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/run/run_delays.h"

#include "common/base/array.h"

#include <stdlib.h>

/* reported lost ones in a row: a larger number is not a message number */
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

static int by_way(const void *p, const void *q)
{
	const struct neko_delay *a = p, *b = q;
	int c = same_way(a, b);

	return c ? c : compare(a->number, b->number);
}

static int by_time(const void *p, const void *q)
{
	const struct neko_delay *a = p, *b = q;
	int c = compare((uint64_t)a->sent_at, (uint64_t)b->sent_at);

	return c ? c : by_way(p, q);
}

/* The same one twice: the first that arrived counts. */
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
		/* Copies: additions may move them. */
		struct neko_delay after = d->delay[i], before = i ? d->delay[i - 1] : after;
		bool is_same = i && same_way(&before, &after) == 0;

		if (!add_gap(d, is_same ? &before : NULL, &after))
			return false;
	}
	return true;
}

int run_delays_report(struct run_delays *d, void (*fn)(void *arg, const struct neko_delay *v),
		      void *arg, struct err *e)
{
	if (!d->n)
		return 0;
	qsort(d->delay, d->n, sizeof(*d->delay), by_way);
	drop_doubles(d);
	if (!add_lost(d) || d->has_lost)
		return err_set(e, ERR_LIMIT, "more than %u delays of messages", RUN_DELAYS_MAX);
	qsort(d->delay, d->n, sizeof(*d->delay), by_time);
	for (size_t i = 0; i < d->n; i++)
		fn(arg, &d->delay[i]);
	return 0;
}
