/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FLOW_BATCH frames of one measurement for the parent, filled read by read. They are sent while a
 * parent is connected; otherwise the newest ones wait. Frames without room are dropped, and the
 * next frame reports their number.
 */
#ifndef TREE_FLOWBOX_H
#define TREE_FLOWBOX_H

#include "common/flow/engine/flow.h"
#include "proto/msg.h"

struct flowbox;

struct flowbox_conf {
	uint32_t measurement;
	/* Returns 0; or a negative error: the frame stays and is sent later. */
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/* Returns NULL without memory. */
struct flowbox *flowbox_new(const struct flowbox_conf *c);
void flowbox_free(struct flowbox *b);

/*
 * Begins a read. object: the sender of the links, "" = several; copied. Drops a read that was not
 * ended.
 */
void flowbox_begin(struct flowbox *b, uint64_t read, nsec_t time, const char *object);

/*
 * Adds the part of one link, or bytes that are passed on unchanged. A part without memory counts as
 * dropped. Names of links must be valid until flowbox_end(), which combines the links with value 0
 * (common/flow/batch/rest.h).
 */
void flowbox_add(struct flowbox *b, const struct flow_batch *batch);
void flowbox_add_bytes(struct flowbox *b, const void *p, size_t n);

/* Ends the read: its frames, usually one, are queued behind those that wait. */
void flowbox_end(struct flowbox *b);

/* Adds frames that daemons below have lost. */
void flowbox_add_dropped(struct flowbox *b, uint64_t frames);

/* Sends waiting frames, the oldest first, as long as the parent reads. */
void flowbox_flush(struct flowbox *b);

struct flowbox_counts {
	uint64_t frames, bytes; /* sent frames, and the bytes of their batches */
	size_t waiting; /* waiting frames */
};

struct flowbox_counts flowbox_counts(const struct flowbox *b);

#endif
