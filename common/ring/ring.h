/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event ring of one thread: one writer (the thread), one reader (the lm),
 * no lock, no wait. A record that does not fit is dropped and counted. Both
 * positions count bytes for ever; a record never crosses the ring's end, a
 * RING_PAD record fills what is left there.
 */
#ifndef COMMON_RING_RING_H
#define COMMON_RING_RING_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

enum ring_type {
	RING_PAD, /* skip */
	RING_CALL, /* struct ring_call */
	RING_PROBE, /* struct ring_probe */
	RING_EVENT, /* struct ring_event */
};

#define RING_PAR_MAX 32 /* parameters of a record */
#define RING_RECORD_MAX_BYTES (24 + RING_PAR_MAX * 8)
#define RING_EVENT_MAX_BYTES 8192 /* with a string of 4 KiB; a quarter of a ring */

/* First word of each record: bytes (a multiple of 8, the word included) and type. */
#define RING_WORD(bytes, type) ((uint64_t)(uint32_t)(bytes) | (uint64_t)(type) << 32)

/* A library call began or ended. par[k - 1] is $par<k> as calls.h lays them out. */
struct ring_call {
	uint64_t word; /* RING_WORD */
	uint64_t ticks;
	uint16_t func;
	uint8_t phase; /* enum call_phase */
	uint8_t npar;
	uint32_t tid;
	int64_t par[]; /* npar */
};

/* A thread came by a probe. */
struct ring_probe {
	uint64_t word; /* RING_WORD */
	uint64_t ticks;
	uint16_t probe; /* number */
	uint8_t npar;
	uint8_t nread; /* bits of the mask */
	uint32_t tid;
	uint32_t seq; /* of the struct seg_reads that says what was read */
	uint32_t mask; /* slots that were read; one that could not be is missing */
	union seg_value value[]; /* npar parameters, then the reads by ascending slot */
};
/* The third word of the record: probe, npar, nread, tid. The fourth is that of a struct seg_reads,
 * with the mask of what was read. */
#define RING_PROBE_WORD(probe, npar, nread, tid)                                \
	((uint64_t)(probe) | (uint64_t)(npar) << 16 | (uint64_t)(nread) << 24 | \
	 (uint64_t)(tid) << 32)
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are put together so");
static_assert(sizeof(struct ring_probe) + (SEG_PROBE_PARAMS + SEG_READS) * 8 <=
		      RING_RECORD_MAX_BYTES,
	      "a record of a probe fits");

/* An event of the program. */
struct ring_event {
	uint64_t word; /* RING_EVENT_WORD */
	uint64_t ticks;
	/* as a record of an event log has them, then zeros up to a multiple of 8 */
	uint8_t value[];
};
/* bytes: of the record in the ring; pad: this many zeros are at its end, 0 to 7. */
#define RING_EVENT_WORD(bytes, number, pad)                                                    \
	((uint64_t)(uint32_t)(bytes) | (uint64_t)RING_EVENT << 32 | (uint64_t)(number) << 40 | \
	 (uint64_t)(pad) << 56)

/* Room for any record of a call; its parameters are the words after the head. */
union ring_record {
	struct ring_call call;
	struct ring_probe probe;
	int64_t word[RING_RECORD_MAX_BYTES / 8];
};
#define RING_PAR(record) ((record)->word + sizeof(struct ring_call) / 8)
#define RING_VALUE(record) \
	((union seg_value *)(void *)((record)->word + sizeof(struct ring_probe) / 8))

/* Both ends of a ring in memory; plain pointers, without ownership. */
struct ring {
	uint8_t *bytes;
	uint64_t size; /* a power of two */
	uint64_t *head, *tail, *dropped; /* words of struct seg_thread */
};

/*
 * Writes a record of n bytes (a multiple of 8, <= RING_RECORD_MAX_BYTES,
 * first word RING_WORD). False: full, counted. The writer's thread only;
 * signal-safe unless it interrupts itself; wait-free. A tail that is invalid counts as full.
 */
bool ring_put(const struct ring *r, const void *record, uint32_t n);

static inline uint64_t *ring_word_at(const struct ring *r, uint64_t position)
{
	return (uint64_t *)(void *)(r->bytes + (position & (r->size - 1)));
}

/*
 * ring_put() in two halves, for a writer that makes the record in its place. This gives n bytes of
 * room, or NULL: full, counted. The writer stores all words by relaxed atomic stores. Then it calls
 * ring_commit() with the bytes that the record has, n at the most.
 */
static inline uint64_t *ring_reserve(const struct ring *r, uint32_t n, uint64_t *at)
{
	uint64_t head = __atomic_load_n(r->head, __ATOMIC_RELAXED);
	uint64_t used = head - __atomic_load_n(r->tail, __ATOMIC_ACQUIRE);
	uint64_t left = r->size - (head & (r->size - 1));
	uint64_t pad = left < n ? left : 0;

	if (used > r->size || r->size - used < pad + n) {
		__atomic_store_n(r->dropped, *r->dropped + 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (pad)
		__atomic_store_n(ring_word_at(r, head), RING_WORD(pad, RING_PAD), __ATOMIC_RELAXED);
	*at = head + pad;
	return ring_word_at(r, *at);
}

static inline void ring_commit(const struct ring *r, uint64_t at, uint32_t n)
{
	__atomic_store_n(r->head, at + n, __ATOMIC_RELEASE);
}

/* Handlers of records; NULL: records of that kind are skipped. */
struct ring_taker {
	void (*on_call)(void *arg, const struct ring_call *c);
	void (*on_probe)(void *arg, const struct ring_probe *p);
	/* n bytes of values; number is what the writer says */
	void (*on_event)(void *arg, unsigned number, const struct ring_event *e, uint32_t n);
	/* All of these were passed on; their room is the writer's when this returns. */
	void (*on_taken)(void *arg);
	/* bytes ever taken, with the record that is passed on; NULL = not reported */
	uint64_t *place;
	void *arg;
};

/*
 * Takes what is there, at most max records: each is copied once, checked, and
 * passed on aligned to 8. Returns the number taken, or -ERR_PROTO when the
 * writer broke the rules (nothing more can be read from this ring; tail moves
 * to head). At most ring size / 8 steps whatever the memory holds.
 */
int ring_take(const struct ring *r, unsigned max, const struct ring_taker *t);

#endif
