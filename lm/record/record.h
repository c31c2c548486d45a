/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Csrs on the event thread_writes_events. Events of the
 * program, of its library calls and of its probes become blocks of an event log. There is a stream
 * for each thread, and each block is one firing. Loss is counted in the blocks.
 */
#ifndef LM_RECORD_RECORD_H
#define LM_RECORD_RECORD_H

#include "eventlog/evwhere.h"
#include "lm/csr/csr_internal.h"

/* a reply has room for some dozen blocks; heads take a hundredth */
#define EVENTS_BLOCK_BYTES (16 * 1024)
/* for blocks on disk: fewer heads, and less work */
#define EVENTS_KEPT_BYTES (64 * 1024)
#define EVENTS_CUT_NS (100 * NSEC_PER_MSEC) /* a block is filled for this time: users watch it */

/* True if the csr requests events of that name. Their values must satisfy record_where(). */
bool record_names(const struct csr *c, const char *name);
const struct evwhere *record_where(const struct csr *c);

/*
 * The system's time of a local one. A recording keeps the offset of its first block: with a better
 * estimate in between, events of two threads would change their order.
 */
nsec_t record_time(struct csr *c, nsec_t local);

/* Returns the subscription that stores the blocks; NULL: there is none, or it has ended. */
struct keep *record_keep(const struct csr *c);
void record_leave_keep(struct csr *c);

/* The message of the request until it is on disk. */
struct record_unsaved {
	struct buf arm; /* empty: it is on disk */
	nsec_t retry_at;
};
struct record_unsaved *record_unsaved(struct csr *c);

/* Operations in one process: switch on requested types, and fire the csr for their records. */
extern const struct site_ops record_site;

/*
 * The subscription is full: requested events are only counted as lost from now on. False: it has
 * room again.
 */
void record_refuse(struct csr_site *s, bool is_refused);

#endif
