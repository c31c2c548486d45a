/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges of ranks, from replies of daemons and from impossible replies. */
#include "common/base/buf.h"
#include "tests/unit/tools/waits/planted.h"

static struct exchange x;

TEST(the_difference_of_two_reads_is_what_came_between)
{
	static const char *const first[] = { "1" SEC ",[\"MPI_Send\",\"send\",10,2" SEC ",0,100,0],"
					     "[\"MPI_Send\",1,10,100,0,2" SEC ",0,0,1" SEC ",2,7]",
					     "1" SEC, NULL, NULL };
	static const char *const second[] = { "4" SEC ",[\"MPI_Send\",\"send\",15,4" SEC
					      ",0,150,0],"
					      "[\"MPI_Send\",1,15,150,0,4" SEC ",0,0,0,2,7]",
					      "5" SEC ",[\"MPI_Recv\",0,1,0,8,1" SEC ",0,0,0,1,-1]",
					      NULL, "5" SEC };
	struct exchange before, now;
	const struct exchange_rank *r;

	planted_read(&before, first);
	planted_read(&now, second);
	ck_assert(exchange_difference(&x, &before, &now));
	ck_assert_uint_eq(x.n, 2); /* rank 3 has no earlier read, rank 2 none at all */
	r = exchange_find(&x, 0);
	ck_assert_double_eq(r->seconds, 3);
	ck_assert_uint_eq(r->npair, 1);
	ck_assert_double_eq(r->pair[0].count, 5);
	ck_assert_double_eq(r->pair[0].bytes_out, 50);
	ck_assert_double_eq_tol(r->pair[0].certain, 1, 1e-9); /* a second of it was open before */
	ck_assert_double_eq_tol(r->call[0].seconds, 2, 1e-9);
	r = exchange_find(&x, 1);
	ck_assert_double_eq(r->seconds, 4);
	ck_assert_double_eq(r->pair[0].bytes_in, 8);
	ck_assert_ptr_null(exchange_find(&x, 2));
	ck_assert_ptr_null(exchange_find(&x, -1));
	ck_assert_ptr_null(exchange_find(&x, INT64_MAX));
	exchange_done(&before);
	exchange_done(&now);
	exchange_done(&x);
}

/* It began again: earlier values do not belong to it. */
TEST(another_process_of_the_same_rank_is_no_continuation)
{
	static const char *const some[] = { "9" SEC, "9" SEC, "9" SEC, "9" SEC };
	struct exchange before, now;

	planted_read(&before, some);
	planted_read(&now, some);
	snprintf(now.rank[2].token, sizeof(now.rank[2].token), "p_new");
	ck_assert(exchange_difference(&x, &before, &now));
	ck_assert_uint_eq(x.n, 3);
	ck_assert_ptr_null(exchange_find(&x, 2));
	exchange_done(&before);
	exchange_done(&now);
	exchange_done(&x);
}

TEST(malformed_values_of_a_rank_are_skipped)
{
	static const char *const odd[] = {
		"-5,[\"MPI_Nothing\",1,5,5,5,5,5,5,5,1,1]", /* no such function, no such time */
		"11" SEC ",[\"MPI_Send\",4,5,5,5,5,0,0,0,1,1],[\"MPI_Send\",-2,5,5,5,5,0,0,0,1,1],"
		"[\"MPI_Send\",-9,5,5,5,5,0,0,0,1,1],[\"MPI_Send\",9223372036854775807,5,5,5,5,0,0,0,1,1]",
		"11" SEC ",[\"MPI_Send\",1,-5,-1,-1,-7,-1,-1,-1,-1,-99],5,\"x\",[],[[]],[5],[\"\"],"
		"[\"MPI_Send\"]",
		"11" SEC ",[\"\",-1,17,0,0,0,0,0,0,0,-1]",
	};
	const struct exchange_rank *r;

	planted_read(&x, odd);
	ck_assert_uint_eq(x.n, 4);
	ck_assert_double_eq(exchange_find(&x, 0)->seconds, 0);
	ck_assert_uint_eq(exchange_find(&x, 0)->npair, 0);
	ck_assert_uint_eq(exchange_find(&x, 1)->npair, 0);
	r = exchange_find(&x, 2);
	for (size_t i = 0; i < r->npair; i++) {
		ck_assert_double_ge(r->pair[i].count, 0);
		ck_assert_double_ge(r->pair[i].certain, 0);
		ck_assert_int_eq(r->pair[i].kinds & ~(uint32_t)SEG_FOR_KNOWN, 0);
		ck_assert_int_ge(r->pair[i].tag, -1);
	}
	ck_assert_double_eq(exchange_find(&x, 3)->lost, 17);
	exchange_done(&x);
}

TEST(ranks_of_other_jobs_are_left_out)
{
	static const char *const some[] = { "9" SEC, "9" SEC, "9" SEC, "9" SEC };
	Omis_object_result e[2] = { { strdup("p_1"), OMIS_OK, strdup("9"), 1 } };

	planted_read(&x, some);
	ck_assert_int_eq(x.world_size, PLANTED_RANKS);
	exchange_done(&x);
	snprintf(planted_rank[1].job, sizeof(planted_rank[1].job), "other");
	ck_assert(exchange_read(&x, &planted_sample, "heat", e));
	ck_assert_uint_eq(x.n, 0);
	exchange_done(&x);
	free(e[0].obj_list);
	free(e[0].result);
}

/* Only what occurs is sent and held: six partners of each of 1,024 ranks. */
enum { MANY = 1024, EACH = 6 };

static Omis_object_result entry_of(int rank, int seconds)
{
	struct buf b = BUF_INIT(4096);
	char token[32];
	Omis_object_result e = { .status = OMIS_OK };

	buf_printf(&b, "%d" SEC ",[\"MPI_Send\",\"send\",%d,0,0,0,0]", seconds, seconds);
	for (int i = 1; i <= EACH; i++)
		buf_printf(&b, ",[\"MPI_Send\",%d,%d,%d,0,0,0,0,0,2,7]", (rank + i * i) % MANY,
			   seconds, 8 * seconds);
	snprintf(token, sizeof(token), "p_%d", rank);
	e.obj_list = strdup(token);
	e.result = strdup(buf_str(&b));
	e.result_len = b.n;
	buf_done(&b);
	return e;
}

static void read_many(struct exchange *to, struct top_sample *s, int seconds)
{
	Omis_object_result *e = calloc(MANY + 1, sizeof(*e));

	for (int i = 0; i < MANY; i++)
		e[i] = entry_of(i, seconds);
	ck_assert(exchange_read(to, s, "heat", e));
	for (int i = 0; i < MANY; i++) {
		free(e[i].obj_list);
		free(e[i].result);
	}
	free(e);
}

TEST(a_thousand_ranks_have_only_the_pairs_that_occur)
{
	struct top_sample s = { .rank = calloc(MANY, sizeof(*s.rank)), .nrank = MANY };
	struct exchange before, now;
	size_t pairs = 0;

	for (int i = 0; i < MANY; i++) {
		s.rank[i] = (struct top_rank){ .rank = i, .world_size = MANY, .job = "heat" };
		snprintf(s.rank[i].token, sizeof(s.rank[i].token), "p_%d", i);
	}
	top_index(&s);
	read_many(&before, &s, 1);
	read_many(&now, &s, 6);
	ck_assert(exchange_difference(&x, &before, &now));
	ck_assert_uint_eq(x.n, MANY);
	for (int i = 0; i < MANY; i++) {
		const struct exchange_rank *r = exchange_find(&x, i);

		ck_assert_int_eq(r->rank, i);
		ck_assert_double_eq(r->pair[EACH - 1].bytes_out, 40);
		pairs += r->npair;
	}
	ck_assert_uint_eq(pairs, (size_t)MANY * EACH);
	exchange_done(&before);
	exchange_done(&now);
	exchange_done(&x);
	free(s.rank);
}

SUITE("exchange")
