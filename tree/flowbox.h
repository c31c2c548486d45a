/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FLOW_BATCH frames of one measurement on their way up: put together read by read, and sent when
 * there is a parent. The last ones wait for it. Frames that do not fit are counted, and the next
 * frame reports the number.
 */
#ifndef TREE_FLOWBOX_H
#define TREE_FLOWBOX_H

#include "common/flow/engine/flow.h"
#include "proto/msg.h"

struct flowbox;

struct flowbox_conf {
	uint32_t measurement;
	/* 0, or negative: it stays and is sent later. */
	int (*send)(void *arg, const struct msg *m);
	void *arg;
};

/* NULL without memory. */
struct flowbox *flowbox_new(const struct flowbox_conf *c);
void flowbox_free(struct flowbox *b);

/* A read begins; object: whose links these are, "" of several, is copied. What was begun before is
 * dropped. */
void flowbox_begin(struct flowbox *b, uint64_t read, nsec_t time, const char *object);

/*
 * One link's part of it; as bytes when it is passed on. A part without memory counts as dropped.
 * Names of links are valid until flowbox_end(), which sends those that are 0 together
 * (common/flow/batch/rest.h).
 */
void flowbox_add(struct flowbox *b, const struct flow_batch *batch);
void flowbox_add_bytes(struct flowbox *b, const void *p, size_t n);

/* The read is whole: its frames (one, as long as it fits) stand behind those that wait. */
void flowbox_end(struct flowbox *b);

/* Frames that never came here were lost below. */
void flowbox_add_dropped(struct flowbox *b, uint64_t frames);

/* Sends what waits, the oldest first, as far as it goes. */
void flowbox_flush(struct flowbox *b);

struct flowbox_counts {
	uint64_t frames, bytes; /* that were sent; bytes of batches */
	size_t waiting; /* frames */
};

struct flowbox_counts flowbox_counts(const struct flowbox *b);

#endif
