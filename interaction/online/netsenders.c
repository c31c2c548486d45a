/* SPDX-License-Identifier: Apache-2.0 */
#include "interaction/online/netsenders.h"

#include "common/base/array.h"
#include "interaction/online/netonline.h"

#include <stdlib.h>

struct netsender {
	uint64_t highest; /* number of a batch */
	uint64_t seen; /* bit i: the batch highest - i has arrived */
	uint64_t batches, arcs; /* that have arrived */
	uint64_t sent; /* arcs, as the batches count them */
	uint64_t lost; /* events, as the batches count them */
};

void netsenders_init(struct netsenders *s)
{
	*s = (struct netsenders){ .n = 0 };
	map_init(&s->by_id);
}

void netsenders_done(struct netsenders *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->sender[i]);
	free(s->sender);
	map_done(&s->by_id);
}

static int add_sender(struct netsenders *s, uint64_t id, struct netsender **out)
{
	int rc = array_grow(&s->sender, &s->cap, s->n + 1, sizeof(struct netsender *),
			    NETONLINE_SENDERS_MAX);
	struct netsender *x = rc ? NULL : calloc(1, sizeof(*x));

	if (rc || !x)
		return rc ? rc : -ERR_NOMEM;
	rc = map_put(&s->by_id, id, x, NULL);
	if (rc) {
		free(x);
		return rc;
	}
	s->sender[s->n++] = x;
	*out = x;
	return 0;
}

/* Notes the number of a batch; false if it is not new. */
static bool is_new(struct netsender *x, uint64_t number)
{
	uint64_t ahead = number > x->highest ? number - x->highest : 0;
	uint64_t behind = x->highest - number;

	if (ahead) {
		x->seen = ahead < NETONLINE_WINDOW ? x->seen << ahead | 1 : 1;
		x->highest = number;
		return true;
	}
	if (behind >= NETONLINE_WINDOW || x->seen >> behind & 1)
		return false;
	x->seen |= 1ull << behind;
	return true;
}

int netsenders_take(struct netsenders *s, const struct netarc_head *h, struct netsender **out)
{
	struct netsender *x = map_find(&s->by_id, h->sender);
	int rc = x ? 0 : add_sender(s, h->sender, &x);

	if (rc)
		return rc;
	if (!is_new(x, h->number)) {
		s->repeated++;
		return 0;
	}
	x->batches++;
	*out = x;
	return 1;
}

void netsenders_count(struct netsender *s, const struct netarc_head *h, uint64_t arcs)
{
	uint64_t sent = h->before + arcs;

	s->arcs += arcs;
	s->sent = sent > s->sent ? sent : s->sent;
	s->lost = h->lost > s->lost ? h->lost : s->lost;
}

struct netsenders_losses netsenders_losses(const struct netsenders *s)
{
	struct netsenders_losses sum = { .batches = 0 };

	for (size_t i = 0; i < s->n; i++) {
		const struct netsender *x = s->sender[i];

		sum.batches += x->highest - x->batches;
		sum.arcs += x->sent > x->arcs ? x->sent - x->arcs : 0;
		sum.events += x->lost;
	}
	return sum;
}
