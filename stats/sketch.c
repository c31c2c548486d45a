/* SPDX-License-Identifier: Apache-2.0 */
#include "stats/sketch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SUB_BITS 6 /* 64 buckets an octave at level 0 */
#define SHIFT (52 - SUB_BITS)
#define KEY_FIRST (1 << SUB_BITS) /* key of DBL_MIN */
#define KEY_LAST ((2047 << SUB_BITS) - 1) /* key of DBL_MAX */
/* limit of the counts of a valid sketch, so that sums of some sketches do not overflow */
#define TOTAL_MAX (UINT64_MAX / 4)

void sketch_init(struct sketch *s)
{
	s->zeros = 0;
	s->level = s->n = 0;
}

/*
 * Returns exponent and first bits of the mantissa, which rise with v. Keys of negative values are
 * mirrored.
 */
static int32_t key_of(double v)
{
	double size = fabs(v);
	uint64_t bits;
	int32_t key;

	memcpy(&bits, &size, sizeof(bits));
	key = (int32_t)(bits >> SHIFT);
	return v < 0 ? ~key : key;
}

/* Returns the smallest value of a positive key of level 0; DBL_MAX behind the last key. */
static double value_of(int64_t key)
{
	uint64_t bits = (uint64_t)key << SHIFT;
	double v;

	if (key < KEY_FIRST)
		return 0;
	if (key > KEY_LAST)
		return DBL_MAX;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void bounds(const struct sketch *s, int32_t key, double *from, double *to)
{
	int64_t first = (int64_t)(key < 0 ? ~key : key) << s->level;
	double near = value_of(first), far = value_of(first + (INT64_C(1) << s->level));

	*from = key < 0 ? -far : near;
	*to = key < 0 ? -near : far;
}

/* Returns the index of the first bucket whose key is not below `key`. */
static uint32_t find(const struct sketch *s, int32_t key)
{
	uint32_t low = 0, high = s->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->key[mid] < key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Merges each pair of neighbours. An arithmetic shift keeps the keys of negative values mirrored.
 */
static void coarsen(struct sketch *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		int32_t key = s->key[i] >> 1;

		if (n && s->key[n - 1] == key) {
			s->count[n - 1] += s->count[i];
			continue;
		}
		s->key[n] = key;
		s->count[n++] = s->count[i];
	}
	s->n = n;
	s->level++;
}

static void insert(struct sketch *s, uint32_t at, int32_t key, uint64_t count)
{
	memmove(&s->key[at + 1], &s->key[at], (s->n - at) * sizeof(s->key[0]));
	memmove(&s->count[at + 1], &s->count[at], (s->n - at) * sizeof(s->count[0]));
	s->key[at] = key;
	s->count[at] = count;
	s->n++;
}

/* The key is one of level 0. */
static void put(struct sketch *s, int32_t key, uint64_t count)
{
	for (;;) {
		uint32_t at = find(s, key >> s->level);

		if (at < s->n && s->key[at] == key >> s->level) {
			s->count[at] += count;
			return;
		}
		if (s->n < SKETCH_BUCKETS) {
			insert(s, at, key >> s->level, count);
			return;
		}
		coarsen(s);
	}
}

void sketch_add(struct sketch *s, double v)
{
	if (fabs(v) < DBL_MIN)
		s->zeros++;
	else
		put(s, key_of(v), 1);
}

void sketch_merge(struct sketch *s, const struct sketch *from)
{
	while (s->level < from->level)
		coarsen(s);
	s->zeros += from->zeros;
	for (uint32_t i = 0; i < from->n; i++)
		put(s, (int32_t)((uint32_t)from->key[i] << from->level), from->count[i]);
}

void sketch_copy(struct sketch *s, const struct sketch *from)
{
	s->zeros = from->zeros;
	s->level = from->level;
	s->n = from->n;
	memcpy(s->key, from->key, from->n * sizeof(s->key[0]));
	memcpy(s->count, from->count, from->n * sizeof(s->count[0]));
}

/* *i numbers the buckets and the zeros, which come before the first positive key. */
bool sketch_next(const struct sketch *s, uint32_t *i, struct sketch_bucket *out)
{
	uint32_t zeros_at = s->zeros ? find(s, 0) : s->n + 1, at = *i;

	if (at >= s->n + (s->zeros ? 1 : 0))
		return false;
	++*i;
	if (at == zeros_at) {
		*out = (struct sketch_bucket){ .count = s->zeros };
		return true;
	}
	at -= at > zeros_at;
	bounds(s, s->key[at], &out->from, &out->to);
	out->count = s->count[at];
	return true;
}

double sketch_at(const struct sketch *s, uint64_t rank, double *error)
{
	struct sketch_bucket b = { 0 };
	uint64_t below = 0;

	for (uint32_t i = 0; sketch_next(s, &i, &b); below += b.count)
		if (rank < below + b.count)
			break;
	*error = b.to / 2 - b.from / 2;
	return b.from / 2 + b.to / 2;
}

uint64_t sketch_total(const struct sketch *s)
{
	uint64_t all = s->zeros;

	for (uint32_t i = 0; i < s->n; i++)
		all += s->count[i];
	return all;
}

static bool key_exists(const struct sketch *s, int32_t key)
{
	int32_t positive = key < 0 ? ~key : key;

	return positive >= KEY_FIRST >> s->level && positive <= KEY_LAST >> s->level;
}

bool sketch_is_sane(const struct sketch *s)
{
	uint64_t all = s->zeros;

	if (s->level > SKETCH_LEVEL_MAX || s->n > SKETCH_BUCKETS || all > TOTAL_MAX)
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		if (!key_exists(s, s->key[i]) || (i && s->key[i] <= s->key[i - 1]))
			return false;
		if (!s->count[i] || s->count[i] > TOTAL_MAX - all)
			return false;
		all += s->count[i];
	}
	return true;
}
