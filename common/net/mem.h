/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network in memory, under a real or a virtual loop. Its contexts dial and listen like those of
 * net.h, with the same checks of a peer's identity. Faults are set for pairs of hosts, or for all.
 * Frames are never reordered within a channel, as with TCP.
 */
#ifndef COMMON_NET_MEM_H
#define COMMON_NET_MEM_H

#include "common/loop/loop.h"
#include "common/net/chan.h"
#include "common/net/net.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_net;

/* seed: for dropped frames. Returns NULL without memory. */
struct mem_net *mem_net_new(struct loop *l, uint64_t seed);

/*
 * Must be called after its contexts, and the memory of their channels (at the end of the turn), are
 * freed.
 */
void mem_net_free(struct mem_net *m);

/*
 * Sets the clock that decides on the validity of certificates in later contexts; default:
 * clock_wall().
 */
void mem_net_set_wall(struct mem_net *m, nsec_t (*wall_now)(void *arg), void *arg);

/*
 * Later channels on that host use that loop, a part of the network's loop with its own clock. While
 * the part is held, frames to it stay in transit, and a dialling peer waits. Fails with ERR_NOMEM.
 */
int mem_net_set_loop(struct mem_net *m, const char *host, struct loop *part);

/*
 * Opens a context. self->host is its address; ROLE_NONE: not enrolled yet; without an end of
 * validity it is valid for ever. Each host has its own ports. An address for net_listen() is
 * ignored, pins are not compared, and penalties and half-open limits do not apply.
 */
int mem_ctx_open(struct mem_net *m, const struct identity *self, struct net_ctx **out,
		 struct err *e);

#define MEM_WINDOW_BYTES (256 * 1024)

struct mem_link {
	nsec_t delay; /* one-way delay */
	nsec_t jitter; /* a further delay, uniformly at random; order is preserved */
	double drop; /* probability that a frame breaks the connection, like a reset */
	bool cut; /* a pulled cable: no frame passes, no end is notified, dialling times out */
	/* a host that receives nothing; dialling it times out; NULL: none; borrowed */
	const char *deaf;
	/*
	 * With a deaf host: the time (of the network's loop) from which it sends nothing either.
	 * TCP sends nothing new without acknowledgements, which it notices after its time-out (RFC
	 * 6298). 0: never.
	 */
	nsec_t heard_until;
	/* Returns a further delay for each frame; order is preserved. NULL: none. */
	nsec_t (*more)(void *arg);
	void *arg; /* for `more`; borrowed */
	size_t window; /* bytes in transit before the sender's queue fills; 0: MEM_WINDOW_BYTES */
};

/*
 * Sets the rules in both directions between hosts a and b from now on. NULL: any host without a
 * rule of its own. Fails with ERR_NOMEM.
 */
int mem_net_set_link(struct mem_net *m, const char *a, const char *b, const struct mem_link *how);

/* Returns the number of bytes that wait at all senders because windows are full. */
size_t mem_net_queued(const struct mem_net *m);

/* Calls fn for each channel of that host, also before it is connected. */
void mem_net_each_chan(const struct mem_net *m, const char *host,
		       void (*fn)(void *arg, const struct chan *c), void *arg);

/*
 * Returns the memory besides chan_queued(): in networks in memory, each queued frame has a header.
 */
size_t mem_chan_heads(const struct chan *c);

/* The time that a daemon needs to handle a received or sent frame. It handles one at a time. */
struct mem_pace {
	nsec_t frame_ns; /* for each frame */
	double byte_ns;
};

/* Sets the pace of all daemons of a host; both 0 (the default): no time. Fails with ERR_NOMEM. */
int mem_net_set_pace(struct mem_net *m, const char *host, const struct mem_pace *pace);

/* Traffic of a host since its begin. busy: the time for it at the host's pace. */
struct mem_load {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	nsec_t busy;
};

void mem_net_get_load(const struct mem_net *m, const char *host, struct mem_load *out);

/*
 * A rogue between a host and the network, which acts with the host's identity. It decides what the
 * host sends. The daemons of the host do not notice it.
 */
struct mem_tap {
	/*
	 * The channel sends one or several complete frames. Only frames that the tap passes to
	 * mem_tap_send() are sent. NULL: all are sent unchanged.
	 */
	void (*on_send)(void *arg, struct chan *c, const uint8_t *p, size_t n);
	/* Called before the channel receives a frame. NULL: not called. */
	void (*on_receive)(void *arg, struct chan *c, const uint8_t *p, size_t n);
	void *arg;
};

/*
 * Taps all current and later channels of that host. tap is borrowed; NULL: none. Fails with
 * ERR_NOMEM.
 */
int mem_net_set_tap(struct mem_net *m, const char *host, const struct mem_tap *tap);

/*
 * Sends any bytes, without the tap and the cap. Called from the tap's callbacks, for their channel.
 * Fails with ERR_NOMEM.
 */
int mem_tap_send(struct chan *c, const uint8_t *p, size_t n);

/* Crashes a host: peers of its channels get a reset, and its own ends get no callback. */
void mem_net_kill_host(struct mem_net *m, const char *host);

#endif
