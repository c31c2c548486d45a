/* SPDX-License-Identifier: Apache-2.0 */
#include "lm/proc/hooks.h"

#include <stdlib.h>

struct interest {
	struct list link;
	uint64_t owner;
	int func;
	uint32_t bits;
	uint32_t kept; /* those of `bits` that an earlier lm had switched on */
	unsigned shift;
	unsigned depth; /* depth of call sites; 0: any depth */
};

static unsigned shift_of(uint32_t word)
{
	return (word & HOOK_SAMPLE_MASK) >> HOOK_SAMPLE_SHIFT;
}

/* Both get what they requested: all bits, and the finer sampling of those that measure time. */
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

/* Returns the measuring bits of a word; 0: none, or it is invalid. */
static uint32_t measuring(uint32_t word)
{
	return shift_of(word) <= HOOK_SAMPLE_MAX && word & HOOKS_MEASURE
		       ? word & (HOOKS_MEASURE | HOOK_SAMPLE_MASK)
		       : 0;
}

static uint32_t all_words(const struct segview *v)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < segview_funcs(v); i++)
		all = join(all, measuring(segview_hook_get(v, i)));
	return all;
}

void hooks_found(const struct segview *v, struct segview_interests *out)
{
	uint32_t found = all_words(v), may_be = found | HOOK_SAMPLE_MASK,
		 more = found & HOOKS_MEASURE;
	struct segview_interests noted;

	*out = (struct segview_interests){ .rest = found };
	if (!segview_interests_get(v, &noted))
		return;
	out->rest = measuring(noted.rest & may_be);
	more &= ~out->rest;
	for (unsigned i = 0; i < SEG_INTERESTS; i++) {
		out->tool[i] = (struct seg_interest){ noted.tool[i].tool,
						      measuring(noted.tool[i].word & may_be) };
		more &= ~out->tool[i].word;
	}
	if (more) /* active, but not noted */
		out->rest = join(out->rest, more | (found & HOOK_SAMPLE_MASK));
}

static struct interest *find(const struct proc *p, uint64_t owner, int func)
{
	list_each (i, &p->hooks.interests) {
		struct interest *w = list_entry(i, struct interest, link);

		if (w->owner == owner && w->func == func)
			return w;
	}
	return NULL;
}

int hooks_add_interest(struct proc *p, uint64_t owner, int func, uint32_t bits, unsigned shift)
{
	struct interest *w = find(p, owner, func);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return -ERR_NOMEM;
		list_push_back(&p->hooks.interests, &w->link);
	}
	w->owner = owner;
	w->func = func;
	w->bits = bits;
	w->kept &= bits;
	w->shift = bits & HOOK_TIME ? shift : 0;
	return 0;
}

void hooks_set_depth(struct proc *p, uint64_t owner, unsigned depth)
{
	struct interest *w = find(p, owner, HOOKS_ALL);

	if (w)
		w->depth = depth;
}

/* Requests of the tool to this lm have precedence over those to an earlier one. */
static void take_over_one(struct proc *p, const struct seg_interest *left)
{
	uint64_t owner = HOOKS_TOOL(left->tool);
	uint32_t bits = left->word & HOOKS_MEASURE;

	if (!bits || find(p, owner, HOOKS_ALL))
		return;
	if (hooks_add_interest(p, owner, HOOKS_ALL, bits, shift_of(left->word)))
		p->hooks.kept = join(p->hooks.kept, left->word);
	else
		find(p, owner, HOOKS_ALL)->kept = bits;
}

void hooks_take_over(struct proc *p, const struct segview_interests *left)
{
	p->hooks.kept = left->rest;
	for (unsigned i = 0; i < SEG_INTERESTS; i++)
		take_over_one(p, &left->tool[i]);
}

uint32_t hooks_kept(const struct proc *p)
{
	uint32_t all = p->hooks.kept & HOOKS_MEASURE;

	list_each (i, &p->hooks.interests)
		all |= list_entry(i, struct interest, link)->kept;
	return all;
}

bool hooks_drop_interests(struct proc *p, uint64_t owner)
{
	bool had = false;

	list_each_safe (i, &p->hooks.interests) {
		struct interest *w = list_entry(i, struct interest, link);

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
	list_each_safe (i, &p->hooks.interests) {
		struct interest *w = list_entry(i, struct interest, link);

		list_del(&w->link);
		free(w);
	}
	p->hooks.kept = 0;
}

static uint32_t word_of(const struct proc *p, int func)
{
	uint32_t word = join(p->hooks.start, p->hooks.kept);

	list_each (i, &p->hooks.interests) {
		const struct interest *w = list_entry(i, struct interest, link);

		if (w->func == HOOKS_ALL || w->func == func)
			word = join(word, w->bits | (uint32_t)w->shift << HOOK_SAMPLE_SHIFT);
	}
	return word;
}

/*
 * Writes a tool into the notes. Without room there, a tool that counts all calls becomes one of
 * the rest.
 */
static void note_one(struct segview_interests *to, unsigned *n, const struct interest *w)
{
	uint32_t word = measuring(w->bits | (uint32_t)w->shift << HOOK_SAMPLE_SHIFT);
	bool is_tool = w->func == HOOKS_ALL && w->owner == HOOKS_TOOL(w->owner >> 2);

	if (!word)
		return;
	if (is_tool && *n < SEG_INTERESTS)
		to->tool[(*n)++] = (struct seg_interest){ (uint32_t)(w->owner >> 2), word };
	else
		to->rest = join(to->rest, word);
}

static void note_for_the_next(struct proc *p)
{
	struct segview_interests all = { .rest = p->hooks.kept };
	unsigned n = 0;

	list_each (i, &p->hooks.interests)
		note_one(&all, &n, list_entry(i, struct interest, link));
	segview_interests_set(p->seg, &all);
}

/* Without an interest in it the depth remains: an earlier lm may have set it. */
static void apply_depth(struct proc *p)
{
	unsigned depth = 0;

	list_each (i, &p->hooks.interests) {
		const struct interest *w = list_entry(i, struct interest, link);

		if (w->bits & HOOK_SITE && w->depth > depth)
			depth = w->depth;
	}
	if (depth)
		segview_site_depth_set(p->seg, depth);
}

/* Writes the notes first, so that the next lm knows the tool of everything that is on. */
void hooks_apply(struct proc *p, int func)
{
	unsigned n = p->seg ? segview_funcs(p->seg) : 0;
	uint64_t now = n ? ticks_now(p->own.tick_source) : 0;

	if (p->seg) {
		note_for_the_next(p);
		apply_depth(p);
	}
	for (unsigned i = 0; i < n; i++)
		if (func == HOOKS_ALL || (unsigned)func == i)
			segview_hook_set(p->seg, i, word_of(p, (int)i), now);
	if (n)
		segview_timed_set(p->seg, word_of(p, HOOKS_ALL) & HOOK_TIME, now);
}

bool hooks_has(const struct proc *p, uint32_t bits)
{
	if ((p->hooks.start | p->hooks.kept) & bits)
		return true;
	list_each (i, &p->hooks.interests)
		if (list_entry(i, struct interest, link)->bits & bits)
			return true;
	return false;
}
