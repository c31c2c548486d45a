/* SPDX-License-Identifier: Apache-2.0 */
/* For segview.c, segread.c and segwrite.c only. */
#ifndef COMMON_RING_SEGVIEW_INTERNAL_H
#define COMMON_RING_SEGVIEW_INTERNAL_H

#include "common/ring/segview.h"

/* The lm's own copy of an installed action, because the segment is not trusted. */
struct seg_installed {
	struct seg_action a; /* op ACTION_NONE: free */
	/* owned: for each thread, the number of its call then, plus 1; NULL: none */
	uint64_t *late;
};

/* A counter that is read at one probe, and the number of its users. */
struct seg_wanted {
	struct seg_reads reads;
	uint32_t refs[SEG_READS];
	uint32_t since[SEG_READS]; /* seq of the first record that has the slot */
};

/* Position of a thread when a meter was begun. */
struct seg_metering_start {
	bool is_in_doubt; /* the thread may have been between two probes */
	uint32_t generation;
	uint64_t figure;
};

struct seg_metering {
	struct seg_read read;
	uint32_t refs;
	unsigned begin, end; /* probes */
	uint32_t epoch;
	struct seg_metering_start *start; /* owned: of each thread; NULL while refs is 0 */
};

struct segview {
	uint8_t *base;
	size_t bytes;
	bool mapped; /* by us */
	struct seg_header plan; /* computed here; its w and l are not filled */
	unsigned funcs; /* known to both sides */
	struct seg_installed *installed; /* SEG_ACTIONS, or NULL before the first */
	unsigned nlate; /* number of installed ones with `late` */
	struct seg_probe *probe; /* owned: numbers 0 to nprobe - 1, "" for a missing one */
	unsigned nprobe;
	struct seg_wanted *wanted; /* nprobe, or NULL before the first */
	uint32_t posted_epoch; /* 0: we have begun no list */
	uint16_t *read_func; /* SEG_READ_FUNCS: what is in the lists, or NULL before the first */
	struct seg_metering *meter; /* SEG_METERS, or NULL before the first */
	bool has_functions; /* the process can have entries and exits of functions */
	uint8_t probe_word[SEG_PROBES], probe_edge[SEG_PROBES]; /* the parts of the probe words */
};

/* segwrite.c */
void segview_actions_free(struct segview *v);

/* segprobe.c */
int segview_probes_copy(struct segview *v);
void segview_probes_reset(struct segview *v);

void segview_probe_edge(struct segview *v, unsigned number, bool is_one);
bool segview_reads_account(struct segview *v); /* false: no memory */
bool segview_read_fits(const struct segview *v, const struct segview_read *r);
bool segview_same_read(const struct segview *v, const struct seg_read *s,
		       const struct segview_read *r);
int segview_list_place(struct segview *v, const struct segview_read *r, struct seg_read *out);

/*
 * segmeter.c: returns the first list in use for which fn returns true, as each_list() of segprobe.c
 */
const struct seg_read *segview_meters_each(const struct segview *v,
					   bool (*fn)(const struct segview *v,
						      const struct seg_read *l, const void *arg),
					   const void *arg);
/* True if a meter begins or ends at the probe. */
bool segview_meters_use(const struct segview *v, unsigned probe);

void segview_meters_reset(struct segview *v);
void segview_meters_free(struct segview *v);

/* segevent.c */
void segview_events_reset(struct segview *v);

/* Makes a checked record. Returns false if it breaks the rules. */
bool segview_hit_make(const struct segview *v, const struct ring_probe *p, struct segview_hit *out);

/* Pointers into the segment. The caller has checked the index. */
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

/* Times of hooks. segview_reset() leaves them, so that the start of a measurement survives. */
static inline uint64_t *segview_since(const struct segview *v)
{
	return (uint64_t *)(void *)(v->base + v->plan.since_offset);
}

#endif
