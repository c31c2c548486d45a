/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-addressing hash maps: struct map from uint64_t, struct smap from strings, values are
 * pointers that the caller owns. Keys may come from an attacker, so the hash is keyed with random
 * bytes.
 *
 * Iterating: `for (struct map_iter i = {0}; map_next(m, &i);)`, each entry once, in no order. While
 * iterating, any entry may be deleted (an entry deleted before its turn is skipped). The value of
 * an existing key may be replaced; new keys must not be put.
 */
#ifndef COMMON_CONTAINER_MAP_H
#define COMMON_CONTAINER_MAP_H

#include "common/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot;

struct map {
	struct map_slot *slot;
	size_t n, used, cap; /* entries; entries and tombstones; slots, a power of two or 0 */
	struct hash_key key;
};

struct smap {
	union {
		struct {
			struct map_slot *slot;
			size_t n, used, cap;
			struct hash_key key;
		};
		struct map of; /* map from hashes to the entries of the keys */
	};
};

struct map_iter {
	size_t at;
	uint64_t key; /* key of the current entry */
	void *value;
};

struct smap_iter {
	size_t at;
	const char *key; /* key of the current entry, valid until that entry is deleted */
	void *value;
};

/* Initialises a map with a random key. Never allocates. */
void map_init(struct map *m);
void smap_init(struct smap *m);

/*
 * Frees the table, and the copies of string keys, but not the values. The map is then empty and
 * usable.
 */
void map_done(struct map *m);
void smap_done(struct smap *m);

/*
 * Puts a value, which is not NULL, or replaces the value of the key. *old (may be NULL) becomes the
 * previous value, or NULL. Fails with ERR_NOMEM without a change.
 */
int map_put(struct map *m, uint64_t key, void *value, void **old);
int smap_put(struct smap *m, const char *key, void *value, void **old);

/* Returns NULL if the key is missing. */
void *map_find(const struct map *m, uint64_t key);
void *smap_find(const struct smap *m, const char *key);

/* Like smap_find(), for a key of n bytes in a longer string. */
void *smap_find_n(const struct smap *m, const char *key, size_t n);

/* Returns the removed value, or NULL. */
void *map_del(struct map *m, uint64_t key);
void *smap_del(struct smap *m, const char *key);

bool map_next(const struct map *m, struct map_iter *i);
bool smap_next(const struct smap *m, struct smap_iter *i);

#endif
