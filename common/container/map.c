/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear probing with tombstones (GRAVE), which deletions leave where a search must continue. No
 * entry moves until a put grows the table or removes the tombstones. So entries may be deleted
 * during an iteration. A map of strings is a map of their hashes to entries, where different
 * strings may have equal hashes.
 */
#include "common/container/map.h"

#include "common/base/err.h"
#include "common/base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct map_slot {
	uint64_t key; /* in a map of strings: the hash */
	void *value; /* NULL: free; GRAVE: deleted; of a map of strings: struct entry, owned */
};

struct entry {
	void *value;
	char key[];
};

/* Returns the first slot of the search for a key. */
typedef size_t (*home_fn)(const struct map *m, uint64_t key);

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

/*
 * Puts an entry into the first slot without a live one. The key must not be in the table, and there
 * must be room.
 */
static void place(struct map *m, home_fn home_of, uint64_t key, void *value)
{
	size_t i = home_of(m, key);

	while (m->slot[i].value && m->slot[i].value != GRAVE)
		i = (i + 1) & (m->cap - 1);
	m->used += !m->slot[i].value;
	m->slot[i] = (struct map_slot){ key, value };
	m->n++;
}

/*
 * Makes room for one more entry, with at most 3/4 in use. Removes the tombstones, and doubles a
 * table that is half full of entries.
 */
static int make_room(struct map *m, home_fn home_of)
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
			place(m, home_of, old.slot[i].key, old.slot[i].value);
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
		rc = make_room(m, home);
		if (rc)
			return rc;
		place(m, home, key, value);
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

static void *bury(struct map *m, struct map_slot *s)
{
	void *value = s->value;

	s->value = GRAVE;
	m->n--;
	return value;
}

void *map_del(struct map *m, uint64_t key)
{
	struct map_slot *s = find(m, key);

	return s ? bury(m, s) : NULL;
}

static struct map_slot *next(const struct map *m, size_t *at)
{
	while (*at < m->cap) {
		struct map_slot *s = &m->slot[(*at)++];

		if (s->value && s->value != GRAVE)
			return s;
	}
	return NULL;
}

bool map_next(const struct map *m, struct map_iter *i)
{
	struct map_slot *s = next(m, &i->at);

	if (s) {
		i->key = s->key;
		i->value = s->value;
	}
	return s;
}

/* --- maps of strings */

void smap_init(struct smap *m)
{
	map_init(&m->of);
}

void smap_done(struct smap *m)
{
	size_t at = 0;

	for (struct map_slot *s; (s = next(&m->of, &at));)
		free(s->value);
	map_done(&m->of);
}

static size_t home_of_hash(const struct map *m, uint64_t hash)
{
	return (size_t)hash & (m->cap - 1);
}

static struct map_slot *find_text(const struct smap *m, const char *key, size_t n)
{
	uint64_t hash;

	if (!m->n)
		return NULL;
	hash = hash_sip13(&m->key, key, n);
	for (size_t i = home_of_hash(&m->of, hash); m->slot[i].value; i = (i + 1) & (m->cap - 1)) {
		const struct entry *e = m->slot[i].value;

		if (m->slot[i].key == hash && e != GRAVE && !strncmp(e->key, key, n) && !e->key[n])
			return &m->slot[i];
	}
	return NULL;
}

static int put_fresh(struct smap *m, const char *key, void *value)
{
	size_t n = strlen(key);
	struct entry *e = malloc(sizeof(*e) + n + 1);

	if (!e || make_room(&m->of, home_of_hash)) {
		free(e);
		return -ERR_NOMEM;
	}
	e->value = value;
	memcpy(e->key, key, n + 1);
	place(&m->of, home_of_hash, hash_sip13(&m->key, key, n), e);
	return 0;
}

int smap_put(struct smap *m, const char *key, void *value, void **old)
{
	struct map_slot *s = find_text(m, key, strlen(key));
	struct entry *e = s ? s->value : NULL;
	void *was = e ? e->value : NULL;
	int rc = 0;

	assert(value);
	if (e)
		e->value = value;
	else
		rc = put_fresh(m, key, value);
	if (!rc && old)
		*old = was;
	return rc;
}

void *smap_find_n(const struct smap *m, const char *key, size_t n)
{
	struct map_slot *s = find_text(m, key, n);

	return s ? ((struct entry *)s->value)->value : NULL;
}

void *smap_find(const struct smap *m, const char *key)
{
	return smap_find_n(m, key, strlen(key));
}

void *smap_del(struct smap *m, const char *key)
{
	struct map_slot *s = find_text(m, key, strlen(key));
	struct entry *e = s ? bury(&m->of, s) : NULL;
	void *value = e ? e->value : NULL;

	free(e);
	return value;
}

bool smap_next(const struct smap *m, struct smap_iter *i)
{
	struct map_slot *s = next(&m->of, &i->at);

	if (s) {
		i->key = ((struct entry *)s->value)->key;
		i->value = ((struct entry *)s->value)->value;
	}
	return s;
}
