/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens become the names that people know; nothing else in a reply changes. */
#include "tests/suite.h"
#include "common/base/str.h"
#include "tools/session/object_names.h"

#include <string.h>

static struct object_names names;

static const char tree[] = "[s_1,\"\",\"east\",\"up\",0,-1,0,\"\",\"\",0,\"\",0],"
			   "[n_1,s_1,\"node1\",\"up\",0,-1,0,\"\",\"\",0,\"host1\",5],"
			   "[p_1_a,n_1,\"heat\",\"run\",11,3,4,\"j\",\"openmpi\",-1,\"host1\",0],"
			   "[t_1_b,p_1_a,\"\",\"run\",12,-1,0,\"\",\"\",-1,\"host1\",0],"
			   "[p_1_f,n_1,\"fileserver\",\"run\",14,-1,-1,\"j\",\"\",-1,\"host1\",0]";

static void set_up(void)
{
	names.tree = omis_value_parse(tree, sizeof(tree) - 1);
	ck_assert_ptr_nonnull(names.tree);
}

static void clean_up(void)
{
	object_names_done(&names);
}

static void becomes(const char *text, const char *want)
{
	struct buf b = BUF_INIT(4096);

	object_names_put(&names, &b, text, strlen(text));
	ck_assert_str_eq(buf_str(&b), want);
	buf_done(&b);
}

TEST(objects_have_names)
{
	becomes("p_1_a,p_1_f", "rank3@host1,fileserver.14@host1");
	becomes("[n_1,s_1],t_1_b", "[host1,east],rank3@host1/12");
	ck_assert(!names.is_old);
}

TEST(words_that_are_no_tokens_stay)
{
	becomes("", "");
	becomes("c_1,pa_c_1,1.5,-2,dfg_1,p_", "c_1,pa_c_1,1.5,-2,dfg_1,p_");
	becomes("xp_1_a p_1_ab", "xp_1_a p_1_ab");
}

TEST(text_in_quotes_is_unchanged)
{
	becomes("\"p_1_a\",p_1_a", "\"p_1_a\",rank3@host1");
	becomes("\"a\\\"p_1_a\",p_1_a", "\"a\\\"p_1_a\",rank3@host1");
	becomes("\"p_1_a", "\"p_1_a");
}

TEST(an_object_that_is_not_known_keeps_its_token_and_is_noted)
{
	becomes("p_2_z: 1", "p_2_z: 1");
	ck_assert(names.is_old);
}

TEST(of_several_jobs_names_show_which)
{
	names.with_jobs = true;
	becomes("p_1_a", "j:rank3@host1");
}

TEST(without_a_tree_all_stays)
{
	object_names_done(&names);
	becomes("p_1_a,n_1: \"x\"", "p_1_a,n_1: \"x\"");
}

SUITE_WITH("object_names", set_up, clean_up)
