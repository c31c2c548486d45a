/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read positions of a stored subscription in each ring, in a mapped file. They outlive an lm that
 * is killed at any moment, as the rings do. From them and the spool, the next lm knows which events
 * the previous one had taken. Events that were taken but not spooled are lost and reported. No
 * event is taken twice.
 *
 * A cursor belongs to one stream: the events that one lm read from one ring. The number of a
 * segment is unique (struct proc.seg_key). Each cursor has two copies: a change is written to the
 * inactive one, which one store activates.
 */
#ifndef LM_RECORD_RING_CURSOR_H
#define LM_RECORD_RING_CURSOR_H

#include "common/base/err.h"
#include "eventlog/evgap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_CURSORS_MAX 4096 /* streams; finished ones are replaced */

struct disk;
struct ring_cursor;
struct ring_cursors;

/* The key of a cursor. */
struct ring_cursor_key {
	uint64_t segment, stream;
	uint32_t thread;
};

struct ring_cursor_state {
	uint64_t place; /* place in the ring up to which all was read */
	uint64_t events, dropped; /* counts of the stream, unfinished blocks included */
	uint64_t lost; /* the part of `dropped` that the segment counts */
};

/*
 * Opens or creates the file. A file of another version is renamed to *.bad, and logged. Disk space
 * is allocated in advance. disk: NULL: the system's. ERR_SYS, ERR_PARSE, ERR_NOMEM.
 */
int ring_cursors_open(const struct disk *disk, const char *path, struct ring_cursors **out,
		      struct err *e);
void ring_cursors_free(struct ring_cursors *rs);

/*
 * Adds a row. lives: true for a segment that exists. Rows of other segments are reused when their
 * events are spooled. Returns NULL if there is no room.
 */
struct ring_cursor *ring_cursors_add(struct ring_cursors *rs, const struct ring_cursor_key *key,
				     bool (*lives)(void *arg, uint64_t segment), void *arg);
void ring_cursor_set(struct ring_cursor *r, const struct ring_cursor_state *s);
void ring_cursor_get(const struct ring_cursor *r, struct ring_cursor_state *out);

/* Notes that a block is in the spool, or was sent from it. */
void ring_cursors_given(struct ring_cursors *rs, const uint8_t *p, const struct evblock *b);

/* --- after the end of an lm */

/*
 * Calls fn for each stream of an earlier lm with events that were not spooled; a gap ends the
 * stream. Called once by an lm, until the gap is spooled.
 */
void ring_cursors_each_loss(struct ring_cursors *rs, void (*fn)(void *arg, const struct evgap *g),
			    void *arg);

/* True if an earlier lm has read that segment's rings. */
bool ring_cursors_knows(const struct ring_cursors *rs, uint64_t segment);
uint64_t ring_cursors_place(const struct ring_cursors *rs, uint64_t segment, uint32_t thread);

/* Returns the losses of the segment reported so far, as set by ring_cursors_set_lost(). */
uint64_t ring_cursors_lost(const struct ring_cursors *rs, uint64_t segment);

/* Sets the reported losses of the segment to `lost`. */
void ring_cursors_set_lost(struct ring_cursors *rs, uint64_t segment, uint64_t lost);

#endif
