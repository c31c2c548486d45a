/* SPDX-License-Identifier: Apache-2.0 */
/* Atomic broadcast by consensus: each decision is the next batch. */
#include "neko/algorithms/abcast.h"

static void start(struct neko_layer *l)
{
	struct abcast *a = neko_state(l);

	if (a->waiting.n)
		consensus_propose(l, a->consensus, abcast_waiting(a));
}

static void decided(struct neko_layer *l, uint32_t instance, struct bytes value)
{
	abcast_deliver_batch(l, value);
	start(l);
}

static void hear(struct neko_layer *l, struct neko_msg *m)
{
}

static void changed(struct neko_layer *l, uint32_t id)
{
}

static void nudge(struct neko_layer *l)
{
}

static void done(struct neko_layer *l)
{
}

static const struct abcast_algorithm ct = { .start = start,
					    .decided = decided,
					    .hear = hear,
					    .changed = changed,
					    .nudge = nudge,
					    .done = done };

int abcast_ct_init(struct neko_process *p, struct setup *s, struct err *e)
{
	struct abcast *a;

	return abcast_push(p, s, &ct, &a, e);
}
