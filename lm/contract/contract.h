/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Csrs on the event thread_writes_arcs. Threads of this host write vertices of interactions, which
 * are contracted here (interaction/online). The remaining arcs are sent to the parent in batches.
 * Each batch is one firing, with the batch as $block.
 */
#ifndef LM_CONTRACT_CONTRACT_H
#define LM_CONTRACT_CONTRACT_H

#include "interaction/form/netlog.h"
#include "interaction/online/netonline.h"
#include "lm/csr/csr_internal.h"

/*
 * The time between the last event of a part and its sending: a thread of this host may continue
 * the part.
 */
#define CONTRACT_IDLE_NS NSEC_PER_SEC
/* the longest time until a part is sent: tools show interactions that are under way */
#define CONTRACT_AGE_NS (10 * NSEC_PER_SEC)
#define CONTRACT_TICK_NS (200 * NSEC_PER_MSEC)
/*
 * Vertices of one request on one host; with more, parts are sent early. A vertex takes up to some
 * 2 KiB.
 */
#define CONTRACT_VERTICES_MAX (1u << 15)

/* The source of arcs, whose member `of` is NULL. */
extern const struct event_source_ops contract_source;

/* --- for this room: the state of a csr */
struct contract {
	struct netonline *online; /* owned */
	struct netuse *use; /* of online */
	struct netlog log; /* of the event being read */
	/* the process of the next firing, the last one that wrote; NULL: it has ended */
	struct proc *proc;
	nsec_t ticked;
};

extern const struct site_ops contract_site;

/* Counts the events that its processes have lost since the last call. */
void contract_note_losses(struct csr *c);

#endif
