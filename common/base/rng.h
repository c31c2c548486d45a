/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: repeatable ones from a seed (xoshiro256**; not for secrets), and the kernel's. */
#ifndef COMMON_BASE_RNG_H
#define COMMON_BASE_RNG_H

#include "common/base/err.h"

#include <stddef.h>
#include <stdint.h>

struct hash_key;

struct rng {
	uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);

/* Returns a number in [0, n), n > 0, all equally likely. */
uint64_t rng_below(struct rng *r, uint64_t n);

/* Returns a number in [0, 1). */
double rng_double(struct rng *r);

/*
 * Gets secret bytes from the kernel. Blocks until the kernel's generator is seeded, only at boot.
 * Fails with ERR_SYS.
 */
int rng_fill_random(void *p, size_t n, struct err *e);

/*
 * Draws a key for one hash table, different for each table and unknown outside the process. With
 * equal keys, filling a table in the order of another would make one long cluster. Reads the
 * kernel's random numbers once per process. Any thread.
 */
void rng_draw_key(struct hash_key *key);

#endif
