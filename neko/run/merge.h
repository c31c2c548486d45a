/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the events of several processes by time, as far as all of them are complete. Events ahead
 * of the slowest process wait.
 */
#ifndef NEKO_RUN_MERGE_H
#define NEKO_RUN_MERGE_H

#include "neko/core/event.h"

#include <stddef.h>
#include <stdint.h>

struct merge;

/* For m processes; at most `max` events wait, of all processes together. NULL: no memory. */
struct merge *merge_new(uint32_t m, size_t max);
void merge_free(struct merge *g);

/*
 * v->process is the sender; v->what is borrowed until the event is handled; v->bytes is
 * copied. -ERR_INVALID: the event
 * is before a time that the sender has completed; -ERR_LIMIT: too many events wait; -ERR_NOMEM.
 */
int merge_add(struct merge *g, const struct neko_event *v);

/*
 * The events of process id are complete up to this time. -ERR_INVALID: they were complete to a
 * later one.
 */
int merge_advance(struct merge *g, uint32_t id, nsec_t until);
nsec_t merge_time(const struct merge *g, uint32_t id);

/*
 * Returns the next event by time, at equal times by process. NULL: not known yet, or no event is
 * left. Valid until the next call.
 */
const struct neko_event *merge_next(struct merge *g);

#endif
