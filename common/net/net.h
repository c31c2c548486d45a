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

/* Zero means the default everywhere. */
struct net_conf {
	const struct pki_creds
		*creds; /* copied. NULL: can only net_dial_enrol() until net_ctx_reload() */
	nsec_t check_period; /* interval at which live links are checked; REVOKE_CHECK_NS */
	nsec_t (*wall_now)(void *arg); /* clock for validity checks; clock_wall() */
	void *wall_arg;
};

/*
 * ERR_INVALID, ERR_TIMEOUT (our certificate has expired), ERR_PARSE, ERR_NOMEM: as
 * pki_creds_check().
 */
int net_ctx_open(struct loop *l, const struct net_conf *conf, struct net_ctx **out, struct err *e);

/* Listeners and channels must be closed before; their memory may wait for the end of the turn. */
void net_ctx_free(struct net_ctx *ctx);

/* Uses new credentials for the next handshakes; live links stay. On failure nothing changed. */
int net_ctx_reload(struct net_ctx *ctx, const struct pki_creds *creds, struct err *e);

/* Returns our own identity; NULL without credentials. */
const struct identity *net_ctx_self(const struct net_ctx *ctx);

/*
 * Returns the pin of the authority of our identity; "" without credentials. Valid until
 * net_ctx_reload().
 */
const char *net_ctx_pin(const struct net_ctx *ctx);

/*
 * Adds serials to the revoked ones: refused from now on. Live links are closed at the next check
 * (<= check_period), or at once by net_ctx_check(). -ERR_NOMEM.
 */
int net_ctx_revoke(struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES]);
bool net_ctx_is_revoked(const struct net_ctx *ctx, const uint8_t serial[SERIAL_BYTES]);

/*
 * Closes the links of peers that are expired or revoked: their owners get CHAN_CLOSED (ERR_DENIED).
 */
void net_ctx_check(struct net_ctx *ctx);

/* --- dialling */

/* The expected peer; borrowed for the call. NULL: any. */
struct net_expect {
	unsigned roles; /* set of ROLE_BIT(); 0 admits no peer */
	const char *site, *host;
	const char *pin; /* of our own CA, or the connection string is for another monitor */
};

struct net_target {
	const char *host; /* a name or an address, IPv6 with or without [] */
	uint16_t port;
	const struct net_expect *expect;
	/*
	 * Shows no certificate, for frames of enrolment only: to the mainsm whose CA has the pin of
	 * `expect`.
	 */
	bool enrols;
};

/*
 * Names are looked up outside the loop. The result is CHAN_OPEN or CHAN_CLOSED, never from within
 * the call, at the latest after HANDSHAKE_MAX_NS. ERR_DENIED (pin), ERR_INVALID (no credentials,
 * host), ERR_NOMEM, ERR_SYS.
 */
int net_dial(struct net_ctx *ctx, const struct net_target *to, const struct chan_handler *h,
	     struct chan **out, struct err *e);

/* --- listening */

struct net_accept {
	/*
	 * An open channel of a verified peer (chan_peer()) or of one that enrols (chan_is_enrol()).
	 * The callee owns it and sets a handler or closes it.
	 */
	void (*on_accept)(void *arg, struct chan *c);
	/* A peer was refused. May be NULL. `remote` as chan_remote(). */
	void (*on_refused)(void *arg, const char *remote, const struct err *why);
	void *arg;
};

struct net_listen_conf {
	const char *addr; /* numeric; NULL: 127.0.0.1 */
	uint16_t port; /* 0: the system chooses */
	unsigned roles; /* of the peers that are admitted; set of ROLE_BIT() */
	uint8_t enrol_type; /* the only frame that an enrolling peer may send; 0: no enrolling */
	unsigned half_open_max, per_source_max; /* HALF_OPEN_MAX, HALF_OPEN_PER_SOURCE_MAX */
	/*
	 * Count and punish 127.0.0.0/8 and ::1 like any source. Off by default:
	 * there all peers have the same address, and one bad peer would lock out
	 * the rest.
	 */
	bool strict_loopback;
};

struct net_listener_stats {
	uint64_t accepted, refused, over_limit, penalised; /* refused: failed handshakes */
	uint64_t fd_exhausted; /* times that the process had no descriptor left */
	unsigned half_open;
};

/*
 * Converts a value of `listen` to a numeric address of this host. An address stays unchanged; a
 * name is the first of its addresses that is ours. "auto" is all addresses, if others can reach one
 * of them. The same is true of this host's name if it is a loopback address. Blocks until a name is
 * looked up. ERR_INVALID: it is not of this host. ERR_SYS.
 */
#define NET_ADDR_BYTES 64
int net_own_address(const char *address, char out[NET_ADDR_BYTES], struct err *e);
bool net_is_numeric(const char *address);

/*
 * Checks that the port of `listen` can be bound now; it is free again afterwards. 0: any port,
 * fine. ERR_INVALID, as above; ERR_EXISTS: it is in use; ERR_SYS.
 */
int net_check_port(const char *address, uint16_t port, struct err *e);

/* ERR_SYS (address in use, ...: the text names address and remedy), ERR_INVALID, ERR_NOMEM. */
int net_listen(struct net_ctx *ctx, const struct net_listen_conf *conf, const struct net_accept *a,
	       struct net_listener **out, struct err *e);

/* Returns the actual port. */
uint16_t net_listener_port(const struct net_listener *l);
void net_listener_get_stats(const struct net_listener *l, struct net_listener_stats *out);

/*
 * Accepts no more peers; handshakes in progress end; channels given to the owner stay. No callback
 * follows. NULL is fine.
 */
void net_listener_close(struct net_listener *l);

/* A source sent input that seems made to crash a decoder: it is refused for PENALTY_CRASH_NS. */
void net_listener_penalise(struct net_listener *l, const struct chan *c);

#endif
