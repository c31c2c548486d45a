/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the program, from the library that it writes them with: announced in the segment, put
 * into the thread's ring. */
#include "libapp/setup/events.h"

#include "libapp/hot/args.h"
#include "libapp/setup/setup.h"

#include <string.h>

static const struct event_side *joined;
static uint32_t text_used;

static struct seg_event *event_at(unsigned number)
{
	return (struct seg_event *)(void *)(app_state.base + app_state.plan.event_offset) + number;
}

static void lose(unsigned number)
{
	__atomic_fetch_add(&event_at(number)->lost, 1, __ATOMIC_RELAXED);
}

int events_announce(const void *definition, size_t n)
{
	struct seg_own *own = &app_header()->w;
	unsigned number = own->events_used;

	if (number >= SEG_EVENTS || n > SEG_EVENT_TEXT_BYTES - text_used) {
		own->event_types_lost++;
		return -1;
	}
	memcpy(app_state.base + app_state.plan.event_text_offset + text_used, definition, n);
	event_at(number)->offset = text_used;
	event_at(number)->bytes = (uint32_t)n;
	text_used += (uint32_t)n;
	__atomic_store_n(&own->events_used, number + 1, __ATOMIC_RELEASE);
	return (int)number;
}

/* --- hot: the rules of hook.h */

/* of a record: its type and its length, which the ring stores in another form */
#define HEAD_BYTES 4

static bool put_record(const struct hook_thread *t, unsigned number, const uint8_t *record,
		       size_t n)
{
	struct ring ring = event_ring(t->block);
	uint64_t r[RING_EVENT_MAX_BYTES / 8];
	uint32_t bytes = (uint32_t)(sizeof(uint64_t) + n - HEAD_BYTES), padded = (bytes + 7) & ~7u;

	r[padded / 8 - 1] = 0;
	memcpy(r + 1, record + HEAD_BYTES, n - HEAD_BYTES);
	r[0] = RING_EVENT_WORD(padded, number, padded - bytes);
	return ring_put(&ring, r, padded);
}

/* True: the subscriber has no room for this type, and only counts its events. */
static bool is_refused(unsigned number)
{
	const uint32_t *word =
		(const uint32_t *)(const void *)(app_state.base + app_state.plan.event_word_offset);

	return __atomic_load_n(&word[number], __ATOMIC_RELAXED) == EVENT_REFUSE;
}

static inline bool is_fit(size_t n)
{
	return n >= HEAD_BYTES + sizeof(uint64_t) && n <= RING_EVENT_MAX_BYTES - sizeof(uint64_t);
}

/* As probe_hit(): not inside a call, or while a record is being written. False: no room. */
static inline bool put_now(unsigned number, const void *record, size_t n)
{
	struct hook_thread *t = &hook_thread;
	uintptr_t frame = hook_frame();
	bool is_put;

	if (is_refused(number) || !hook_is_free(t, frame, true))
		return false;
	hook_set_record(t->now, frame);
	is_put = put_record(t, number, record, n);
	hook_set_frame(t->now, 0);
	return is_put;
}

static void put(unsigned number, const void *record, size_t n)
{
	if (number >= SEG_EVENTS || !app_state.base)
		return;
	if (!is_fit(n) || !put_now(number, record, n))
		lose(number);
}

__attribute__((visibility("default"))) bool omig_app_event_try(unsigned number, const void *record,
							       size_t n)
{
	if (number >= SEG_EVENTS || !app_state.base)
		return true;
	if (is_fit(n))
		return put_now(number, record, n);
	lose(number);
	return true;
}

/* --- the segment and the library may become ready in either order */

static void make_ready(const struct event_side *side, bool is_rank)
{
	static struct event_link link;

	link = (struct event_link){ .announce = events_announce,
				    .word = (const void *)(app_state.base +
							   app_state.plan.event_word_offset),
				    .bell = &app_header()->l.event_bell,
				    .put = put,
				    .follows_fork = !is_rank };
	side->on_ready(&link);
}

void events_forget(void)
{
	joined = NULL;
	text_used = 0;
}

void events_ready(bool is_rank)
{
	const struct event_side *side = __atomic_load_n(&joined, __ATOMIC_SEQ_CST);

	if (side)
		make_ready(side, is_rank);
}

__attribute__((visibility("default"))) int omig_app_events_join(const struct event_side *side)
{
	const struct event_side *none = NULL;
	int life;

	if (side->version != EVENT_LINK_VERSION ||
	    !__atomic_compare_exchange_n(&joined, &none, side, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return -1;
	setup_without_mpi();
	life = __atomic_load_n(&app_state.life, __ATOMIC_ACQUIRE);
	if (life == APP_WITHOUT_MPI || life == APP_RANK)
		make_ready(side, life == APP_RANK);
	return 0;
}

/* --- the library that counts reads and writes (common/ring/segmount.h) */

static const struct mount_side *mounts_joined;

/* Marks the last row, which shows that mounts are counted: sums of 0 are then real. */
static struct seg_mount *mount_table(void)
{
	uint8_t *at = app_state.base + app_state.plan.mount_offset;
	struct seg_mount *t = (struct seg_mount *)(void *)at;

	__atomic_store_n(&t[SEG_MOUNTS - 1].key, SEG_MOUNT_OTHER, __ATOMIC_RELEASE);
	return t;
}

void mounts_forget(void)
{
	mounts_joined = NULL;
}

/* Called when the segment exists: segment and library may become ready in either order. */
void mounts_ready(void)
{
	const struct mount_side *side = __atomic_load_n(&mounts_joined, __ATOMIC_SEQ_CST);

	if (side)
		side->on_ready(mount_table());
}

__attribute__((visibility("default"))) int omig_app_mounts_join(const struct mount_side *side)
{
	const struct mount_side *none = NULL;
	int life;

	if (side->version != MOUNT_LINK_VERSION ||
	    !__atomic_compare_exchange_n(&mounts_joined, &none, side, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return -1;
	setup_without_mpi();
	life = __atomic_load_n(&app_state.life, __ATOMIC_ACQUIRE);
	if (life == APP_WITHOUT_MPI || life == APP_RANK)
		side->on_ready(mount_table());
	return 0;
}
