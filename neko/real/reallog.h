/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data of a real process that wait to be sent: events, and delays of messages on request. They are
 * lists of chunks of fixed length, which never grow by copying. The reader allocates and touches
 * the chunks, so that writers have no page fault. The owner's lock protects everything except a
 * taken list.
 */
#ifndef NEKO_REAL_REALLOG_H
#define NEKO_REAL_REALLOG_H

#include "neko/core/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REALLOG_CHUNK_ENTRIES 1024 /* 64 KiB of events */
/* entries to prefetch: as many as are written while a cache line is loaded */
#define REALLOG_AHEAD 8
/* chunks for the entries between two reads, at a million entries per second */
#define REALLOG_SPARE_CHUNKS 64
/* a million entries, with 64 MiB and 64 MiB of bytes, for a process whose master does not read */
#define REALLOG_CHUNKS_MAX 1024
#define REALLOG_BYTES_MAX ((size_t)64 << 20) /* bytes of waiting events */

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
	size_t bytes; /* bytes of waiting events */
	/* held: chunks of the list, and taken chunks that were not returned yet */
	size_t nspare, held;
	bool has_lost;
};

void reallog_done(struct reallog *l);

/*
 * Called with the lock: adds a chunk at the end. Returns false, and sets has_lost, if there is no
 * spare one.
 */
bool reallog_extend(struct reallog *l);

/* Called with the lock. Returns NULL if there is no room, and sets has_lost. */
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
	/* the list does not fit into caches */
	__builtin_prefetch(&c->event[c->n + REALLOG_AHEAD], 1);
	c->event[c->n++] = *v;
}

/* Called with the lock: an event with a copy of its bytes, which the reader frees. */
void reallog_event_bytes(struct reallog *l, const struct neko_event *v);

/* Called with the lock: takes the whole list. The caller must return it. */
struct reallog_chunk *reallog_take(struct reallog *l);

/*
 * Called without the lock: returns this many new chunks with allocated pages; NULL without memory.
 */
struct reallog_chunk *reallog_make(size_t n);

/*
 * Called with the lock. reallog_wants() returns the number of chunks needed; reallog_refill() adds
 * new ones.
 */
size_t reallog_wants(const struct reallog *l);
void reallog_refill(struct reallog *l, struct reallog_chunk *made);

/* Called with the lock: gives a taken chunk back after it was sent. */
void reallog_give_back(struct reallog *l, struct reallog_chunk *c);

#endif
