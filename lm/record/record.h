/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that wait for what threads write (thread_writes_events). Events of the
 * program, of its library calls and of its probes become blocks of an event log. There is a stream
 * for each thread, and each block is one firing. Loss is counted in the blocks.
 */
#ifndef LM_RECORD_RECORD_H
#define LM_RECORD_RECORD_H

#include "eventlog/evwhere.h"
#include "lm/csr/csr_internal.h"

/* a reply takes some dozen; what is around them is a hundredth */
#define EVENTS_BLOCK_BYTES (16 * 1024)
/* what waits on disk: what is around them is less, and so is the work */
#define EVENTS_KEPT_BYTES (64 * 1024)
#define EVENTS_CUT_NS (100 * NSEC_PER_MSEC) /* so long a block is filled: people look at them */

/* Whether it asks for events of that name; and of these, with which values. */
bool record_names(const struct csr *c, const char *name);
const struct evwhere *record_where(const struct csr *c);

/* What takes the blocks, on disk; NULL: nothing does, or has ceased to. */
struct keep *record_keep(const struct csr *c);
void record_leave_keep(struct csr *c);

/* The request as it came, while it is not on disk. */
struct record_unsaved {
	struct buf arm; /* empty: it is */
	nsec_t retry_at;
};
struct record_unsaved *record_unsaved(struct csr *c);

/* In one process: what is asked for is switched on, and its records fire. */
extern const struct site_ops record_site;

/* What takes the blocks has no room: from now on what is asked for is counted as lost, and nothing
 * else; or no more so. */
void record_refuse(struct csr_site *s, bool is_refused);

#endif
