/* SPDX-License-Identifier: Apache-2.0 */
#include "neko/core/world.h"

#include "common/base/hash.h"

#include <stdlib.h>

int world_init(struct neko_world *w, const struct neko_world_ops *ops, uint32_t n, uint64_t seed,
	       struct err *e)
{
	if (n < 1 || n > NEKO_PROCESSES_MAX)
		return err_set(e, ERR_INVALID, "a run has 1 to %d processes, not %u",
			       NEKO_PROCESSES_MAX, n);
	w->process = calloc(n, sizeof(*w->process));
	w->type_name = calloc(NEKO_TYPES_MAX, sizeof(*w->type_name));
	w->ops = ops;
	if (!w->process || !w->type_name)
		return err_nomem(e);
	w->nprocess = n;
	for (uint32_t i = 0; i < n; i++) {
		w->process[i].world = w;
		w->process[i].id = i + 1;
		rng_init(&w->process[i].rng, hash_mix64(seed) ^ hash_mix64(i + 1));
	}
	return 0;
}

static void drop_messages(struct neko_layer *l)
{
	while (l->queue_n) {
		neko_msg_unref(l, l->queue[l->queue_at]);
		l->queue_at = (l->queue_at + 1) & (l->queue_cap - 1);
		l->queue_n--;
	}
	if (l->received)
		neko_msg_unref(l, l->received);
	free(l->queue);
}

static void free_layers(struct neko_process *p)
{
	struct neko_layer *below;

	for (struct neko_layer *l = p->highest; l; l = below) {
		below = l->below;
		if (l->ops->done)
			l->ops->done(l);
		drop_messages(l);
		free(l);
	}
}

void world_done(struct neko_world *w)
{
	void **next;

	for (uint32_t i = 0; i < w->nprocess; i++)
		free_layers(&w->process[i]);
	for (void **slab = w->slabs; slab; slab = next) {
		next = *slab;
		free(slab);
	}
	free(w->process);
	free(w->type_name);
	*w = (struct neko_world){ 0 };
}
