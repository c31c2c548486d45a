/* SPDX-License-Identifier: Apache-2.0 */
/* Library calls and probes as types of events, and the description of a stream. */
#ifndef LM_RECORD_RECORD_TYPES_H
#define LM_RECORD_RECORD_TYPES_H

#include "common/ring/calls.h"
#include "common/ring/seg.h"
#include "eventlog/evwrite.h"
#include "lm/proc/proc.h"

/*
 * Makes the type of a call's events, with the parameters of calls.h, all whole numbers. One block
 * of memory; NULL: no memory.
 */
struct evtype *record_type_of_call(const struct call_desc *d, enum call_phase phase);
struct evtype *record_type_of_probe(const struct seg_probe *p);

/* Writes the constants of the whole stream. */
void record_describe_stream(struct evwrite *w, const struct proc *p, const char *host,
			    uint32_t tid);

#endif
