/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of a process's open sends and receives. Its threads write it without locks or waiting,
 * with a bounded search. The thread that puts an entry stores the reference. It removes the entry
 * only while the reference is valid. After the lm starts a new list, another thread may own the
 * slot.
 */
#ifndef COMMON_RING_POSTED_H
#define COMMON_RING_POSTED_H

#include "common/ring/seg.h"

#include <stdbool.h>

struct posted_ref {
	uint64_t state; /* state of the entry; 0 = none */
	uint32_t place;
};

/*
 * Copies *e, whose state is ignored, into a slot without an entry of this epoch. The search begins
 * at `hint`. Returns false if epoch is 0, or if no slot was found. Any thread.
 */
bool posted_put(struct seg_posted *table, uint32_t epoch, uint32_t hint, const struct seg_posted *e,
		struct posted_ref *out);

/* Removes the entry and clears *ref, which may be empty. */
void posted_take(struct seg_posted *table, struct posted_ref *ref);

#endif
