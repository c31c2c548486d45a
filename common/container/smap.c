/* SPDX-License-Identifier: Apache-2.0 */
/* As map.c, with copied string keys. */
#include "common/container/map.h"

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/str.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct smap_slot {
	char *key; /* owned; NULL when free or a grave */
	void *value;
	uint64_t hash;
	bool is_grave;
};

#define CAP_FIRST 8

void smap_init(struct smap *m)
{
	*m = (struct smap){ 0 };
	rng_draw_key(&m->key);
}

void smap_done(struct smap *m)
{
	for (size_t i = 0; i < m->cap; i++)
		free(m->slot[i].key);
	free(m->slot);
	smap_init(m);
}

static struct smap_slot *find(const struct smap *m, const char *key, size_t n)
{
	uint64_t hash;

	if (!m->n)
		return NULL;
	hash = hash_sip13(&m->key, key, n);
	for (size_t i = (size_t)hash & (m->cap - 1);; i = (i + 1) & (m->cap - 1)) {
		struct smap_slot *s = &m->slot[i];

		if (!s->key && !s->is_grave)
			return NULL;
		if (s->key && s->hash == hash && strncmp(s->key, key, n) == 0 && !s->key[n])
			return s;
	}
}

static void place(struct smap *m, char *key, uint64_t hash, void *value)
{
	size_t i = (size_t)hash & (m->cap - 1);

	while (m->slot[i].key)
		i = (i + 1) & (m->cap - 1);
	m->used += !m->slot[i].is_grave;
	m->slot[i] = (struct smap_slot){ .key = key, .hash = hash, .value = value };
	m->n++;
}

static int make_room(struct smap *m)
{
	size_t cap = m->cap ? m->cap : CAP_FIRST;
	struct smap old = *m;

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
		if (old.slot[i].key)
			place(m, old.slot[i].key, old.slot[i].hash, old.slot[i].value);
	free(old.slot);
	return 0;
}

static int put_fresh(struct smap *m, const char *key, void *value)
{
	size_t n = strlen(key);
	char *copy = str_dup(key);

	if (!copy || make_room(m)) {
		free(copy);
		return -ERR_NOMEM;
	}
	place(m, copy, hash_sip13(&m->key, key, n), value);
	return 0;
}

int smap_put(struct smap *m, const char *key, void *value, void **old)
{
	struct smap_slot *s = find(m, key, strlen(key));
	void *was = s ? s->value : NULL;
	int rc;

	assert(value);
	if (s) {
		s->value = value;
	} else {
		rc = put_fresh(m, key, value);
		if (rc)
			return rc;
	}
	if (old)
		*old = was;
	return 0;
}

void *smap_find_n(const struct smap *m, const char *key, size_t n)
{
	struct smap_slot *s = find(m, key, n);

	return s ? s->value : NULL;
}

void *smap_find(const struct smap *m, const char *key)
{
	return smap_find_n(m, key, strlen(key));
}

void *smap_del(struct smap *m, const char *key)
{
	struct smap_slot *s = find(m, key, strlen(key));
	void *value;

	if (!s)
		return NULL;
	value = s->value;
	free(s->key);
	*s = (struct smap_slot){ .is_grave = true };
	m->n--;
	return value;
}

bool smap_next(const struct smap *m, struct smap_iter *i)
{
	while (i->at < m->cap) {
		struct smap_slot *s = &m->slot[i->at++];

		if (s->key) {
			i->key = s->key;
			i->value = s->value;
			return true;
		}
	}
	return false;
}
