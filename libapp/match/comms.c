/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/match/comms.h"

#include "common/base/hash.h"

/* steps of one search, which does not end at a free entry, because entries are removed */
#define STEPS 16

static struct match_comm *find(struct match_comms *t, uintptr_t handle, uintptr_t key)
{
	uint64_t at = hash_mix64(handle);

	for (unsigned i = 0; i < STEPS; i++) {
		struct match_comm *c = &t->comm[(at + i) % MATCH_COMMS];

		if (__atomic_load_n(&c->handle, __ATOMIC_ACQUIRE) == key)
			return c;
	}
	return NULL;
}

struct match_comm *match_comm_find(struct match_comms *t, uintptr_t handle)
{
	return handle ? find(t, handle, handle) : NULL;
}

bool match_comm_put(struct match_comms *t, uintptr_t handle, uint64_t id)
{
	struct match_comm *c = match_comm_find(t, handle);

	if (!c && handle)
		c = find(t, handle, 0);
	if (!c)
		return false;
	c->id = id;
	c->made = c->met = 0;
	__atomic_store_n(&c->handle, handle, __ATOMIC_RELEASE);
	return true;
}

void match_comm_drop(struct match_comms *t, uintptr_t handle)
{
	struct match_comm *c = match_comm_find(t, handle);

	if (c)
		__atomic_store_n(&c->handle, 0, __ATOMIC_RELEASE);
}
