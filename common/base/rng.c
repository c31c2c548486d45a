/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"

#include "common/base/hash.h"

#include <errno.h>
#include <pthread.h>
#include <sys/random.h>

static struct hash_key key_seed;
static pthread_once_t key_seed_once = PTHREAD_ONCE_INIT;
static uint64_t keys_drawn;

static inline uint64_t rotl(uint64_t v, unsigned n)
{
	return v << n | v >> (64 - n);
}

void rng_init(struct rng *r, uint64_t seed)
{
	/* splitmix64 spreads any seed, also 0, over the state. */
	for (unsigned i = 0; i < 4; i++)
		r->s[i] = hash_mix64(seed += 0x9e3779b97f4a7c15);
}

/* xoshiro256** by Blackman and Vigna. */
uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, out = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
	/* 2^64 mod n: without a rejection, smaller numbers would be more likely */
	uint64_t least = (0 - n) % n, v;

	do {
		v = rng_next(r);
	} while (v < least);
	return v % n;
}

double rng_double(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

int rng_fill_random(void *p, size_t n, struct err *e)
{
	unsigned char *at = p;

	while (n) {
		ssize_t got = getrandom(at, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_sys(e, "no random numbers from the kernel");
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

static void draw_seed(void)
{
	/* Without the kernel's random numbers, keys can be guessed, but tables still work. */
	if (rng_fill_random(&key_seed, sizeof(key_seed), NULL))
		key_seed.k0 = hash_mix64((uint64_t)(uintptr_t)&key_seed);
}

void rng_draw_key(struct hash_key *key)
{
	pthread_once(&key_seed_once, draw_seed);
	*key = key_seed;
	key->k1 += __atomic_add_fetch(&keys_drawn, 1, __ATOMIC_RELAXED);
}
