/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches the tokens of one key. The table has the highest `window` keys so far, each with the
 * inputs that have arrived. Lower keys have been evicted; a key with all inputs has fired. Later
 * tokens of both are late. Each open key has a slot, 0 .. window - 1. The caller stores values in
 * it until the key fires. The slot that was freed last is used first, so that the slots in use stay
 * in the cache. Never allocates after match_init.
 */
#ifndef COMMON_FLOW_GRAPH_MATCH_H
#define COMMON_FLOW_GRAPH_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_key {
	int64_t key;
	uint32_t slot; /* its slot, or MATCH_FIRED */
};

struct match {
	uint32_t window; /* a power of two */
	uint32_t head, n; /* first place and number in the ring of keys */
	uint32_t nopen; /* inputs that are awaited */
	struct match_key *ring; /* rising from head */
	/*
	 * nwords + 1 words for each slot: the number of missing open inputs, then a bit for each
	 * input that has arrived.
	 */
	uint64_t *state;
	uint32_t *free; /* slots, of which the first nfree are free */
	uint32_t nfree;
	uint32_t nin, nwords; /* number of inputs, and of words with 64 inputs each */
	bool has_floor;
	int64_t floor; /* the highest key that has left */
	uint64_t *closed; /* nwords */
	int64_t *from; /* for each input: the key above which it is awaited */
	int64_t from_max;
};

#define MATCH_FIRED UINT32_MAX

enum match_what {
	MATCH_FIRST, /* the first value of its key; *slot is new */
	MATCH_MORE, /* a further value of the key in *slot */
	MATCH_DOUBLE, /* the input has provided a value of this key already */
	MATCH_LATE, /* the key was evicted or has fired, or the input is closed */
	MATCH_FULL, /* the table is full: call match_evict(), then repeat */
};

/* window is rounded up to a power of two. Fails with ERR_NOMEM. */
int match_init(struct match *m, uint32_t window, uint32_t nin);
void match_done(struct match *m);
size_t match_bytes(uint32_t window, uint32_t nin);
uint32_t match_round(uint32_t window);

enum match_what match_put(struct match *m, int64_t key, uint32_t input, uint32_t *slot);

/*
 * Removes the lowest key. Returns true if it had not fired: *slot is its slot, which stays valid
 * until the next put.
 */
bool match_evict(struct match *m, uint32_t *slot);

static inline uint64_t *match_state(const struct match *m, uint32_t slot)
{
	return &m->state[(size_t)slot * (m->nwords + 1)];
}

/* True if all open inputs have arrived. */
static inline bool match_is_complete(const struct match *m, uint32_t slot)
{
	return *match_state(m, slot) == 0;
}

static inline bool match_has(const struct match *m, uint32_t slot, uint32_t input)
{
	return match_state(m, slot)[1 + input / 64] >> input % 64 & 1;
}

/* Fires the key and frees its slot. Values stored there stay until the next put. */
void match_fire(struct match *m, int64_t key);

/*
 * Closes an input, so that it is no longer awaited. Returns false if it was closed. Keys may become
 * complete: test all of them, from match_at(m, 0) on.
 */
bool match_close(struct match *m, uint32_t input);

/* Opens an input again, for keys above all present ones. Returns false if it was not closed. */
bool match_reopen(struct match *m, uint32_t input);

/* Returns key number i < m->n, in ascending order, with its slot or MATCH_FIRED. */
static inline const struct match_key *match_at(const struct match *m, uint32_t i)
{
	return &m->ring[(m->head + i) & (m->window - 1)];
}

#endif
