/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEKO_SIMULATED_MEDIUM_INTERNAL_H
#define NEKO_SIMULATED_MEDIUM_INTERNAL_H

#include "common/container/list.h"
#include "neko/simulated/medium.h"

struct frame {
	struct list link;
	nsec_t took; /* time on the line */
	size_t bytes;
	void *what;
};

struct station {
	struct list queue; /* owned; frames */
	uint64_t queued_bytes;
	nsec_t ready_at; /* CSMA: time of the next attempt */
	unsigned attempts; /* CSMA: collisions of the first frame */
	bool is_resolving; /* CSMA-DCR: the station takes part in the search */
	nsec_t expiry; /* FDDI: expiry of the station's rotation timer */
};

/* CSMA: state of the line. */
enum csma_state { CSMA_FREE, CSMA_STARTS, CSMA_SENDS, CSMA_COLLIDES, CSMA_SEARCHES };

struct range {
	uint32_t first, n;
};
/* a tree of 4096 leaves has 13 levels, and on each one the right half may wait */
#define RANGES_MAX 16

struct medium {
	struct medium_conf conf;
	struct rng rng;
	struct station *station; /* owned; station number i is at i - 1 */
	uint32_t n;
	uint64_t nqueued; /* queued frames of all stations */
	nsec_t next;
	struct medium_counts counts;

	enum csma_state state;
	nsec_t started_at, free_at;
	uint32_t sender; /* index of the sending station */
	struct range range[RANGES_MAX]; /* CSMA-DCR: ranges to search, the last one first */
	unsigned nrange;
	bool is_search; /* CSMA-DCR: a search is active */
	uint64_t epoch_slots;

	uint32_t holder; /* FDDI: index of the holder of the token, or of the next one at `token_at`
			  */
	nsec_t token_at, hold_until, sync_left, seen_at;
	bool is_holding, is_parked;
};

static inline struct frame *medium_first(const struct station *s)
{
	return list_is_empty(&s->queue) ? NULL : list_entry(s->queue.next, struct frame, link);
}

/* Removes the first frame of a station and describes it in out. */
void medium_take(struct medium *m, uint32_t index, bool is_given_up, struct medium_frame *out);

void csma_wake(struct medium *m, nsec_t now, uint32_t index);
bool csma_step(struct medium *m, struct medium_frame *out);

void fddi_start(struct medium *m);
void fddi_wake(struct medium *m, nsec_t now, uint32_t index);
bool fddi_step(struct medium *m, struct medium_frame *out);

#endif
