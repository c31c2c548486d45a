/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message channel: whole frames in both directions, in order, between two authenticated peers.
 * One interface for TLS (net.h) and for memory (mem.h). A channel is made by dialling or accepting.
 * The caller owns it until chan_close().
 */
#ifndef COMMON_NET_CHAN_H
#define COMMON_NET_CHAN_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/net/identity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chan;

enum chan_event {
	/*
	 * Dialled channels: the peer is verified. (Accepted channels are open from the start.) The
	 * peer may still refuse us, until its first frame arrives.
	 */
	CHAN_OPEN,
	/*
	 * The channel is closed; `why` has the reason, as text for users. All received frames were
	 * delivered before. The owner must still call chan_close().
	 */
	CHAN_CLOSED,
	/* The queue has fallen below half of its cap after a send was refused. */
	CHAN_WRITABLE,
	/*
	 * The length of a frame is invalid, so that further input cannot be read. A last frame may
	 * be sent in this callback; CHAN_CLOSED follows unless the owner closes here.
	 */
	CHAN_BROKEN
};

struct chan_handler {
	/* p is the frame's payload, valid during the call. */
	void (*on_frame)(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n);
	/* why: for CHAN_CLOSED and CHAN_BROKEN only. */
	void (*on_event)(void *arg, struct chan *c, enum chan_event ev, const struct err *why);
	void *arg;
};

/* h is copied. Called before the first callback, or from a callback. */
void chan_set_handler(struct chan *c, const struct chan_handler *h);

/*
 * Queues a copy of one or several complete frames, with their headers. All are sent together at the
 * end of the turn. Fails with ERR_LIMIT if the frame would exceed the queue's cap (CHAN_WRITABLE
 * follows). Fails with ERR_AGAIN if the channel is not open yet, ERR_CLOSED, ERR_NOMEM. A failed
 * call queues nothing.
 */
int chan_send(struct chan *c, const uint8_t *frame, size_t n);

/* Returns the number of bytes that the kernel has not accepted yet. */
size_t chan_queued(const struct chan *c);

/* Sets the cap; default PEER_QUEUE_MAX_BYTES. */
void chan_set_cap(struct chan *c, size_t bytes);

/* Closes the channel if the queue makes no progress for this time. Default 0: never. */
void chan_set_stall_max(struct chan *c, nsec_t max);

/* Stops calls of on_frame until it is undone, even for frames that have arrived. */
void chan_pause_reading(struct chan *c, bool pause);

/*
 * From now on a single frame without payload waits until chan_poll() or further input, and causes
 * no wake-up. For peers whose heartbeats are such frames.
 */
void chan_set_rcvlowat(struct chan *c);

/*
 * Reads available input, and calls back. Called from the loop only, and not from a callback of the
 * channel.
 */
void chan_poll(struct chan *c);

/*
 * Returns when the last byte arrived, in the loop's time. For a heartbeat that waited, this is the
 * time of the poll that found it; the next poll without input corrects it.
 */
nsec_t chan_heard_at(const struct chan *c);

/*
 * Permits FRAME_MAX_BYTES instead of FRAME_PREAUTH_MAX_BYTES from the next frame on. Called when
 * the peer's HELLO was accepted. Has no effect on an enrolling peer.
 */
void chan_role_known(struct chan *c);

/*
 * May be called twice; NULL is accepted. No callback follows, and the channel must not be used
 * again; its memory is freed at the end of the turn. Queued frames that fit into the socket are
 * still sent. `reason` is for the debug log (NULL: none).
 */
void chan_close(struct chan *c, const char *reason);

/*
 * Returns the identity in the verified certificate, valid until chan_close(). Returns NULL if the
 * channel is not open yet, and for an enrolling peer, which has no certificate.
 */
const struct identity *chan_peer(const struct chan *c);

/*
 * Returns the address, such as "127.0.0.1:4711" or "[::1]:4711", for texts. Valid until
 * chan_close().
 */
const char *chan_remote(const struct chan *c);

/* True on both ends of a channel for enrolling. */
bool chan_is_enrol(const struct chan *c);

struct chan_stats {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	uint64_t writes; /* calls of TLS for output: many frames may share one */
	uint64_t refused; /* sends that were refused because of the cap */
	nsec_t opened_at, last_in_at; /* times of the loop's clock */
};

void chan_get_stats(const struct chan *c, struct chan_stats *out);

#endif
