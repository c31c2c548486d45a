/* SPDX-License-Identifier: Apache-2.0 */
/* Messages. Small ones are allocated from slabs: a simulation makes millions per second. */
#include "neko/core/world.h"

#include <stdlib.h>
#include <string.h>

#define SLAB_MSGS 1023
#define SLOT_BYTES (offsetof(struct neko_msg, content) + NEKO_POOLED_BYTES)

_Static_assert(SLOT_BYTES == 64, "a slot is a line");

static bool add_slab(struct neko_world *w)
{
	void **slab = malloc(sizeof(void *) * 2 + SLAB_MSGS * SLOT_BYTES);
	char *at = (char *)(slab + 2);

	if (!slab)
		return false;
	*slab = w->slabs;
	w->slabs = slab;
	for (size_t i = SLAB_MSGS; i-- > 0;) {
		struct neko_msg *m = (struct neko_msg *)(void *)(at + i * SLOT_BYTES);

		m->all = (uint32_t *)(void *)w->free_msgs;
		w->free_msgs = m;
	}
	return true;
}

static struct neko_msg *from_pool(struct neko_world *w)
{
	struct neko_msg *m;

	if (!w->free_msgs && !add_slab(w))
		return NULL;
	m = w->free_msgs;
	w->free_msgs = (struct neko_msg *)(void *)m->all;
	memset(m, 0, sizeof(*m));
	m->is_pooled = true;
	return m;
}

struct neko_msg *world_msg_new(struct neko_world *w, uint32_t nto, size_t n)
{
	size_t many = nto > 1 ? nto * sizeof(uint32_t) : 0, at = (n + 7) / 8 * 8;
	struct neko_msg *m;

	if (n > NEKO_CONTENT_MAX_BYTES)
		return NULL;
	if (at + many <= NEKO_POOLED_BYTES)
		m = from_pool(w);
	else
		m = calloc(1, sizeof(*m) + at + many);
	if (!m)
		return NULL;
	m->refs = 1;
	m->nto = nto;
	m->n = (uint32_t)n;
	if (many)
		m->all = (uint32_t *)(void *)(m->content + at);
	return m;
}

void world_msg_free(struct neko_world *w, struct neko_msg *m)
{
	if (!m->is_pooled) {
		free(m);
		return;
	}
	m->all = (uint32_t *)(void *)w->free_msgs;
	w->free_msgs = m;
}

/* six: layers of users call it, and the interface is fixed. */
struct neko_msg *neko_msg_many(struct neko_layer *l, const uint32_t *to, uint32_t nto,
			       uint16_t type, const void *content, size_t n)
{
	struct neko_msg *m = nto ? world_msg_new(l->process->world, nto, n) : NULL;

	if (!m)
		return NULL;
	m->type = type;
	m->to = to[0];
	if (m->all)
		memcpy(m->all, to, nto * sizeof(*to));
	if (content && n)
		memcpy(m->content, content, n);
	else
		memset(m->content, 0, n);
	return m;
}

struct neko_msg *neko_msg_new(struct neko_layer *l, uint16_t type, const void *content, size_t n)
{
	uint32_t no_receiver = 0;

	return neko_msg_many(l, &no_receiver, 1, type, content, n);
}

void neko_msg_unref(struct neko_layer *l, struct neko_msg *m)
{
	world_msg_unref(l->process->world, m);
}
