/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of several processes in the order of their times, as far as all of them have told what was
 * until then. What is ahead of the slowest one waits.
 */
#ifndef NEKO_RUN_MERGE_H
#define NEKO_RUN_MERGE_H

#include "neko/core/event.h"

#include <stddef.h>
#include <stdint.h>

struct merge;

/* Of m processes, of all of which at most `max` events wait. NULL: no memory. */
struct merge *merge_new(uint32_t m, size_t max);
void merge_free(struct merge *g);

/*
 * v->process is who tells it; v->what is borrowed until it was heard. -ERR_INVALID: it is before
 * what that one has told; -ERR_LIMIT: too many wait; -ERR_NOMEM.
 */
int merge_add(struct merge *g, const struct neko_event *v);

/* Process id tells nothing any more that was before. -ERR_INVALID: it has told more already. */
int merge_advance(struct merge *g, uint32_t id, nsec_t until);
nsec_t merge_time(const struct merge *g, uint32_t id);

/* The next one in the order of times, equal ones by process; NULL: not known yet, or nothing is
 * left. Valid until the next call. */
const struct neko_event *merge_next(struct merge *g);

#endif
