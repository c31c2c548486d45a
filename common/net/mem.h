/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network in memory, under a real or a virtual loop. Its contexts dial and
 * listen as those of net.h do, with the same checks of a peer's identity.
 * Faults are switched on per pair of hosts or for all; frames are never
 * reordered within a channel, as TCP never does.
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

/* seed: of the drops. NULL: no memory. */
struct mem_net *mem_net_new(struct loop *l, uint64_t seed);

/* After all its contexts, their channels' memory included (the end of the turn). */
void mem_net_free(struct mem_net *m);

/* Sets the clock for the validity of certificates in later contexts; default: clock_wall(). */
void mem_net_set_wall(struct mem_net *m, nsec_t (*wall_now)(void *arg), void *arg);

/*
 * What is opened on that host later has that loop, a part of the network's, with its own clock.
 * While the part is held, what is sent there is under way, and a dialling peer waits. -ERR_NOMEM.
 */
int mem_net_set_loop(struct mem_net *m, const char *host, struct loop *part);

/*
 * self->host is where it stands and what others dial; ROLE_NONE: not enrolled
 * yet; no end of validity: for ever. Ports are per host, an address given to
 * net_listen() is ignored; pins are not compared, penalties and half-open limits
 * not kept.
 */
int mem_ctx_open(struct mem_net *m, const struct identity *self, struct net_ctx **out,
		 struct err *e);

#define MEM_WINDOW_BYTES (256 * 1024)

struct mem_link {
	nsec_t delay; /* one way */
	nsec_t jitter; /* added evenly at random; order is kept all the same */
	double drop; /* probability that a frame breaks the connection, as a reset would */
	bool cut; /* a pulled cable: nothing passes, no end is notified, dialling times out */
	/* the host that receives nothing; dialling it times out; NULL: none; borrowed */
	const char *deaf;
	/*
	 * With a deaf host: the time (of the network's loop) from which it sends nothing either.
	 * TCP sends nothing new while nothing is acknowledged, which it notices after its time-out
	 * (RFC 6298). 0: never.
	 */
	nsec_t heard_until;
	/* Drawn for each frame and added; the order is kept all the same. NULL: nothing. */
	nsec_t (*more)(void *arg);
	void *arg; /* of it; borrowed */
	size_t window; /* bytes under way before the sender's queue fills; 0: MEM_WINDOW_BYTES */
};

/*
 * Both ways between hosts a and b (NULL: any, for what has no rule of its own);
 * from now on. -ERR_NOMEM.
 */
int mem_net_set_link(struct mem_net *m, const char *a, const char *b, const struct mem_link *how);

/* Bytes that wait at all senders, since windows are full. */
size_t mem_net_queued(const struct mem_net *m);

/* Calls fn for each channel of that host, also before it is connected. */
void mem_net_each_chan(const struct mem_net *m, const char *host,
		       void (*fn)(void *arg, const struct chan *c), void *arg);

/* Memory beside chan_queued(): only channels in memory have heads on queued frames. */
size_t mem_chan_heads(const struct chan *c);

/* What handling takes a daemon, in or out: it does one thing at a time, and what comes meanwhile
 * waits. */
struct mem_pace {
	nsec_t frame_ns; /* each */
	double byte_ns;
};

/* Sets the pace of all daemons of a host; both 0 (the default): no time. -ERR_NOMEM. */
int mem_net_set_pace(struct mem_net *m, const char *host, const struct mem_pace *pace);

/* What has come to a host and gone from it since it exists. busy: how long that has taken it at
 * its pace. */
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

/* Of what stands on that host, now or later. tap is borrowed; NULL: none. -ERR_NOMEM. */
int mem_net_set_tap(struct mem_net *m, const char *host, const struct mem_tap *tap);

/* Any bytes, past the tap and the cap; from the tap's callbacks, on the channel that it was given.
 * -ERR_NOMEM. */
int mem_tap_send(struct chan *c, const uint8_t *p, size_t n);

/*
 * A crash of all that stands on the host: its channels end for their peers
 * (reset); its own get nothing.
 */
void mem_net_kill_host(struct mem_net *m, const char *host);

#endif
