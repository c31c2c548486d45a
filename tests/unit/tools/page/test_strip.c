/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/page/strip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 2100

static struct top_rank all[MANY];
static const struct top_rank *rank[MANY];

/* Ranks 0 to n - 1, which compute 75 % and wait 25 %. */
static void set_ranks(size_t n)
{
	memset(all, 0, sizeof(all));
	for (size_t i = 0; i < n; i++) {
		snprintf(all[i].token, sizeof(all[i].token), "p_%zu", i);
		snprintf(all[i].node, sizeof(all[i].node), "n_%zu", i / 16);
		all[i].rank = (int64_t)i;
		all[i].mpi = all[i].share[TOP_WAIT] = 25;
		rank[i] = &all[i];
	}
}

static const char *cells(const struct strip *s, uint64_t column, size_t most)
{
	static struct buf b;

	buf_done(&b);
	b = BUF_INIT(1 << 16);
	strip_put(s, column, most, &b);
	return buf_str(&b);
}

TEST(a_cell_is_the_kind_with_the_largest_share)
{
	struct strip *s = strip_new();

	set_ranks(3);
	all[1].mpi = 90;
	all[1].share[TOP_WAIT] = 0;
	all[1].share[TOP_SEND] = 50;
	all[1].share[TOP_RECEIVE] = 40;
	all[2].mpi = (double)NAN;
	ck_assert_int_eq(strip_add(s, rank, 3, 1000), 0);
	ck_assert_str_eq(cells(s, 0, 100), "A_BhI0");
	ck_assert_uint_eq(strip_rows(s), 3);
	ck_assert_int_eq(strip_time(s, 0), 1000);
	strip_free(s);
}

TEST(silent_and_ended_ranks_are_unknown_and_not_zero)
{
	struct strip *s = strip_new();

	set_ranks(2);
	all[0].state = TOP_SILENT;
	all[1].state = TOP_ENDED;
	strip_add(s, rank, 2, 1);
	ck_assert_str_eq(cells(s, 0, 10), "I0I0");
	strip_free(s);
}

TEST(a_rank_keeps_its_row_when_others_come_and_go)
{
	struct strip *s = strip_new();
	uint64_t generation;

	set_ranks(3);
	all[2].mpi = all[2].share[TOP_BARRIER] = 100;
	all[2].share[TOP_WAIT] = 0;
	strip_add(s, rank, 3, 1);
	generation = strip_generation(s);
	strip_add(s, rank, 3, 2);
	ck_assert_uint_eq(strip_generation(s), generation);
	strip_add(s, rank + 1, 2, 3);
	ck_assert_uint_ne(strip_generation(s), generation);
	ck_assert_str_eq(cells(s, 0, 10), "A_Eo");
	ck_assert_str_eq(cells(s, 2, 10), "A_Eo");
	ck_assert_str_eq(strip_row(s, 1)->token, "p_2");
	strip_free(s);
}

TEST(the_last_intervals_are_kept)
{
	struct strip *s = strip_new();

	set_ranks(1);
	for (int i = 0; i < STRIP_COLUMNS + 5; i++)
		ck_assert_int_eq(strip_add(s, rank, 1, i), 0);
	ck_assert_uint_eq(strip_first(s), 5);
	ck_assert_uint_eq(strip_next(s), STRIP_COLUMNS + 5);
	ck_assert_int_eq(strip_time(s, 5), 5);
	ck_assert_int_eq(strip_time(s, STRIP_COLUMNS + 4), STRIP_COLUMNS + 4);
	strip_free(s);
}

TEST(many_ranks_are_groups_and_the_odd_one_is_marked)
{
	struct strip *s = strip_new();
	size_t from, to, members = 0;

	set_ranks(MANY);
	for (size_t i = 0; i < MANY; i++) {
		all[i].mpi = all[i].share[TOP_COLLECTIVE] = 80;
		all[i].share[TOP_WAIT] = 0;
	}
	all[MANY - 1].mpi = all[MANY - 1].share[TOP_COLLECTIVE] = 5;
	ck_assert_int_eq(strip_add(s, rank, MANY, 1), 0);
	ck_assert_uint_eq(strip_rows(s), STRIP_ROWS_MAX);
	ck_assert_uint_eq(strip_groups(s, 100, 99, &from, &to), 100);
	ck_assert_uint_eq(to, STRIP_ROWS_MAX);
	for (size_t i = 0; i < STRIP_ROWS_MAX; i++)
		members += strip_row(s, i)->members;
	ck_assert_uint_eq(members, MANY);
	ck_assert_uint_eq(strlen(cells(s, 0, 100)), 200);
	ck_assert_int_eq(cells(s, 0, 100)[0], 'A' + STRIP_COLLECTIVE);
	ck_assert_int_eq(cells(s, 0, 100)[198], 'a' + STRIP_COLLECTIVE);
	strip_free(s);
}

TEST(no_ranks_are_no_rows)
{
	struct strip *s = strip_new();
	size_t from, to;

	ck_assert_int_eq(strip_add(s, rank, 0, 1), 0);
	ck_assert_uint_eq(strip_groups(s, 10, 0, &from, &to), 0);
	ck_assert_str_eq(cells(s, 0, 10), "");
	strip_free(s);
}

SUITE("page_strip")
