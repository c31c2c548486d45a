/* SPDX-License-Identifier: Apache-2.0 */
/* A rank of a test: a real sealed memfd, written as libapp writes it, one thread. */
#ifndef TESTS_UNIT_LM_FAKE_SEGMENT_H
#define TESTS_UNIT_LM_FAKE_SEGMENT_H

#include "common/ring/action.h"
#include "common/ring/ring.h"
#include "common/ring/seg.h"
#include "eventlog/evtype.h"

#include <stdbool.h>
#include <stddef.h>

struct fake_segment {
	int fd;
	uint8_t *base;
	size_t bytes;
	struct seg_header *h;
	uint64_t ticks; /* its clock; 0: the real clock */
};

struct fake_rank {
	int32_t pid, rank;
	uint32_t tid;
	uint64_t ring_bytes; /* 0: the smallest */
	unsigned threads; /* blocks of them; 0: two */
};

/* Ready to be handed over; rank and pid as given, two thread blocks, the first one claimed by
 * tid. */
void fake_segment_open(struct fake_segment *s, int32_t pid, int32_t rank, uint32_t tid);
void fake_segment_open_with(struct fake_segment *s, const struct fake_rank *r);
void fake_segment_close(struct fake_segment *s);

/* Like one completed call of MPI_x. Obeys the hook word, with actions and records. */
struct fake_call {
	const char *name;
	int64_t bytes_out, bytes_in;
	uint64_t ticks; /* that it took */
	int64_t partner; /* -1 none */
	int64_t result;
};
void fake_segment_call(struct fake_segment *s, const struct fake_call *c);

/* A wait of so many ticks, which may have been for any of these. */
void fake_segment_wait(struct fake_segment *s, const char *name, uint64_t ticks,
		       const int32_t *partner, unsigned n);

/* A call that begins and does not end. */
void fake_segment_enter(struct fake_segment *s, const char *name);
/* It ends, without a partner. */
void fake_segment_leave(struct fake_segment *s, const char *name);

/*
 * Each fake segment has two probes: FAKE_STEP step(int) and FAKE_REGION region_end(long, double,
 * unsigned long). They are passed here, as their words request. Reads are those of the first
 * thread.
 */
enum { FAKE_STEP = 0, FAKE_REGION = SEG_PROBES_EACH + 1 };
void fake_segment_probe(struct fake_segment *s, unsigned probe, const union seg_value *value);
uint32_t fake_segment_probe_word(const struct fake_segment *s, unsigned probe);

/* Announces a type of events. Returns its number. */
unsigned fake_segment_announce(struct fake_segment *s, const void *definition, size_t n);
unsigned fake_segment_announce_type(struct fake_segment *s, const struct evtype *type);
/* Writes an event, if its word requests it, with these bytes of values. */
void fake_segment_event(struct fake_segment *s, unsigned number, const void *values, size_t n);

/*
 * The thread is in a call that began with its hook off. rank: in the world (< 0: any). name NULL:
 * it is not in a call. Its effect on counters is not simulated.
 */
void fake_segment_be_in(struct fake_segment *s, const char *name, int32_t peer);

uint32_t fake_segment_hook(const struct fake_segment *s, const char *name);
/* As an lm before left it. */
void fake_segment_set_hook(const struct fake_segment *s, const char *name, uint32_t word);
struct seg_thread *fake_segment_thread(const struct fake_segment *s, unsigned i);

#endif
