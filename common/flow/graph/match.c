/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/graph/match.h"

#include "common/base/err.h"

#include <stdlib.h>
#include <string.h>

uint32_t match_round(uint32_t window)
{
	uint32_t w = 1;

	while (w < window)
		w *= 2;
	return w;
}

size_t match_bytes(uint32_t window, uint32_t nin)
{
	size_t words = (nin + 63) / 64;

	return match_round(window) *
		       (sizeof(struct match_key) + (words + 1) * 8 + sizeof(uint32_t)) +
	       words * 8 + nin * sizeof(int64_t);
}

static bool make(struct match *m)
{
	m->ring = calloc(m->window, sizeof(*m->ring));
	m->state = calloc((size_t)m->window * (m->nwords + 1), sizeof(*m->state));
	m->free = calloc(m->window, sizeof(*m->free));
	m->closed = calloc(m->nwords, sizeof(*m->closed));
	m->from = calloc(m->nin, sizeof(*m->from));
	return m->ring && m->state && m->free && m->closed && m->from;
}

int match_init(struct match *m, uint32_t window, uint32_t nin)
{
	*m = (struct match){ .window = match_round(window), .nin = nin, .nopen = nin };
	m->nwords = (nin + 63) / 64;
	m->from_max = INT64_MIN;
	if (!make(m)) {
		match_done(m);
		return -ERR_NOMEM;
	}
	while (m->nfree < m->window) {
		m->free[m->nfree] = m->window - 1 - m->nfree;
		m->nfree++;
	}
	for (uint32_t i = 0; i < nin; i++)
		m->from[i] = INT64_MIN;
	return 0;
}

void match_done(struct match *m)
{
	free(m->ring);
	free(m->state);
	free(m->free);
	free(m->closed);
	free(m->from);
	*m = (struct match){ 0 };
}

static struct match_key *at(const struct match *m, uint32_t i)
{
	return &m->ring[(m->head + i) & (m->window - 1)];
}

/* Returns the first of the n indexes whose key is not below `key`. */
static uint32_t search(const struct match *m, int64_t key)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (at(m, mid)->key < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Searches from the end, because most keys are recent, and most probes count by one. */
static uint32_t find(const struct match *m, int64_t key)
{
	int64_t last;
	uint64_t back;

	if (!m->n)
		return 0;
	last = at(m, m->n - 1)->key;
	if (key > last)
		return m->n;
	back = (uint64_t)last - (uint64_t)key;
	if (back < m->n && at(m, m->n - 1 - (uint32_t)back)->key == key)
		return m->n - 1 - (uint32_t)back;
	return search(m, key);
}

static bool is_closed(const struct match *m, uint32_t input)
{
	return m->closed[input / 64] >> input % 64 & 1;
}

/*
 * True if `input` may still send a token for the key. A `from` of INT64_MIN marks an input that was
 * open from the start.
 */
static bool waits(const struct match *m, uint32_t input, int64_t key)
{
	return !is_closed(m, input) && (key > m->from[input] || m->from[input] == INT64_MIN);
}

static uint32_t count_waited(const struct match *m, int64_t key)
{
	uint32_t n = 0;

	if (key > m->from_max)
		return m->nopen;
	for (uint32_t i = 0; i < m->nin; i++)
		n += waits(m, i, key);
	return n;
}

/*
 * Takes a free slot for the key at index i, and moves later keys up. There are as many slots as
 * keys.
 */
static uint32_t insert(struct match *m, uint32_t i, int64_t key)
{
	uint32_t slot = m->free[--m->nfree];
	uint64_t *state = match_state(m, slot);

	for (uint32_t k = m->n; k > i; k--)
		*at(m, k) = *at(m, k - 1);
	*at(m, i) = (struct match_key){ key, slot };
	m->n++;
	state[0] = count_waited(m, key);
	for (uint32_t w = 1; w <= m->nwords; w++)
		state[w] = 0;
	return slot;
}

static enum match_what see(struct match *m, uint32_t slot, uint32_t input, int64_t key)
{
	uint64_t *state = match_state(m, slot), bit = UINT64_C(1) << input % 64;

	if (state[1 + input / 64] & bit)
		return MATCH_DOUBLE;
	state[1 + input / 64] |= bit;
	state[0] -= waits(m, input, key);
	return MATCH_MORE;
}

enum match_what match_put(struct match *m, int64_t key, uint32_t input, uint32_t *slot)
{
	uint32_t i;

	if ((m->has_floor && key <= m->floor) || is_closed(m, input))
		return MATCH_LATE;
	i = find(m, key);
	if (i < m->n && at(m, i)->key == key) {
		*slot = at(m, i)->slot;
		return *slot == MATCH_FIRED ? MATCH_LATE : see(m, *slot, input, key);
	}
	if (m->n == m->window)
		return i ? MATCH_FULL : MATCH_LATE;
	*slot = insert(m, i, key);
	see(m, *slot, input, key);
	return MATCH_FIRST;
}

bool match_evict(struct match *m, uint32_t *slot)
{
	struct match_key lowest;

	if (!m->n)
		return false;
	lowest = *at(m, 0);
	m->floor = lowest.key;
	m->has_floor = true;
	m->head = (m->head + 1) & (m->window - 1);
	m->n--;
	if (lowest.slot == MATCH_FIRED)
		return false;
	*slot = m->free[m->nfree++] = lowest.slot;
	return true;
}

void match_fire(struct match *m, int64_t key)
{
	struct match_key *k = at(m, find(m, key));

	m->free[m->nfree++] = k->slot;
	k->slot = MATCH_FIRED;
}

bool match_close(struct match *m, uint32_t input)
{
	if (is_closed(m, input))
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct match_key *k = at(m, i);

		if (k->slot != MATCH_FIRED && !match_has(m, k->slot, input))
			*match_state(m, k->slot) -= waits(m, input, k->key);
	}
	m->closed[input / 64] |= UINT64_C(1) << input % 64;
	m->nopen--;
	return true;
}

bool match_reopen(struct match *m, uint32_t input)
{
	if (!is_closed(m, input))
		return false;
	m->closed[input / 64] &= ~(UINT64_C(1) << input % 64);
	m->nopen++;
	if (m->n)
		m->from[input] = at(m, m->n - 1)->key;
	if (m->from[input] > m->from_max)
		m->from_max = m->from[input];
	return true;
}
