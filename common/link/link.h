/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: a channel that is authenticated, has exchanged HELLO and HELLO_ACK, and is watched by
 * heartbeats. The side that dials reconnects automatically, with full jitter.
 *
 * A link calls back from the loop only, never from inside a call made to it. Before on_msg gets a
 * message, a table decides whether this peer may send it in this state. PING, PONG, HELLO,
 * HELLO_ACK, BYE and ERROR never reach on_msg.
 *
 * Life. A dialled link exists from link_dial() to link_close(); on_up and on_down alternate. An
 * accepted link is made by link_accept() for an accepted channel. Its on_up and on_down are called
 * only if on_hello accepted the peer. It is freed after on_down or on_gone. link_close() ends
 * either kind: no callback follows, and the pointer is invalid. A BYE and the queued frames that
 * fit into the socket are still sent.
 */
#ifndef COMMON_LINK_LINK_H
#define COMMON_LINK_LINK_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/time/timebase.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stdint.h>

struct chan;
struct chan_handler;
struct connstr;
struct identity;
struct link;
struct loop;
struct meter;
struct net_ctx;
struct net_expect;
struct net_listener;

/* Kind of peer, which determines the permitted messages. */
enum link_peer {
	LINK_PEER_UNKNOWN, /* accepted, but no HELLO yet */
	LINK_PEER_PARENT, /* we (lm or sm) dialled it */
	LINK_PEER_SERVER, /* we (tool) dialled it */
	LINK_PEER_BRANCH, /* an lm or sm dialled us */
	LINK_PEER_TOOL, /* a tool dialled us */
};

enum link_state { LINK_DOWN, LINK_DIALING, LINK_GREETING, LINK_UP, LINK_GONE, LINK_NSTATES };

struct link_handler {
	/*
	 * Accepted links only. The certificate's role equals hello->role already; the caller
	 * compares site and host. Returns 0 with ack filled: the link is UP after the call. Strings
	 * of ack are copied, and the link sets version and epoch. After a negative result the peer
	 * gets ERROR with the text of *why, and the link is closed.
	 */
	int (*on_hello)(void *arg, struct link *l, const struct msg_hello *hello,
			struct msg_hello_ack *ack, struct err *why);
	/*
	 * The link is UP. ack: for a dialled link the peer's answer, valid during the call; for an
	 * accepted one NULL.
	 */
	void (*on_up)(void *arg, struct link *l, const struct msg_hello_ack *ack);
	/* m is valid during the call. */
	void (*on_msg)(void *arg, struct link *l, const struct msg *m);
	/* The link is no longer UP. A dialled link reconnects automatically. */
	void (*on_down)(void *arg, struct link *l, const struct err *why);
	/*
	 * Accepted links only: the link has ended without having been UP (no HELLO in time,
	 * refused, closed), and is freed after this call. For owners that must close the channels
	 * that they have accepted; may be NULL.
	 */
	void (*on_gone)(void *arg, struct link *l);
	/*
	 * An attempt of a dialled link has failed; called once per attempt; may be NULL. retry_in:
	 * time until the next one.
	 */
	void (*on_retry)(void *arg, struct link *l, const struct err *why, nsec_t retry_in);
	/*
	 * The queue has fallen below half of its cap, after a send returned -ERR_AGAIN. May be
	 * NULL.
	 */
	void (*on_writable)(void *arg, struct link *l);
	void *arg;
};

struct link_conf {
	struct loop *loop; /* borrowed */
	struct rng *rng; /* borrowed; source of the jitter */
	struct timebase *
		/* borrowed; a dialled link updates it, and PONGs use it; NULL = none */
		timebase;
	uint64_t epoch; /* epoch of this daemon, for HELLO_ACK */
	/*
	 * in bytes; the second one is for links to tools; 0 = PEER_QUEUE_MAX_BYTES,
	 * TOOL_QUEUE_MAX_BYTES
	 */
	size_t queue_cap, tool_queue_cap;
	uint32_t version_min, version_max; /* 0 = the versions of this build */
	struct net_listener *
		/* for accepted links: gets reports of peers to penalise; borrowed; NULL = none */
		listener;
	/* counts the read bytes, and delays reading; borrowed; NULL = none */
	struct meter *meter;
	struct link_handler handler;
};

/* Opens the channel of a dialled link: called once per attempt, from the loop. */
struct link_dialer {
	/*
	 * attempt counts from 0 since the link was UP last. Sets *out to a channel that opens with
	 * handler h, or returns an error.
	 */
	int (*dial)(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		    struct err *e);
	void *arg;
};

/*
 * Makes a link; the loop makes the first attempt at once. hello (role, site, ...; versions are set
 * here) is copied. Returns NULL without memory.
 */
struct link *link_dial(const struct link_conf *conf, const struct link_dialer *dialer,
		       const struct msg_hello *hello);

/*
 * Replaces the contents of the next HELLO, for example for a new node number or address. Fails with
 * ERR_NOMEM.
 */
int link_set_hello(struct link *l, const struct msg_hello *hello);

/*
 * Makes a link of a channel after its handshake; consumes *take on success. HELLO must arrive
 * within HELLO_MAX_NS. Returns NULL without memory.
 */
struct link *link_accept(const struct link_conf *conf, struct chan **take);

/* Ends the link now, with a BYE; see above. NULL is accepted. */
void link_close(struct link *l, const char *reason);

/*
 * Sends ERROR and closes an established connection. A dialled link reconnects. The loop calls
 * on_down.
 */
void link_fail(struct link *l, enum msg_error_code code, const char *text);

/*
 * Queues one message; m has its type and the member of the union. Fails with ERR_CLOSED if the link
 * is not UP, ERR_LIMIT for a too large frame, and like msg_put(). Fails with ERR_AGAIN if the queue
 * is at its cap: the message is not queued, and counted as dropped. The caller decides which
 * messages may be dropped.
 */
int link_send(struct link *l, const struct msg *m);

/* Sends like link_send() one or several encoded complete frames, for fan-out. */
int link_send_frames(struct link *l, const uint8_t *p, size_t n);

/*
 * True if a frame of `reserve` bytes has no room under the cap: messages that can wait should wait
 * for on_writable.
 */
bool link_is_congested(const struct link *l, size_t reserve);

void link_pause_reading(struct link *l, bool pause);

enum link_state link_state(const struct link *l);
enum link_peer link_peer(const struct link *l);

/*
 * Returns the identity in the verified certificate; NULL if the link is not connected, or without
 * certificates.
 */
const struct identity *link_identity(const struct link *l);

/*
 * For on_down and on_gone: returns the fault of the peer, as a line for the log of an accepting
 * daemon. The peer broke a rule, lacked the right, or sent nothing. Returns NULL if it only
 * disconnected.
 */
const char *link_fault(const struct link *l);

/* Logs the fault, if any, as a warning of the module `net`. */
void link_log_fault(const struct link *l);

/* Set and get the caller's object of a link, for handlers that many links share. */
void link_set_user(struct link *l, void *user);
void *link_user(const struct link *l);

struct link_stats {
	uint64_t frames_in, frames_out, bytes_in, bytes_out;
	uint64_t refused; /* frames that were not allowed or not decodable */
	uint64_t dropped; /* messages that did not fit under the cap */
	uint64_t invalid; /* state events that did not fit the state: 0 in a sound program */
	uint32_t connects; /* times that it became UP */
	size_t queued; /* bytes */
	nsec_t rtt; /* round trip of the last heartbeat; -1 = none yet */
	nsec_t offset; /* peer's system time - our loop time; valid when rtt >= 0 */
	nsec_t offset_error; /* bound of it */
	nsec_t since; /* loop time of the last change of state */
	/* time since the peer's last frame; for a healthy peer below HEARTBEAT_PERIOD_NS + rtt */
	nsec_t silence;
	char peer[128]; /* its identity and address, escaped, for users */
	char last_error[ERR_TEXT_BYTES]; /* "" = none */
};

void link_stats(const struct link *l, struct link_stats *out);

/* Single numbers of link_stats(), for callers with thousands of links. */
nsec_t link_rtt(const struct link *l); /* -1 = none measured */
size_t link_queued(const struct link *l);
uint64_t link_dropped(const struct link *l);

/* Returns "up", "dialing" and so on. */
const char *link_state_name(enum link_state s);

/* Writes the state machine as a Graphviz digraph, for docs/. */
void link_print_dot(struct buf *b);

/* --- dialling the hosts of a connection string over the network, in turn */

struct link_net;

/* Addresses, and the expected peer. hosts and expect are copied; NULL site or host: any. */
struct link_net_conf {
	struct net_ctx *ctx; /* borrowed */
	const char (*host)[NAME_MAX_BYTES + 1];
	unsigned nhost; /* 1..CONNSTR_HOSTS_MAX */
	uint16_t port;
	const struct net_expect *expect;
};

/* Returns NULL without memory or host. */
struct link_net *link_net_new(const struct link_net_conf *c);

/*
 * Makes a dialler for the mainsm of a connection string, which is verified by its pin. Fails with
 * ERR_NOMEM.
 */
int link_net_to_mainsm(struct net_ctx *ctx, const struct connstr *conn, struct link_net **out);

/* Must be called after all links that use it were closed. */
void link_net_free(struct link_net *n);
struct link_dialer link_net_dialer(struct link_net *n);

#endif
