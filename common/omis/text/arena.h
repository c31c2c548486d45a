/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once: one arena per request, plan or reply. */
#ifndef COMMON_OMIS_TEXT_ARENA_H
#define COMMON_OMIS_TEXT_ARENA_H

#include <stddef.h>

struct arena;

/* max: limit of allocated bytes. Returns NULL without memory. */
struct arena *arena_new(size_t max);
void arena_free(struct arena *a);

/*
 * Returns zeroed memory, aligned for any type, valid until arena_free(). Returns NULL without
 * memory, or beyond max. n may be 0.
 */
void *arena_alloc(struct arena *a, size_t n);

/* Allocates count items of size bytes, with a check for overflow. */
void *arena_array(struct arena *a, size_t count, size_t size);

/* Copies n bytes and adds a 0. */
char *arena_copy(struct arena *a, const void *p, size_t n);

#endif
