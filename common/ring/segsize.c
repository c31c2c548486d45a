/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by the class of their size. */
#include "common/ring/segview_internal.h"

static uint64_t load(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* False: it is free, or is invalid. */
static bool read_size(const struct segview *v, const struct seg_size *from, struct segview_size *to)
{
	uint64_t key = __atomic_load_n(&from->key, __ATOMIC_ACQUIRE);

	to->func = (unsigned)(key >> 32) - 1;
	to->class = (unsigned)(uint32_t)key;
	if (!key || to->func >= v->funcs || to->class >= SEG_SIZE_CLASSES)
		return false;
	to->count = load(&from->count);
	to->bytes = load(&from->bytes);
	to->delay = load(&from->delay);
	return true;
}

int segview_sizes(const struct segview *v, unsigned thread,
		  void (*fn)(void *arg, const struct segview_size *s), void *arg)
{
	const struct seg_size *table;
	struct segview_size s;
	int n = 0;

	if (thread >= v->plan.thread_count)
		return -ERR_INVALID;
	table = (const void *)(segview_block(v, thread) + v->plan.size_offset);
	for (unsigned i = 0; i < SEG_SIZES; i++) {
		if (!read_size(v, &table[i], &s))
			continue;
		fn(arg, &s);
		n++;
	}
	return n;
}
