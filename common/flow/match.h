/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tokens belong together: those of one key. A table of the highest
 * `window` keys seen so far, each with the inputs that have come. A key below
 * them is over: what comes for it is late. Keys stay in the table after they
 * fired, so that a second token of an input is known as a double.
 *
 * The table gives numbers of slots, 0 .. window - 1, for what its user keeps of
 * a key. Never allocates after match_init.
 */
#ifndef COMMON_FLOW_MATCH_H
#define COMMON_FLOW_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match {
	uint32_t window; /* a power of two */
	uint32_t nin, nwords; /* inputs; words of 64 inputs */
	uint32_t nopen; /* inputs that are waited for */
	uint32_t head, n; /* of the ring of keys */
	bool has_floor;
	int64_t floor; /* the highest key that has left */
	int64_t *key; /* ring, rising from head */
	uint32_t *slot; /* of the same places; a permutation: behind the n are the free ones */
	uint32_t *missing; /* by slot: open inputs that have not come; or MATCH_FIRED */
	uint64_t *seen; /* by slot: nwords each */
	uint64_t *closed; /* nwords */
	int64_t *from; /* by input: waited for in keys above it */
	int64_t from_max;
};

#define MATCH_FIRED UINT32_MAX

enum match_what {
	MATCH_FIRST, /* of its key: *slot is a new one */
	MATCH_MORE, /* *slot has it */
	MATCH_DOUBLE, /* that input has given this key already */
	MATCH_LATE, /* the key is over or has fired, or the input is closed */
	MATCH_FULL, /* match_evict() first, then again */
};

/* window: rounded up to a power of two. -ERR_NOMEM. */
int match_init(struct match *m, uint32_t window, uint32_t nin);
void match_done(struct match *m);
size_t match_bytes(uint32_t window, uint32_t nin);
uint32_t match_round(uint32_t window);

enum match_what match_put(struct match *m, int64_t key, uint32_t input, uint32_t *slot);

/* Removes the lowest key. True when it had not fired: *slot and *key are it, until the next put. */
bool match_evict(struct match *m, uint32_t *slot, int64_t *key);

/* All inputs that are waited for are there, and it has not fired. */
static inline bool match_is_complete(const struct match *m, uint32_t slot)
{
	return m->missing[slot] == 0;
}

static inline void match_fired(struct match *m, uint32_t slot)
{
	m->missing[slot] = MATCH_FIRED;
}

static inline bool match_has(const struct match *m, uint32_t slot, uint32_t input)
{
	return m->seen[(size_t)slot * m->nwords + input / 64] >> input % 64 & 1;
}

/*
 * The input is not waited for any more; false: it was so already. Keys may be complete by it: look at
 * all slots from match_at(m, 0) on.
 */
bool match_close(struct match *m, uint32_t input);

/* It is waited for again, in keys above all that are there by now; false: it was not closed. */
bool match_reopen(struct match *m, uint32_t input);

/* Place number i < m->n by rising key. */
static inline uint32_t match_at(const struct match *m, uint32_t i, int64_t *key)
{
	uint32_t at = (m->head + i) & (m->window - 1);

	*key = m->key[at];
	return m->slot[at];
}

#endif
