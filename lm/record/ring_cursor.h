/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a kept subscription has read each ring, in a file that is mapped. So it outlives an lm
 * that is killed at any moment, as the rings do. From it and from the disk the next lm knows what
 * the one before had taken. What that had not put into the spool is lost and reported. Nothing is
 * taken twice.
 *
 * A cursor is of one stream: what one lm took from one ring. A segment is a number that no other
 * one ever has (struct proc.seg_key). What is set goes into the copy that does not hold, which then
 * does by one store.
 */
#ifndef LM_RECORD_RING_CURSOR_H
#define LM_RECORD_RING_CURSOR_H

#include "common/base/err.h"
#include "eventlog/evgap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_CURSORS_MAX 4096 /* streams; those that are done with are replaced */

struct disk;
struct ring_cursor;
struct ring_cursors;

/* What a cursor is of. */
struct ring_cursor_key {
	uint64_t segment, stream;
	uint32_t thread;
};

struct ring_cursor_state {
	uint64_t place; /* of the ring: all before was taken */
	uint64_t events, dropped; /* of the stream, with those of blocks that are not whole yet */
	uint64_t lost; /* of these dropped ones, those that the segment counts */
};

/*
 * Takes up what is there; a file of another version is renamed to *.bad, and logged. Room is really
 * allocated. disk: NULL: the system's. ERR_SYS, ERR_PARSE, ERR_NOMEM.
 */
int ring_cursors_open(const struct disk *disk, const char *path, struct ring_cursors **out,
		      struct err *e);
void ring_cursors_free(struct ring_cursors *rs);

/* lives: is that segment there? Rows of others are given away when all of them is safe. NULL: no
 * room, nothing is counted. */
struct ring_cursor *ring_cursors_add(struct ring_cursors *rs, const struct ring_cursor_key *key,
				     bool (*lives)(void *arg, uint64_t segment), void *arg);
void ring_cursor_set(struct ring_cursor *r, const struct ring_cursor_state *s);
void ring_cursor_get(const struct ring_cursor *r, struct ring_cursor_state *out);

/* That block is in the spool, or goes up from it. */
void ring_cursors_given(struct ring_cursors *rs, const uint8_t *p, const struct evblock *b);

/* --- after a life that ended */

/* Of every stream before us that had more than was given: that, as a gap that ends it. Once in a
 * life, again in the next until it was given. */
void ring_cursors_each_loss(struct ring_cursors *rs, void (*fn)(void *arg, const struct evgap *g),
			    void *arg);

/* An lm took from that segment's rings. */
bool ring_cursors_knows(const struct ring_cursors *rs, uint64_t segment);
uint64_t ring_cursors_place(const struct ring_cursors *rs, uint64_t segment, uint32_t thread);

/*
 * What the segment had lost as reported so far: with what it had lost before, set by
 * ring_cursors_set_lost().
 */
uint64_t ring_cursors_lost(const struct ring_cursors *rs, uint64_t segment);

/* From now on `lost` is what was reported: the cursors of others are taken off. */
void ring_cursors_set_lost(struct ring_cursors *rs, uint64_t segment, uint64_t lost);

#endif
