/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic broadcast: all processes deliver the same messages in the same order. There are two
 * algorithms, as P. Urban, I. Shnayderman and A. Schiper compared them (DSN 2003). Without crashes
 * and suspicions both send the same messages.
 *
 * abcast-ct (Chandra and Toueg, 1996): each decision of consensus is the next batch of messages.
 *
 * abcast-seq: the sequencer of a view of members numbers batches of messages. A batch is delivered
 * when a majority has it. A suspicion ends the view: consensus decides on the members of the next
 * one and on the last batch. A member that was suspected wrongly is left out. It still receives,
 * and a later view includes it.
 *
 * A message has its number as its content. Channels must be reliable: TCP, or a simulated network
 * that loses nothing, or sends again. A majority must be up.
 *
 *	abcast.rate    = 100     (broadcasts of all processes a second, at random times)
 *	abcast.until   = 0s      (none begins after this; 0: as long as the run)
 *	abcast.network = 1
 *	abcast.quorum  = more than half   (acknowledgements; fewer give no order)
 *	abcast.settle  = 10s     (the age that a message must have to count as missing)
 *	abcast.nudge   = 500ms   (a process without progress repeats where it is)
 */
#ifndef NEKO_ALGORITHMS_ABCAST_H
#define NEKO_ALGORITHMS_ABCAST_H

#include "common/base/buf.h"
#include "common/container/map.h"
#include "neko/algorithms/consensus.h"
#include "neko/core/neko.h"

#define ABCAST_TYPE 930 /* a message: its number, 8 bytes little-endian */
#define ABCAST_SEQUENCER 932
#define ABCAST_BATCH_MAX 2000 /* numbers in one message of consensus */
#define ABCAST_ID_BYTES 8

/*
 * Events. Their content is the number of a message: origin * 2^32 + its index among the origin's
 * messages.
 */
#define ABCAST_SENT "abcast"
#define ABCAST_DELIVERED "adeliver"
#define ABCAST_VIEW "view" /* content: number of the new view */

int abcast_ct_init(struct neko_process *p, struct setup *s, struct err *e);
int abcast_seq_init(struct neko_process *p, struct setup *s, struct err *e);

/*
 * latency: time from a broadcast to its first delivery. TimeToDeliver: time to the last process
 * that is up. Checks uniform total order, uniform agreement, validity and integrity.
 */
extern const struct neko_measure abcast_measure;

/* --- shared by the files of these algorithms */

struct abcast;

struct abcast_algorithm {
	void (*start)(struct neko_layer *l); /* called when there are messages without an order */
	void (*decided)(struct neko_layer *l, uint32_t instance, struct bytes value);
	/* called with a message of type ABCAST_SEQUENCER */
	void (*hear)(struct neko_layer *l, struct neko_msg *m);
	/* called when the suspicion of a process changes */
	void (*changed)(struct neko_layer *l, uint32_t id);
	void (*nudge)(struct neko_layer *l);
	void (*done)(struct neko_layer *l);
};

/* State of the layer. */
struct abcast {
	const struct abcast_algorithm *algorithm;
	uint32_t m, self, own; /* own: number of the last own message */
	/* nudged: own messages up to this number have waited since the last nudge */
	uint32_t quorum, nudged;
	uint8_t net;
	bool suspected[CONSENSUS_PROCESSES_MAX];
	struct consensus *consensus; /* owned */
	struct buf waiting; /* owned: numbers of messages without an order */
	struct map seen; /* by number of a message: values are the marks of abcast.c */
	nsec_t nudge;
	void *more; /* state of the algorithm */
};

/* Returns up to ABCAST_BATCH_MAX messages that have no order. */
struct bytes abcast_waiting(const struct abcast *a);

/* Delivers the messages of a batch in its order, except those that were delivered before. */
void abcast_deliver_batch(struct neko_layer *l, struct bytes batch);

/*
 * Pushes the layers: failure detector, broadcast, source of messages. *out is the state of the
 * broadcast.
 */
int abcast_push(struct neko_process *p, struct setup *s, const struct abcast_algorithm *algorithm,
		struct abcast **out, struct err *e);

#endif
