/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a batch: the tokens of one link for one read. Each token is encoded as the
 * difference to the previous one; docs/protocol.md has the format.
 */
#ifndef COMMON_FLOW_BATCH_BATCH_H
#define COMMON_FLOW_BATCH_BATCH_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/flow/engine/flow.h"

/* Appends a batch. b->failed reports a failure. */
void flow_batch_encode(struct buf *b, const struct flow_batch *batch);

/* Memory for a decoded batch, which is used again for the next one. Zero-initialise. */
struct flow_batch_room {
	struct flow_token *t;
	struct agg *a;
	union agg_room *room;
	size_t t_cap, a_cap, room_cap;
	char link[256]; /* size: NAME_MAX_BYTES and a 0 */
};

void flow_batch_room_done(struct flow_batch_room *room);

/*
 * Decodes untrusted bytes, with all checks that the engine relies on. *out is valid until the next
 * use of the room. Fails with ERR_PROTO, ERR_LIMIT, ERR_NOMEM.
 */
int flow_batch_decode(struct flow_batch_room *room, const void *p, size_t n, struct flow_batch *out,
		      struct err *e);

#endif
