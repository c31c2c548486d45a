/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the types of events that a process has announced, for the lm. */
#include "common/ring/segview_internal.h"

#include <string.h>

static const struct seg_event *event_at(const struct segview *v, unsigned number)
{
	return (const struct seg_event *)(const void *)(v->base + v->plan.event_offset) + number;
}

unsigned segview_event_count(const struct segview *v)
{
	uint32_t n = __atomic_load_n(&segview_header(v)->w.events_used, __ATOMIC_ACQUIRE);

	return n < SEG_EVENTS ? n : SEG_EVENTS;
}

size_t segview_event_definition(const struct segview *v, unsigned number, uint8_t *out, size_t size)
{
	const uint8_t *text = v->base + v->plan.event_text_offset;
	uint32_t offset, bytes;

	if (number >= segview_event_count(v))
		return 0;
	offset = __atomic_load_n(&event_at(v, number)->offset, __ATOMIC_RELAXED);
	bytes = __atomic_load_n(&event_at(v, number)->bytes, __ATOMIC_RELAXED);
	if (offset > SEG_EVENT_TEXT_BYTES || bytes > SEG_EVENT_TEXT_BYTES - offset || bytes > size)
		return 0;
	for (uint32_t i = 0; i < bytes; i++)
		out[i] = __atomic_load_n(&text[offset + i], __ATOMIC_RELAXED);
	return bytes;
}

uint64_t segview_event_lost(const struct segview *v, unsigned number)
{
	return number < SEG_EVENTS ? __atomic_load_n(&event_at(v, number)->lost, __ATOMIC_RELAXED)
				   : 0;
}

static uint32_t *word_at(const struct segview *v, unsigned number)
{
	return (uint32_t *)(void *)(v->base + v->plan.event_word_offset) + number;
}

int segview_event_set(struct segview *v, unsigned number, uint32_t word)
{
	if (number >= SEG_EVENTS || (word & ~(uint32_t)EVENT_KNOWN))
		return -ERR_INVALID;
	__atomic_store_n(word_at(v, number), word, __ATOMIC_RELEASE);
	return 0;
}

uint32_t segview_event_get(const struct segview *v, unsigned number)
{
	return number < SEG_EVENTS ? __atomic_load_n(word_at(v, number), __ATOMIC_RELAXED) : 0;
}

uint32_t *segview_event_bell(struct segview *v)
{
	return &segview_header(v)->l.event_bell;
}

void segview_events_reset(struct segview *v)
{
	for (unsigned i = 0; i < SEG_EVENTS; i++)
		__atomic_store_n(word_at(v, i), 0, __ATOMIC_RELEASE);
}
