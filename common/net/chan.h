/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message channel: whole frames in, whole frames out, in order, between two
 * peers that know each other. One interface for TLS (net.h) and for memory
 * (mem.h). A channel is made by dialling or accepting. It belongs to the
 * caller that got it, until chan_close().
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
	 * Dialled channels: the peer is verified (accepted ones are open when
	 * they are given out). The peer may still refuse us: only its first
	 * frame proves that it did not.
	 */
	CHAN_OPEN,
	/*
	 * Gone; `why` says why, in words for people. All received frames came
	 * before. chan_close() is still the owner's duty.
	 */
	CHAN_CLOSED,
	/* The queue has fallen below half of its cap after a send was refused. */
	CHAN_WRITABLE,
	/*
	 * The length of a frame is wrong: what follows cannot be read. A last frame may still be
	 * sent in this callback; CHAN_CLOSED follows unless the owner closes here.
	 */
	CHAN_BROKEN
};

struct chan_handler {
	/* The frame's payload, borrowed for the call. */
	void (*on_frame)(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n);
	/* why: only with CHAN_CLOSED and CHAN_BROKEN. */
	void (*on_event)(void *arg, struct chan *c, enum chan_event ev, const struct err *why);
	void *arg;
};

/* Copied. Before the first callback, or from one. */
void chan_set_handler(struct chan *c, const struct chan_handler *h);

/*
 * Queues a whole frame (header included; or several), copied; it leaves at the
 * end of the turn together with the others. -ERR_LIMIT: the frame would take the
 * queue past its cap (CHAN_WRITABLE follows), -ERR_CLOSED, -ERR_NOMEM;
 * -ERR_AGAIN: not open yet. Nothing was queued then.
 */
int chan_send(struct chan *c, const uint8_t *frame, size_t n);

/* Bytes that the peer's system has not taken yet. */
size_t chan_queued(const struct chan *c);

/* Default PEER_QUEUE_MAX_BYTES. */
void chan_set_cap(struct chan *c, size_t bytes);

/* Closes the channel when the queue moves no byte for this long. Default 0: never. */
void chan_set_stall_max(struct chan *c, nsec_t max);

/* No on_frame until it is undone, not even for frames that are here already. */
void chan_pause_reading(struct chan *c, bool pause);

/*
 * A frame without payload that comes alone waits until chan_poll(), or something else comes: it
 * causes no wake-up. For peers that send such frames as heartbeats.
 */
void chan_set_rcvlowat(struct chan *c);

/* Reads what is there; calls back. From the loop only, and not from a callback of the channel. */
void chan_poll(struct chan *c);

/*
 * When the last byte came, in the loop's time: of a heartbeat that waited, when a poll found it,
 * until a poll that finds nothing more corrects that.
 */
nsec_t chan_heard_at(const struct chan *c);

/*
 * From the next frame on FRAME_MAX_BYTES instead of FRAME_PREAUTH_MAX_BYTES:
 * for when the peer's HELLO was accepted. No effect on an enrolling peer.
 */
void chan_role_known(struct chan *c);

/*
 * Idempotent, NULL is fine. No callback comes from now on; the channel must not
 * be used again; its memory goes at the end of the turn. What is queued and
 * fits into the socket is still sent. `reason` goes to the debug log (NULL:
 * none).
 */
void chan_close(struct chan *c, const char *reason);

/*
 * From the verified certificate. NULL: not open yet, or an enrolling peer (it has
 * none). Valid until chan_close().
 */
const struct identity *chan_peer(const struct chan *c);

/* "127.0.0.1:4711", "[::1]:4711"; for texts. Valid until chan_close(). */
const char *chan_remote(const struct chan *c);

/* True on both ends of a channel that was made for enrolling. */
bool chan_is_enrol(const struct chan *c);

struct chan_stats {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	uint64_t writes; /* hand-overs to TLS: many frames may share one */
	uint64_t refused; /* sends that met the cap */
	nsec_t opened_at, last_in_at; /* of the loop's clock */
};

void chan_get_stats(const struct chan *c, struct chan_stats *out);

#endif
