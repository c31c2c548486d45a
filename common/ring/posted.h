/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a process's open sends and receives, written by its threads: no lock, no wait, a
 * bounded search. The thread that puts an entry keeps its reference. It removes the entry only
 * while that reference holds: after the lm began a new list another thread may have the place.
 */
#ifndef COMMON_RING_POSTED_H
#define COMMON_RING_POSTED_H

#include "common/ring/seg.h"

#include <stdbool.h>

struct posted_ref {
	uint64_t state; /* of the entry; 0 = none */
	uint32_t place;
};

/*
 * Copies *e (its state does not matter) into a place without an entry of this epoch. The search
 * begins at `hint`. False: epoch 0, or no place was found. Any thread.
 */
bool posted_put(struct seg_posted *table, uint32_t epoch, uint32_t hint, const struct seg_posted *e,
		struct posted_ref *out);

/* Clears *ref; an empty *ref is fine. */
void posted_take(struct seg_posted *table, struct posted_ref *ref);

#endif
