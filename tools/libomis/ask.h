/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that wait for replies: the received parts, and their callbacks. */
#ifndef TOOLS_LIBOMIS_ASK_H
#define TOOLS_LIBOMIS_ASK_H

#include "common/container/map.h"
#include "common/omis/reply/reply.h"
#include "proto/msg.h"

#include <stdbool.h>
#include <stdint.h>

/* Pending requests; more than mainsm accepts from one tool at a time. */
#define ASKS_MAX 4096

struct ask {
	uint64_t id;
	struct reply *part; /* owned; NULL until the first part of a reply has arrived */
	/* The callee takes r by setting *r to NULL. is_last: the ask is freed after the call. */
	void (*on_reply)(void *arg, struct reply **r, bool is_last);
	void *arg;
	bool is_answering; /* a callback runs: the ask is kept until that returns */
};

/* Owns its asks. */
struct asks {
	struct map map;
	uint64_t next_id;
};

void asks_init(struct asks *a);

/* Frees all without a callback. */
void asks_done(struct asks *a);

/* on_reply and arg as in struct ask. ERR_LIMIT, ERR_NOMEM. */
int asks_add(struct asks *a, void (*on_reply)(void *, struct reply **, bool), void *arg,
	     uint64_t *id, struct err *e);

/* Removes one without a callback; unknown ids are ignored. */
void asks_drop(struct asks *a, uint64_t id);

/*
 * Adds a part; a whole reply is passed to its callback. A final one, or that of a deleted CSR, ends
 * the ask. -ERR_NOTFOUND: no request has that id. On other failures the callback gets a reply with
 * that error.
 */
int asks_take(struct asks *a, const struct msg_reply *m);

/* Ends all requests with this status. */
void asks_fail(struct asks *a, unsigned status, const struct err *why);

#endif
