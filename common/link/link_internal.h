/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members and functions that the files of a link share. link.c owns the state; no other file sets
 * it.
 */
#ifndef COMMON_LINK_LINK_INTERNAL_H
#define COMMON_LINK_LINK_INTERNAL_H

#include "common/link/link.h"
#include "common/loop/loop.h"
#include "common/net/chan.h"

enum link_event {
	LINK_EV_DIAL, /* it is time for an attempt */
	LINK_EV_OPEN, /* the channel is open */
	LINK_EV_WELCOME, /* HELLO_ACK has arrived, or HELLO was accepted */
	LINK_EV_LOST, /* the channel is closed, or must not be used; l->why has the reason */
	LINK_EV_CLOSE, /* the owner closes the link, or an accepted link ends */
	LINK_NEVENTS
};

#define LINK_EVENTS_MAX 8 /* events that wait at one time: an action posts at most one */

struct link {
	struct link_conf conf;
	struct link_dialer dialer; /* dial is NULL for an accepted link */
	struct buf hello; /* for a dialled link: the HELLO frame */
	struct buf out; /* for encoding in link_send() */
	void *user;

	enum link_state state;
	enum link_peer peer;
	enum link_event event[LINK_EVENTS_MAX];
	unsigned nevent;
	bool is_closed; /* the owner has closed it: no further callback */
	bool is_failing; /* ERROR was sent; no I/O until the channel is closed */
	bool is_slow; /* refused for a reason that will not pass soon: retry late */
	unsigned attempt;

	struct list in_meter; /* entry of conf.meter, while UP */
	struct chan *chan; /* owned; NULL if DOWN */
	struct loop_timer *timer; /* its purpose depends on the state: see link_on_timer() */
	struct loop_job job, reap;
	nsec_t due; /* when the timer should fire */
	nsec_t last_in; /* last sign of the peer without a frame: see link_last_sign() */
	nsec_t last_out; /* time of the last frame sent */
	nsec_t unread_since; /* we do not read; 0 = we do */
	unsigned roots; /* roots of the time base at the last check */
	nsec_t stated_error; /* error of our time in the last pong; 0 = unchanged */
	nsec_t up_at, asked_at;
	uint64_t ping_seq;
	nsec_t ping_sent; /* time at which ping_seq was sent; 0 = answered */
	const struct msg_hello_ack *ack; /* only while on_up is called */
	struct err why; /* reason of the next LOST */
	struct link_stats stats;
};

/* Called from callbacks of the loop: queues the event, and processes the queue. */
void link_apply(struct link *l, enum link_event ev);

/* Like link_apply() of LINK_EV_LOST, with a reason; the first reason is kept. */
void link_lose(struct link *l, const struct err *why);

/* Sends ERROR and ends the link. */
void link_refuse(struct link *l, enum msg_error_code code, const struct err *why);
/* Called when the peer has broken the rules of the protocol. */
void link_violated(struct link *l, enum msg_error_code code, const struct err *why);

void link_arm(struct link *l, nsec_t after);

/* Sends one message in any state. Fails like link_send(). */
int link_send_now(struct link *l, const struct msg *m);

/* link_in.c: handles the events of a channel. */
void link_on_frame(void *arg, struct chan *c, uint8_t type, const uint8_t *p, size_t n);

/* link_heartbeat.c: heartbeats of a link that is UP. */
void link_heartbeat_start(struct link *l);
void link_heartbeat(struct link *l);
/* Returns the time of the peer's last sign of life. */
nsec_t link_last_sign(const struct link *l);
/* Called when reading was paused or resumed, because a pause is not silence of the peer. */
void link_heartbeat_unread(struct link *l, bool is_unread);
void link_got_ping(struct link *l, const struct msg_ping *ping);
void link_got_pong(struct link *l, const struct msg_pong *pong);

#endif
