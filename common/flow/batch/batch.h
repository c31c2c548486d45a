/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a batch: what one link carries for one read. Each token says
 * only what differs from the one before it; docs/protocol.md has the format.
 */
#ifndef COMMON_FLOW_BATCH_BATCH_H
#define COMMON_FLOW_BATCH_BATCH_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/flow/engine/flow.h"

/* Appends. Failure shows in b->failed. */
void flow_batch_encode(struct buf *b, const struct flow_batch *batch);

/* Memory for what is decoded, reused for each. Zero-initialise. */
struct flow_batch_room {
	struct flow_token *t;
	struct agg *a;
	struct sketch *sketch;
	size_t t_cap, a_cap, sketch_cap;
	char link[256]; /* NAME_MAX_BYTES and a 0 */
};

void flow_batch_room_done(struct flow_batch_room *room);

/*
 * From hostile bytes: checked so that the engine can take it. *out lives until the room's next use.
 * ERR_PROTO, ERR_LIMIT, ERR_NOMEM.
 */
int flow_batch_decode(struct flow_batch_room *room, const void *p, size_t n, struct flow_batch *out,
		      struct err *e);

#endif
