/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/hooks.h"

#include <stdlib.h>

struct wish {
	struct list link;
	uint64_t owner;
	int func;
	uint32_t bits;
	unsigned shift;
};

static unsigned shift_of(uint32_t word)
{
	return (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;
}

/* Both get what they asked for: all bits, and the finer sampling of those that measure time. */
static uint32_t join(uint32_t a, uint32_t b)
{
	unsigned shift;

	if (!(a & HOOK_TIME))
		shift = shift_of(b);
	else if (!(b & HOOK_TIME))
		shift = shift_of(a);
	else
		shift = shift_of(a) < shift_of(b) ? shift_of(a) : shift_of(b);
	return ((a | b) & ~(uint32_t)HOOK_SAMPLE_MASK) | (uint32_t)shift << HOOK_SAMPLE_SHIFT;
}

uint32_t hooks_found(const struct segview *v)
{
	uint32_t all = 0, word;

	for (unsigned i = 0; i < segview_funcs(v); i++) {
		word = segview_hook_get(v, i) & HOOK_KNOWN;
		if (shift_of(word) <= HOOK_SAMPLE_MAX && word & HOOKS_MEASURE)
			all = join(all, word & (HOOKS_MEASURE | HOOK_SAMPLE_MASK));
	}
	return all;
}

int hooks_wish(struct proc *p, uint64_t owner, int func, uint32_t bits, unsigned shift)
{
	struct wish *w = NULL;

	list_each (i, &p->hooks.wishes) {
		struct wish *had = list_entry(i, struct wish, link);

		if (had->owner == owner && had->func == func)
			w = had;
	}
	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return -ERR_NOMEM;
		list_push_back(&p->hooks.wishes, &w->link);
	}
	w->owner = owner;
	w->func = func;
	w->bits = bits;
	w->shift = bits & HOOK_TIME ? shift : 0;
	return 0;
}

bool hooks_unwish(struct proc *p, uint64_t owner)
{
	bool had = false;

	list_each_safe (i, &p->hooks.wishes) {
		struct wish *w = list_entry(i, struct wish, link);

		if (w->owner != owner)
			continue;
		list_del(&w->link);
		free(w);
		had = true;
	}
	return had;
}

void hooks_clear(struct proc *p)
{
	list_each_safe (i, &p->hooks.wishes) {
		struct wish *w = list_entry(i, struct wish, link);

		list_del(&w->link);
		free(w);
	}
	p->hooks.kept = 0;
}

static uint32_t word_of(const struct proc *p, int func)
{
	uint32_t word = join(p->hooks.start, p->hooks.kept);

	list_each (i, &p->hooks.wishes) {
		const struct wish *w = list_entry(i, struct wish, link);

		if (w->func == HOOKS_ALL || w->func == func)
			word = join(word, w->bits | (uint32_t)w->shift << HOOK_SAMPLE_SHIFT);
	}
	return word;
}

void hooks_apply(struct proc *p, int func)
{
	unsigned n = p->seg ? segview_funcs(p->seg) : 0;
	uint64_t now = n ? ticks_now(p->own.tick_source) : 0;

	for (unsigned i = 0; i < n; i++)
		if (func == HOOKS_ALL || (unsigned)func == i)
			segview_hook_set(p->seg, i, word_of(p, (int)i), now);
}

bool hooks_has(const struct proc *p, uint32_t bits)
{
	if ((p->hooks.start | p->hooks.kept) & bits)
		return true;
	list_each (i, &p->hooks.wishes)
		if (list_entry(i, struct wish, link)->bits & bits)
			return true;
	return false;
}
