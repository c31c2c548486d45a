/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/rogues/lies_internal.h"

uint64_t lies_below(struct lies *l, uint64_t n)
{
	return rng_below(&l->dice, n);
}

bool lies_one_in(struct lies *l, uint64_t n)
{
	return rng_below(&l->dice, n) == 0;
}

const char *lies_token(struct lies *l, char class)
{
	struct lies_tokens *of = l->is_bold ? &l->others : &l->own;

	for (int tries = 0; of->n && tries < 8; tries++) {
		const char *t = of->token[lies_below(l, of->n)];

		if (!class || t[0] == class)
			return t;
	}
	return class == 'n' ? "n_1" : class == 't' ? "t_1_aaaaaa" : "p_1_aaaaaa";
}
