/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear probing with graves: a deletion leaves a grave where a probe may
 * pass. Nothing moves until a put grows or sweeps the table. That makes
 * deleting while iterating safe.
 */
#include "common/container/map.h"

#include "common/base/err.h"
#include "common/base/rng.h"

#include <assert.h>
#include <stdlib.h>

struct map_slot {
	uint64_t key;
	void *value; /* NULL: free; GRAVE: deleted */
};

static const char grave;
#define GRAVE ((void *)(uintptr_t)&grave)
#define CAP_FIRST 8

void map_init(struct map *m)
{
	*m = (struct map){ 0 };
	rng_draw_key(&m->key);
}

void map_done(struct map *m)
{
	free(m->slot);
	map_init(m);
}

static size_t home(const struct map *m, uint64_t key)
{
	return (size_t)hash_sip13_u64(&m->key, key) & (m->cap - 1);
}

static struct map_slot *find(const struct map *m, uint64_t key)
{
	if (!m->n)
		return NULL;
	for (size_t i = home(m, key); m->slot[i].value; i = (i + 1) & (m->cap - 1))
		if (m->slot[i].key == key && m->slot[i].value != GRAVE)
			return &m->slot[i];
	return NULL;
}

/* Into the first slot without a live entry; the key is not in the table and there is room. */
static void place(struct map *m, uint64_t key, void *value)
{
	size_t i = home(m, key);

	while (m->slot[i].value && m->slot[i].value != GRAVE)
		i = (i + 1) & (m->cap - 1);
	m->used += !m->slot[i].value;
	m->slot[i] = (struct map_slot){ key, value };
	m->n++;
}

/*
 * Room for one more with at most 3/4 in use: sweeps the graves, and doubles when entries fill half.
 */
static int make_room(struct map *m)
{
	size_t cap = m->cap ? m->cap : CAP_FIRST;
	struct map old = *m;

	if (m->cap && m->used + 1 <= m->cap - m->cap / 4)
		return 0;
	if (m->cap && m->n >= m->cap / 2)
		cap *= 2;
	m->slot = calloc(cap, sizeof(*m->slot));
	if (!m->slot) {
		m->slot = old.slot;
		return -ERR_NOMEM;
	}
	m->cap = cap;
	m->n = m->used = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (old.slot[i].value && old.slot[i].value != GRAVE)
			place(m, old.slot[i].key, old.slot[i].value);
	free(old.slot);
	return 0;
}

int map_put(struct map *m, uint64_t key, void *value, void **old)
{
	struct map_slot *s = find(m, key);
	void *was = s ? s->value : NULL;
	int rc;

	assert(value);
	if (s) {
		s->value = value;
	} else {
		rc = make_room(m);
		if (rc)
			return rc;
		place(m, key, value);
	}
	if (old)
		*old = was;
	return 0;
}

void *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s = find(m, key);

	return s ? s->value : NULL;
}

void *map_del(struct map *m, uint64_t key)
{
	struct map_slot *s = find(m, key);
	void *value;

	if (!s)
		return NULL;
	value = s->value;
	s->value = GRAVE;
	m->n--;
	return value;
}

bool map_next(const struct map *m, struct map_iter *i)
{
	while (i->at < m->cap) {
		struct map_slot *s = &m->slot[i->at++];

		if (s->value && s->value != GRAVE) {
			i->key = s->key;
			i->value = s->value;
			return true;
		}
	}
	return false;
}
