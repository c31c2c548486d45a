/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the parent: each is checked, executed and answered once. The same manipulation may
 * arrive again, on this link or, with the id of the tool's request, on another. Then it is not
 * repeated, and the answer is the first one or its known part.
 */
#ifndef LM_SERVICE_INBOX_H
#define LM_SERVICE_INBOX_H

#include "lm/service/done_log.h"
#include "lm/task/task.h"
#include "proto/msg.h"

#define INBOX_DEADLINE_NS (2 * NSEC_PER_SEC) /* for a request without a deadline */
#define INBOX_DEADLINE_MAX_NS (60 * NSEC_PER_SEC)
#define INBOX_KEPT_MAX 64 /* answers to manipulations that are remembered */
#define INBOX_KEPT_BYTES (16 * 1024) /* larger ones are not */

struct inbox;

struct inbox_conf {
	struct tasks *tasks; /* borrowed */
	struct done_log *done; /* borrowed */
	int (*send)(void *arg, const uint8_t *frames, size_t n); /* as link_send_frames() */
	void *arg;
};

struct inbox *inbox_new(const struct inbox_conf *c);
void inbox_free(struct inbox *b);

void inbox_request(struct inbox *b, const struct msg_request *m);
void inbox_cancel(struct inbox *b, uint64_t id);

/* Drops pending answers; ids of this link begin again. */
void inbox_link_lost(struct inbox *b);

struct inbox_stats {
	uint64_t requests, repeated, unsent; /* unsent: answers that found no room in the queue */
	size_t waiting;
};
void inbox_stats(const struct inbox *b, struct inbox_stats *out);

#endif
