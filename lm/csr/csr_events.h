/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that wait for what threads write (thread_writes_events): events of the
 * program, of its library calls and of its probes become blocks of an event log, a stream for each
 * thread, and each block is one firing. Loss is told in the blocks.
 */
#ifndef LM_CSR_EVENTS_H
#define LM_CSR_EVENTS_H

#include "eventlog/evwhere.h"
#include "lm/csr/csr_internal.h"

/* a reply takes some dozen; what is around them is a hundredth */
#define EVENTS_BLOCK_BYTES (16 * 1024)
/* what waits on disk: what is around them is less, and so is the work */
#define EVENTS_KEPT_BYTES (64 * 1024)
#define EVENTS_CUT_NS (100 * NSEC_PER_MSEC) /* so long a block is filled: people look at them */

/* What is asked for. Negative: an entry says why. */
int csr_events_read(struct csr *c, const struct omis_call *event, struct reply *r);
void csr_events_free(struct csr *c);

/* Whether it asks for events of that name; and of these, with which values. */
bool csr_events_names(const struct csr *c, const char *name);
const struct evwhere *csr_events_where(const struct csr *c);

/* Its time is over: nothing is installed any more. */
bool csr_events_is_over(const struct csr *c);

/* What takes the blocks, on disk; NULL: nothing does, or not any more. */
struct keep *csr_events_keep(const struct csr *c);
void csr_events_leave_keep(struct csr *c);

/* Switches on what is asked for in that process. -ERR_NOMEM. */
int csr_events_watch(struct csr_site *s);

/* What takes the blocks has no room: from now on what is asked for is counted as lost, and nothing
 * else; or no more so. */
void csr_events_refuse(struct csr_site *s, bool is_refused);

/* Switches off; what was taken fires. */
void csr_events_unwatch(struct csr_site *s);

/* A record of the ring that is read just now (csrs.ring_thread, ring_tid). Of other requests:
 * harmless. */
void csr_events_on_call(struct csr_site *s, const struct ring_call *r);
void csr_events_on_event(struct csr_site *s, const struct segview_event *e);

/* All that the ring had was handed over; its room is about to be the process's again. */
void csr_events_taken(struct csr_site *s, unsigned thread);

/* Fires what is old enough, and looks for new types. */
void csr_events_poll(struct csr_site *s, nsec_t now);

#endif
