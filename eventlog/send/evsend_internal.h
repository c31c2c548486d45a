/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that sends, and its kinds of destinations. */
#ifndef EVENTLOG_SEND_EVSEND_INTERNAL_H
#define EVENTLOG_SEND_EVSEND_INTERNAL_H

#include "common/base/buf.h"
#include "common/inproc/inproc.h"
#include "eventlog/send/evsend.h"
#include "eventlog/send/evsend_hello.h"
#include "eventlog/send/sendring.h"

struct evsend_way {
	size_t block_bytes;
	/* Returns the events of poll(2) that the socket waits for. */
	short (*wants)(const struct evsend *s);
	/* Does all work that is possible without waiting, except that it may look up the host. */
	void (*turn)(struct evsend *s, short ready);
};

enum evsend_end { END_NONE, END_ASKED, END_OVER, END_LEFT };

struct evsend {
	struct evurl to;
	const struct evsend_way *way;
	struct sendring ring;
	int bell; /* an eventfd: there are new blocks, or the sender ends */
	/* END_OVER: the thread has ended. END_LEFT: the owner has left, and the thread frees s */
	_Atomic int end;
	_Atomic nsec_t until; /* for END_ASKED: time at which the thread must end */
	/* the thread alone uses the members from here to `lock` */
	int fd; /* -1: no connection */
	bool is_connected, is_greeted;
	/* positions in the ring: begin of the connection, and end of the sent bytes */
	uint64_t base, sent;
	size_t hello; /* number of hello bytes that were sent */
	nsec_t deadline; /* time by which the receiver must identify itself */
	nsec_t retry_at, pause;
	unsigned tries; /* selects an address of the host */
	uint8_t ack[EVSEND_ACK_BYTES];
	size_t nack;
	int words; /* for TLS: stream with the tunnel's reason for its end; -1: none */
	/* for syslog: messages of the current block, each with its length in front */
	struct buf texts;
	size_t texts_at;
	/* `lock` protects `why` */
	struct inproc_lock lock;
	char why[EVSEND_WHY_BYTES];
};

extern const struct evsend_way evsend_tcp, evsend_udp, evsend_syslog;

/*
 * Makes a socket of this kind, connected or connecting to one of the host's addresses. Returns -1
 * with errno.
 */
int evsend_socket(struct evsend *s, int type);

/* Starts a tunnel to the host, and returns a stream to it. Returns -1 with errno. */
int evsend_tunnel(struct evsend *s);

/* Stores the reason that the tunnel has given, and closes its stream. */
void evsend_tunnel_ended(struct evsend *s);

/* Closes the connection. The next one is made after a pause, which grows. */
void evsend_drop(struct evsend *s);

#endif
