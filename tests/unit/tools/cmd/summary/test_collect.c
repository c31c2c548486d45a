/* SPDX-License-Identifier: Apache-2.0 */
/* A job collected from replies: programs apart, last values kept, nothing final that is not. */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/cmd/summary/collect.h"
#include "tools/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPORTS 8
#define S 1000000000LL

struct report {
	const char *token, *value;
};

static struct collect *c;
static struct summary made;

static void release_one(const Omis_object_result *r)
{
	free(r->obj_list);
	free(r->result);
}

static void release(const Omis_object_result *list)
{
	for (size_t i = 0; i < REPORTS; i++)
		release_one(&list[i]);
}

static const Omis_object_result *fill(Omis_object_result *list, const struct report *from)
{
	for (size_t i = 0; i < REPORTS && from[i].token; i++)
		list[i] = (Omis_object_result){ strdup(from[i].token), OMIS_OK,
						strdup(from[i].value), strlen(from[i].value) };
	return list;
}

/* info: pid, cpu, rss, age, ended age, parent; calls: as omig_calls_read has them */
static void reading(int64_t now, const char *tree, const struct report *info,
		    const struct report *calls)
{
	Omis_object_result a[REPORTS + 1] = { { 0 } }, b[REPORTS + 1] = { { 0 } };
	Omis_value *v = omis_value_parse(tree, strlen(tree));

	ck_assert_ptr_nonnull(v);
	collect_tree(c, v);
	ck_assert(collect_reply(c, fill(a, info), fill(b, calls), now));
	omis_value_free(v);
	release(a);
	release(b);
}

static void end(double seconds)
{
	made.seconds = seconds;
	ck_assert(collect_end(c, &made, true));
}

static void set_up(void)
{
	c = collect_new("j", 0);
	ck_assert_ptr_nonnull(c);
}

static void clean_up(void)
{
	collect_free(c);
	summary_done(&made);
}

#define RUNS                                                                                \
	"[n_1,s_1,\"h1\",\"up\"],[p_1_a,n_1,\"heat\",\"run\",11,0,2,\"j\",\"openmpi\",-1]," \
	"[p_1_b,n_1,\"heat\",\"run\",12,1,2,\"j\",\"openmpi\",-1],"                         \
	"[p_1_x,n_1,\"heat\",\"run\",13,0,2,\"other\",\"openmpi\",-1]"
#define ENDED                                                                                \
	"[n_1,s_1,\"h1\",\"up\"],[p_1_a,n_1,\"heat\",\"ended\",11,0,2,\"j\",\"openmpi\",0]," \
	"[p_1_b,n_1,\"heat\",\"ended\",12,1,2,\"j\",\"openmpi\",9]"

static const struct report running[] = { { "p_1_a", "11,0.5,4096,5.0,-1,10" },
					 { "p_1_b", "12,0.5,4096,5.0,-1,10" },
					 { 0 } },
			   counted[] = { { "p_1_a", "1,[\"MPI_Send\",\"send\",3,1000000000,0,30,0],"
						    "[\"MPI_Send\",1,3,30,0,1000000000]" },
					 { "p_1_b",
					   "1,[\"MPI_Recv\",\"receive\",3,2000000000,1,0,30],"
					   "[\"MPI_Recv\",0,3,0,30,2000000000]" },
					 { 0 } };

TEST(a_job_that_ends_is_complete)
{
	static const struct report
		over[] = { { "p_1_a", "11,0.9,8192,12.0,2.0,10" },
			   { "p_1_b", "12,0.8,4096,12.0,2.0,10" },
			   { 0 } },
		last[] = { { "p_1_a", "1,[\"MPI_Send\",\"send\",6,3000000000,0,60,0]" },
			   { "p_1_b", "1,[\"MPI_Recv\",\"receive\",6,4000000000,0,0,60]" },
			   { 0 } };
	const struct summary_section *of;

	reading(5 * S, RUNS, running, counted);
	ck_assert(collect_has_any(c) && !collect_is_complete(c));
	reading(12 * S, ENDED, over, last);
	ck_assert(collect_is_complete(c));
	end(10);
	ck_assert_uint_eq(made.n, 1);
	of = &made.section[0];
	ck_assert_uint_eq(of->n, 2);
	ck_assert(of->process[0].is_final && of->process[1].is_final);
	ck_assert_double_eq_tol(of->process[0].seconds, 10, 1e-9);
	ck_assert_uint_eq(summary_count(&of->process[0]), 6);
	ck_assert_double_eq(of->process[0].rss_bytes, 8192);
	ck_assert_int_eq(of->process[1].exit_status, 9);
	ck_assert_uint_eq(of->nslice, 2);
	ck_assert_double_eq_tol(of->slice[0].rank_s + of->slice[1].rank_s, 20, 1e-9);
	ck_assert_double_eq_tol(of->slice[1].seconds[0] + of->slice[1].seconds[1], 4, 1e-9);
	ck_assert_uint_eq(made.nnote, 0);
}

/* The next lm knows that they ended, and no value of theirs. */
TEST(lost_ranks_keep_their_last_reading)
{
	static const struct report none[] = { { 0 } };
	const struct summary_section *of;

	reading(5 * S, RUNS, running, counted);
	reading(9 * S, ENDED, none, none);
	ck_assert(!collect_is_complete(c));
	end(9);
	of = &made.section[0];
	ck_assert(!of->process[0].is_final && of->process[0].has_calls);
	ck_assert_uint_eq(summary_count(&of->process[1]), 3);
	ck_assert_double_eq_tol(of->process[0].seconds, 5, 1e-9);
	ck_assert_uint_eq(made.nnote, 1);
	ck_assert_str_eq(made.note[0], "2 ranks, first rank 0 on h1: last values from up to 4.0 s "
				       "before the end");
}

TEST(a_missing_rank_is_reported)
{
	static const char one[] = "[n_1,s_1,\"h1\",\"up\"],"
				  "[p_1_a,n_1,\"heat\",\"run\",11,0,2,\"j\",\"openmpi\",-1]";

	reading(5 * S, one, running, counted);
	end(5);
	ck_assert(!collect_is_complete(c));
	ck_assert_str_eq(made.note[0], "1 of 2 ranks of heat were not seen");
}

/* Side by side, and the second one began first on one rank. */
TEST(programs_of_the_same_size_differ_by_their_launcher)
{
	static const char four[] = "[n_1,s_1,\"h1\",\"up\"],"
				   "[p_1_a,n_1,\"a\",\"run\",11,0,2,\"j\",\"openmpi\",-1],"
				   "[p_1_b,n_1,\"a\",\"run\",12,1,2,\"j\",\"openmpi\",-1],"
				   "[p_1_c,n_1,\"b\",\"run\",13,0,2,\"j\",\"openmpi\",-1],"
				   "[p_1_d,n_1,\"b\",\"run\",14,1,2,\"j\",\"openmpi\",-1]";
	static const struct report mixed[] = { { "p_1_a", "11,0,1,5.0,-1,10" },
					       { "p_1_d", "14,0,1,4.9,-1,20" },
					       { "p_1_c", "13,0,1,4.8,-1,20" },
					       { "p_1_b", "12,0,1,4.7,-1,10" },
					       { 0 } },
				   none[] = { { 0 } };

	reading(5 * S, four, mixed, none);
	end(5);
	ck_assert_uint_eq(made.n, 2);
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(made.section[i].process[0].program,
				 made.section[i].process[1].program);
}

TEST(the_same_program_again_is_another_section)
{
	static const char two[] = "[n_1,s_1,\"h1\",\"up\"],"
				  "[p_1_a,n_1,\"heat\",\"ended\",11,0,1,\"j\",\"openmpi\",0],"
				  "[p_1_b,n_1,\"heat\",\"run\",12,0,1,\"j\",\"openmpi\",-1]";
	static const struct report info[] = { { "p_1_a", "11,0,1,9.0,3.0,10" },
					      { "p_1_b", "12,0,1,2.0,-1,10" },
					      { 0 } },
				   calls[] = { { "p_1_a",
						 "1,[\"MPI_Bcast\",\"collective\",1,1,0,0,0]" },
					       { "p_1_b",
						 "1,[\"MPI_Bcast\",\"collective\",2,1,0,0,0]" },
					       { 0 } };

	reading(9 * S, two, info, calls);
	end(9);
	ck_assert_uint_eq(made.n, 2);
	ck_assert_uint_eq(summary_count(&made.section[0].process[0]), 1);
	ck_assert_uint_eq(summary_count(&made.section[1].process[0]), 2);
}

/* It is there before MPI_Init: a script's ranks are found like its other programs. */
TEST(a_process_may_become_a_rank)
{
	static const char before[] = "[n_1,s_1,\"h1\",\"up\"],"
				     "[p_1_a,n_1,\"heat\",\"run\",11,-1,-1,\"j\",\"\",-1],"
				     "[p_1_s,n_1,\"sh\",\"run\",10,-1,-1,\"j\",\"\",-1]",
			  after[] = "[n_1,s_1,\"h1\",\"up\"],"
				    "[p_1_a,n_1,\"heat\",\"run\",11,0,1,\"j\",\"openmpi\",-1],"
				    "[p_1_s,n_1,\"sh\",\"run\",10,-1,-1,\"j\",\"\",-1]";
	static const struct report info[] = { { "p_1_a", "11,0,1,1.0,-1,10" },
					      { "p_1_s", "10,0,1,2.0,-1,1" },
					      { 0 } },
				   none[] = { { 0 } },
				   calls[] = { { "p_1_a",
						 "1,[\"MPI_Bcast\",\"collective\",1,1,0,0,0]" },
					       { 0 } };

	reading(1 * S, before, info, none);
	reading(2 * S, after, info, calls);
	end(3);
	ck_assert_uint_eq(made.n, 2);
	ck_assert_int_eq(made.section[0].world_size, 1);
	ck_assert_uint_eq(made.section[0].n, 1);
	ck_assert_int_eq(made.section[1].world_size, 0);
	ck_assert_str_eq(made.section[1].process[0].program, "sh");
}

/* 200 partners: those with most bytes have rows. */
TEST(partners_beyond_the_limit_are_summed)
{
	char calls[16384] = "1";
	const struct report many[] = { { "p_1_a", calls }, { 0 } };
	const struct summary_process *p;
	uint64_t sent = 0;
	size_t n = 1;

	for (int i = 0; i < 200; i++)
		n += (size_t)snprintf(calls + n, sizeof(calls) - n, ",[\"MPI_Send\",%d,1,%d,0,0]",
				      i, i + 1);
	reading(5 * S, RUNS, running, many);
	end(5);
	p = &made.section[0].process[0];
	ck_assert_uint_eq(p->npartner, SUMMARY_PARTNERS_MAX + 1);
	ck_assert_int_eq(p->partner[0].rank, 199);
	ck_assert_int_eq(p->partner[SUMMARY_PARTNERS_MAX].rank, -1);
	for (size_t i = 0; i < p->npartner; i++)
		sent += p->partner[i].bytes_out;
	ck_assert_uint_eq(sent, 200 * 201 / 2);
}

/* Of omig_calls_profile([],"site"): a head, and sites of one host. */
#define HEAD(calls_on) "1000,n_1,2,0,0,0,0,20000000000,10000000000," calls_on ",0,0"
#define SITES_ON "16391" /* count, time, bytes, sites */

static void read_sites(struct profile *p, const char *value)
{
	Omis_object_result list[2] = { { strdup("p_1_a,p_1_b"), OMIS_OK, strdup(value),
					 strlen(value) } };

	ck_assert(profile_read(p, PROFILE_SITE, list, NULL));
	release_one(&list[0]);
}

static void take_sites(const char *value)
{
	struct profile p;

	read_sites(&p, value);
	collect_sites(c, &p);
	profile_done(&p);
}

#define SITE(calls, callers)          \
	",[\"MPI_Send\",p_1_a," calls \
	",4000000000,1000000000,640,0,1,3000000000,2,[\"/x/heat\",64]" callers "]"

TEST(call_sites_are_those_of_the_reading_with_most_calls)
{
	reading(5 * S, RUNS, running, counted);
	take_sites(HEAD(SITES_ON) SITE("20", ""));
	take_sites(HEAD(SITES_ON) SITE("10", "")); /* a rank is forgotten */
	end(5);
	ck_assert(made.has_sites);
	ck_assert_uint_eq(made.nsite, 1);
	ck_assert_uint_eq(made.site[0].count, 20);
	ck_assert_str_eq(made.site[0].module, "/x/heat");
	ck_assert_int_eq(made.site[0].address, 64);
	ck_assert_int_eq(made.site[0].most_rank, 1);
	ck_assert_double_eq_tol(made.site[0].most_s, 3, 1e-9);
}

/* Another tool has asked for callers, which distinguish sites then. */
TEST(addresses_of_one_place_are_one_call_site)
{
	reading(5 * S, RUNS, running, counted);
	take_sites(HEAD(SITES_ON) SITE("20", ",[\"/x/heat\",80]") SITE("3", ",[\"/x/heat\",96]"));
	end(5);
	ck_assert_uint_eq(made.nsite, 1);
	ck_assert_uint_eq(made.site[0].count, 23);
	ck_assert_int_eq(made.site[0].ranks, 2);
}

TEST(without_counts_by_site_none_are_known)
{
	reading(5 * S, RUNS, running, counted);
	take_sites(HEAD("7"));
	end(5);
	ck_assert(!made.has_sites);
}

TEST(a_place_that_is_known_is_not_asked_for_again)
{
	struct profile p;

	read_sites(&p, HEAD(SITES_ON) SITE("20", ",[\"/x/heat\",80]"));
	collect_places(c, &p);
	ck_assert(!p.row[0].frame[0].is_asked);
	ck_assert(p.row[0].frame[1].is_asked); /* a caller is not shown */
	str_copy(p.row[0].frame[0].function, PROFILE_PLACE_BYTES, "exchange");
	collect_sites(c, &p);
	profile_done(&p);
	read_sites(&p, HEAD(SITES_ON) SITE("30", ""));
	collect_places(c, &p);
	ck_assert(p.row[0].frame[0].is_asked && p.row[0].frame[0].is_found);
	ck_assert_str_eq(p.row[0].frame[0].function, "exchange");
	profile_done(&p);
}

TEST(names_are_made_fit_for_a_file)
{
	char name[SUMMARY_NAME_BYTES];

	collect_name(name, "heat \x1b[2J");
	ck_assert_str_eq(name, "heat \\x1b[2J");
}

SUITE_WITH("collect", set_up, clean_up)
