/* SPDX-License-Identifier: Apache-2.0 */
/* For the files of this room: the messages and communicators of the process. */
#ifndef LIBAPP_VERTEX_INTERNAL_H
#define LIBAPP_VERTEX_INTERNAL_H

#include "libapp/hot/args.h"
#include "libapp/match/comms.h"
#include "libapp/match/receives.h"
#include "libapp/vertex/vertex.h"

#pragma GCC visibility push(hidden)

#define MESSAGES_OWED 8 /* of a thread; further ones are lost */

struct messages {
	uint32_t busy; /* a thread is at work: only with MPI_THREAD_MULTIPLE */
	bool is_shared;
	struct match_sends sends;
	struct match_receives receives;
	struct match_comms comms;
	/* receives of a thread that has found the others at work: settled in its next call */
	struct message_owed {
		struct match_ticket ticket;
		struct match_pattern from;
		uint64_t ticks;
	} owed[SEG_THREADS_MAX][MESSAGES_OWED];
	unsigned nowed[SEG_THREADS_MAX];
	/* numbers of receives that another thread has settled; each thread takes its own */
	struct message_late {
		uint64_t ticks;
		int32_t source;
		unsigned thread;
		struct match_sent got;
	} late[MATCH_OPEN];
	unsigned nlate;
	struct match_table groups; /* calls that only a group makes, by its members */
};
extern struct messages messages;

/*
 * Only with MPI_THREAD_MULTIPLE do threads wait for each other, and only for a bounded number of
 * attempts. Returns false after them: a call is not seen, and ids are uncertain from then on.
 */
bool messages_enter(void);
/* The same, for a call that can be repeated later. */
bool messages_try(void);
void messages_leave(void);

/* --- channels.c */

/*
 * A message of one of the last channels needs no search, and no call of MPI. Not with
 * MPI_THREAD_MULTIPLE. As begin_short() and end_short() of struct args_message_ops.
 */
bool messages_begin_short(struct hook_args *a);
void messages_end_short(struct hook_args *a, int rc);
/* The call has begun the long way. The next one with its channel may be short. */
void messages_remember(const struct hook_args *a);

/* The call was a blocking send, and began at v->ticks. Writes its vertices. */
void messages_put_send(struct vertex_values *v, uint64_t now);

/* True for collective calls that are over when they return. */
bool meets_are_seen(const struct hook_args *a);
void meets_begin(struct hook_args *a);
/* If a->message has a role. */
void meets_end(const struct hook_args *a, int rc);

/* The call has made a communicator, or has failed. */
void groups_made(const struct hook_args *a, int rc);
/* The call will free one. */
void groups_free(const struct hook_args *a);

#pragma GCC visibility pop

#endif
