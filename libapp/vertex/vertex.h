/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices of interaction networks (Ashton and Penny, TR COSC 01/91) that a rank writes for its
 * messages. They are events, and go the way of all events: a subscription to their names switches
 * them on, and a ring without room counts them as lost.
 *
 *	interaction.send     sub-task `new` begins, which is the message: a fork
 *	interaction.sent     the send of `message` has returned late: it may have waited for the
 *			     receiver
 *	interaction.wait     a call begins to wait for receives: the B-arc of the thread begins
 *	interaction.receive  sub-task `with` ends in the thread: a join, or the begin of its work
 *	interaction.meet     collective call `call` of so many `ranks` ends; it began at the wait.
 *			     role: enum vertex_role
 *
 * `uncertain` is 1 if another message may have the id. Numbers of messages count from MPI_Init on,
 * so the process must be started with +messages in OMIG_START.
 */
#ifndef LIBAPP_VERTEX_VERTEX_H
#define LIBAPP_VERTEX_VERTEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum vertex { VERTEX_SEND, VERTEX_SENT, VERTEX_WAIT, VERTEX_RECEIVE, VERTEX_MEET, VERTEX_KINDS };

/* Of a rank in a collective call; bits. */
enum vertex_role {
	VERTEX_GIVES = 1, /* others depend on it */
	VERTEX_TAKES = 2, /* it depends on others */
	VERTEX_UNCERTAIN = 4, /* not on all others, or the id may be that of another call */
};

/*
 * Begins to number messages, if OMIG_START requests it. Called in MPI_Init, behind identity_fill()
 * and comm_open(). announce: that of struct event_link.
 */
void vertex_open(int (*announce)(const void *definition, size_t n));

/* Calls were not seen: ids of this process are uncertain from now on. Any thread, signal-safe. */
void vertex_miss(void);

/* --- for this room */

#define VERTEX_DEFINITION_BYTES 128
/* Writes the definition of a type as event logs have it. Returns its bytes. */
unsigned vertex_define(enum vertex v, uint8_t out[VERTEX_DEFINITION_BYTES]);

/* By kind: its number among the events of the segment; -1: there was no room. */
extern int vertex_number[VERTEX_KINDS];

struct vertex_values {
	uint64_t ticks; /* 0: it was off when it began. The vertex is lost. */
	uint64_t task; /* 0: not known. The vertex is lost. */
	int32_t partner; /* world rank; of a collective call the number of its ranks */
	int32_t last; /* 1: uncertain; of a collective call its enum vertex_role */
};

/* Writes one to the ring of this thread, if its type is on. Returns false if it is not written. */
bool vertex_put(enum vertex v, const struct vertex_values *values);
void vertex_lose(enum vertex v);

/* Returns the time if one of two types is on, else 0. */
uint64_t vertex_time(enum vertex a, enum vertex b);

#pragma GCC visibility pop

#endif
