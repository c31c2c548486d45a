/* SPDX-License-Identifier: Apache-2.0 */
#include "common/ring/seg.h"

#include "common/ring/action.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static uint64_t clamp(uint64_t n, uint64_t min, uint64_t max)
{
	return n < min ? min : n > max ? max : n;
}

static uint32_t ring_size(uint64_t wanted)
{
	uint32_t size = SEG_RING_MIN_BYTES;

	while (size < wanted && size < SEG_RING_MAX_BYTES)
		size *= 2;
	return size;
}

static void plan_thread(struct seg_header *h)
{
	h->slot_offset = sizeof(struct seg_thread);
	h->cell_offset = h->slot_offset + (uint64_t)h->func_count * sizeof(struct seg_slot);
	h->partner_offset = h->cell_offset + SEG_CELLS * sizeof(struct seg_cell);
	h->metered_offset = h->partner_offset + SEG_PARTNERS * sizeof(struct seg_partner);
	h->site_offset = round_up(h->metered_offset + SEG_METERS * sizeof(struct seg_metered),
				  sizeof(struct seg_slot));
	h->size_offset = h->site_offset + SEG_SITES * sizeof(struct seg_site);
	h->extent_offset = h->size_offset + SEG_SIZES * sizeof(struct seg_size);
	h->ring_offset =
		round_up(h->extent_offset + (uint64_t)h->func_count * sizeof(struct seg_extent),
			 sizeof(struct seg_slot));
	h->thread_bytes = round_up(h->ring_offset + h->ring_bytes, SEG_PAGE_BYTES);
}

/* The place of the table behind another one: any type of a table is aligned there. */
static uint64_t behind(uint64_t offset, uint64_t bytes)
{
	return round_up(offset + bytes, sizeof(uint64_t));
}

void seg_plan(struct seg_header *h, unsigned funcs, unsigned threads, uint64_t ring_bytes)
{
	h->version = SEG_VERSION;
	h->header_bytes = sizeof(*h);
	h->func_count = (uint32_t)clamp(funcs, 1, SEG_HOOKS);
	h->hook_count = SEG_HOOKS;
	h->action_count = SEG_ACTIONS;
	h->list_words = SEG_LIST_WORDS;
	h->cell_count = SEG_CELLS;
	h->partner_count = SEG_PARTNERS;
	h->thread_count = (uint32_t)clamp(threads, 1, SEG_THREADS_MAX);
	h->ring_bytes = ring_size(ring_bytes);
	h->hook_offset = SEG_PAGE_BYTES;
	h->probe_word_offset = behind(h->hook_offset, SEG_PAGE_BYTES);
	h->event_word_offset =
		behind(h->probe_word_offset, (SEG_PROBE_MODULES + 2) * SEG_PAGE_BYTES);
	h->since_offset = behind(h->event_word_offset, SEG_PAGE_BYTES);
	h->head_offset = behind(h->since_offset, SEG_HOOKS * sizeof(uint64_t));
	h->action_offset = behind(h->head_offset, ACTION_HEADS_BYTES);
	h->list_offset = behind(h->action_offset, SEG_ACTIONS * sizeof(struct seg_action));
	h->note_offset = behind(h->list_offset, SEG_LIST_WORDS * sizeof(int32_t));
	h->probe_offset = behind(h->note_offset, SEG_CELLS * sizeof(struct seg_note));
	h->read_offset = behind(h->probe_offset, SEG_PROBES * sizeof(struct seg_probe));
	h->read_func_offset = behind(h->read_offset, SEG_PROBES * sizeof(struct seg_reads));
	h->meter_offset = behind(h->read_func_offset, SEG_READ_FUNCS * sizeof(uint16_t));
	h->edge_offset = behind(h->meter_offset, SEG_METERS * sizeof(struct seg_meter));
	h->event_offset = behind(h->edge_offset, SEG_PROBES * sizeof(struct seg_edges));
	h->event_text_offset = behind(h->event_offset, SEG_EVENTS * sizeof(struct seg_event));
	h->module_offset = behind(h->event_text_offset, SEG_EVENT_TEXT_BYTES);
	h->posted_offset = round_up(h->module_offset + SEG_MODULES * sizeof(struct seg_module),
				    sizeof(struct seg_posted));
	h->mount_offset = h->posted_offset + SEG_POSTED * sizeof(struct seg_posted);
	h->thread_offset =
		round_up(h->mount_offset + SEG_MOUNTS * sizeof(struct seg_mount), SEG_PAGE_BYTES);
	plan_thread(h);
	h->segment_bytes = h->thread_offset + h->thread_bytes * h->thread_count;
}

#define COLLECTIVE_NAME(name) "MPI_" #name,

const char *seg_collective_name(unsigned k)
{
	static const char *const names[COLLECTIVES] = { COLLECTIVES_EACH(COLLECTIVE_NAME) };

	return k < COLLECTIVES ? names[k] : NULL;
}

const char *seg_type_name(unsigned type)
{
	static const char *const names[SEG_TYPES] = { "bool",	"int8",	   "int16",  "int32",
						      "int64",	"uint8",   "uint16", "uint32",
						      "uint64", "float32", "float64" };

	return type < SEG_TYPES ? names[type] : "?";
}

int seg_lm_path(char *out, unsigned long size, const struct seg_lm_name *lm, const char *ext)
{
	int n;

	if (!*lm->host || strchr(lm->host, '/') || strchr(lm->caid, '/'))
		return -1;
	n = snprintf(out, size, "%s/lm-%s-%s%s", lm->runtime, lm->host, lm->caid, ext);
	return n > 0 && (unsigned long)n < size ? 0 : -1;
}

/* Returns the nth field (from 0) between colons; colons inside [] belong to an IPv6 address. */
static const char *conn_field(const char *s, unsigned nth)
{
	bool inside = false;

	for (; *s && nth; s++) {
		inside = *s == '[' || (inside && *s != ']');
		nth -= *s == ':' && !inside;
	}
	return nth ? "" : s;
}

int seg_caid(const char *conn, char *out)
{
	const char *pin = conn && strncmp(conn, "omig1:", 6) == 0 ? conn_field(conn, 3) : "";
	unsigned i;

	for (i = 0; i < SEG_CAID_CHARS; i++) {
		if (!((pin[i] >= 'a' && pin[i] <= 'z') || (pin[i] >= '0' && pin[i] <= '9')))
			break;
		out[i] = pin[i];
	}
	out[i] = 0;
	if (i == SEG_CAID_CHARS)
		return 0;
	memcpy(out, "local", sizeof("local"));
	return -1;
}
