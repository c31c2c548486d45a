/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of blocks that a test appends, and takers that record the received numbers. A taker
 * survives crashes of the spool.
 */
#ifndef TESTS_UNIT_EVENTLOG_SPOOL_FLOW_H
#define TESTS_UNIT_EVENTLOG_SPOOL_FLOW_H

#include "common/base/rng.h"
#include "eventlog/spool/spool.h"

#define FLOW_STREAMS 4
#define FLOW_BLOCKS_MAX 4096 /* of all streams */
#define FLOW_TAKERS 2

struct flow_block {
	unsigned stream;
	uint64_t seq, first;
	uint32_t events, bytes;
	bool is_kept; /* result of append */
	bool is_settled;
	bool is_gone; /* with the process that had it */
};

struct flow {
	struct rng rng;
	uint64_t seq[FLOW_STREAMS], first[FLOW_STREAMS];
	struct flow_block block[FLOW_BLOCKS_MAX];
	size_t n;
	size_t of[FLOW_BLOCKS_MAX]; /* number of appended blocks in the spool since it was opened */
};

struct taker {
	char name[8];
	uint64_t due[FLOW_STREAMS], first[FLOW_STREAMS]; /* counted up to */
	uint64_t got, lost; /* events */
	uint64_t jumped; /* of these lost ones: unreported */
	uint64_t repeated, late; /* blocks; late: counted as lost before they arrived */
	bool has[FLOW_STREAMS][FLOW_BLOCKS_MAX]; /* blocks by their number */
	uint64_t place; /* read and not acknowledged */
};

void flow_init(struct flow *f, uint64_t seed);

/*
 * Appends a new block of a stream. Returns the result of spool_append(). body: bytes after the
 * header, a multiple of 4.
 */
int flow_append(struct flow *f, struct spool *s, unsigned stream, size_t body, nsec_t now);

/* Records the settled blocks. */
void flow_note(struct flow *f, const struct spool *s);

/*
 * The spool was opened again: some of its unsettled blocks are appended again, as by their source.
 */
void flow_again(struct flow *f, struct spool *s, unsigned percent, nsec_t now);

void taker_init(struct taker *t, const char *name);

/* Reads once. Returns false if there was nothing. */
bool taker_read(struct taker *t, struct spool *s);
void taker_ack(struct taker *t, struct spool *s, nsec_t now);
void taker_drain(struct taker *t, struct spool *s, nsec_t now);

/*
 * All settled blocks have arrived or are counted. For each stream, events up to the last number are
 * either received or lost. may_expire: stored blocks may be lost too.
 */
void taker_check(const struct taker *t, const struct flow *f, bool may_expire);

#endif
