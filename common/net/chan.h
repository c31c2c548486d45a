/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message channel: whole frames in both directions, in order, between two authenticated peers.
 * One interface for TLS (net.h) and for memory (mem.h). A channel is made by dialling or accepting.
 * It belongs to the caller that got it, until chan_close().
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
	 * Dialled channels: the peer is verified (accepted channels are open from the start). The
	 * peer may still refuse us: only its first frame proves that it did not.
	 */
	CHAN_OPEN,
	/*
	 * The channel is closed; `why` has the reason, as text for people. All received frames were
	 * delivered before. The owner must still call chan_close().
	 */
	CHAN_CLOSED,
	/* The queue has fallen below half of its cap after a send was refused. */
	CHAN_WRITABLE,
	/*
	 * The length of a frame is invalid, so the rest cannot be read. A last frame may be sent in
	 * this callback; CHAN_CLOSED follows unless the owner closes here.
	 */
	CHAN_BROKEN
};

struct chan_handler {
	/* p is the frame's payload, borrowed for the call. */
	void (*on_frame)(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n);
	/* why: only with CHAN_CLOSED and CHAN_BROKEN. */
	void (*on_event)(void *arg, struct chan *c, enum chan_event ev, const struct err *why);
	void *arg;
};

/* h is copied. Called before the first callback, or from one. */
void chan_set_handler(struct chan *c, const struct chan_handler *h);

/*
 * Queues a whole frame (header included; or several), copied; all are sent together at the end of
 * the turn. -ERR_LIMIT: the frame would exceed the queue's cap (CHAN_WRITABLE follows),
 * -ERR_CLOSED, -ERR_NOMEM; -ERR_AGAIN: not open yet. Nothing was queued then.
 */
int chan_send(struct chan *c, const uint8_t *frame, size_t n);

/* Returns the bytes that the kernel has not taken yet. */
size_t chan_queued(const struct chan *c);

/* Default PEER_QUEUE_MAX_BYTES. */
void chan_set_cap(struct chan *c, size_t bytes);

/* Closes the channel if the queue moves no byte for this long. Default 0: never. */
void chan_set_stall_max(struct chan *c, nsec_t max);

/* Stops on_frame until it is undone, even for frames that have arrived. */
void chan_pause_reading(struct chan *c, bool pause);

/*
 * A single frame without payload waits until chan_poll() or further input, and causes no wake-up.
 * For peers that send such frames as heartbeats.
 */
void chan_set_rcvlowat(struct chan *c);

/* Reads available input; calls back. From the loop only, and not from a callback of the channel. */
void chan_poll(struct chan *c);

/*
 * Returns when the last byte arrived, in the loop's time. For a heartbeat that waited, it is the
 * time of the poll that found it; the next poll without input corrects that.
 */
nsec_t chan_heard_at(const struct chan *c);

/*
 * Permits FRAME_MAX_BYTES instead of FRAME_PREAUTH_MAX_BYTES from the next frame on: called when
 * the peer's HELLO was accepted. No effect on an enrolling peer.
 */
void chan_role_known(struct chan *c);

/*
 * Idempotent, NULL is fine. No callback follows; the channel must not be used again; its memory is
 * freed at the end of the turn. Queued frames that fit into the socket are still sent. `reason` is
 * written to the debug log (NULL: none).
 */
void chan_close(struct chan *c, const char *reason);

/*
 * Returns the identity in the verified certificate. NULL: not open yet, or an enrolling peer (it
 * has none). Valid until chan_close().
 */
const struct identity *chan_peer(const struct chan *c);

/* "127.0.0.1:4711", "[::1]:4711"; for texts. Valid until chan_close(). */
const char *chan_remote(const struct chan *c);

/* True on both ends of a channel for enrolling. */
bool chan_is_enrol(const struct chan *c);

struct chan_stats {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	uint64_t writes; /* hand-overs to TLS: many frames may share one */
	uint64_t refused; /* sends that met the cap */
	nsec_t opened_at, last_in_at; /* of the loop's clock */
};

void chan_get_stats(const struct chan *c, struct chan_stats *out);

#endif
