/* SPDX-License-Identifier: Apache-2.0 */
#include "common/flow/match.h"

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

	return match_round(window) * (sizeof(int64_t) + 2 * sizeof(uint32_t) + words * 8) +
	       words * 8;
}

int match_init(struct match *m, uint32_t window, uint32_t nin)
{
	*m = (struct match){ .window = match_round(window), .nin = nin, .nopen = nin };
	m->nwords = (nin + 63) / 64;
	m->key = calloc(m->window, sizeof(*m->key));
	m->slot = calloc(m->window, sizeof(*m->slot));
	m->missing = calloc(m->window, sizeof(*m->missing));
	m->seen = calloc((size_t)m->window * m->nwords, sizeof(*m->seen));
	m->closed = calloc(m->nwords, sizeof(*m->closed));
	m->from = calloc(m->nin, sizeof(*m->from));
	m->from_max = INT64_MIN;
	if (!m->key || !m->slot || !m->missing || !m->seen || !m->closed || !m->from) {
		match_done(m);
		return -ERR_NOMEM;
	}
	for (uint32_t i = 0; i < m->window; i++)
		m->slot[i] = i;
	for (uint32_t i = 0; i < nin; i++)
		m->from[i] = INT64_MIN;
	return 0;
}

void match_done(struct match *m)
{
	free(m->key);
	free(m->slot);
	free(m->missing);
	free(m->seen);
	free(m->closed);
	free(m->from);
	*m = (struct match){ 0 };
}

static uint32_t place(const struct match *m, uint32_t i)
{
	return (m->head + i) & (m->window - 1);
}

/* The first of the n places whose key is not below `key`. */
static uint32_t search(const struct match *m, int64_t key)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (m->key[place(m, mid)] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Most keys are the last ones, and most probes count by one. */
static uint32_t find(const struct match *m, int64_t key)
{
	int64_t last;
	uint64_t back;

	if (!m->n)
		return 0;
	last = m->key[place(m, m->n - 1)];
	if (key > last)
		return m->n;
	back = (uint64_t)last - (uint64_t)key;
	if (back < m->n && m->key[place(m, m->n - 1 - (uint32_t)back)] == key)
		return m->n - 1 - (uint32_t)back;
	return search(m, key);
}

static bool is_closed(const struct match *m, uint32_t input)
{
	return m->closed[input / 64] >> input % 64 & 1;
}

/* (INT64_MIN is below all keys that can be asked for, and is one itself: nobody came late to it.) */
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

/* A free slot for the key at place i; those behind move up. */
static uint32_t insert(struct match *m, uint32_t i, int64_t key)
{
	uint32_t slot = m->slot[place(m, m->n)];

	for (uint32_t k = m->n; k > i; k--) {
		m->key[place(m, k)] = m->key[place(m, k - 1)];
		m->slot[place(m, k)] = m->slot[place(m, k - 1)];
	}
	m->key[place(m, i)] = key;
	m->slot[place(m, i)] = slot;
	m->n++;
	m->missing[slot] = count_waited(m, key);
	for (uint32_t w = 0; w < m->nwords; w++)
		m->seen[(size_t)slot * m->nwords + w] = 0;
	return slot;
}

static enum match_what see(struct match *m, uint32_t slot, uint32_t input, int64_t key)
{
	if (match_has(m, slot, input))
		return MATCH_DOUBLE;
	if (m->missing[slot] == MATCH_FIRED)
		return MATCH_LATE;
	m->seen[(size_t)slot * m->nwords + input / 64] |= UINT64_C(1) << input % 64;
	m->missing[slot] -= waits(m, input, key);
	return MATCH_MORE;
}

enum match_what match_put(struct match *m, int64_t key, uint32_t input, uint32_t *slot)
{
	uint32_t i;

	if ((m->has_floor && key <= m->floor) || is_closed(m, input))
		return MATCH_LATE;
	i = find(m, key);
	if (i < m->n && m->key[place(m, i)] == key) {
		*slot = m->slot[place(m, i)];
		return see(m, *slot, input, key);
	}
	if (m->n == m->window)
		return i ? MATCH_FULL : MATCH_LATE;
	*slot = insert(m, i, key);
	see(m, *slot, input, key);
	return MATCH_FIRST;
}

bool match_evict(struct match *m, uint32_t *slot, int64_t *key)
{
	if (!m->n)
		return false;
	*slot = match_at(m, 0, key);
	m->floor = *key;
	m->has_floor = true;
	m->head = place(m, 1);
	m->n--;
	return m->missing[*slot] != MATCH_FIRED;
}

bool match_close(struct match *m, uint32_t input)
{
	int64_t key;

	if (is_closed(m, input))
		return false;
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t slot = match_at(m, i, &key);

		if (m->missing[slot] != MATCH_FIRED && !match_has(m, slot, input))
			m->missing[slot] -= waits(m, input, key);
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
		m->from[input] = m->key[place(m, m->n - 1)];
	if (m->from[input] > m->from_max)
		m->from_max = m->from[input];
	return true;
}
