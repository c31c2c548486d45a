/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of many ranks, merged and in words. */
#include "common/json/json.h"
#include "tests/suite.h"
#include "tools/view/stacks.h"

#include <stdlib.h>
#include <string.h>

#define TREE                                                                              \
	"[s_1,\"\",\"east\",\"up\"],[n_1,s_1,\"h1\",\"up\",0,-1,0,\"\",\"\",0,\"h1\",0]," \
	"[p_1_a,n_1,\"heat\",\"run\",11,0,3,\"job\"],[t_1_a,p_1_a,\"\",\"run\",11],"      \
	"[t_1_x,p_1_a,\"\",\"run\",99],"                                                  \
	"[p_1_b,n_1,\"heat\",\"run\",12,1,3,\"job\"],[t_1_b,p_1_b,\"\",\"run\",12],"      \
	"[p_1_c,n_1,\"heat\",\"run\",13,2,3,\"job\"],[t_1_c,p_1_c,\"\",\"run\",13],"      \
	"[p_1_d,n_1,\"heat\",\"ended\",14,3,4,\"job\"],"                                  \
	"[p_1_e,n_1,\"other\",\"run\",15,0,1,\"two\"],[t_1_e,p_1_e,\"\",\"run\",15],"     \
	"[p_1_f,n_1,\"sh\",\"run\",16,-1,0,\"plain\"],[t_1_f,p_1_f,\"\",\"run\",16]"

#define START \
	"[9,1,\"/lib/libc.so.6\",\"__libc_start_main\",1,\"\",0],[8,1,\"/heat\",\"_start\",1,\"\",0]"
#define MAIN(line) "[7,1,\"/heat\",\"main\",1,\"src/solver.c\"," #line "]," START
#define WAITS                                                                                     \
	"6,[1,1,\"/lib/libmpi.so\",\"opal_progress\",1,\"\",0],[2,1,\"/lib/libmpi.so\","          \
	"\"PMPI_Waitall\",1,\"\",0],[3,1,\"/lib/libomig.so\",\"active_Waitall\",1,\"wrap.c\",5]," \
	"[4,1,\"/heat\",\"exchange\",1,\"src/halo.c\",41]," MAIN(88)
#define COMPUTES(line) "4,[1,1,\"/heat\",\"flux\",1,\"src/flux.c\"," #line "]," MAIN(88)

static Omis_value *tree;
static struct stacks stacks;

static void choose(const char *job, bool with_threads)
{
	tree = omis_value_parse(TREE, strlen(TREE));
	ck_assert_ptr_nonnull(tree);
	stacks = (struct stacks){ 0 };
	ck_assert(stacks_choose(&stacks, tree,
				&(struct stacks_wanted){ .job = job, .threads = with_threads }));
}

static void add(const char *tokens, Omis_status status, const char *result, bool is_deep)
{
	char *list = strdup(tokens), *text = strdup(result);
	Omis_object_result entries[2] = { { list, status, text, strlen(text) }, { 0 } };

	ck_assert(stacks_add(&stacks, entries, is_deep));
	free(list);
	free(text);
}

static const char *shown(bool is_utf8)
{
	static char text[4096];
	const struct term t = { .is_utf8 = is_utf8 };
	struct buf out = BUF_INIT(sizeof(text));

	stacks_finish(&stacks);
	ck_assert_int_eq(stacks_show(&t, &stacks, &out), 0);
	snprintf(text, sizeof(text), "%s", buf_str(&out));
	buf_done(&out);
	return text;
}

static void done(void)
{
	stacks_done(&stacks);
	omis_value_free(tree);
}

TEST(ranks_with_one_path_are_one_branch_and_a_sentence)
{
	choose("job", false);
	ck_assert_uint_eq(stacks.n, 3);
	add("t_1_a,t_1_c", OMIS_OK, WAITS, false);
	add("t_1_b", OMIS_OK, COMPUTES(210), false);
	ck_assert_str_eq(
		shown(false),
		"2 of 3 ranks wait in MPI_Waitall (halo.c:41); rank 1 is in flux (flux.c:210)\n"
		"3 main solver.c:88\n"
		" | 2 [0, 2] exchange halo.c:41 - MPI_Waitall\n"
		" ` 1 [1] flux flux.c:210\n"
		"1 rank has ended\n");
	ck_assert_ptr_nonnull(strstr(shown(true), "\n \u251c 2 [0, 2] exchange halo.c:41 \u2500 "));
	done();
}

TEST(lines_of_the_last_frame_do_not_part_ranks)
{
	choose("job", false);
	add("t_1_a", OMIS_OK, COMPUTES(210), false);
	add("t_1_b", OMIS_OK, COMPUTES(217), false);
	add("t_1_c", OMIS_OK, COMPUTES(214), false);
	ck_assert_ptr_nonnull(strstr(shown(false), "all 3 ranks are in flux (flux.c:210-217)\n"
						   "3 main solver.c:88 - flux flux.c:210-217\n"));
	done();
}

TEST(one_reason_has_one_line)
{
	choose("job", false);
	add("t_1_a", OMIS_OK, WAITS, false);
	add("t_1_b,t_1_c", OMIS_OS_ERROR, "traced already", false);
	ck_assert_ptr_nonnull(strstr(shown(false), "\nno stack of 2 threads: traced already\n"));
	ck_assert_uint_eq(stacks.n, 1);
	done();
}

TEST(a_thread_without_a_reply_is_no_stack_of_nothing)
{
	choose("job", false);
	add("t_1_a", OMIS_OK, WAITS, false);
	ck_assert_ptr_nonnull(strstr(shown(false), "\nno stack of 2 threads: no reply in time\n"));
	done();
}

TEST(a_program_without_symbols_is_reported_to_have_none)
{
	choose("two", false);
	ck_assert_uint_eq(stacks.n, 1);
	add("t_1_e", OMIS_OK,
	    "3,[1,1,\"/other\",\"\",0,\"\",0],[9,1,\"/lib/libc.so.6\",\"__libc_start_main\",1,"
	    "\"\",0],[8,1,\"/other\",\"\",0,\"\",0]",
	    false);
	ck_assert_str_eq(shown(false),
			 "rank 0 is in other\n1 other\n"
			 "other has no symbols: it is stripped, and its functions have no names\n");
	done();
}

TEST(a_process_without_mpi_has_no_rank)
{
	struct buf out = BUF_INIT(1 << 16);
	struct json j;

	choose("plain", false);
	ck_assert_uint_eq(stacks.n, 1);
	add("t_1_f", OMIS_OK, COMPUTES(210), false);
	ck_assert_str_eq(shown(false),
			 "the only process is in flux (flux.c:210)\n"
			 "1 main solver.c:88 - flux flux.c:210\n"
			 "sh has no symbols: it is stripped, and its functions have no names\n");
	json_init(&j, &out);
	json_object(&j);
	stacks_to_json(&j, &stacks);
	json_object_end(&j);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "\"rank\":null"));
	buf_done(&out);
	done();
}

TEST(ranks_and_other_processes_together_are_processes)
{
	choose(NULL, false);
	ck_assert_uint_eq(stacks.n, 5);
	add("t_1_a", OMIS_OK, WAITS, false);
	add("t_1_b,t_1_f", OMIS_OK, COMPUTES(210), false);
	ck_assert_ptr_nonnull(strstr(shown(false), "2 of 3 processes are in flux (flux.c:210)"));
	ck_assert_ptr_nonnull(strstr(shown(false), " 2 [1] flux flux.c:210\n"));
	done();
}

TEST(all_threads_and_all_frames_on_request)
{
	choose("job", true);
	ck_assert_uint_eq(stacks.n, 4);
	add("t_1_a", OMIS_OK, WAITS, true);
	ck_assert_ptr_nonnull(
		strstr(shown(false), "_start - __libc_start_main - main solver.c:88 - exchange "));
	ck_assert_ptr_nonnull(strstr(shown(false), " opal_progress\n"));
	done();
}

/* Any report of a host. */
TEST(hostile_entries_are_harmless)
{
	choose("job", false);
	add("t_1_a", OMIS_OK, "1", false);
	add("t_1_b", OMIS_OK, "9,7,\"x\",[]", false);
	add("t_1_zz,,t_1_c", OMIS_OK, "2,[],[1,2,\"a\033[2J\",\"b\nc\",1,\"\",-3]", false);
	ck_assert_ptr_null(strchr(shown(false), '\033'));
	done();
}

SUITE("stacks")
