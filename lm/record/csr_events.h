/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional requests that wait for what threads write (thread_writes_events). Events of the
 * program, of its library calls and of its probes become blocks of an event log. There is a stream
 * for each thread, and each block is one firing. Loss is counted in the blocks.
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

/* Whether it asks for events of that name; and of these, with which values. */
bool csr_events_names(const struct csr *c, const char *name);
const struct evwhere *csr_events_where(const struct csr *c);

/* What takes the blocks, on disk; NULL: nothing does, or has ceased to. */
struct keep *csr_events_keep(const struct csr *c);
void csr_events_leave_keep(struct csr *c);

/* In one process: what is asked for is switched on, and its records fire. */
extern const struct site_ops csr_events_site;

/* What takes the blocks has no room: from now on what is asked for is counted as lost, and nothing
 * else; or no more so. */
void csr_events_refuse(struct csr_site *s, bool is_refused);

#endif
