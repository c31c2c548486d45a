/* SPDX-License-Identifier: Apache-2.0 */
/* Means of batches: which values each is of, exactly, alone and after a merge. */
#include "stats/batches.h"
#include "common/base/array.h"
#include "stats/series.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

/* The values from, from + 1, ... */
static struct batches counted(unsigned n, double from)
{
	struct batches b = { 0 };

	for (unsigned i = 0; i < n; i++)
		batches_add(&b, from + i);
	return b;
}

/* Batch i of b is the mean of b's size values from that one on. */
static void is_of(const struct batches *b, unsigned i, double first)
{
	ck_assert_uint_lt(i, b->n);
	ck_assert_double_eq(b->mean[i] + b->origin, first + ((double)b->size - 1) / 2);
}

TEST(batches_grow_when_there_are_too_many)
{
	struct batches b = counted(BATCHES_MAX - 1, 5);

	ck_assert_uint_eq(b.size, 1);
	ck_assert_uint_eq(b.n, BATCHES_MAX - 1);
	ck_assert_double_eq(b.origin, 5);
	for (unsigned i = 0; i < b.n; i++)
		is_of(&b, i, 5 + i);
	batches_add(&b, 5 + BATCHES_MAX - 1);
	ck_assert_uint_eq(b.size, 2);
	ck_assert_uint_eq(b.n, BATCHES_MAX / 2);
	for (unsigned i = 0; i < b.n; i++)
		is_of(&b, i, 5 + 2 * i);
	batches_add(&b, 1000);
	ck_assert_uint_eq(b.n, BATCHES_MAX / 2);
	ck_assert_uint_eq(b.nopen, 1);
	batches_add(&b, 2000);
	ck_assert_uint_eq(b.n, BATCHES_MAX / 2 + 1);
	ck_assert_uint_eq(b.nopen, 0);
	ck_assert_double_eq(b.mean[BATCHES_MAX / 2] + 5, 1500);
	b = counted(4 * BATCHES_MAX, 0);
	ck_assert_uint_eq(b.size, 8);
	ck_assert_uint_eq(b.n, BATCHES_MAX / 2);
	for (unsigned i = 0; i < b.n; i++)
		is_of(&b, i, 8 * i);
}

TEST(merged_batches_are_those_of_both)
{
	struct batches a = counted(40, 0), b = counted(40, 1000);

	batches_merge(&a, &b);
	ck_assert_uint_eq(a.size, 2);
	ck_assert_uint_eq(a.n, 40);
	for (unsigned i = 0; i < 20; i++) {
		is_of(&a, i, 2 * i);
		is_of(&a, 20 + i, 1000 + 2 * i);
	}
	/* 63 have room, 64 have not. */
	a = counted(40, 0);
	b = counted(23, 1000);
	batches_merge(&a, &b);
	ck_assert_uint_eq(a.size, 1);
	ck_assert_uint_eq(a.n, 63);
	is_of(&a, 39, 39);
	is_of(&a, 40, 1000);
	is_of(&a, 62, 1022);
	a = counted(40, 0);
	b = counted(24, 1000);
	batches_merge(&a, &b);
	ck_assert_uint_eq(a.size, 2);
	ck_assert_uint_eq(a.n, 32);
}

TEST(the_shorter_ones_are_made_as_long)
{
	struct batches a = counted(100, 0), b = counted(11, 1000), c = b;

	ck_assert_uint_eq(a.n, 50);
	ck_assert_uint_eq(a.nopen, 0);
	batches_merge(&a, &b); /* the eleventh has no partner */
	ck_assert_uint_eq(a.size, 2);
	ck_assert_uint_eq(a.n, 55);
	is_of(&a, 49, 98);
	is_of(&a, 50, 1000);
	is_of(&a, 54, 1008);
	a = counted(101, 0);
	ck_assert_uint_eq(a.nopen, 1);
	batches_merge(&c, &a);
	ck_assert_uint_eq(c.size, 2);
	ck_assert_uint_eq(c.n, 55);
	ck_assert_uint_eq(c.nopen, 0);
	is_of(&c, 0, 1000);
	is_of(&c, 5, 0);
	is_of(&c, 54, 98);
}

TEST(nothing_adds_nothing)
{
	struct batches a = counted(70, 3), none = { 0 }, before = a;

	batches_merge(&a, &none);
	ck_assert_mem_eq(&a, &before, sizeof(a));
	batches_merge(&none, &a);
	ck_assert_mem_eq(&none, &before, sizeof(a));
}

TEST(moments_are_those_of_the_values)
{
	struct batches b = counted(50, 100);
	struct moments m, values = { 0 };

	batches_moments(&b, &m);
	ck_assert_uint_eq(m.n, 50);
	ck_assert_double_eq(moments_mean(&m), 124.5);
	ck_assert_double_eq(m.min, 100);
	ck_assert_double_eq(m.max, 149);
	ck_assert_double_eq(m.first, 100);
	ck_assert_double_eq(m.last, 149);
	ck_assert(!batches_are_independent(&b));
	for (int i = 0; i < 50; i++)
		moments_add(&values, 100 + i);
	ck_assert_double_eq(batches_inflation(&b, &values), 1);
	ck_assert(!batches_are_long(&b, &values));
	b = counted(BATCHES_MAX / 2 - 1, 0);
	ck_assert(isnan(batches_inflation(&b, &values)));
	b = counted(BATCHES_MAX / 2, 0);
	ck_assert(!isnan(batches_inflation(&b, &values)));
}

TEST(batches_of_ten_times_the_dependence_are_long)
{
	struct batches b = { 0 };
	struct moments values = { 0 };

	/* Batches of 16 whose means are 1 and -1 in turn, of values that vary much more. */
	for (int i = 0; i < 16 * 40; i++) {
		double v = (i / 16 % 2 ? 1 : -1) + (i % 2 ? 20 : -20);

		batches_add(&b, v);
		moments_add(&values, v);
	}
	ck_assert_uint_eq(b.size, 16);
	ck_assert_double_eq_tol(batches_inflation(&b, &values), 16 * (40 / 39.) / 401.6, 1e-3);
	ck_assert(batches_are_long(&b, &values));
}

/* The mean of a batch does not depend on which of its values is the first. */
TEST(a_transient_is_found_by_means)
{
	double x[SERIES_MSER_BATCH * 40];

	memset(x, 0, sizeof(x));
	for (int i = 0; i < 40; i++) {
		x[SERIES_MSER_BATCH * i] = i % 7;
		x[SERIES_MSER_BATCH * i + 1] = -(i % 7);
	}
	ck_assert_uint_eq(series_transient(x, ARRAY_LEN(x)), 0);
	x[SERIES_MSER_BATCH * 3] += 50;
	ck_assert_uint_eq(series_transient(x, ARRAY_LEN(x)), 4 * SERIES_MSER_BATCH);
	ck_assert_uint_eq(series_transient(x, 4 * SERIES_MSER_BATCH - 1), SERIES_UNSETTLED);
}

SUITE("batches")
