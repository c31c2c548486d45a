/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that wait for others, and the text about them. */
#include "tests/unit/tools/waits/planted.h"
#include "tools/waits/waits_show.h"

static struct exchange x;
static struct waits w;

static void make(const char *const value[PLANTED_RANKS])
{
	planted_between(&x, value);
	ck_assert(waits_make(&w, &x));
}

static void done(void)
{
	waits_done(&w);
	exchange_done(&x);
}

static const struct waits_edge *edge(int32_t rank, int32_t partner)
{
	for (size_t i = 0; i < w.nedge; i++)
		if (w.edge[i].rank == rank && w.edge[i].partner == partner)
			return &w.edge[i];
	return NULL;
}

static const char *shown(void)
{
	static char text[4096];
	const struct term t = { .is_tty = false };
	struct buf b = BUF_INIT(sizeof(text));

	ck_assert_int_eq(waits_show(&t, &w, &b), 0);
	snprintf(text, sizeof(text), "%.*s", (int)b.n, (const char *)b.p);
	buf_done(&b);
	return text;
}

/* Rank 1 waits for 0 or 2, as MPI has it; 0 waits itself, and 2 does not. */
TEST(time_among_several_goes_to_the_late_one_with_its_bound)
{
	make(planted_chain);
	ck_assert_int_eq(w.most, 2);
	ck_assert_double_eq_tol(edge(1, 2)->seconds, 6, 0.15);
	ck_assert_double_eq_tol(edge(1, 2)->inferred, edge(1, 2)->seconds, 1e-9);
	ck_assert_double_eq(edge(1, 2)->least, 0);
	ck_assert_double_eq(edge(1, 2)->most, 6);
	/* The inferred part is the whole time and no more. */
	ck_assert_double_eq_tol(edge(1, 2)->seconds + edge(1, 0)->seconds, 6, 1e-6);
	ck_assert_double_eq(edge(0, 1)->seconds, 6);
	ck_assert_double_eq(edge(0, 1)->inferred, 0);
	ck_assert_double_eq(edge(3, 2)->seconds, 6); /* including open calls */
	ck_assert_double_eq_tol(edge(3, 2)->share, 0.6, 1e-9);
	ck_assert_uint_eq(w.most_ranks, 2);
	ck_assert_double_eq_tol(w.waited, 18, 0.2);
	ck_assert_double_eq_tol(w.inferred, 6, 0.05); /* rank 2 has waits of 10 ms */
	ck_assert_double_eq(w.unknown, 0);
	done();
}

TEST(the_first_line_is_the_answer)
{
	make(planted_chain);
	ck_assert_ptr_eq(strstr(shown(), "rank 2 is waited for most: "), shown());
	ck_assert_ptr_nonnull(strstr(shown(), "rank 3 waits 6 s for rank 2 (MPI_Waitall, receive, "
					      "several tags)"));
	ck_assert_ptr_nonnull(strstr(shown(), "the truth lies between LEAST and MOST"));
	/* Less than 2 % of a rank's time is not worth a line. */
	ck_assert_ptr_null(strstr(shown(), "rank 2 waits"));
	done();
}

TEST(no_wait_is_an_answer_too)
{
	static const char *const idle[] = { "11" SEC, "11" SEC, "11" SEC, "11" SEC };
	static const char *const none[] = { NULL, NULL, NULL, NULL };

	make(idle);
	ck_assert_str_eq(shown(), "no rank is known to wait more than 2 % for another\n");
	done();
	make(none);
	ck_assert_str_eq(shown(), "no rank was seen in this interval\n");
	done();
}

/* A probe that finds nothing has no partner, and neither has a wait for unknown requests. */
TEST(wait_without_a_partner_is_for_an_unknown_rank)
{
	static const char *const some[] = { "11" SEC ",[\"MPI_Probe\",\"message_probe\",1,2" SEC
					    ",0,0,0]",
					    "11" SEC ",[\"MPI_Wait\",\"wait\",1,3" SEC ",0,0,0],"
					    "[\"MPI_Wait\",-1,1,0,0,3" SEC ",0,0,0,0,-1]",
					    "11" SEC, "11" SEC };

	make(some);
	ck_assert_int_eq(w.most, -1);
	ck_assert_double_eq(edge(0, CALL_PARTNER_UNKNOWN)->seconds, 2);
	ck_assert_double_eq(edge(1, CALL_PARTNER_UNKNOWN)->seconds, 3);
	ck_assert_ptr_nonnull(strstr(shown(), "rank 0 waits 2 s for an unknown rank (MPI_Probe)"));
	ck_assert_ptr_nonnull(strstr(shown(), "waits 30 % for partners that are unknown"));
	ck_assert_ptr_nonnull(strstr(shown(), "\n4 ranks wait 5 s for others in 2 calls: "
					      "0 % inferred, 100 % for unknown ranks\n"));
	done();
}

#define BARRIER(n, time) "11" SEC ",[\"MPI_Barrier\",\"barrier\"," n "," time SEC ",0,0,0]"

TEST(the_last_one_in_a_barrier_is_inferred)
{
	static const char *const one_late[] = { BARRIER("50", "6"), BARRIER("50", "6"),
						BARRIER("51", "1"), BARRIER("50", "5") };
	static const char *const all_alike[] = { BARRIER("50", "6"), BARRIER("50", "6"),
						 BARRIER("50", "5"), BARRIER("50", "6") };
	static const char *const of_some[] = { BARRIER("50", "6"), BARRIER("50", "6"),
					       BARRIER("9", "1"), BARRIER("9", "1") };

	make(one_late);
	ck_assert_uint_eq(w.ncollective, 1);
	ck_assert_int_eq(w.collective[0].last, 2);
	ck_assert_double_eq_tol(w.collective[0].waited, 5 + 5 + 4, 1e-9);
	ck_assert_int_eq(w.most, 2);
	ck_assert_ptr_nonnull(strstr(shown(), "most of it in MPI_Barrier, inferred"));
	done();
	make(all_alike);
	ck_assert_int_eq(w.collective[0].last, -1);
	ck_assert_ptr_nonnull(strstr(shown(), "unknown"));
	done();
	make(of_some);
	ck_assert_int_eq(w.collective[0].last, -1);
	done();
}

TEST(a_wait_for_a_collective_is_for_no_single_rank)
{
	static const char *const some[] = { "11" SEC ",[\"MPI_Wait\",\"wait\",1,3" SEC ",0,0,0],"
					    "[\"MPI_Wait\",-3,1,0,0,3" SEC ",0,0,0,4,-1]",
					    "11" SEC, "11" SEC, "11" SEC };

	make(some);
	ck_assert_ptr_nonnull(
		strstr(shown(), "rank 0 waits 3 s for a collective call (MPI_Wait, collective)"));
	ck_assert_int_eq(w.most, -1);
	done();
}

TEST(programs_get_every_pair)
{
	struct buf b = BUF_INIT(65536);
	struct json j;

	make(planted_chain);
	waits_csv(&b, &w, true);
	ck_assert_ptr_eq(strstr(buf_str(&b), "rank,partner,call,kind,tag,seconds,least,most,"),
			 buf_str(&b));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\n0,1,MPI_Waitall,receive,7,6.000000000,"));
	buf_clear(&b);
	json_init(&j, &b);
	json_object(&j);
	waits_json(&j, &w);
	json_object_end(&j);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "\"most\":2,"));
	ck_assert_ptr_nonnull(strstr(
		buf_str(&b), "{\"rank\":0,\"partner\":1,\"is_collective\":false,\"call\":"
			     "\"MPI_Waitall\",\"kinds\":[\"receive\"],\"tag\":7,\"seconds\":6,"));
	buf_done(&b);
	done();
}

SUITE("waits")
