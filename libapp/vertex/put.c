/* SPDX-License-Identifier: Apache-2.0 */
/* Hot: the rules of libapp/hot/hook.h. */
#include "libapp/vertex/vertex.h"

#include "libapp/hot/args.h"

int vertex_number[VERTEX_KINDS];
static int missed;

void vertex_miss(void)
{
	__atomic_store_n(&missed, 1, __ATOMIC_RELAXED);
}

/* A thread without a block makes calls that nothing sees. */
static bool has_missed(void)
{
	return __atomic_load_n(&missed, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&app_header()->w.threads_lost, __ATOMIC_RELAXED);
}

static uint32_t word_of(enum vertex v)
{
	const uint32_t *word = (const void *)(app_state.base + app_state.plan.event_word_offset);

	return vertex_number[v] < 0 ? 0
				    : __atomic_load_n(&word[vertex_number[v]], __ATOMIC_RELAXED);
}

void vertex_lose(enum vertex v)
{
	struct seg_event *e = (void *)(app_state.base + app_state.plan.event_offset);

	if (word_of(v))
		__atomic_fetch_add(&e[vertex_number[v]].lost, 1, __ATOMIC_RELAXED);
}

bool vertex_put(enum vertex v, const struct vertex_values *values)
{
	const struct ring ring = event_ring(hook_thread.block);
	uint32_t bytes = v == VERTEX_WAIT ? 16 : 32, word = word_of(v);
	uint64_t at, *to;

	if (!word)
		return false;
	if (word == EVENT_REFUSE || !values->ticks || (v != VERTEX_WAIT && !values->task)) {
		vertex_lose(v);
		return false;
	}
	to = ring_reserve(&ring, bytes, &at);
	if (!to) {
		vertex_lose(v);
		return false;
	}
	__atomic_store_n(&to[0], RING_EVENT_WORD(bytes, vertex_number[v], 0), __ATOMIC_RELAXED);
	__atomic_store_n(&to[1], values->ticks, __ATOMIC_RELAXED);
	if (bytes > 16) {
		uint64_t doubt = v == VERTEX_MEET ? VERTEX_UNCERTAIN : 1;
		uint64_t last = (uint32_t)values->last | (has_missed() ? doubt : 0);

		__atomic_store_n(&to[2], values->task, __ATOMIC_RELAXED);
		__atomic_store_n(&to[3], (uint32_t)values->partner | last << 32, __ATOMIC_RELAXED);
	}
	ring_commit(&ring, at, bytes);
	return true;
}

uint64_t vertex_time(enum vertex a, enum vertex b)
{
	return word_of(a) || word_of(b) ? ticks_now(app_state.ticks) : 0;
}
