/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one csr or measurement at the branches: the part that each branch should have, and
 * whether it has confirmed it. A changed part is sent with a new version; an unchanged one is not
 * sent again. An absent branch gets its part when it returns. The wait for confirmations is
 * bounded. Runs in the thread of its loop. standing_states has the states of a part; docs/states.md
 * shows them.
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

/* Read-only outside. Valid until the next call that changes the standing. */
struct standing_part {
	uint32_t branch; /* index */
	enum standing_state state;
	uint32_t version; /* version that was sent; 0: none */
	const char *text; /* owned, with a terminating 0; NULL: the mark is sufficient */
	size_t ntext;
	uint64_t mark; /* a hash of the text, or in its place a sum of numbers */
	uint64_t next_mark; /* mark from the next commit on */
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
	 * As link_send(). -ERR_NOMEM: the part remains to be sent. Other errors: the branch is
	 * absent, and the owner reports its loss and return.
	 */
	int (*send)(void *arg, const struct standing_part *p);
	/* Makes the branch end its part. */
	void (*end)(void *arg, const struct standing_part *p);
	/* Called by standing_check(): the wait for confirmations is over. May free the standing. */
	void (*settled)(void *arg);
	void *arg;
};

/* Makes a standing without parts. NULL: no memory. */
struct standing *standing_new(const struct standing_conf *conf);

/* Sends nothing. NULL is fine. */
void standing_free(struct standing *st);

/*
 * New parts for all branches: begin, set for each branch, commit. Commit sends changed parts, and
 * ends those that were not set. all_changed: each part is sent, even an unchanged one.
 */
void standing_begin(struct standing *st, bool all_changed);

/* Copies the text, which may be NULL. -ERR_NOMEM, -ERR_LIMIT: the part is unchanged. */
int standing_set(struct standing *st, const struct standing_part *to);

/* Adds a number to a part without text. The sum of its numbers shows whether it has changed. */
int standing_add(struct standing *st, uint32_t branch, uint64_t number);

/* -ERR_NOMEM: there was no memory to send a part, which remains to be sent. */
int standing_commit(struct standing *st);

/* Ends all parts. */
void standing_end(struct standing *st);

/* The branch has connected, has disconnected, has ended with its part. False: it has no part. */
bool standing_up(struct standing *st, uint32_t branch);
bool standing_down(struct standing *st, uint32_t branch);
bool standing_drop(struct standing *st, uint32_t branch);

/*
 * True if the branch has a part whose last sent version is this one, so that its confirmation
 * counts.
 */
bool standing_has(const struct standing *st, uint32_t branch, uint64_t version);
void standing_confirm(struct standing *st, uint32_t branch);

/*
 * Calls settled now if no confirmation is awaited or give_up is set; else later, at most after
 * wait_max.
 */
void standing_check(struct standing *st, bool give_up);

/* True until standing_check() has called settled. */
bool standing_is_pending(const struct standing *st);

/* Returns NULL if the branch has no part. */
const struct standing_part *standing_find(const struct standing *st, uint32_t branch);

/* Returns the parts by branch; NULL beyond the last. */
const struct standing_part *standing_at(const struct standing *st, size_t i);

extern const struct states standing_states;

#endif
