/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the tokens of one key. The table has the highest `window` keys so far, each with the
 * inputs that have arrived. Lower keys have been evicted, and a key with all inputs has fired:
 * later tokens of both are late. The table assigns numbers of slots, 0 .. window - 1. Its user
 * stores values of a key there until it fires. The slot that was freed last is used first, so that
 * the few slots in use stay in the cache. Never allocates after match_init.
 */
#ifndef COMMON_FLOW_GRAPH_MATCH_H
#define COMMON_FLOW_GRAPH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_key {
	int64_t key;
	uint32_t slot; /* or MATCH_FIRED */
};

struct match {
	uint32_t window; /* a power of two */
	uint32_t head, n; /* first place and number in the ring of keys */
	uint32_t nopen; /* inputs that are awaited */
	struct match_key *ring; /* rising from head */
	/*
	 * Per slot nwords + 1 words: missing open inputs, then a bit for each input that has
	 * arrived.
	 */
	uint64_t *state;
	uint32_t *free; /* slots; the first nfree are free */
	uint32_t nfree;
	uint32_t nin, nwords; /* inputs; words of 64 inputs */
	bool has_floor;
	int64_t floor; /* the highest key that has left */
	uint64_t *closed; /* nwords */
	int64_t *from; /* for each input: the key above which it is awaited */
	int64_t from_max;
};

#define MATCH_FIRED UINT32_MAX

enum match_what {
	MATCH_FIRST, /* first value of its key: *slot is new */
	MATCH_MORE, /* *slot has it */
	MATCH_DOUBLE, /* the input has provided this key already */
	MATCH_LATE, /* the key is over or has fired, or the input is closed */
	MATCH_FULL, /* full: repeat after match_evict() */
};

/* window: rounded up to a power of two. -ERR_NOMEM. */
int match_init(struct match *m, uint32_t window, uint32_t nin);
void match_done(struct match *m);
size_t match_bytes(uint32_t window, uint32_t nin);
uint32_t match_round(uint32_t window);

enum match_what match_put(struct match *m, int64_t key, uint32_t input, uint32_t *slot);

/*
 * Removes the lowest key. Returns true if it had not fired: *slot is its slot, until the next put;
 * no other call can fire it.
 */
bool match_evict(struct match *m, uint32_t *slot);

static inline uint64_t *match_state(const struct match *m, uint32_t slot)
{
	return &m->state[(size_t)slot * (m->nwords + 1)];
}

/* True: all open inputs have arrived. */
static inline bool match_is_complete(const struct match *m, uint32_t slot)
{
	return *match_state(m, slot) == 0;
}

static inline bool match_has(const struct match *m, uint32_t slot, uint32_t input)
{
	return match_state(m, slot)[1 + input / 64] >> input % 64 & 1;
}

/* Fires the key and frees its slot; values stored there stay until the next put. */
void match_fire(struct match *m, int64_t key);

/*
 * Closes an input, which is no longer awaited; false: it was closed. Keys may become complete: test
 * all from match_at(m, 0) on.
 */
bool match_close(struct match *m, uint32_t input);

/* Opens an input again, for keys above all present ones; false: it was not closed. */
bool match_reopen(struct match *m, uint32_t input);

/* Key number i < m->n by rising key; its slot or MATCH_FIRED. */
static inline const struct match_key *match_at(const struct match *m, uint32_t i)
{
	return &m->ring[(m->head + i) & (m->window - 1)];
}

#endif
