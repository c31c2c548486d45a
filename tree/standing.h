/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one csr or measurement at the branches: for each branch, the part that it should
 * have, and whether it has confirmed it. A changed part is sent with a new version; an unchanged
 * part is not sent again. An absent branch gets its part when it returns. The wait for
 * confirmations is bounded. Runs in the thread of its loop. standing_states has the states of a
 * part; docs/states.md shows them.
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

/* Only standing.c changes the members. Valid until the next call that changes the standing. */
struct standing_part {
	uint32_t branch; /* index of the branch */
	enum standing_state state;
	uint32_t version; /* version that was sent last; 0: none */
	const char *text; /* owned, with a 0 at its end; NULL: `mark` describes the part */
	size_t ntext;
	uint64_t mark; /* a hash of the text, or a sum of numbers without one */
	uint64_t next_mark; /* the mark after the next commit */
	bool is_old; /* not set since standing_begin() */
};

/* The pointers are borrowed. */
struct standing_conf {
	struct loop *loop;
	nsec_t wait_max; /* longest wait for confirmations */
	uint32_t *version; /* version of the last part that was sent, shared by several standings */
	size_t *bytes; /* bytes of texts, shared by several standings; NULL: not counted */
	size_t bytes_max;
	/*
	 * Sends a part, like link_send(). After -ERR_NOMEM the part is sent later. After other
	 * errors the branch counts as absent; the owner reports its loss and return.
	 */
	int (*send)(void *arg, const struct standing_part *p);
	/* Makes the branch end its part. */
	void (*end)(void *arg, const struct standing_part *p);
	/*
	 * Called by standing_check() at the end of the wait for confirmations. May free the
	 * standing.
	 */
	void (*settled)(void *arg);
	void *arg;
};

/* Makes a standing without parts. Returns NULL without memory. */
struct standing *standing_new(const struct standing_conf *conf);

/* Frees the standing without sending anything. NULL is accepted. */
void standing_free(struct standing *st);

/*
 * Set new parts for all branches: standing_begin(), standing_set() for each branch,
 * standing_commit(). The commit sends changed parts, and ends those that were not set. all_changed:
 * sends unchanged parts, too.
 */
void standing_begin(struct standing *st, bool all_changed);

/*
 * Sets a part. Copies the text, which may be NULL. After -ERR_NOMEM and -ERR_LIMIT the part is
 * unchanged.
 */
int standing_set(struct standing *st, const struct standing_part *to);

/* Adds a number to a part without text. A change of the sum marks the part as changed. */
int standing_add(struct standing *st, uint32_t branch, uint64_t number);

/* Fails with ERR_NOMEM if there was no memory to send a part, which is then sent later. */
int standing_commit(struct standing *st);

/* Ends all parts. */
void standing_end(struct standing *st);

/*
 * Report that a branch has connected, has disconnected, or has ended. Return false if it has no
 * part.
 */
bool standing_up(struct standing *st, uint32_t branch);
bool standing_down(struct standing *st, uint32_t branch);
bool standing_drop(struct standing *st, uint32_t branch);

/* True if this is the version that was sent last to the branch, so that its confirmation counts. */
bool standing_has(const struct standing *st, uint32_t branch, uint64_t version);
void standing_confirm(struct standing *st, uint32_t branch);

/*
 * Calls settled() now if no confirmation is awaited or give_up is set; otherwise later, at most
 * after wait_max.
 */
void standing_check(struct standing *st, bool give_up);

/* True until standing_check() has called settled(). */
bool standing_is_pending(const struct standing *st);

/* Returns NULL if the branch has no part. */
const struct standing_part *standing_find(const struct standing *st, uint32_t branch);

/* Returns part i in the order of branches; NULL beyond the last one. */
const struct standing_part *standing_at(const struct standing *st, size_t i);

extern const struct states standing_states;

#endif
