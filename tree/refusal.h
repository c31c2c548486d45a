/* SPDX-License-Identifier: Apache-2.0 */
/* Replies that only report why a request was refused: a single entry without objects. */
#ifndef TREE_REFUSAL_H
#define TREE_REFUSAL_H

#include "common/omis/reply/reply.h"
#include "proto/msg.h"

/* A reply and the texts that it borrows. It must not be moved. */
struct refusal {
	struct msg_entry entry;
	struct msg_coverage coverage;
	struct msg m;
};

/* Fill r and return its message, which borrows `why` and the refused message. */
const struct msg *refusal_of_request(struct refusal *r, const struct msg_request *m,
				     unsigned status, const char *why);
const struct msg *refusal_of_arm(struct refusal *r, const struct msg_arm *m, unsigned status,
				 const char *why);
const struct msg *refusal_of_load(struct refusal *r, const struct msg_flow_load *m, unsigned status,
				  const char *why);

/* Returns a refusal as the reply to the request with that id. Returns NULL without memory. */
struct reply *refusal_reply(uint64_t id, unsigned status, const char *why);

#endif
