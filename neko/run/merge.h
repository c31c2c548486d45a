/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of several processes by time. Events ahead of the slowest process wait until
 * that process has reported.
 */
#ifndef NEKO_RUN_MERGE_H
#define NEKO_RUN_MERGE_H

#include "neko/core/event.h"

#include <stddef.h>
#include <stdint.h>

struct merge;

/*
 * m: number of processes; max: number of waiting events of all processes. Returns NULL without
 * memory.
 */
struct merge *merge_new(uint32_t m, size_t max);
void merge_free(struct merge *g);

/*
 * v->process is the sender; v->what is borrowed until the event is handled; v->bytes is copied.
 * Fails with ERR_INVALID for an event before a completed time of its sender, ERR_LIMIT for too many
 * waiting events, ERR_NOMEM.
 */
int merge_add(struct merge *g, const struct neko_event *v);

/*
 * Marks the events of process id as complete up to this time. Fails with ERR_INVALID if they were
 * complete up to a later time.
 */
int merge_advance(struct merge *g, uint32_t id, nsec_t until);
nsec_t merge_time(const struct merge *g, uint32_t id);

/*
 * Returns the next event by time, at equal times by process. Returns NULL if it is not known yet,
 * or if no event is left. Valid until the next call.
 */
const struct neko_event *merge_next(struct merge *g);

#endif
