/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "tools/session/show.h"
#include "tools/view/tree.h"

#include <string.h>
#include <unistd.h>

static const char objects[] =
	"[s_1,\"\",\"east\",\"up\",0,-1,0,\"\",\"\",0,\"\"],"
	"[n_1,s_1,\"node1\",\"up\",0,-1,0,\"\",\"\",0,\"node1\"],"
	"[p_1_abc,n_1,\"heat\\033[2J\",\"run\",4711,0,2,\"job\",\"openmpi\",0,\"\"],"
	"[t_1_abc,p_1_abc,\"heat\",\"run\",4711,-1,0,\"\",\"\",0,\"\"],"
	"[p_1_abd,n_1,\"heat\",\"ended\",4712,1,2,\"job\",\"openmpi\",768,\"\"],"
	"[n_2,s_1,\"node2\",\"silent\",0,-1,0,\"\",\"\",0,\"node2\",4000000000]";

static char text[8192];

/* Runs show() with stdout in a file, and puts the output into text. */
static void capture(const char *objects_text, void (*show)(const struct tree *))
{
	Omis_value *list = omis_value_parse(objects_text, strlen(objects_text));
	struct tree tree;
	FILE *f = tmpfile();
	int keep = dup(STDOUT_FILENO);
	size_t n;

	ck_assert_ptr_nonnull(list);
	ck_assert(tree_sort(&tree, list));
	ck_assert_ptr_nonnull(f);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	show(&tree);
	fflush(stdout);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	tree_done(&tree);
	omis_value_free(list);
}

static void show_all(const struct tree *tree)
{
	struct term t;

	ck_assert_int_eq(term_open(&t, "never"), 0);
	tree_show(&t, tree, TREE_THREADS);
}

static void show_nodes(const struct tree *tree)
{
	struct term t;

	ck_assert_int_eq(term_open(&t, "never"), 0);
	tree_show(&t, tree, TREE_NODES);
}

TEST(each_object_is_a_line_indented_below_its_container)
{
	capture(objects, show_all);
	ck_assert_str_eq(
		text,
		"s_1  site east  up\n"
		"  n_1  node node1  up\n"
		"    p_1_abc  rank 0 of 2  pid 4711  heat\\x1b[2J  openmpi  job job  run\n"
		"      t_1_abc  tid 4711  run\n"
		"    p_1_abd  rank 1 of 2  pid 4712  heat  openmpi  job job  ended (status 3)\n"
		"  n_2  node node2  silent for 4.0s\n");
}

TEST(names_and_ranks_are_in_order)
{
	capture("[s_2,\"\",\"b\",\"up\"],[n_3,s_2,\"h10\",\"up\"],[p_3_a,n_3,\"x\",\"run\",9,2,3,"
		"\"j\"],"
		"[t_3_b,p_3_a,\"\",\"run\",11],[t_3_a,p_3_a,\"\",\"run\",9],[p_3_b,n_3,\"x\","
		"\"run\",10,0,3,\"j\"],"
		"[n_4,s_2,\"h9\",\"up\"],[s_1,\"\",\"a\",\"up\"],[n_2,s_1,\"h11\",\"up\"]",
		show_all);
	ck_assert_str_eq(text, "s_1  site a  up\n"
			       "  n_2  node h11  up\n"
			       "s_2  site b  up\n"
			       "  n_4  node h9  up\n"
			       "  n_3  node h10  up\n"
			       "    p_3_b  rank 0 of 3  pid 10  x  job j  run\n"
			       "    p_3_a  rank 2 of 3  pid 9  x  job j  run\n"
			       "      t_3_a  tid 9  run\n"
			       "      t_3_b  tid 11  run\n");
}

TEST(the_depth_can_be_limited)
{
	capture(objects, show_nodes);
	ck_assert_str_eq(
		text,
		"s_1  site east  up\n  n_1  node node1  up\n  n_2  node node2  silent for 4.0s\n");
}

TEST(nodes_that_are_not_up_are_counted)
{
	Omis_value *list = omis_value_parse(objects, sizeof(objects) - 1);
	struct tree tree;

	ck_assert(tree_sort(&tree, list));
	ck_assert_uint_eq(tree_unreachable(&tree), 1);
	tree_done(&tree);
	omis_value_free(list);
}

/* The JSON of a list of objects, in text. */
static void to_json(const char *list_text)
{
	Omis_value *list = omis_value_parse(list_text, strlen(list_text));
	struct buf b = BUF_INIT(sizeof(text) - 1);
	struct tree tree;
	struct json j;

	ck_assert(tree_sort(&tree, list));
	json_init(&j, &b);
	tree_to_json(&j, &tree);
	tree_done(&tree);
	ck_assert_int_eq(json_end(&j), 0);
	snprintf(text, sizeof(text), "%s", buf_str(&b));
	buf_done(&b);
	omis_value_free(list);
}

static size_t count(const char *what)
{
	const char *at = text;
	size_t n = 0;

	while ((at = strstr(at, what)) != NULL) {
		n++;
		at += strlen(what);
	}
	return n;
}

TEST(json_nests_as_the_objects_do)
{
	to_json(objects);
	ck_assert_uint_eq(count("\"nodes\":["), 1);
	ck_assert_uint_eq(count("\"processes\":["), 2);
	ck_assert_uint_eq(count("\"threads\":["), 2);
	ck_assert_uint_eq(count("\"threads\":[{\"token\":\"t_1_abc\""), 1);
	ck_assert_uint_eq(count("\"state_age_ns\":4000000000"), 1);
	ck_assert_uint_eq(count("\"exit_status\":3"), 1);
	to_json("");
	ck_assert_str_eq(text, "{\"version\":1,\"sites\":[]}");
}

TEST(an_object_without_its_container_makes_no_broken_json)
{
	to_json("[p_1,n_1,\"x\",\"run\"],[s_1,\"\",\"a\",\"up\"],[t_1,p_1,\"\",\"run\"],[n_1,s_1,"
		"\"b\",\"up\"]");
	ck_assert_uint_eq(count("p_1"), 0);
	ck_assert_uint_eq(count("\"token\":\"n_1\""), 1);
}

TEST(values_become_json)
{
	static const char values[] = "1,2.5,\"a\\\"b\",n_1,[1,[]],2#\0\xff";
	Omis_value *list = omis_value_parse(values, sizeof(values) - 1);
	struct buf b = BUF_INIT(4096);
	struct json j;

	ck_assert_ptr_nonnull(list);
	json_init(&j, &b);
	show_value_json(&j, list);
	ck_assert_int_eq(json_end(&j), 0);
	ck_assert_str_eq(buf_str(&b), "[1,2.5,\"a\\\"b\",\"n_1\",[1,[]],{\"base16\":\"00ff\"}]");
	buf_done(&b);
	omis_value_free(list);
}

/* Two jobs on one node, one of them also on another. */
static const char jobs[] = "[s_1,\"\",\"east\",\"up\",0,-1,0,\"\",\"\",0,\"\"],"
			   "[n_1,s_1,\"node1\",\"up\",0,-1,0,\"\",\"\",0,\"node1\"],"
			   "[p_1_a,n_1,\"x\",\"run\",1,0,2,\"wind\",\"\",0,\"\"],"
			   "[t_1_a,p_1_a,\"x\",\"run\",1,-1,0,\"\",\"\",0,\"\"],"
			   "[p_1_b,n_1,\"x\",\"run\",2,0,1,\"rain\",\"\",0,\"\"],"
			   "[t_1_b,p_1_b,\"x\",\"run\",2,-1,0,\"\",\"\",0,\"\"],"
			   "[n_2,s_1,\"node2\",\"up\",0,-1,0,\"\",\"\",0,\"node2\"],"
			   "[p_2_c,n_2,\"x\",\"run\",3,1,2,\"wind\",\"\",0,\"\"],"
			   "[s_2,\"\",\"west\",\"up\",0,-1,0,\"\",\"\",0,\"\"]";

static void keeps(const char *job, size_t n, const char *const *tokens)
{
	Omis_value *list = omis_value_parse(jobs, strlen(jobs));
	struct tree tree;

	ck_assert(tree_sort(&tree, list));
	tree_select_job(&tree, job);
	ck_assert_uint_eq(tree.n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(tree.object[i]->list[0].s, tokens[i]);
	tree_done(&tree);
	omis_value_free(list);
}

TEST(filtering_by_job_keeps_its_processes_and_their_containers)
{
	static const char *const wind[] = { "s_1", "n_1", "p_1_a", "t_1_a", "n_2", "p_2_c" };
	static const char *const rain[] = { "s_1", "n_1", "p_1_b", "t_1_b" };

	keeps("wind", 6, wind);
	keeps("rain", 4, rain);
	keeps("snow", 0, NULL);
	keeps("", 0, NULL);
}

SUITE("tree")
