/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes are found by each spread, other rows are not, and one spread alone makes no change
 * certain.
 */
#include "tests/suite.h"
#include "common/base/str.h"
#include "common/json/json.h"
#include "tools/summary/compare.h"

#include <math.h>
#include <string.h>

static const struct compare_options usual = { .level = 0.95, .least = 0.001 };

static struct summary made[2];
static struct comparison c;

/* Between -1 and 1, the same in each run. */
static double noise(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static void put_call(struct summary_section *of, struct summary_process *p, const char *name,
		     double seconds)
{
	*summary_add_call(p) = (struct summary_call){ .of = (unsigned)summary_name(of, name, "x"),
						      .count = 1000,
						      .seconds = seconds };
}

/* A run of 100 s. trend: the wait grows over time by that factor and shrinks again. */
static struct summary_section *run(struct summary *s, size_t ranks, double waits, double spread,
				   double trend)
{
	struct summary_section *of = summary_add_section(s);
	uint64_t state = 7 + (uint64_t)(waits * 1000);

	of->world_size = (int64_t)ranks;
	for (size_t i = 0; i < ranks; i++) {
		struct summary_process *p = summary_add_process(of);

		p->rank = (int64_t)i;
		p->seconds = 100;
		p->has_calls = true;
		put_call(of, p, "MPI_Waitall", waits * (1 + spread * noise(&state)));
		put_call(of, p, "MPI_Send", 5 * (1 + 0.1 * noise(&state)));
	}
	for (int i = 0; i < 50; i++) {
		struct summary_slice slice = { .begin_s = 2 * i, .end_s = 2 * i + 2, .n = 2 };

		slice.rank_s = 2 * (double)ranks;
		slice.seconds = calloc(2, sizeof(*slice.seconds));
		slice.seconds[0] = waits / 50 * (double)ranks *
				   (1 + spread * noise(&state) + (i < 25 ? trend : -trend));
		slice.seconds[1] = 0.1 * (double)ranks * (1 + 0.1 * noise(&state));
		summary_add_slice(of, &slice);
	}
	return of;
}

static const struct compare_row *row(const char *name)
{
	for (size_t i = 0; i < c.n; i++)
		if (str_eq(c.row[i].name, name))
			return &c.row[i];
	ck_abort_msg("no row %s", name);
}

static void compare(void)
{
	ck_assert_int_eq(compare_sections(&made[0].section[0], &made[1].section[0], &usual, &c), 0);
}

static void clean_up(void)
{
	compare_done(&c);
	summary_done(&made[0]);
	summary_done(&made[1]);
}

TEST(a_run_is_like_itself)
{
	run(&made[0], 8, 20, 0.1, 0);
	run(&made[1], 8, 20, 0.1, 0);
	compare();
	ck_assert_uint_eq(c.sure, 0);
	ck_assert_double_eq(row("MPI_Waitall")->difference, 0);
}

TEST(a_call_that_takes_half_is_found)
{
	const struct compare_row *r;

	run(&made[0], 8, 20, 0.1, 0);
	run(&made[1], 8, 10, 0.1, 0);
	compare();
	r = row("MPI_Waitall");
	ck_assert_int_eq(r->verdict, COMPARE_LESS);
	ck_assert_ptr_eq(r, &c.row[2]);
	ck_assert(r->difference + r->half < 0 && r->difference - r->half > -20);
	ck_assert_double_eq_tol(r->mean[0], 0.02, 0.004);
	ck_assert_int_eq(row("MPI_Send")->verdict, COMPARE_UNSURE);
	ck_assert_int_eq(row("in MPI")->verdict, COMPARE_LESS);
	ck_assert_int_eq(row("outside of MPI")->verdict, COMPARE_MORE);
}

TEST(noise_is_not_sure)
{
	run(&made[0], 8, 20, 0.9, 0);
	run(&made[1], 8, 19, 0.9, 0);
	compare();
	ck_assert_int_eq(row("MPI_Waitall")->verdict, COMPARE_UNSURE);
	ck_assert(row("MPI_Waitall")->half > 1);
}

/* All ranks agree, and the slices do not: they follow a trend, which makes few of many. */
TEST(one_spread_alone_makes_nothing_sure)
{
	run(&made[0], 8, 20, 0.01, 0.9);
	run(&made[1], 8, 18, 0.01, 0.9);
	compare();
	ck_assert_int_eq(row("MPI_Waitall")->verdict, COMPARE_UNSURE);
	ck_assert_int_eq(row("MPI_Waitall")->basis, COMPARE_SLICES);
}

TEST(other_numbers_of_ranks_are_no_pairs)
{
	run(&made[0], 4, 20, 0.1, 0);
	run(&made[1], 16, 40, 0.1, 0);
	compare();
	ck_assert_int_eq(row("MPI_Waitall")->verdict, COMPARE_MORE);
	ck_assert_int_ne(row("MPI_Waitall")->basis, COMPARE_PAIRS);
}

TEST(calls_of_one_alone_are_new_or_gone)
{
	struct summary_section *of = run(&made[0], 4, 20, 0.1, 0);

	put_call(of, &of->process[0], "MPI_Bcast", 1);
	of = run(&made[1], 4, 20, 0.1, 0);
	put_call(of, &of->process[0], "MPI_Reduce", 1);
	compare();
	ck_assert_int_eq(row("MPI_Bcast")->verdict, COMPARE_GONE);
	ck_assert_int_eq(row("MPI_Reduce")->verdict, COMPARE_NEW);
	ck_assert_uint_eq(c.sure, 2);
}

TEST(one_rank_without_slices_is_too_few)
{
	struct summary_section *of[] = { run(&made[0], 1, 20, 0.1, 0),
					 run(&made[1], 1, 10, 0.1, 0) };
	size_t had[] = { of[0]->nslice, of[1]->nslice };

	of[0]->nslice = of[1]->nslice = 0;
	compare();
	of[0]->nslice = had[0]; /* they are freed */
	of[1]->nslice = had[1];
	ck_assert_int_eq(row("MPI_Waitall")->verdict, COMPARE_TOO_FEW);
	ck_assert(isnan(row("MPI_Waitall")->half));
}

TEST(unknown_calls_are_not_compared)
{
	struct summary_section *of = run(&made[0], 2, 20, 0.1, 0);

	of->process[0].has_calls = of->process[1].has_calls = false;
	run(&made[1], 2, 10, 0.1, 0);
	compare();
	ck_assert_int_eq(row("in MPI")->verdict, COMPARE_TOO_FEW);
}

TEST(a_sure_change_may_be_small)
{
	const struct compare_options coarse = { .level = 0.95, .least = 0.5 };

	run(&made[0], 8, 20, 0.1, 0);
	run(&made[1], 8, 10, 0.1, 0);
	ck_assert_int_eq(compare_sections(&made[0].section[0], &made[1].section[0], &coarse, &c),
			 0);
	ck_assert_int_eq(row("MPI_Waitall")->verdict, COMPARE_SMALL);
	ck_assert_uint_eq(c.sure, 0);
}

TEST(the_first_line_names_the_changes)
{
	struct buf b = BUF_INIT(1 << 16);
	struct json j;

	run(&made[0], 8, 20, 0.1, 0);
	run(&made[1], 8, 10, 0.1, 0);
	str_copy(made[1].section[0].process[0].program, SUMMARY_NAME_BYTES, "heat2d");
	compare();
	compare_say(&c, &b);
	ck_assert_msg(str_has_prefix(buf_str(&b), "heat2d: ") &&
			      strstr(buf_str(&b), "MPI_Waitall ") &&
			      strstr(buf_str(&b), "; 1 of 2 calls surely changed"),
		      "%s", buf_str(&b));
	buf_clear(&b);
	compare_csv_head(&b);
	compare_csv(&c, 1, &b);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\n1,less,MPI_Waitall,"));
	/* A sum has neither calls nor bytes: unknown is not 0. */
	ck_assert_ptr_nonnull(strstr(buf_str(&b), ",rank pairs,,,,\n1,"));
	buf_clear(&b);
	json_init(&j, &b);
	compare_json(&c, &j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\"call\":\"MPI_Waitall\",\"change\":\"less\""));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\"calls\":null,\"calls_base\":null"));
	buf_done(&b);
}

SUITE_WITH("compare", NULL, clean_up)
