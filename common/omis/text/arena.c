/* SPDX-License-Identifier: Apache-2.0 */
#include "common/omis/text/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A usual request fits into the first block, so that it needs one small malloc(). */
#define BLOCK_FIRST 1024
#define BLOCK_LARGEST 65536

struct block {
	struct block *next;
	alignas(max_align_t) char bytes[];
};

struct arena {
	size_t left; /* number of bytes that may still be allocated */
	size_t grow; /* size of the next block */
	char *at, *end; /* free part of the newest block */
	struct block *blocks;
	alignas(max_align_t) char first[];
};

struct arena *arena_new(size_t max)
{
	struct arena *a = malloc(BLOCK_FIRST);

	if (!a)
		return NULL;
	a->left = max;
	a->grow = 2 * BLOCK_FIRST;
	a->at = a->first;
	a->end = (char *)a + BLOCK_FIRST;
	a->blocks = NULL;
	return a;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	while (a->blocks) {
		struct block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	free(a);
}

static char *block_add(struct arena *a, size_t bytes)
{
	struct block *b = malloc(sizeof(*b) + bytes);

	if (!b)
		return NULL;
	b->next = a->blocks;
	a->blocks = b;
	return b->bytes;
}

/*
 * Allocates a new block. A large allocation has its own block, and the free part of the newest
 * block stays in use.
 */
static char *take_slow(struct arena *a, size_t n)
{
	char *p;

	if (n > a->grow / 4)
		return block_add(a, n);
	p = block_add(a, a->grow);
	if (!p)
		return NULL;
	a->at = p + n;
	a->end = p + a->grow;
	if (a->grow < BLOCK_LARGEST)
		a->grow *= 2;
	return p;
}

static char *take(struct arena *a, size_t n)
{
	char *p = a->at;

	if (n > SIZE_MAX - alignof(max_align_t))
		return NULL;
	n = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	if (n > a->left)
		return NULL;
	if (n <= (size_t)(a->end - a->at))
		a->at += n;
	else
		p = take_slow(a, n);
	if (p)
		a->left -= n;
	return p;
}

void *arena_alloc(struct arena *a, size_t n)
{
	char *p = take(a, n ? n : 1);

	return p ? memset(p, 0, n) : NULL;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
	size_t n;

	return __builtin_mul_overflow(count, size, &n) ? NULL : arena_alloc(a, n);
}

char *arena_copy(struct arena *a, const void *p, size_t n)
{
	char *copy = n < SIZE_MAX ? take(a, n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}
