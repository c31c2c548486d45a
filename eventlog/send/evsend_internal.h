/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that sends, and its two ways. */
#ifndef EVENTLOG_SEND_EVSEND_INTERNAL_H
#define EVENTLOG_SEND_EVSEND_INTERNAL_H

#include "common/base/buf.h"
#include "common/inproc/inproc.h"
#include "eventlog/send/evsend.h"
#include "eventlog/send/evsend_hello.h"
#include "eventlog/send/sendring.h"

struct evsend_way {
	size_t block_bytes;
	/* Events of poll(2) that the socket waits for. */
	short (*wants)(const struct evsend *s);
	/* Does what can be done without waiting, except that it may look up the host. */
	void (*turn)(struct evsend *s, short ready);
};

enum evsend_end { END_NONE, END_ASKED, END_OVER, END_LEFT };

struct evsend {
	struct evurl to;
	const struct evsend_way *way;
	struct sendring ring;
	int bell; /* an eventfd: there are new blocks, or the end */
	/* END_OVER: the thread is over; END_LEFT: the owner is, and the thread frees */
	_Atomic int end;
	_Atomic nsec_t until; /* of END_ASKED: the last moment */
	/* the rest is of the thread */
	int fd; /* -1: none */
	bool is_connected, is_greeted;
	uint64_t base, sent; /* places where the connection began, and up to which it was sent */
	size_t hello; /* bytes of the hello that are sent */
	nsec_t deadline; /* of a connection that is not greeted yet */
	nsec_t retry_at, pause;
	unsigned tries; /* an address each time */
	uint8_t ack[EVSEND_ACK_BYTES];
	size_t nack;
	int words; /* of the tunnel: its reason for an end; -1: none */
	struct buf texts; /* of syslog: messages of the current block, each behind its length */
	size_t texts_at;
	/* under lock */
	struct inproc_lock lock;
	char why[EVSEND_WHY_BYTES];
};

extern const struct evsend_way evsend_tcp, evsend_udp, evsend_syslog;

/* A socket of this kind, connected or connecting, to one of the host's addresses. -1 with errno. */
int evsend_socket(struct evsend *s, int type);

/* A stream to a new tunnel to the host. -1 with errno. */
int evsend_tunnel(struct evsend *s);

/* Keeps the reason that the tunnel has given, and forgets it. */
void evsend_tunnel_ended(struct evsend *s);

/* Closes the connection. The next one is made after a pause that grows. */
void evsend_drop(struct evsend *s);

#endif
