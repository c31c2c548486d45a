/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of an lm or a stacked sm for its parent. It asks mainsm for the sm of this site. That
 * sm accepts the daemon, or redirects it to an sm below. The sm that accepts the daemon is its
 * parent, and names other parents to try later. These are tried in turn, the nearest one first, and
 * then mainsm. If mainsm names no sm, it is itself the parent of an lm. A named address is not
 * trusted: the daemon there must show a certificate of mainsm's authority for an sm of this site.
 */
#ifndef COMMON_MEMBER_PARENT_H
#define COMMON_MEMBER_PARENT_H

#include "common/base/rng.h"
#include "common/link/connstr.h"
#include "common/link/link.h"

/* attempts to reach an sm, during about a second, before mainsm is asked again */
#define PARENT_SITE_RETRIES_MAX 3
/* parents to try, which are the ancestors: few in a flat tree */
#define PARENT_WAYS_MAX 4
#define PARENT_HOPS_MAX 8 /* redirections in sequence; more would be a circle of sms */
#define PARENT_ADDRESS_BYTES 1025 /* addresses of one daemon: host:port, separated by commas */
/*
 * Added to `attach` for each new search. It is 4 ms of the clock of epochs, and searches are less
 * frequent. The lower bits count moves of sms: an sm adds PARENT_SM_MOVE when its own hosts move
 * with it, and 1 when the hosts of its sms do. So a later move of a daemon nearer to the host has a
 * higher number, whatever moves happen above it.
 */
#define PARENT_MOVE (1 << 22)
#define PARENT_SM_MOVE (1 << 11)
/* interval if mainsm sends "wait" without one */
#define PARENT_ASK_DEFAULT_NS (500 * NSEC_PER_MSEC)
#define PARENT_ASK_MAX_NS (10 * NSEC_PER_SEC)

struct net_ctx;
struct parent;

struct parent_conf {
	struct loop *loop;
	struct rng *rng;
	struct timebase *timebase;
	struct net_ctx *ctx; /* context with the daemon's certificate; all are borrowed */
	const struct connstr *conn; /* copied */
	const char *host; /* host in the daemon's certificate; copied */
	uint64_t epoch;
	uint32_t node; /* the last number of this node; 0 = none */
	bool is_sm; /* role: sm, else lm */
	const char *listen; /* for an sm: the address for its branches; copied; NULL = "" */
	/* for an sm: the first parent to try; copied; NULL = requested from mainsm */
	const char *stated;
	const char *software; /* for HELLO; copied */
	/*
	 * A parent has accepted this daemon, and the node has a number. is_other: the mainsm is
	 * another one than before.
	 */
	void (*on_up)(void *arg, uint32_t node, bool is_other);
	void (*on_down)(void *arg, const struct err *why);
	void (*on_msg)(void *arg, const struct msg *m);
	/* The parent's queue has room again. */
	void (*on_writable)(void *arg);
	/* An attempt has failed, for the log. */
	void (*on_trouble)(void *arg, const struct err *why, nsec_t retry_in);
	void *arg;
};

/* Dials from the loop. Returns NULL without memory. */
struct parent *parent_new(const struct parent_conf *c);
void parent_free(struct parent *u);

/* Sends BYE on all links, and stops dialling. Queued frames are sent afterwards. */
void parent_close(struct parent *u, const char *reason);

/* Sends to the parent like link_send(). */
int parent_send(struct parent *u, const struct msg *m);
int parent_send_frames(struct parent *u, const uint8_t *p, size_t n);
struct net_ctx *parent_ctx(const struct parent *u);

/*
 * Sends a copy of *m to mainsm as soon as possible, on a separate link. on_msg() gets the answer.
 * Fails with ERR_NOMEM.
 */
int parent_ask_mainsm(struct parent *u, const struct msg *m);

/* Returns the link to the parent; NULL if there is none now. */
struct link *parent_current_link(const struct parent *u);

/*
 * Return the number of this site, and the number of daemons above this one, from the last parent.
 */
uint32_t parent_site_number(const struct parent *u);
uint32_t parent_level(const struct parent *u);

/*
 * Returns the parents that branches try when this daemon is lost: its own parent, and the
 * alternatives of that parent. "": only mainsm.
 */
const char *parent_ways(const struct parent *u);

/*
 * Returns the statistics of the parent's link, or of the daemon that is being dialled. Returns
 * false if there is none.
 */
bool parent_stats(const struct parent *u, struct link_stats *out);
const char *parent_kind(const struct parent *u); /* returns "sm", "mainsm", "none" */

/*
 * True if the parent's process differs from that of the previous parent, whose state may be lost.
 */
bool parent_is_another(const struct parent *u);

#endif
