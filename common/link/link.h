/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: a channel that is authenticated, greeted (HELLO, HELLO_ACK) and
 * watched by heartbeats. The side that dials reconnects by itself, with full jitter.
 *
 * A link calls back from the loop only, never from inside a call made to it.
 * A message is checked against the table of what this peer may say in this
 * state before on_msg gets it. PING, PONG, HELLO, HELLO_ACK, BYE and ERROR never reach on_msg.
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
	LINK_PEER_UNKNOWN, /* accepted, no HELLO yet */
	LINK_PEER_PARENT, /* we (lm or sm) dialled it */
	LINK_PEER_SERVER, /* we (tool) dialled it */
	LINK_PEER_BRANCH, /* an lm or sm dialled us */
	LINK_PEER_TOOL, /* a tool dialled us */
};

enum link_state { LINK_DOWN, LINK_DIALING, LINK_GREETING, LINK_UP, LINK_GONE, LINK_NSTATES };

struct link_handler {
	/*
	 * Accepted links only. The certificate's role equals hello->role already; the caller
	 * compares site and host. Returns 0 with ack filled (strings are copied; the link fills
	 * version and epoch): the link is UP after the call. Negative: the peer gets ERROR with the
	 * text of *why and is closed.
	 */
	int (*on_hello)(void *arg, struct link *l, const struct msg_hello *hello,
			struct msg_hello_ack *ack, struct err *why);
	/*
	 * The link is UP. Dialled: ack is the peer's answer, valid during the call. Accepted: ack
	 * is NULL.
	 */
	void (*on_up)(void *arg, struct link *l, const struct msg_hello_ack *ack);
	/* m is valid during the call. */
	void (*on_msg)(void *arg, struct link *l, const struct msg *m);
	/* The link is no longer UP; a dialled link reconnects automatically. */
	void (*on_down)(void *arg, struct link *l, const struct err *why);
	/*
	 * Accepted links only: the link ended without having been UP (no HELLO in time, refused,
	 * closed) and is freed after this call. For owners that must close the channels they
	 * accepted; may be NULL.
	 */
	void (*on_gone)(void *arg, struct link *l);
	/*
	 * An attempt of a dialled link failed, once per attempt; may be NULL. retry_in: until the
	 * next one.
	 */
	void (*on_retry)(void *arg, struct link *l, const struct err *why, nsec_t retry_in);
	/* The queue fell below half of its cap after a send returned -ERR_AGAIN; may be NULL. */
	void (*on_writable)(void *arg, struct link *l);
	void *arg;
};

struct link_conf {
	struct loop *loop; /* borrowed */
	struct rng *rng; /* borrowed; seeds the jitter */
	struct timebase *
		/* borrowed; updated by a dialled link, used for PONGs; NULL = none */
		timebase;
	uint64_t epoch; /* epoch of this daemon, for HELLO_ACK */
	/*
	 * in bytes, the second for links to tools; 0 = PEER_QUEUE_MAX_BYTES, TOOL_QUEUE_MAX_BYTES
	 */
	size_t queue_cap, tool_queue_cap;
	uint32_t version_min, version_max; /* 0 = the versions of this build */
	struct net_listener *
		/* accepted links: gets reports of peers to penalise; borrowed; NULL = none */
		listener;
	/* counts the bytes read, and delays reading; borrowed; NULL = none */
	struct meter *meter;
	struct link_handler handler;
};

/* Opens the channel of a dialled link: called once per attempt, from the loop. */
struct link_dialer {
	/*
	 * attempt counts from 0 since the link was last UP. Sets *out to a channel that opens with
	 * handler h, or returns an error.
	 */
	int (*dial)(void *arg, unsigned attempt, const struct chan_handler *h, struct chan **out,
		    struct err *e);
	void *arg;
};

/*
 * The loop makes the first attempt at once. hello (role, site, ...; versions are filled in) is
 * copied. NULL: no memory.
 */
struct link *link_dial(const struct link_conf *conf, const struct link_dialer *dialer,
		       const struct msg_hello *hello);

/* Replaces the contents of the next HELLO (a new node number, another address). -ERR_NOMEM. */
int link_set_hello(struct link *l, const struct msg_hello *hello);

/*
 * Consumes *take on success: a channel after its handshake. HELLO must arrive within HELLO_MAX_NS.
 * NULL: no memory.
 */
struct link *link_accept(const struct link_conf *conf, struct chan **take);

/* Ends the link with a BYE now; NULL is fine. See above. */
void link_close(struct link *l, const char *reason);

/*
 * Sends ERROR and closes an established connection; a dialled link reconnects. The loop calls
 * on_down.
 */
void link_fail(struct link *l, enum msg_error_code code, const char *text);

/*
 * Queues one message; m has its type and the member of the union. -ERR_CLOSED: not UP; -ERR_LIMIT:
 * the frame is too large; -ERR_AGAIN: the queue is at its cap, the message was not queued and is
 * counted as dropped; else as msg_put(). The caller decides what may be dropped.
 */
int link_send(struct link *l, const struct msg *m);

/* As link_send(), with encoded frames (one or many, whole): for fan-out. */
int link_send_frames(struct link *l, const uint8_t *p, size_t n);

/*
 * True if there is no room for a frame of reserve bytes under the cap: delay messages that can wait
 * until on_writable.
 */
bool link_is_congested(const struct link *l, size_t reserve);

void link_pause_reading(struct link *l, bool pause);

enum link_state link_state(const struct link *l);
enum link_peer link_peer(const struct link *l);

/* Returns the identity in the verified certificate; NULL: not connected, or no certificates. */
const struct identity *link_identity(const struct link *l);

/*
 * For on_down and on_gone: returns the fault of the peer, for one line in the log of an accepting
 * daemon. The peer broke a rule, lacked the right, or sent nothing. NULL: it only disconnected.
 */
const char *link_fault(const struct link *l);

/* Logs the fault, if any, as a warning of the module `net`. */
void link_log_fault(const struct link *l);

/* The caller's object of a link: for handlers shared by many links. */
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
	char peer[128]; /* its identity and address, escaped, for people */
	char last_error[ERR_TEXT_BYTES]; /* "" = none */
};

void link_stats(const struct link *l, struct link_stats *out);

/* Single numbers of link_stats(), without its texts: for callers with thousands of links. */
nsec_t link_rtt(const struct link *l); /* -1 = none measured */
size_t link_queued(const struct link *l);
uint64_t link_dropped(const struct link *l);

/* "up", "dialing", ... */
const char *link_state_name(enum link_state s);

/* Writes the state machine as a Graphviz digraph, for docs/. */
void link_print_dot(struct buf *b);

/* --- dialling over the network: the hosts of a connection string, in turn */

struct link_net;

/* Addresses and the expected peer; hosts and expect are copied (NULL site or host: any). */
struct link_net_conf {
	struct net_ctx *ctx; /* borrowed */
	const char (*host)[NAME_MAX_BYTES + 1];
	unsigned nhost; /* 1..CONNSTR_HOSTS_MAX */
	uint16_t port;
	const struct net_expect *expect;
};

/* NULL: no memory, or no host. */
struct link_net *link_net_new(const struct link_net_conf *c);

/* Dials the mainsm of a connection string, checked by its pin. -ERR_NOMEM. */
int link_net_to_mainsm(struct net_ctx *ctx, const struct connstr *conn, struct link_net **out);

/* Must be called after the links that dial with it were closed. */
void link_net_free(struct link_net *n);
struct link_dialer link_net_dialer(struct link_net *n);

#endif
