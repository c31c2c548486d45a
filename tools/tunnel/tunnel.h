/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tunnel: what comes from a stream of this host goes into a channel, and the other way round. It
 * knows nothing of the bytes. Where one side does not read, the other one is not read either. One
 * side ends with the other.
 */
#ifndef TOOLS_TUNNEL_TUNNEL_H
#define TOOLS_TUNNEL_TUNNEL_H

#include "common/loop/loop.h"
#include "common/net/chan.h"

/* The only frame: the next bytes, at most TUNNEL_CHUNK_BYTES (docs/protocol.md). */
#define TUNNEL_FRAME 220

struct tunnel;

struct tunnel_conf {
	struct loop *loop; /* borrowed */
	int fd; /* a stream, non-blocking; taken on success */
	/*
	 * Called at the end of the tunnel; the callee frees it. `why` is the reason of the channel,
	 * or NULL if the stream has ended.
	 */
	void (*on_end)(void *arg, struct tunnel *t, const struct err *why);
	void *arg;
};

/* NULL: no memory. The channel is given to tunnel_join(). */
struct tunnel *tunnel_new(const struct tunnel_conf *conf);

/* For a channel that is dialled: `arg` is the tunnel. */
struct chan_handler tunnel_handler(struct tunnel *t);

/* Consumes the channel. One that is open already begins at once. */
void tunnel_join(struct tunnel *t, struct chan *c);

/* Closes both sides. NULL is fine. */
void tunnel_free(struct tunnel *t);

#endif
