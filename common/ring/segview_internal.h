/* SPDX-License-Identifier: Apache-2.0 */
/* For segview.c, segread.c and segwrite.c only. */
#ifndef COMMON_RING_SEGVIEW_INTERNAL_H
#define COMMON_RING_SEGVIEW_INTERNAL_H

#include "common/ring/segview.h"

/* The lm's own account of an installed action: what the segment says is not believed. */
struct seg_installed {
	struct seg_action a; /* op ACTION_NONE: free */
};

/* What is read at one probe, and for how many. */
struct seg_wanted {
	struct seg_reads reads;
	uint32_t refs[SEG_READS];
	uint32_t since[SEG_READS]; /* seq of the first record that has the slot */
};

struct segview {
	uint8_t *base;
	size_t bytes;
	bool mapped; /* by us */
	struct seg_header plan; /* computed here; its w and l are not filled */
	unsigned funcs; /* that both sides know */
	struct seg_installed *installed; /* SEG_ACTIONS, or NULL before the first */
	struct seg_probe *probe; /* owned: numbers 0 to nprobe - 1, "" where there is none */
	unsigned nprobe;
	struct seg_wanted *wanted; /* nprobe, or NULL before the first */
	uint32_t posted_epoch; /* 0: we have begun no list */
	uint16_t *read_func; /* SEG_READ_FUNCS: what is in the lists, or NULL before the first */
};

/* segprobe.c */
int segview_probes_copy(struct segview *v);
void segview_probes_reset(struct segview *v);

/* segevent.c */
void segview_events_reset(struct segview *v);

/* A checked record, or false: it breaks the rules. */
bool segview_hit_make(const struct segview *v, const struct ring_probe *p, struct segview_hit *out);

/* Pointers that are inside of the segment for every index that was checked by the caller. */
static inline struct seg_header *segview_header(const struct segview *v)
{
	return (struct seg_header *)(void *)v->base;
}

static inline uint8_t *segview_block(const struct segview *v, unsigned thread)
{
	return v->base + v->plan.thread_offset + thread * v->plan.thread_bytes;
}

static inline struct seg_thread *segview_thread_head(const struct segview *v, unsigned thread)
{
	return (struct seg_thread *)(void *)segview_block(v, thread);
}

static inline uint32_t *segview_hooks(const struct segview *v)
{
	return (uint32_t *)(void *)(v->base + v->plan.hook_offset);
}

#endif
