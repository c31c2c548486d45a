/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of hook.h. */
#include "libapp/hot/site.h"

#include <errno.h>

#define PROBES 16 /* steps of one search, also for a size */
#define STACK_TRIES 8 /* tries to find the stack, which may have grown or been replaced */

struct site_text site_text[SEG_MODULES];
unsigned site_ntext;

static _Thread_local struct {
	uintptr_t low, end; /* end 0: not known */
	unsigned tries;
} stack __attribute__((tls_model("initial-exec")));

static bool is_code(uintptr_t a)
{
	unsigned from = 0, to = site_ntext;

	while (from < to) {
		unsigned mid = (from + to) / 2;

		if (a < site_text[mid].start)
			to = mid;
		else if (a >= site_text[mid].end)
			from = mid + 1;
		else
			return true;
	}
	return false;
}

static bool knows_stack(uintptr_t sp)
{
	int saved = errno;

	if (sp >= stack.low && sp < stack.end)
		return true;
	if (stack.tries == STACK_TRIES)
		return false;
	stack.tries++;
	if (!site_stack(sp, &stack.low, &stack.end))
		stack.low = stack.end = 0;
	errno = saved;
	return stack.end != 0;
}

/*
 * Walks the frames. A frame begins with the address of the caller's frame and the return address.
 */
static unsigned walk(uint64_t *pc, unsigned depth)
{
	uintptr_t at = hook_thread.caller_frame, above = hook_frame();
	unsigned n = 1;

	if (!knows_stack(above))
		return n;
	while (n < depth && at > above && at <= stack.end - 2 * sizeof(uintptr_t) &&
	       !(at & (sizeof(uintptr_t) - 1))) {
		const uintptr_t *frame = (const uintptr_t *)at;

		if (!is_code(frame[1]))
			break;
		if (frame[1] != pc[0]) /* a wrapper with its own frame precedes it */
			pc[n++] = frame[1];
		above = at;
		at = frame[0];
	}
	return n;
}

static uint64_t key_of(uint32_t func, const uint64_t *pc, unsigned n)
{
	uint64_t h = func + 1;

	for (unsigned i = 0; i < n; i++) {
		h = (h ^ pc[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h ? h : 1;
}

static struct seg_site *fill(struct seg_site *s, uint32_t func, const uint64_t *pc, unsigned n,
			     uint64_t key)
{
	s->func = func;
	s->depth = n;
	for (unsigned i = 0; i < n; i++)
		s->pc[i] = pc[i];
	__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
	return s;
}

struct seg_site *site_find(uint32_t func)
{
	struct seg_site *table =
		(void *)((uint8_t *)hook_thread.block + app_state.plan.site_offset);
	uint32_t depth = __atomic_load_n(&app_header()->l.site_depth, __ATOMIC_RELAXED);
	struct seg_thread *block = hook_thread.block;
	uint64_t pc[SEG_SITE_DEPTH] = { hook_thread.caller }, key;
	unsigned n = 1;

	if (depth > 1 && depth <= SEG_SITE_DEPTH)
		n = walk(pc, depth);
	key = key_of(func, pc, n);
	for (unsigned i = 0; i < PROBES; i++) {
		struct seg_site *s = &table[((key >> 32) + i) % SEG_SITES];

		if (s->key == key)
			return s;
		if (!s->key)
			return fill(s, func, pc, n, key);
	}
	__atomic_store_n(&block->site_lost, block->site_lost + 1, __ATOMIC_RELAXED);
	return NULL;
}

static void add(uint64_t *to, uint64_t n)
{
	__atomic_store_n(to, *to + n, __ATOMIC_RELAXED);
}

void site_add(struct seg_site *s, const struct site_call *c)
{
	add(&s->count, 1);
	add(&s->delay, c->span);
	if (c->one > s->longest)
		__atomic_store_n(&s->longest, c->one, __ATOMIC_RELAXED);
	if (c->out)
		add(&s->bytes_out, (uint64_t)c->out);
	if (c->in)
		add(&s->bytes_in, (uint64_t)c->in);
}

/* --- classes of sizes */

static struct seg_size *size_find(uint64_t key)
{
	struct seg_size *table =
		(void *)((uint8_t *)hook_thread.block + app_state.plan.size_offset);
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (unsigned i = 0; i < PROBES; i++) {
		struct seg_size *s = &table[(at + i) % SEG_SIZES];

		if (s->key == key)
			return s;
		if (!s->key) {
			__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
			return s;
		}
	}
	return NULL;
}

void size_add(uint32_t func, int64_t out, int64_t in, uint64_t span)
{
	uint64_t bytes = (uint64_t)(out > in ? out : in);
	struct seg_size *s = size_find((uint64_t)(func + 1) << 32 | seg_size_class(bytes));

	if (!s) {
		add(&hook_thread.block->size_lost, 1);
		return;
	}
	add(&s->count, 1);
	add(&s->bytes, bytes);
	add(&s->delay, span);
}
