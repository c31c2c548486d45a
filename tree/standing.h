/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands at the branches: of one conditional request or measurement, the part that each branch
 * is to have, and whether it has confirmed it. A changed part is sent with a new version; the same
 * one is not sent again. A branch that is away gets its part when it returns. Confirmations are
 * waited for during a bounded time. Works in the thread of its loop.
 *
 * standing_states has the states of a part; docs/states.md shows them.
 */
#ifndef TREE_STANDING_H
#define TREE_STANDING_H

#include "common/base/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop;
struct standing;
struct states;

enum standing_state {
	STANDING_NEW,
	STANDING_WAITING,
	STANDING_CONFIRMED,
	STANDING_AWAY,
	STANDING_STATES
};

/* Read only outside. Valid until the next call that changes the standing. */
struct standing_part {
	uint32_t branch; /* index */
	enum standing_state state;
	uint32_t version; /* it was sent with; 0: it was not sent yet */
	const char *text; /* owned, with a 0 behind it; NULL: the mark says all */
	size_t ntext;
	uint64_t mark; /* any number that belongs to the text; or in its place a sum of numbers */
	uint64_t next_mark; /* the same, of the next commit */
	bool is_old; /* standing_begin() was called, and standing_set() not */
};

/* Borrowed. */
struct standing_conf {
	struct loop *loop;
	nsec_t wait_max; /* for confirmations */
	uint32_t *version; /* of the last part that was sent, of all standings that share it */
	size_t *bytes; /* of the texts, of all standings that share it; NULL: not counted */
	size_t bytes_max;
	/*
	 * As link_send(). -ERR_NOMEM: it stays to be sent. Other errors: the branch is away, and
	 * the owner reports its loss and return.
	 */
	int (*send)(void *arg, const struct standing_part *p);
	/* The branch is to end its part. */
	void (*end)(void *arg, const struct standing_part *p);
	/* By standing_check(): the wait for confirmations is over. May free the standing. */
	void (*settled)(void *arg);
	void *arg;
};

/* Without parts. NULL: no memory. */
struct standing *standing_new(const struct standing_conf *conf);

/* Nothing is sent. NULL is fine. */
void standing_free(struct standing *st);

/*
 * New parts for all branches: begin, set for each branch, commit. Commit sends what has changed,
 * and ends the parts that were not set. all_changed: each part is sent, also the same one.
 */
void standing_begin(struct standing *st, bool all_changed);

/* Copies the text, which may be NULL. -ERR_NOMEM, -ERR_LIMIT: the part is as it was. */
int standing_set(struct standing *st, const struct standing_part *to);

/* One thing more of a part without text: the sum of their numbers says whether it has changed. */
int standing_add(struct standing *st, uint32_t branch, uint64_t number);

/* -ERR_NOMEM: a part could not be sent for want of memory, and stays to be sent. */
int standing_commit(struct standing *st);

/* Ends all parts. */
void standing_end(struct standing *st);

/* The branch is connected again; it is not; it is gone, with its part. False: it has no part. */
bool standing_up(struct standing *st, uint32_t branch);
bool standing_down(struct standing *st, uint32_t branch);
bool standing_drop(struct standing *st, uint32_t branch);

/* The branch has a part, and that version of it was sent last: a confirmation of it counts. */
bool standing_has(const struct standing *st, uint32_t branch, uint64_t version);
void standing_confirm(struct standing *st, uint32_t branch);

/* Calls settled now when nothing is waited for or give_up is set, else then or after wait_max. */
void standing_check(struct standing *st, bool give_up);

/* standing_check() has not called settled yet. */
bool standing_is_pending(const struct standing *st);

/* NULL: the branch has no part. */
const struct standing_part *standing_find(const struct standing *st, uint32_t branch);

/* By branch; NULL beyond the last. */
const struct standing_part *standing_at(const struct standing *st, size_t i);

extern const struct states standing_states;

#endif
