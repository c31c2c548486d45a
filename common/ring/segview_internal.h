/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of segview.h only. */
#ifndef COMMON_RING_SEGVIEW_INTERNAL_H
#define COMMON_RING_SEGVIEW_INTERNAL_H

#include "common/ring/segview.h"

/* The lm's copy of an installed action, because the segment is not trustworthy. */
struct seg_installed {
	struct seg_action a; /* its op is ACTION_NONE if the entry is free */
	/* owned, by thread: number of its call at that time + 1; NULL: none */
	uint64_t *late;
};

/* The counters that are read at one probe, and how many users each has. */
struct seg_wanted {
	struct seg_reads reads;
	uint32_t refs[SEG_READS];
	uint32_t since[SEG_READS]; /* sequence number of the first record that has the slot */
};

/* State of a thread when a meter began. */
struct seg_metering_start {
	bool is_in_doubt; /* the thread may have been between the two probes */
	uint32_t generation;
	uint64_t figure;
};

struct seg_metering {
	struct seg_read read;
	uint32_t refs;
	unsigned begin, end; /* probes */
	uint32_t epoch;
	struct seg_metering_start *start; /* owned, by thread; NULL while refs is 0 */
};

struct segview {
	uint8_t *base;
	size_t bytes;
	bool mapped; /* segview_open() has mapped it */
	struct seg_header plan; /* computed here; its members w and l are not set */
	unsigned funcs; /* number of functions that both sides know */
	struct seg_installed *installed; /* SEG_ACTIONS entries; NULL before the first action */
	unsigned nlate; /* number of installed actions with `late` */
	/* owned; numbers 0 to nprobe - 1, with the name "" for a missing probe */
	struct seg_probe *probe;
	unsigned nprobe;
	struct seg_wanted *wanted; /* nprobe entries; NULL before the first read */
	uint32_t posted_epoch; /* 0: this lm has begun no list */
	/* SEG_READ_FUNCS entries, a copy of the lists; NULL before the first read */
	uint16_t *read_func;
	struct seg_metering *meter; /* SEG_METERS entries; NULL before the first meter */
	bool has_functions; /* the process can have probes at functions */
	/* the two parts of the probe words */
	uint8_t probe_word[SEG_PROBES], probe_edge[SEG_PROBES];
};

/* segwrite.c */
void segview_actions_free(struct segview *v);

/* segprobe.c */
int segview_probes_copy(struct segview *v);
void segview_probes_reset(struct segview *v);

void segview_probe_edge(struct segview *v, unsigned number, bool is_one);
bool segview_reads_account(struct segview *v); /* returns false without memory */
bool segview_read_fits(const struct segview *v, const struct segview_read *r);
bool segview_same_read(const struct segview *v, const struct seg_read *s,
		       const struct segview_read *r);
int segview_list_place(struct segview *v, const struct segview_read *r, struct seg_read *out);

/*
 * segmeter.c: returns the first list in use for which fn returns true, like each_list() of
 * segprobe.c
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

/* Return pointers into the segment. The caller has checked the index. */
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

/*
 * Returns the times of hooks. segview_reset() does not clear them, so that the start of a
 * measurement survives.
 */
static inline uint64_t *segview_since(const struct segview *v)
{
	return (uint64_t *)(void *)(v->base + v->plan.since_offset);
}

#endif
