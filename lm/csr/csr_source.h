/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that neither the ranks nor the table of processes tell of: system
 * calls and signals, from lm-trace; addresses and scheduling, from the kernel's
 * own notes. Armed while a conditional request wants them.
 */
#ifndef LM_CSR_SOURCE_H
#define LM_CSR_SOURCE_H

#include "common/tracer/tracer_msg.h"
#include "lm/csr/csr_internal.h"

/* after lm-trace was lost: one that dies at once is not started at once */
#define SOURCE_RETRY_NS NSEC_PER_SEC

bool csr_is_source(const struct csr *c);

/* The parameters behind the objects. Negative: an entry says why. */
int csr_source_read(struct csr *c, const struct omis_call *event);

/* Arms it; what cannot be watched is an entry of action 0. Harmless for others. True:
 * csr_tell_armed() when lm-trace watches. */
bool csr_source_arm(struct csr *c, struct reply *r);

/* It is out of the list of all. Harmless for others. */
void csr_source_disarm(struct csr *c);

/* NULL: no memory. */
struct event_sources *event_sources_new(struct csrs *s);
void event_sources_free(struct event_sources *o);

/* Tells the tool that it is not watched for any more in that process, and why. */
void csr_tell_suspended(struct csr *c, const struct proc *p, const char *why);

/* --- between csr_source.c and csr_perf.c */
struct perf_site;
bool csr_is_perf(const struct csr *c);
void csr_perf_arm(struct csr *c, struct reply *r);
void csr_perf_arm_thread(struct csr *c, struct proc *p, const struct proc_thread *t,
			 struct reply *r);
/* p NULL: all; tid 0: all */
void csr_perf_disarm(struct csr *c, const struct proc *p, int32_t tid);
void csr_perf_poll(struct csr *c);

#endif
