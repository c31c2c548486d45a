/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FLOW_BATCH frames of one measurement for the parent: assembled read by read, and sent while a
 * parent is connected. The last ones wait for it. Frames that do not fit are counted, and the next
 * frame reports the number.
 */
#ifndef TREE_FLOWBOX_H
#define TREE_FLOWBOX_H

#include "common/flow/engine/flow.h"
#include "proto/msg.h"

struct flowbox;

struct flowbox_conf {
	uint32_t measurement;
	/* Returns 0, or negative: the frame stays and is sent later. */
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/* Returns NULL without memory. */
struct flowbox *flowbox_new(const struct flowbox_conf *c);
void flowbox_free(struct flowbox *b);

/*
 * Begins a read. object: the sender of the links, "" = several; copied. An unfinished read is
 * dropped.
 */
void flowbox_begin(struct flowbox *b, uint64_t read, nsec_t time, const char *object);

/*
 * Adds one link's part; as bytes if it is passed on. A part without memory counts as dropped. Names
 * of links must be valid until flowbox_end(), which combines the links with value 0
 * (common/flow/batch/rest.h).
 */
void flowbox_add(struct flowbox *b, const struct flow_batch *batch);
void flowbox_add_bytes(struct flowbox *b, const void *p, size_t n);

/* The read is complete: its frames (one, if it fits) are queued behind those that wait. */
void flowbox_end(struct flowbox *b);

/* Adds frames that were lost below. */
void flowbox_add_dropped(struct flowbox *b, uint64_t frames);

/* Sends waiting frames, the oldest first, as far as possible. */
void flowbox_flush(struct flowbox *b);

struct flowbox_counts {
	uint64_t frames, bytes; /* frames sent; bytes of batches */
	size_t waiting; /* frames */
};

struct flowbox_counts flowbox_counts(const struct flowbox *b);

#endif
