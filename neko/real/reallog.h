/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a real process stores until it has sent it: events, and delays of messages on request.
 * Lists of chunks of fixed length: nothing is ever copied to grow. The reader makes and touches
 * the chunks, so that writers have no page fault. A lock of the owner guards all but the list
 * that was taken.
 */
#ifndef NEKO_REAL_REALLOG_H
#define NEKO_REAL_REALLOG_H

#include "neko/core/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REALLOG_CHUNK_ENTRIES 1024 /* 48 KiB of events */
#define REALLOG_AHEAD 8 /* entries to be filled while a line of memory comes */
/* entries between two reads: a million a second */
#define REALLOG_SPARE_CHUNKS 64
/* a million entries, 48 MiB, of a process whose master does not read */
#define REALLOG_CHUNKS_MAX 1024

struct reallog_chunk {
	struct reallog_chunk *next;
	size_t n;
	union {
		struct neko_event event[REALLOG_CHUNK_ENTRIES];
		struct neko_delay delay[REALLOG_CHUNK_ENTRIES];
	};
};

/* Zero-initialise, then reallog_refill(). */
struct reallog {
	struct reallog_chunk *first, *last; /* owned */
	struct reallog_chunk *spare; /* owned */
	size_t nspare, held; /* held: chunks of the list, and taken ones that were not given back */
	bool has_lost;
};

void reallog_done(struct reallog *l);

/* With the lock: a new chunk at the end. False: there is none, has_lost. */
bool reallog_extend(struct reallog *l);

/* With the lock. NULL: no room, and has_lost says so from now on. */
static inline struct reallog_chunk *reallog_room(struct reallog *l)
{
	if ((!l->last || l->last->n == REALLOG_CHUNK_ENTRIES) && !reallog_extend(l))
		return NULL;
	return l->last;
}

static inline void reallog_event(struct reallog *l, const struct neko_event *v)
{
	struct reallog_chunk *c = reallog_room(l);

	if (!c)
		return;
	__builtin_prefetch(&c->event[c->n + REALLOG_AHEAD], 1); /* the list is longer than caches */
	c->event[c->n++] = *v;
}

/* With the lock: all that is there, for the caller to give back. */
struct reallog_chunk *reallog_take(struct reallog *l);

/* Without the lock: this many new chunks, touched; NULL at the end of memory. */
struct reallog_chunk *reallog_make(size_t n);

/* With the lock: how many are wanted, and here they are. */
size_t reallog_wants(const struct reallog *l);
void reallog_refill(struct reallog *l, struct reallog_chunk *made);

/* With the lock: one that was taken is sent. */
void reallog_give_back(struct reallog *l, struct reallog_chunk *c);

#endif
