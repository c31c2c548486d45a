/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consensus with a failure detector that may err (Chandra and Toueg, J. ACM 43(2), 1996, figure 6):
 * rounds with rotating coordinators, and a majority that is up. It decides instances one after the
 * other.
 *
 * Three changes save messages and keep its properties. The first coordinator proposes without
 * estimates. A process stays in a round until it suspects the coordinator. A coordinator gives a
 * round up when a majority can no longer acknowledge.
 *
 * The first coordinator of an instance is the process whose value was decided before. So a crashed
 * process does not become the first coordinator again. (The coordinator of the deciding round is no
 * alternative: two rounds may decide the same value.)
 *
 * Consensus is a part of a layer, which passes it messages and suspicions. Channels must be
 * reliable.
 */
#ifndef NEKO_ALGORITHMS_CONSENSUS_H
#define NEKO_ALGORITHMS_CONSENSUS_H

#include "common/base/buf.h"
#include "neko/core/neko.h"

#define CONSENSUS_TYPE 931
#define CONSENSUS_PROCESSES_MAX 64 /* process ids are bits of a word */

struct consensus;

/* Called for instances 1, 2, ... in order. The value is valid during the call. */
typedef void consensus_decided_fn(struct neko_layer *l, uint32_t instance, struct bytes value);

/* suspected: by process; owned and updated by the caller. Returns NULL without memory. */
struct consensus *consensus_new(uint32_t m, uint32_t self, const bool *suspected,
				consensus_decided_fn *decided);
void consensus_free(struct neko_layer *l, struct consensus *c);

/* Sets the network of its messages, and how many processes must acknowledge: more than half. */
void consensus_set(struct consensus *c, uint8_t net, uint32_t quorum);

/* Returns the first instance without a decision. */
uint32_t consensus_current(const struct consensus *c);

/*
 * Sets the value that this process proposes for the current instance. Only the first call for an
 * instance has an effect.
 */
void consensus_propose(struct neko_layer *l, struct consensus *c, struct bytes value);

/* Handles a message of CONSENSUS_TYPE. */
void consensus_hear(struct neko_layer *l, struct consensus *c, struct neko_msg *m);

/* Called when suspected[id - 1] has become true. */
void consensus_suspect(struct neko_layer *l, struct consensus *c, uint32_t id);

/*
 * Sends the decision of an instance to a process that lacks it. Has no effect if there is no
 * decision.
 */
void consensus_remind(struct neko_layer *l, const struct consensus *c, uint32_t to,
		      uint32_t instance);

/* Called at intervals: if there is no progress, sends the round of this process to the others. */
void consensus_nudge(struct neko_layer *l, struct consensus *c);

#endif
