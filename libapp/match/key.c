/* SPDX-License-Identifier: Apache-2.0 */
#include "libapp/match/key.h"

#include "common/base/hash.h"

/* steps of one search; a table that is half full needs more once in 10^6 searches */
#define STEPS 32

static uint64_t join(uint64_t a, uint64_t b)
{
	return hash_mix64(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

static uint64_t not_null(uint64_t v)
{
	return v ? v : 1;
}

uint64_t match_key(const struct match_channel *c)
{
	uint64_t ranks = (uint64_t)(uint32_t)c->source << 32 | (uint32_t)c->dest;

	return not_null(join(join(c->comm, ranks), (uint32_t)c->tag));
}

uint64_t match_id(uint64_t key, uint64_t k)
{
	return not_null(join(key, k) & INT64_MAX);
}

uint64_t match_comm_first(const char *job, uint32_t number)
{
	uint64_t h = number;

	for (; *job; job++)
		h = join(h, (unsigned char)*job);
	return not_null(join(h, number));
}

uint64_t match_comm_child(uint64_t parent, uint64_t call, int32_t first_rank)
{
	return not_null(join(join(parent, call), (uint32_t)first_rank));
}

struct match_count *match_find(struct match_table *t, uint64_t key)
{
	for (unsigned i = 0; i < STEPS; i++) {
		struct match_count *c = &t->count[((key >> 51) + i) % MATCH_CHANNELS];

		if (!c->key)
			c->key = key;
		if (c->key == key)
			return c;
	}
	t->lost++;
	return NULL;
}
