/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network in memory, under a real or a virtual loop. Its contexts dial and listen as those of
 * net.h do, with the same checks of a peer's identity. Faults are switched on per pair of hosts or
 * for all; frames are never reordered within a channel, as with TCP.
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

/* seed: for drops. NULL: no memory. */
struct mem_net *mem_net_new(struct loop *l, uint64_t seed);

/*
 * Must be called after its contexts and the memory of their channels are freed (the end of the
 * turn).
 */
void mem_net_free(struct mem_net *m);

/* Sets the clock for the validity of certificates in later contexts; default: clock_wall(). */
void mem_net_set_wall(struct mem_net *m, nsec_t (*wall_now)(void *arg), void *arg);

/*
 * Channels opened later on that host use that loop, a part of the network's, with its own clock.
 * While the part is held, frames to it stay in transit, and a dialling peer waits. -ERR_NOMEM.
 */
int mem_net_set_loop(struct mem_net *m, const char *host, struct loop *part);

/*
 * self->host is the address that others dial; ROLE_NONE: not enrolled yet; no end of validity: for
 * ever. Ports are per host, an address given to net_listen() is ignored; pins are not compared,
 * penalties and half-open limits do not apply.
 */
int mem_ctx_open(struct mem_net *m, const struct identity *self, struct net_ctx **out,
		 struct err *e);

#define MEM_WINDOW_BYTES (256 * 1024)

struct mem_link {
	nsec_t delay; /* one-way delay */
	nsec_t jitter; /* added evenly at random; order is preserved */
	double drop; /* probability that a frame breaks the connection, as a reset would */
	bool cut; /* a pulled cable: nothing passes, no end is notified, dialling times out */
	/* a host that receives nothing; dialling it times out; NULL: none; borrowed */
	const char *deaf;
	/*
	 * With a deaf host: the time (of the network's loop) from which it sends nothing either.
	 * TCP sends nothing new without acknowledgements, which it notices after its time-out (RFC
	 * 6298). 0: never.
	 */
	nsec_t heard_until;
	/* Returns a delay added to each frame; order is preserved. NULL: none. */
	nsec_t (*more)(void *arg);
	void *arg; /* for the function above; borrowed */
	size_t window; /* bytes under way before the sender's queue fills; 0: MEM_WINDOW_BYTES */
};

/*
 * Sets the rules in both directions between hosts a and b from now on. NULL: any host without a
 * rule of its own. -ERR_NOMEM.
 */
int mem_net_set_link(struct mem_net *m, const char *a, const char *b, const struct mem_link *how);

/* Returns the bytes that wait at all senders because windows are full. */
size_t mem_net_queued(const struct mem_net *m);

/* Calls fn for each channel of that host, also before it is connected. */
void mem_net_each_chan(const struct mem_net *m, const char *host,
		       void (*fn)(void *arg, const struct chan *c), void *arg);

/* Returns memory besides chan_queued(): only channels in memory have heads on queued frames. */
size_t mem_chan_heads(const struct chan *c);

/* Time that a daemon needs to handle a frame, in or out. It handles one at a time; others wait. */
struct mem_pace {
	nsec_t frame_ns; /* each */
	double byte_ns;
};

/* Sets the pace of all daemons of a host; both 0 (the default): no time. -ERR_NOMEM. */
int mem_net_set_pace(struct mem_net *m, const char *host, const struct mem_pace *pace);

/* Traffic of a host since it exists. busy: the time that it took at its pace. */
struct mem_load {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	nsec_t busy;
};

void mem_net_get_load(const struct mem_net *m, const char *host, struct mem_load *out);

/*
 * A rogue between a host and the network, with the host's identity. It decides what the host sends.
 * The daemons of the host do not notice it.
 */
struct mem_tap {
	/* The channel sends whole frames, one or several. Only what the tap passes to
	 * mem_tap_send() is sent. NULL: all is sent unchanged. */
	void (*on_send)(void *arg, struct chan *c, const uint8_t *p, size_t n);
	/* The channel is about to receive; NULL: not tapped. */
	void (*on_receive)(void *arg, struct chan *c, const uint8_t *p, size_t n);
	void *arg;
};

/* Taps all current and later channels of that host. tap is borrowed; NULL: none. -ERR_NOMEM. */
int mem_net_set_tap(struct mem_net *m, const char *host, const struct mem_tap *tap);

/*
 * Sends any bytes, past the tap and the cap; called from the tap's callbacks, on their channel.
 * -ERR_NOMEM.
 */
int mem_tap_send(struct chan *c, const uint8_t *p, size_t n);

/* Crashes a host: its channels end for their peers (reset); its own ends get no callback. */
void mem_net_kill_host(struct mem_net *m, const char *host);

#endif
