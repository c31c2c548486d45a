/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorders write what one thread does: it sends a message, waits, receives, meets others in a
 * collective call, enters a region. This room makes interaction networks of it: it knows both ends
 * of a message by its id, and decides which side of a join waited.
 *
 * The side of a message. A thread that began to wait before the message was sent waits for it: a
 * B-arc of the thread. A message that was sent before waits for the busy thread: a B-arc of the
 * message, from its send on. Of the receives of one call, the message that was sent last is the one
 * that the thread waited for. Source: Ashton and Penny, TR COSC 01/91, sections 3.2 and 7.2, with
 * the rules of docs/interactions.md.
 *
 * A send that returned late waited for its receiver, if that one began to wait for the message
 * meanwhile. The begin of that wait is the go-ahead of the sender: a message of its own.
 *
 * An interaction begins in one of three ways:
 *
 *	all       one for each job: everything that its threads do
 *	step      one for each step: all threads that meet a probe with the same number
 *	request   one for each time that a thread meets a probe, or calls the API; its messages
 *		  carry it to other threads, which work for it until they get a message of another
 *		  one
 *
 * Processes. A process that another one starts works for the same interaction from its begin on: a
 * fork by thread. Its sub-task joins that of the process that waits for its end. The begin of a
 * thread precedes all its other events.
 *
 * Streams. A write is a message. It ends at the read that gets its last byte. So one read may end
 * several messages, and one message may need several reads.
 */
#ifndef INTERACTION_WEAVE_NETWEAVE_H
#define INTERACTION_WEAVE_NETWEAVE_H

#include "common/base/limits.h"
#include "interaction/network.h"

/* An end waits so long, in the time of the log, for the other one: clocks of hosts differ less. */
#define NETWEAVE_GRACE_NS (10 * NSEC_PER_SEC)
/* Messages sent and not received, some 100 bytes each. */
#define NETWEAVE_MESSAGES_MAX (16u << 20)
#define NETWEAVE_THREADS_MAX (1u << 20)
#define NETWEAVE_STREAMS_MAX (1u << 22) /* pipes and sockets of a day of shell scripts */
#define NETWEAVE_QUEUE_MAX (1u << 22) /* events of a thread that is behind others */
#define NETWEAVE_REGIONS_MAX 32 /* open at once in a thread; further ones are left out */
#define NETWEAVE_LABEL_BYTES 32

enum netweave_mode { NETWEAVE_ALL, NETWEAVE_STEP, NETWEAVE_REQUEST };

enum netweave_kind {
	NETWEAVE_SEND, /* message `id` leaves */
	NETWEAVE_SENT, /* the thread's last event was the send of `id`, which has returned late */
	NETWEAVE_WAIT, /* a call begins to wait */
	NETWEAVE_RECEIVE, /* message `id` is in */
	NETWEAVE_WRITE, /* bytes of stream `id` up to `other` leave: a message */
	NETWEAVE_READ, /* bytes of stream `id` up to `other` are in: it ends messages */
	NETWEAVE_SPAWN, /* thread `other` begins */
	NETWEAVE_EXEC, /* the thread goes on with another program: its label */
	NETWEAVE_EXIT, /* the thread ends */
	NETWEAVE_REAP, /* the thread has learnt that thread `other` has ended */
	NETWEAVE_MEET, /* collective call `id` ends; it began at the last wait */
	NETWEAVE_REGION, /* begins or ends */
	NETWEAVE_BEGIN, /* of a step or request */
	NETWEAVE_END,
	NETWEAVE_VERTEX, /* written by the program; the caller passes it on itself */
	NETWEAVE_OTHER, /* shows that the thread is there */
};

enum netweave_role {
	NETWEAVE_GIVES = 1, /* others of the collective call depend on it */
	NETWEAVE_TAKES = 2, /* it depends on others */
};

struct netweave_thread {
	uint64_t key; /* of host, process and thread */
	uint32_t node;
	char label[NETWEAVE_LABEL_BYTES]; /* an object: "rank2" */
	const char *job; /* "" */
};

/* Borrowed for the call. */
struct netweave_event {
	enum netweave_kind kind;
	int64_t t;
	uint64_t id; /* vertex: its sub-task; begin: the number of the step, if has_number */
	uint64_t other; /* vertex: of a fork or join; streams, threads: as above */
	enum network_kind vertex;
	int32_t ranks, roles; /* of a collective call */
	bool is_uncertain, has_number;
	bool is_unsent; /* read: nothing that is recorded has written the bytes */
	bool is_end; /* of a region */
	const char *name; /* region, step: of n bytes */
	size_t n;
};

struct netweave_report {
	uint64_t sends, receives, meets;
	uint64_t unsent; /* receives whose send is not in the log */
	uint64_t unreceived; /* sends whose receive is not in the log */
	uint64_t uncertain; /* receives and collective calls */
	uint64_t outside; /* reads of bytes that nothing recorded has written */
	uint64_t unseen; /* processes that have ended without a record of it */
	uint64_t partial; /* collective calls without all of their ranks */
};

struct netweave;

/* Takes a vertex; name: of the interaction, at its source. Errors end the work. */
typedef int (*netweave_fn)(void *arg, const struct network_event *ev, const char *name,
			   struct err *e);

/* NULL: no memory. */
struct netweave *netweave_new(struct netuse *use, enum netweave_mode mode, netweave_fn fn,
			      void *arg);
void netweave_free(struct netweave *w);

/* In the order of times. ERR_INVALID, ERR_LIMIT, ERR_NOMEM, or what fn returned. */
int netweave_add(struct netweave *w, const struct netweave_thread *thread,
		 const struct netweave_event *ev, struct err *e);

/* Ends what is open. */
int netweave_end(struct netweave *w, struct err *e);

const struct netweave_report *netweave_report(const struct netweave *w);

#endif
