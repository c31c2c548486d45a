/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making channels: dialling and listening, with TLS 1.3 and certificates on
 * both sides. A context holds one identity, the set of revoked peers, and
 * all its channels. mem.h makes contexts of the same type without a network.
 */
#ifndef COMMON_NET_NET_H
#define COMMON_NET_NET_H

#include "common/base/clock.h"
#include "common/base/err.h"
#include "common/loop/loop.h"
#include "common/net/chan.h"
#include "common/net/identity.h"
#include "common/net/pki.h"

#include <stdbool.h>
#include <stdint.h>

struct net_ctx;
struct net_listener;

/* Zeros mean the default for each member. */
struct net_conf {
	const struct pki_creds
		/* copied; NULL: the context can only use net_dial_enrol() until net_ctx_reload() */
		*creds;
	nsec_t check_period; /* interval of the checks of live links; default REVOKE_CHECK_NS */
	nsec_t (*wall_now)(void *arg); /* clock for validity checks; default clock_wall() */
	void *wall_arg;
};

/*
 * Fails with ERR_NOMEM, and like pki_creds_check() with ERR_INVALID, ERR_PARSE, and ERR_TIMEOUT if
 * our certificate has expired.
 */
int net_ctx_open(struct loop *l, const struct net_conf *conf, struct net_ctx **out, struct err *e);

/*
 * Listeners and channels must be closed before; their memory may be freed later, at the end of the
 * turn.
 */
void net_ctx_free(struct net_ctx *ctx);

/* Uses new credentials for the next handshakes; live links stay. On failure nothing changes. */
int net_ctx_reload(struct net_ctx *ctx, const struct pki_creds *creds, struct err *e);

/* Returns our own identity; NULL without credentials. */
const struct identity *net_ctx_self(const struct net_ctx *ctx);

/*
 * Returns the pin of the authority of our identity; "" without credentials. Valid until
 * net_ctx_reload().
 */
const char *net_ctx_pin(const struct net_ctx *ctx);

/*
 * Adds a revoked serial, which is refused from now on. Live links are closed at the next check (<=
 * check_period), or at once by net_ctx_check(). Fails with ERR_NOMEM.
 */
int net_ctx_revoke(struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES]);
bool net_ctx_is_revoked(const struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES]);

/*
 * Closes the links of peers that are expired or revoked. Their owners get CHAN_CLOSED (ERR_DENIED).
 */
void net_ctx_check(struct net_ctx *ctx);

/* --- dialling */

/* The expected peer; borrowed for the call. NULL: any. */
struct net_expect {
	unsigned roles; /* set of ROLE_BIT(); 0 admits no peer */
	const char *site, *host;
	/* pin of our own CA; otherwise the connection string is for another monitor */
	const char *pin;
};

struct net_target {
	const char *host; /* a name or an address, IPv6 with or without [] */
	uint16_t port;
	const struct net_expect *expect;
	/*
	 * Sends no certificate, for enrolment only: to the mainsm whose CA has the pin of `expect`.
	 */
	bool enrols;
};

/*
 * Names are looked up outside the loop. The result is CHAN_OPEN or CHAN_CLOSED, which comes later
 * from the loop, at the latest after HANDSHAKE_MAX_NS. Fails with ERR_DENIED for the pin,
 * ERR_INVALID for the host or without credentials, ERR_NOMEM, ERR_SYS.
 */
int net_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
	     struct chan **out, struct err *e);

/* --- listening */

struct net_accept {
	/*
	 * Called with an open channel of a verified peer (chan_peer()), or of one that enrols
	 * (chan_is_enrol()). The callee owns the channel, and sets a handler or closes it.
	 */
	void (*on_accept)(void *arg, struct chan *c);
	/* Called when a peer was refused. May be NULL. `remote` is as in chan_remote(). */
	void (*on_refused)(void *arg, const char *remote, const struct err *why);
	void *arg;
};

struct net_listen_conf {
	const char *addr; /* numeric; NULL: 127.0.0.1 */
	uint16_t port; /* 0: the system chooses */
	unsigned roles; /* roles of peers that are admitted; set of ROLE_BIT() */
	uint8_t enrol_type; /* the only frame that an enrolling peer may send; 0: no enrolment */
	/* defaults: HALF_OPEN_MAX, HALF_OPEN_PER_SOURCE_MAX */
	unsigned half_open_max, per_source_max;
	/*
	 * Count and penalise 127.0.0.0/8 and ::1 like any source. Off by default, because there all
	 * peers have the same address, and one bad peer would lock out the others.
	 */
	bool strict_loopback;
};

struct net_listener_stats {
	uint64_t accepted, refused, over_limit, penalised; /* refused: failed handshakes */
	uint64_t fd_exhausted; /* how often the process had no descriptor left */
	unsigned half_open;
};

/*
 * Converts a value of `listen` to a numeric address of this host. An address stays unchanged. A
 * name becomes the first of its addresses that belongs to this host. "auto" becomes all addresses,
 * if other hosts can reach one of them; so does this host's name if it is a loopback address.
 * Blocks until a name is looked up. Fails with ERR_INVALID if the address belongs to another host,
 * and with ERR_SYS.
 */
#define NET_ADDR_BYTES 64
int net_own_address(const char *address, char out[NET_ADDR_BYTES], struct err *e);
bool net_is_numeric(const char *address);

/*
 * Checks that the port of `listen` can be bound now, and frees it again. Port 0, any port, is
 * accepted. Fails with ERR_INVALID as above, ERR_EXISTS if the port is in use, and ERR_SYS.
 */
int net_check_port(const char *address, uint16_t port, struct err *e);

/*
 * Fails with ERR_SYS, for example for an address in use: the text has address and remedy. Fails
 * with ERR_INVALID, ERR_NOMEM.
 */
int net_listen(struct net_ctx *ctx, const struct net_listen_conf *conf, const struct net_accept *a,
	       struct net_listener **out, struct err *e);

/* Returns the actual port. */
uint16_t net_listener_port(const struct net_listener *l);
void net_listener_get_stats(const struct net_listener *l, struct net_listener_stats *out);

/*
 * Stops accepting peers and ends handshakes in progress. Channels of the owner stay. No callback
 * follows. NULL is accepted.
 */
void net_listener_close(struct net_listener *l);

/* Refuses a source for PENALTY_CRASH_NS, because its input seems made to crash a decoder. */
void net_listener_penalise(struct net_listener *l, const struct chan *c);

#endif
