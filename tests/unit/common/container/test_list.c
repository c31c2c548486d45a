/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/array.h"
#include "common/base/err.h"
#include "common/container/list.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

struct item {
	int v;
	struct list link;
};

static int digits(const struct list *head)
{
	int all = 0;

	list_each (l, head)
		all = all * 10 + list_entry(l, struct item, link)->v;
	return all;
}

TEST(items_keep_their_order)
{
	struct item i[4] = { { 1, { 0 } }, { 2, { 0 } }, { 3, { 0 } }, { 4, { 0 } } };
	struct list a = LIST_INIT(a), b = LIST_INIT(b);

	ck_assert(list_is_empty(&a));
	ck_assert_ptr_null(list_first(&a));
	ck_assert_ptr_null(list_pop_front(&a));
	list_push_back(&a, &i[1].link);
	list_push_back(&a, &i[2].link);
	list_push_front(&a, &i[0].link);
	ck_assert_int_eq(digits(&a), 123);
	list_push_back(&b, &i[3].link);
	list_splice_back(&b, &a);
	ck_assert_int_eq(digits(&b), 4123);
	ck_assert(list_is_empty(&a));
	list_splice_back(&b, &a);
	ck_assert_int_eq(digits(&b), 4123);
	list_splice_back(&a, &b);
	ck_assert_int_eq(digits(&a), 4123);
	ck_assert_ptr_eq(list_pop_front(&a), &i[3].link);
	list_del(&i[1].link);
	list_del(&i[1].link);
	ck_assert_int_eq(digits(&a), 13);
}

TEST(the_safe_walk_allows_deleting)
{
	struct item i[5] = { { 1, { 0 } }, { 2, { 0 } }, { 3, { 0 } }, { 4, { 0 } }, { 5, { 0 } } };
	struct list a = LIST_INIT(a);

	for (size_t k = 0; k < ARRAY_LEN(i); k++)
		list_push_back(&a, &i[k].link);
	list_each_safe (l, &a)
		if (list_entry(l, struct item, link)->v % 2)
			list_del(l);
	ck_assert_int_eq(digits(&a), 24);
}

TEST(an_array_grows_to_its_limit_and_is_zero)
{
	int *a = NULL;
	size_t cap = 0;

	for (size_t n = 0; n < 100; n++) {
		ck_assert_int_eq(array_grow(&a, &cap, n + 1, sizeof(*a), 100), 0);
		ck_assert_int_eq(a[n], 0);
		a[n] = (int)n;
		ck_assert_uint_le(cap, 100);
	}
	ck_assert_int_eq(array_grow(&a, &cap, 101, sizeof(*a), 100), -ERR_LIMIT);
	for (int n = 0; n < 100; n++)
		ck_assert_int_eq(a[n], n);
	free(a);
}

TEST(an_array_that_cannot_grow_stays)
{
	int *a = NULL;
	size_t cap = 0;

	ck_assert_int_eq(array_grow(&a, &cap, 1, sizeof(*a), 100), 0);
	alloc_sweep_arm(1);
	ck_assert_int_eq(array_grow(&a, &cap, 50, sizeof(*a), 100), -ERR_NOMEM);
	alloc_sweep_pause();
	ck_assert_uint_eq(cap, 8);
	ck_assert_int_eq(array_grow(&a, &cap, SIZE_MAX / 2, sizeof(*a), SIZE_MAX), -ERR_NOMEM);
	ck_assert_uint_eq(cap, 8);
	free(a);
}

SUITE("list")
