/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consensus with a failure detector that may err (Chandra and Toueg, J. ACM 43(2), 1996, figure 6):
 * rounds with rotating coordinators, and a majority that is up. It decides one instance after the
 * other.
 *
 * Three changes save messages and keep its properties. The first coordinator proposes without
 * estimates. A process stays in a round until it suspects the coordinator. A coordinator gives a
 * round up when a majority can no longer acknowledge.
 *
 * The first coordinator of an instance is the process whose value was decided before. So a crashed
 * one is not asked again. (The round of a decision would not do: two rounds may decide the same
 * value.)
 *
 * A part of a layer, which passes messages and suspicions. Channels must be reliable.
 */
#ifndef NEKO_ALGORITHMS_CONSENSUS_H
#define NEKO_ALGORITHMS_CONSENSUS_H

#include "common/base/buf.h"
#include "neko/core/neko.h"

#define CONSENSUS_TYPE 931
#define CONSENSUS_PROCESSES_MAX 64 /* bits of a word */

struct consensus;

/* Called for instances 1, 2, ... in order. The value is valid during the call. */
typedef void consensus_decided_fn(struct neko_layer *l, uint32_t instance, struct bytes value);

/* suspected: of each process, of the caller, which keeps it up to date. NULL: no memory. */
struct consensus *consensus_new(uint32_t m, uint32_t self, const bool *suspected,
				consensus_decided_fn *decided);
void consensus_free(struct neko_layer *l, struct consensus *c);

/* Sets the network of its messages, and the processes that must acknowledge: more than half. */
void consensus_set(struct consensus *c, uint8_t net, uint32_t quorum);

/* The instance without a decision. */
uint32_t consensus_current(const struct consensus *c);

/* The value that this process proposes for the current instance; only the first one counts. */
void consensus_propose(struct neko_layer *l, struct consensus *c, struct bytes value);

/* A message of CONSENSUS_TYPE arrived. */
void consensus_hear(struct neko_layer *l, struct consensus *c, struct neko_msg *m);

/* suspected[id - 1] has become true. */
void consensus_suspect(struct neko_layer *l, struct consensus *c, uint32_t id);

/* Sends the decision of an instance to a process that is behind; nothing if there is none. */
void consensus_remind(struct neko_layer *l, const struct consensus *c, uint32_t to,
		      uint32_t instance);

/* Called now and then: brings the others to the round of this process if there is no progress. */
void consensus_nudge(struct neko_layer *l, struct consensus *c);

#endif
