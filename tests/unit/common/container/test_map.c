/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/container/map.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <string.h>

enum { KEYS = 300 };

static char values[KEYS];

static void check_same(const struct map *m, void *const *model)
{
	bool seen[KEYS] = { false };
	size_t n = 0;

	for (struct map_iter i = { 0 }; map_next(m, &i); n++) {
		ck_assert_uint_lt(i.key, KEYS);
		ck_assert(!seen[i.key]);
		seen[i.key] = true;
		ck_assert_ptr_eq(i.value, model[i.key]);
	}
	ck_assert_uint_eq(m->n, n);
	for (size_t k = 0; k < KEYS; k++)
		ck_assert_ptr_eq(map_find(m, k), model[k]);
}

TEST(a_map_of_numbers_agrees_with_a_model)
{
	void *model[KEYS] = { NULL };
	struct map m;
	struct rng r;

	map_init(&m);
	rng_init(&r, suite_seed(5));
	for (int i = 0; i < 60000; i++) {
		/* Phases: mostly growing, mostly shrinking. */
		bool put = rng_below(&r, 100) < (i / 5000 % 2 ? 30 : 70);
		size_t k = rng_below(&r, KEYS);
		void *v = &values[rng_below(&r, KEYS)], *old = &m;

		if (put) {
			ck_assert_int_eq(map_put(&m, k, v, &old), 0);
			ck_assert_ptr_eq(old, model[k]);
			model[k] = v;
		} else {
			ck_assert_ptr_eq(map_del(&m, k), model[k]);
			model[k] = NULL;
		}
		if (i % 100 == 0)
			check_same(&m, model);
	}
	ck_assert_uint_le(m.cap, 1024); /* deleted entries do not let it grow without limit */
	map_done(&m);
}

TEST(a_map_of_strings_agrees_with_a_model)
{
	void *model[KEYS] = { NULL };
	struct smap m;
	struct rng r;

	smap_init(&m);
	rng_init(&r, suite_seed(6));
	for (int i = 0; i < 60000; i++) {
		size_t k = rng_below(&r, KEYS);
		void *v = &values[rng_below(&r, KEYS)], *old = &m;
		char key[16];

		snprintf(key, sizeof(key), "k%zu", k);
		if (rng_below(&r, 100) < (i / 5000 % 2 ? 30 : 70)) {
			ck_assert_int_eq(smap_put(&m, key, v, &old), 0);
			ck_assert_ptr_eq(old, model[k]);
			model[k] = v;
		} else {
			ck_assert_ptr_eq(smap_del(&m, key), model[k]);
			model[k] = NULL;
		}
		ck_assert_ptr_eq(smap_find(&m, key), model[k]);
	}
	for (struct smap_iter i = { 0 }; smap_next(&m, &i);) {
		size_t k = strtoul(i.key + 1, NULL, 10);

		ck_assert_ptr_eq(i.value, model[k]);
		model[k] = NULL;
	}
	for (size_t k = 0; k < KEYS; k++)
		ck_assert_ptr_null(model[k]);
	smap_done(&m);
}

TEST(deleting_while_iterating_visits_the_rest_once)
{
	struct map m;
	struct rng r;

	rng_init(&r, suite_seed(7));
	for (int round = 0; round < 200; round++) {
		bool deleted[KEYS] = { false }, seen[KEYS] = { false };

		map_init(&m);
		for (size_t k = 0; k < KEYS; k++)
			ck_assert_int_eq(map_put(&m, k, &values[k], NULL), 0);
		for (struct map_iter i = { 0 }; map_next(&m, &i);) {
			size_t victim = rng_below(&r, 2) ? i.key : rng_below(&r, KEYS);

			ck_assert(!deleted[i.key] && !seen[i.key]);
			seen[i.key] = true;
			map_del(&m, victim);
			deleted[victim] = true;
		}
		for (size_t k = 0; k < KEYS; k++)
			ck_assert(seen[k] || deleted[k]);
		map_done(&m);
	}
}

TEST(replacing_while_iterating_is_allowed)
{
	struct smap m;
	size_t n = 0;

	smap_init(&m);
	ck_assert_int_eq(smap_put(&m, "a", &values[0], NULL), 0);
	ck_assert_int_eq(smap_put(&m, "b", &values[0], NULL), 0);
	for (struct smap_iter i = { 0 }; smap_next(&m, &i); n++)
		ck_assert_int_eq(smap_put(&m, i.key, &values[1], NULL), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_eq(smap_find(&m, "a"), &values[1]);
	while (m.n)
		for (struct smap_iter i = { 0 }; smap_next(&m, &i);)
			smap_del(&m, i.key);
	ck_assert_ptr_null(smap_find(&m, "a"));
	smap_done(&m);
}

TEST(an_empty_map_answers)
{
	struct map m;
	struct smap s;

	map_init(&m);
	smap_init(&s);
	ck_assert_ptr_null(map_find(&m, 0));
	ck_assert_ptr_null(map_del(&m, 0));
	ck_assert(!map_next(&m, &(struct map_iter){ 0 }));
	ck_assert_ptr_null(smap_find(&s, ""));
	ck_assert_ptr_null(smap_del(&s, ""));
	ck_assert(!smap_next(&s, &(struct smap_iter){ 0 }));
	map_done(&m);
	smap_done(&s);
}

TEST(a_key_may_be_a_part_of_a_longer_string)
{
	struct smap s;

	smap_init(&s);
	ck_assert_int_eq(smap_put(&s, "", &values[0], NULL), 0);
	ck_assert_int_eq(smap_put(&s, "ab", &values[1], NULL), 0);
	ck_assert_ptr_eq(smap_find_n(&s, "abc", 2), &values[1]);
	ck_assert_ptr_null(smap_find_n(&s, "abc", 1));
	ck_assert_ptr_null(smap_find_n(&s, "abc", 3));
	ck_assert_ptr_eq(smap_find_n(&s, "abc", 0), &values[0]);
	smap_done(&s);
}

TEST(out_of_memory_changes_nothing)
{
	ALLOC_SWEEP (k) {
		struct smap s;
		struct map m;
		size_t in_s = 0, in_m = 0;

		smap_init(&s);
		map_init(&m);
		for (int i = 0; i < 40; i++) {
			char key[8];

			snprintf(key, sizeof(key), "%d", i);
			in_s += !smap_put(&s, key, &values[i], NULL);
			in_m += !map_put(&m, (uint64_t)i, &values[i], NULL);
		}
		alloc_sweep_pause();
		ck_assert_uint_eq(s.n, in_s);
		ck_assert_uint_eq(m.n, in_m);
		ck_assert_uint_eq(in_s + in_m, alloc_sweep_has_failed() ? 79 : 80);
		map_done(&m);
		smap_done(&s);
	}
}

SUITE("map")
