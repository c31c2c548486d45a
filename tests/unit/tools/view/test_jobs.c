/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as people see them, made of processes, their ages, and the calls that ranks are in. */
#include "tests/suite.h"
#include "tools/view/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two jobs that share a node, one of them on two; and one that has ended. */
static const char objects[] =
	"[s_1,\"\",\"east\",\"up\"],[n_1,s_1,\"h1\",\"up\"],"
	"[p_1_a,n_1,\"heat\",\"run\",11,1,4,\"job10\",\"openmpi\",-1],"
	"[p_1_b,n_1,\"heat\",\"blocked\",12,0,4,\"job10\",\"openmpi\",-1],"
	"[p_1_c,n_1,\"python3\",\"stopped\",13,-1,-1,\"job9\",\"\",-1],"
	"[p_1_d,n_1,\"wave\",\"ended\",14,0,1,\"old\",\"mpich\",768],"
	"[p_1_g,n_1,\"wave\",\"ended\",15,1,1,\"old\",\"mpich\",0],"
	"[n_2,s_1,\"h2\",\"lost\"],"
	"[p_2_a,n_2,\"tail\",\"unreachable\",11,2,4,\"job10\",\"openmpi\",-1]";

#define REPORTS 3

/* A host's report about a process. */
struct report {
	const char *token, *value;
};

static Omis_value *tree;
static struct jobs jobs;
static Omis_object_result info_entries[REPORTS + 1], now_entries[REPORTS + 1];

static void release(Omis_object_result *list)
{
	for (size_t i = 0; i < REPORTS; i++) {
		free(list[i].obj_list);
		free(list[i].result);
		list[i] = (Omis_object_result){ 0 };
	}
}

/* The entries of a reply. */
static const Omis_object_result *fill(Omis_object_result *list, const struct report *from)
{
	for (size_t i = 0; i < REPORTS; i++)
		list[i] = (Omis_object_result){ strdup(from[i].token), OMIS_OK,
						strdup(from[i].value), strlen(from[i].value) };
	return list;
}

static void read_jobs(const char *text, const Omis_object_result *info,
		      const Omis_object_result *now)
{
	tree = omis_value_parse(text, strlen(text));
	ck_assert_ptr_nonnull(tree);
	ck_assert(jobs_read(&jobs, tree, info, now));
}

static void done(void)
{
	jobs_done(&jobs);
	omis_value_free(tree);
	release(info_entries);
	release(now_entries);
}

static const char *shown(bool all)
{
	static char text[2048];
	const struct term t = { .is_tty = false };
	struct buf b = BUF_INIT(sizeof(text));

	ck_assert_int_eq(jobs_show(&t, &jobs, all, &b), 0);
	snprintf(text, sizeof(text), "%.*s", (int)b.n, (const char *)b.p);
	buf_done(&b);
	return text;
}

TEST(a_sentence_comes_first_and_then_a_line_for_each_job)
{
	static const struct report info[REPORTS] = { { "p_1_a", "70.5,-1" },
						     { "p_1_c", "3725,-1" },
						     { "p_1_d,p_1_g", "100,30" } };
	static const struct report now[REPORTS] = {
		{ "p_1_a", "1,\"job10\",1,4,[11,\"MPI_Recv\",\"receive\",0]" },
		{ "p_1_b", "1,\"job10\",0,4,[12,\"MPI_Recv\",\"receive\",2],[13,\"\",\"\",9]" },
		{ "p_2_a", "1,\"job10\",2,4,[11,\"\",\"\",9]" },
	};

	read_jobs(objects, fill(info_entries, info), fill(now_entries, now));
	ck_assert_str_eq(
		shown(false),
		"2 jobs run on 2 nodes, with 3 ranks; 1 has ended\n"
		"JOB    PROGRAM  NODES  PROCESSES  RANKS  IN MPI   TIME  STATE\n"
		"job9   python3      1          1      -       -  1h02m  stopped\n"
		"job10  heat         2          3    3/4     1/2  1m10s  run, 1 unreachable\n");
	ck_assert_ptr_nonnull(strstr(shown(true), "ended 30.0s ago (status 3)\n"));
	ck_assert_ptr_nonnull(strstr(shown(true), "\nold    wave"));
	ck_assert_double_eq_tol(job_seconds(&jobs.job[2]), 70, 1e-9);
	done();
}

TEST(unreported_values_are_not_shown_as_0)
{
	read_jobs(objects, NULL, NULL);
	ck_assert_str_eq(
		shown(false),
		"2 jobs run on 2 nodes, with 3 ranks; 1 has ended\n"
		"JOB    PROGRAM  NODES  PROCESSES  RANKS  IN MPI  TIME  STATE\n"
		"job9   python3      1          1      -       -     -  stopped\n"
		"job10  heat         2          3    3/4       -     -  run, 1 unreachable\n");
	ck_assert(isnan(job_seconds(&jobs.job[2])));
	done();
}

TEST(ranks_that_ended_before_the_others_are_named)
{
	read_jobs("[n_1,\"\",\"h1\",\"up\"],"
		  "[p_1_a,n_1,\"heat\",\"run\",11,1,2,\"j\",\"openmpi\",-1],"
		  "[p_1_b,n_1,\"heat\",\"ended\",12,0,2,\"j\",\"openmpi\",9]",
		  NULL, NULL);
	ck_assert_ptr_nonnull(strstr(shown(false), "1 job runs on 1 node, with 1 rank\n"));
	ck_assert_ptr_nonnull(strstr(shown(false), "run, 1 rank ended\n"));
	done();
}

TEST(without_a_job_the_way_to_one_is_shown)
{
	read_jobs("[n_1,\"\",\"h1\",\"up\"]", NULL, NULL);
	ck_assert_str_eq(shown(true),
			 "no job is known yet; start one with: omig run -- PROGRAM ...\n");
	done();
	read_jobs("[n_1,\"\",\"h1\",\"up\"],[p_1_b,n_1,\"sh\",\"ended\",12,-1,-1,\"j\",\"\",9]",
		  NULL, NULL);
	ck_assert_str_eq(shown(false), "no job runs; 1 has ended (omig jobs --all)\n");
	ck_assert_ptr_nonnull(strstr(shown(true), "no job runs; 1 has ended\n"));
	ck_assert_ptr_nonnull(strstr(shown(true), "  ended (signal 9)\n"));
	done();
	read_jobs("[n_1,\"\",\"h1\",\"up\"],[p_1_b,n_1,\"sh\",\"run\",12,-1,-1,\"\",\"\",-1]", NULL,
		  NULL);
	ck_assert_ptr_nonnull(strstr(shown(false), "1 job runs on 1 node, with 1 process\n"));
	ck_assert_ptr_nonnull(strstr(shown(false), "\n-    sh "));
	done();
}

TEST(values_of_a_wrong_form_are_unknown)
{
	static const struct report info[REPORTS] = { { "p_1_a", "\"x\"" },
						     { "p_9_z", "1,1" },
						     { "p_1_b", "-1,-1" } };
	static const struct report now[REPORTS] = {
		{ "p_1_a", "7" },
		{ "p_9_z", "1,\"j\",1,4,[1,\"\",\"\",0]" },
		{ "p_1_b", "1,\"j\",1,4,5" }, /* 5 is not a thread */
	};

	read_jobs(objects, fill(info_entries, info), fill(now_entries, now));
	ck_assert(isnan(jobs.job[1].age_s));
	ck_assert_uint_eq(jobs.job[1].answered, 0);
	done();
}

static const char *as_json(bool all)
{
	static char text[4096];
	struct buf b = BUF_INIT(sizeof(text));
	struct json j;

	json_init(&j, &b);
	jobs_to_json(&j, &jobs, all);
	snprintf(text, sizeof(text), "%.*s", (int)b.n, (const char *)b.p);
	buf_done(&b);
	return text;
}

TEST(json_has_null_for_what_is_not_known)
{
	read_jobs(objects, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(as_json(false),
				     "\"job\":\"job10\",\"program\":\"heat\",\"running\":true,"
				     "\"nodes\":2,\"processes\":3,\"alive\":3,\"stopped\":0,"
				     "\"unreachable\":1,\"ranks\":3,\"ranks_ended\":0,"
				     "\"world_size\":4,\"ranks_in_mpi\":0,\"ranks_answered\":0,"
				     "\"seconds\":null,\"ended_seconds_ago\":null"));
	ck_assert_ptr_nonnull(strstr(as_json(false), "\"exit_status\":null"));
	ck_assert_ptr_null(strstr(as_json(false), "\"exit_status\":-1"));
	ck_assert_ptr_null(strstr(as_json(false), "\"old\""));
	ck_assert_ptr_nonnull(strstr(as_json(true), "\"exit_status\":768"));
	done();
}

SUITE("jobs")
