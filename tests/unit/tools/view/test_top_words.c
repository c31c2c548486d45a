/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of omig top, and the effect of its keys. */
#include "common/base/array.h"
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/term/term.h"
#include "tools/view/top_screen.h"
#include "tools/view/top_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 8

static struct top_rank rank[RANKS];
static struct top_node node[2];
static struct top_sample sample;
static char said[4096];

/* Eight ranks on two hosts, each so long in MPI. */
static void make(const double mpi[RANKS])
{
	memset(rank, 0, sizeof(rank));
	memset(node, 0, sizeof(node));
	for (int i = 0; i < RANKS; i++) {
		rank[i].rank = i;
		rank[i].mpi = mpi[i];
		rank[i].share[TOP_WAIT] = mpi[i];
		rank[i].call.state = TOP_CALL_OUT;
		str_copy(rank[i].job, sizeof(rank[i].job), "heat");
		snprintf(rank[i].node, sizeof(rank[i].node), "n_%d", i / 4);
		snprintf(rank[i].token, sizeof(rank[i].token), "p_%d", i);
	}
	for (int i = 0; i < 2; i++) {
		snprintf(node[i].token, sizeof(node[i].token), "n_%d", i);
		snprintf(node[i].name, sizeof(node[i].name), "node%d", i);
		node[i].cpus = 4;
		node[i].running = 4;
		node[i].cpu_some = 5;
	}
	sample = (struct top_sample){ .rank = rank, .nrank = RANKS, .node = node, .nnode = 2 };
}

static void on_word(void *arg, const struct top_word *w)
{
	size_t n = strlen(said);

	(void)arg;
	snprintf(said + n, sizeof(said) - n, "%s: %s\n", top_word_name(w->kind), w->text);
}

static const char *words(void)
{
	said[0] = '\0';
	top_words(&sample, on_word, NULL);
	return said;
}

TEST(a_rank_that_computes_while_others_wait_is_named)
{
	make((double[RANKS]){ 78, 77, 79, 78, 76, 19, 78, 80 });
	ck_assert_str_eq(words(), "slow: heat: rank 5 on node1 computes 81 % of the time, the "
				  "others 22 %: they wait, most in wait\n");
	make((double[RANKS]){ 78, 20, 79, 78, 76, 19, 78, 80 });
	ck_assert_ptr_nonnull(strstr(words(), "slow: heat: ranks 1, 5 compute 80 % of the time"));
}

TEST(the_ranks_and_hosts_of_a_line_are_marked)
{
	make((double[RANKS]){ 78, 20, 79, 78, 76, 19, 78, 80 });
	top_mark_slow(&sample);
	for (int i = 0; i < RANKS; i++)
		ck_assert_int_eq(rank[i].is_slow, i == 1 || i == 5);
	ck_assert(!top_node_is_full(&node[0]));
	node[0].running = 9;
	node[0].cpu_some = 80;
	ck_assert(top_node_is_full(&node[0]));
	node[1].io_full = 50;
	ck_assert(top_node_is_full(&node[1]));
	make((double[RANKS]){ 30, 31, 29, 30, 33, 28, 30, 30 });
	top_mark_slow(&sample);
	for (int i = 0; i < RANKS; i++)
		ck_assert(!rank[i].is_slow);
}

TEST(similar_ranks_do_not_stand_out)
{
	make((double[RANKS]){ 30, 31, 29, 30, 33, 28, 30, 30 });
	ck_assert_str_eq(words(), "plain: heat: 8 ranks, 30 % of the time in MPI, most in wait; no "
				  "rank stands out\n");
	/* the others do not wait */
	make((double[RANKS]){ 17, 17, 17, 17, 17, 0, 17, 17 });
	ck_assert_ptr_null(strstr(words(), "slow"));
	/* Half of them is not an exception. */
	make((double[RANKS]){ 80, 80, 80, 80, 10, 10, 10, 10 });
	ck_assert_ptr_null(strstr(words(), "slow"));
}

TEST(the_first_sample_has_no_rates_and_has_none)
{
	make((double[RANKS]){ 0 });
	for (int i = 0; i < RANKS; i++)
		rank[i].mpi = NAN;
	ck_assert_str_eq(words(), "");
}

TEST(a_host_without_room_is_named_at_its_bounds)
{
	make((double[RANKS]){ 0 });
	node[1].running = 7;
	node[1].cpu_some = 98;
	ck_assert_ptr_nonnull(
		strstr(words(), "starved: node1: 7 tasks want 4 processors (CPU pressure 98 %)\n"));
	node[0].running = 6.5;
	node[0].cpu_some = 50;
	ck_assert_ptr_nonnull(strstr(words(), "starved: node1 and 1 more host: 7 tasks want 4 "));
	node[0].cpu_some = 5;
	node[1].cpu_some = TOP_STARVED_PRESSURE;
	ck_assert_ptr_null(strstr(words(), "starved"));
	node[1].cpu_some = NAN;
	ck_assert_ptr_null(strstr(words(), "starved"));
	node[0].memory_full = 12;
	ck_assert_ptr_nonnull(
		strstr(words(), "starved: node0: tasks wait for memory 12 % of the time"));
	node[0].io_full = 50;
	ck_assert_ptr_nonnull(
		strstr(words(), "starved: node0: tasks wait for disks 50 % of the time"));
}

TEST(an_empty_table_has_a_reason)
{
	sample = (struct top_sample){ .nended = 4 };
	ck_assert_str_eq(words(),
			 "ended: 4 processes have ended, none runs; --all shows their last "
			 "values\n");
	sample.nended = 0;
	ck_assert_ptr_nonnull(strstr(words(), "ended: no process is watched"));
}

TEST(a_filter_has_names_and_comparisons)
{
	static const struct {
		const char *filter;
		bool takes;
	} cells[] = {
		{ "", true },
		{ "heat", true },
		{ "HEAT node1", true },
		{ "node0", false },
		{ "5", true },
		{ "rank<6", true },
		{ "rank<5", false },
		{ "mpi>50", true },
		{ "mpi>90", false },
		{ "cpu>1", false },
		{ "rank=5 mpi>50", true },
		{ "nothing", false },
		{ "nofield>3", false },
		{ "mpi>x", false },
	};

	make((double[RANKS]){ 0, 0, 0, 0, 0, 60, 0, 0 });
	rank[5].cpu = NAN;
	for (size_t i = 0; i < ARRAY_LEN(cells); i++)
		ck_assert_msg(top_filter_takes(cells[i].filter, &rank[5], &node[1]) ==
				      cells[i].takes,
			      "%s", cells[i].filter);
}

static void press(struct top_screen *p, const char *keys)
{
	for (; *keys; keys++)
		top_screen_key(p, *keys, &sample, &sample, 3);
}

TEST(keys_scroll_and_choose)
{
	struct top_screen p = { 0 };

	make((double[RANKS]){ 0 });
	for (int i = 0; i < 4; i++)
		ck_assert(top_screen_key(&p, TERM_KEY_DOWN, &sample, &sample, 3));
	ck_assert_uint_eq(p.row, 4);
	ck_assert_uint_eq(p.first, 2);
	top_screen_key(&p, TERM_KEY_END, &sample, &sample, 3);
	ck_assert_uint_eq(p.row, RANKS - 1);
	top_screen_key(&p, TERM_KEY_DOWN, &sample, &sample, 3);
	ck_assert_uint_eq(p.row, RANKS - 1);
	top_screen_key(&p, TERM_KEY_PAGE_UP, &sample, &sample, 3);
	ck_assert_uint_eq(p.row, RANKS - 4);
	top_screen_key(&p, TERM_KEY_HOME, &sample, &sample, 3);
	ck_assert_uint_eq(p.first, 0);
	press(&p, "\r");
	ck_assert_int_eq(p.page, TOP_PAGE_RANK);
	ck_assert_str_eq(p.token, "p_0");
	top_screen_key(&p, TERM_KEY_ESCAPE, &sample, &sample, 3);
	press(&p, "?");
	ck_assert_int_eq(p.page, TOP_PAGE_HELP);
	press(&p, "?>");
	ck_assert_int_eq(p.sort, TOP_BY_MPI);
	press(&p, "<<");
	ck_assert_int_eq(p.sort, TOP_SORTS - 1);
	press(&p, "q");
	ck_assert(p.is_over);
}

TEST(text_after_a_slash_filters_the_view)
{
	struct top_screen p = { 0 };
	struct top_sample view;

	make((double[RANKS]){ 0 });
	press(&p, "/rank<33\b\b2qp\b\b\r");
	ck_assert(!p.is_over);
	ck_assert_str_eq(p.filter, "rank<2");
	ck_assert(top_screen_view(&p, &sample, &view));
	ck_assert_uint_eq(view.nrank, 2);
	free(view.rank);
	press(&p, "r");
	ck_assert(top_screen_view(&p, &sample, &view));
	ck_assert_int_eq(view.rank[0].rank, 1);
	free(view.rank);
	str_copy(rank[7].job, sizeof(rank[7].job), "wind");
	press(&p, "/\b\b\b\b\b\b\rjj");
	ck_assert_str_eq(p.job, "wind");
	ck_assert(top_screen_view(&p, &sample, &view));
	ck_assert_uint_eq(view.nrank, 1);
	free(view.rank);
	press(&p, "j");
	ck_assert_str_eq(p.job, "");
}

TEST(sequences_of_a_terminal_are_keys)
{
	size_t used;

	ck_assert_int_eq(term_key_of("[A", 2, &used), TERM_KEY_UP);
	ck_assert_uint_eq(used, 2);
	ck_assert_int_eq(term_key_of("[6~q", 4, &used), TERM_KEY_PAGE_DOWN);
	ck_assert_uint_eq(used, 3);
	ck_assert_int_eq(term_key_of("[1;5A", 5, &used), TERM_KEY_OTHER);
	ck_assert_uint_eq(used, 5);
	ck_assert_int_eq(term_key_of("", 0, &used), TERM_KEY_ESCAPE);
	ck_assert_int_eq(term_key_of("q", 1, &used), TERM_KEY_ESCAPE);
	ck_assert_uint_eq(used, 0);
	ck_assert_int_eq(term_key_of("[", 1, &used), TERM_KEY_OTHER);
}

SUITE("top in words")
