/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/top.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS 1000

static struct top_sample sample(void)
{
	struct top_sample s = { .nrank = RANKS };

	s.rank = calloc(RANKS, sizeof(*s.rank));
	ck_assert_ptr_nonnull(s.rank);
	for (int i = 0; i < RANKS; i++) {
		s.rank[i].rank = (i * 7) % RANKS;
		snprintf(s.rank[i].token, sizeof(s.rank[i].token), "p_1_%06d", (i * 7) % RANKS);
	}
	return s;
}

static void all_are_found(const struct top_sample *s)
{
	char token[TOP_TOKEN_BYTES];

	for (int i = 0; i < RANKS; i++) {
		snprintf(token, sizeof(token), "p_1_%06d", i);
		ck_assert_ptr_nonnull(top_rank_find(s, token));
		ck_assert_int_eq(top_rank_find(s, token)->rank, i);
	}
	ck_assert_ptr_null(top_rank_find(s, "p_1_001000"));
	ck_assert_ptr_null(top_rank_find(s, ""));
}

START_TEST(ranks_are_found_by_their_tokens_with_and_without_an_index)
{
	struct top_sample s = sample(), none = { .nrank = 0 };

	all_are_found(&s);
	top_index(&s);
	all_are_found(&s);
	top_sample_done(&s);
	ck_assert(!s.is_indexed);
	top_index(&none);
	ck_assert_ptr_null(top_rank_find(&none, "p_1_000000"));
}
END_TEST

SUITE("top", ranks_are_found_by_their_tokens_with_and_without_an_index)
