/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event ring of one thread: one writer (the thread), one reader (the lm), no locks, no waiting.
 * A record that does not fit is dropped and counted. Both positions count bytes and never wrap. A
 * record never crosses the end of the ring; a RING_PAD record fills the rest.
 */
#ifndef COMMON_RING_RING_H
#define COMMON_RING_RING_H

#include "common/ring/seg.h"

#include <stdbool.h>
#include <stddef.h>

enum ring_type {
	RING_PAD, /* padding, which is skipped */
	RING_CALL, /* struct ring_call */
	RING_PROBE, /* struct ring_probe */
	RING_EVENT, /* struct ring_event */
};

#define RING_PAR_MAX 32 /* largest number of parameters of a record */
#define RING_RECORD_MAX_BYTES (24 + RING_PAR_MAX * 8)
#define RING_EVENT_MAX_BYTES 8192 /* a record with a string of 4 KiB; a quarter of a ring */

/* First word of each record: its size (a multiple of 8, with this word) and type. */
#define RING_WORD(bytes, type) ((uint64_t)(uint32_t)(bytes) | (uint64_t)(type) << 32)

/* A library call has begun or ended. par[k - 1] is $par<k>, in the order of calls.h. */
struct ring_call {
	uint64_t word; /* RING_WORD */
	uint64_t ticks;
	uint16_t func;
	uint8_t phase; /* enum call_phase */
	uint8_t npar;
	uint32_t tid;
	int64_t par[]; /* npar values */
};

/* A thread has passed a probe. */
struct ring_probe {
	uint64_t word; /* RING_WORD */
	uint64_t ticks;
	uint16_t probe; /* number of the probe */
	uint8_t npar;
	uint8_t nread; /* number of bits in the mask */
	uint32_t tid;
	uint32_t seq; /* sequence number of the struct seg_reads that was used */
	uint32_t mask; /* slots that were read; a slot that could not be read is missing */
	/* npar parameters, then the counters that were read, by ascending slot */
	union seg_value value[];
};
/*
 * The third word of the record: probe, npar, nread, tid. The fourth word has the form of a struct
 * seg_reads: its mask has the slots that were read.
 */
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
	/* as in a record of an event log, then zeros up to a multiple of 8 */
	uint8_t value[];
};
/* bytes: size of the record in the ring; pad: number of zeros at its end, 0 to 7. */
#define RING_EVENT_WORD(bytes, number, pad)                                                    \
	((uint64_t)(uint32_t)(bytes) | (uint64_t)RING_EVENT << 32 | (uint64_t)(number) << 40 | \
	 (uint64_t)(pad) << 56)

/* Room for any record of a call, whose parameters are the words behind the head. */
union ring_record {
	struct ring_call call;
	struct ring_probe probe;
	int64_t word[RING_RECORD_MAX_BYTES / 8];
};
#define RING_PAR(record) ((record)->word + sizeof(struct ring_call) / 8)
#define RING_VALUE(record) \
	((union seg_value *)(void *)((record)->word + sizeof(struct ring_probe) / 8))

/* A ring in memory, for reader and writer; plain pointers, without ownership. */
struct ring {
	uint8_t *bytes;
	uint64_t size; /* a power of two */
	uint64_t *head, *tail, *dropped; /* words of struct seg_thread */
};

/*
 * Writes a record of n bytes (a multiple of 8, <= RING_RECORD_MAX_BYTES, first word RING_WORD).
 * Returns false, and counts a dropped record, if the ring is full, or if the tail is invalid. Only
 * the writer's thread calls it. Signal-safe unless it interrupts itself; wait-free.
 */
bool ring_put(const struct ring *r, const void *record, uint32_t n);

static inline uint64_t *ring_word_at(const struct ring *r, uint64_t position)
{
	return (uint64_t *)(void *)(r->bytes + (position & (r->size - 1)));
}

/*
 * ring_reserve() and ring_commit() are the two halves of ring_put(), for a writer that builds the
 * record in place. ring_reserve() returns room for n bytes. If the ring is full, it counts a
 * dropped record and returns NULL. The writer stores all words by relaxed atomic stores. Then it
 * calls ring_commit() with the size of the record, at most n.
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

/* Handlers of records. If a handler is NULL, records of that kind are skipped. */
struct ring_taker {
	void (*on_call)(void *arg, const struct ring_call *c);
	void (*on_probe)(void *arg, const struct ring_probe *p);
	/* n bytes of values; the number is not checked */
	void (*on_event)(void *arg, unsigned number, const struct ring_event *e, uint32_t n);
	/*
	 * Called after all records were passed on. The writer may use their room again when it
	 * returns.
	 */
	void (*on_taken)(void *arg);
	/* bytes taken so far, with the current record; NULL = not needed */
	uint64_t *place;
	void *arg;
};

/*
 * Takes at most max records. Each is copied once, checked, and passed on aligned to 8. Returns the
 * number of records. Fails with ERR_PROTO if the writer has broken the rules: then tail moves to
 * head, and this ring yields no further records. Takes at most ring size / 8 steps, whatever the
 * memory contains.
 */
int ring_take(const struct ring *r, unsigned max, const struct ring_taker *t);

#endif
