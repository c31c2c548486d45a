/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/suite.h"
#include "common/base/array.h"
#include "tools/view/top_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 1000

static struct top_sample sample(void)
{
	struct top_sample s = { .nrank = RANKS };

	s.rank = calloc(RANKS, sizeof(*s.rank));
	ck_assert_ptr_nonnull(s.rank);
	for (int i = 0; i < RANKS; i++) {
		s.rank[i].rank = (i * 7) % RANKS;
		snprintf(s.rank[i].token, sizeof(s.rank[i].token), "p_1_%06d", (i * 7) % RANKS);
	}
	return s;
}

static void all_are_found(const struct top_sample *s)
{
	char token[TOP_TOKEN_BYTES];

	for (int i = 0; i < RANKS; i++) {
		snprintf(token, sizeof(token), "p_1_%06d", i);
		ck_assert_ptr_nonnull(top_rank_find(s, token));
		ck_assert_int_eq(top_rank_find(s, token)->rank, i);
	}
	ck_assert_ptr_null(top_rank_find(s, "p_1_001000"));
	ck_assert_ptr_null(top_rank_find(s, ""));
}

TEST(ranks_are_found_by_their_tokens_with_and_without_an_index)
{
	struct top_sample s = sample(), none = { .nrank = 0 };

	all_are_found(&s);
	top_index(&s);
	all_are_found(&s);
	top_sample_done(&s);
	ck_assert(!s.is_indexed);
	top_index(&none);
	ck_assert_ptr_null(top_rank_find(&none, "p_1_000000"));
}

/* Lines, and the longest of them. */
static size_t lines_of(const struct buf *b, size_t *longest)
{
	size_t n = 0, at = 0;

	*longest = 0;
	for (size_t i = 0; i < b->n; i++) {
		if (b->p[i] != '\n')
			continue;
		*longest = i - at > *longest ? i - at : *longest;
		at = i + 1;
		n++;
	}
	return n;
}

static void check_screen(unsigned rows, unsigned cols, size_t ranks, size_t nodes)
{
	const struct term t = { .is_tty = true, .is_raw = true, .rows = rows, .cols = cols };
	struct top_sample s = sample();
	struct buf b = BUF_INIT(1 << 20);
	size_t lines, longest;
	char last[64];

	s.nrank = ranks;
	s.node = calloc(nodes + 1, sizeof(*s.node));
	s.nnode = nodes;
	top_show_title(
		&t, &(struct top_title){ 1700000000 * NSEC_PER_SEC, 1, "calls", true, "", "" }, &b);
	ck_assert_int_eq(top_show(&t, &s, &(struct top_look){ .rows = top_rows(&t) }, &b), 0);
	lines = lines_of(&b, &longest);
	ck_assert_msg(lines < rows, "%zu lines of %u rows, %zu ranks, %zu nodes", lines, rows,
		      ranks, nodes);
	ck_assert_uint_lt(longest, cols + 1);
	snprintf(last, sizeof(last), "%zu ranks on %zu node", ranks, nodes);
	ck_assert_ptr_nonnull(strstr(buf_str(&b), last));
	ck_assert_ptr_nonnull(strstr(buf_str(&b), "omig top"));
	buf_done(&b);
	top_sample_done(&s);
}

static const char *shown(struct top_sample *s)
{
	static char text[4096];
	const struct term t = { .is_tty = false };
	struct buf b = BUF_INIT(sizeof(text));

	top_sort(s, TOP_BY_RANK);
	ck_assert_int_eq(top_show(&t, s, &(struct top_look){ 0 }, &b), 0);
	snprintf(text, sizeof(text), "%.*s", (int)b.n, (const char *)b.p);
	buf_done(&b);
	return text;
}

static size_t place_of(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	ck_assert_msg(at != NULL, "no %s in %s", what, text);
	return (size_t)(at - text);
}

TEST(ranks_of_two_jobs_stand_apart_with_their_job)
{
	struct top_sample s = sample();
	const char *text;

	s.nrank = 3;
	for (size_t i = 0; i < 3; i++)
		s.rank[i].rank = (int64_t)i;
	snprintf(s.rank[0].job, sizeof(s.rank[0].job), "wind");
	snprintf(s.rank[1].job, sizeof(s.rank[1].job), "rain");
	text = shown(&s);
	ck_assert_uint_lt(place_of(text, "\n-        2  "), place_of(text, "\nrain     1  "));
	ck_assert_uint_lt(place_of(text, "\nrain     1  "), place_of(text, "\nwind     0  "));
	ck_assert_ptr_nonnull(strstr(text, "JOB   RANK  NODE"));
	s.nrank = 1;
	ck_assert_ptr_null(strstr(shown(&s), "JOB"));
	top_sample_done(&s);
}

TEST(messages_have_a_column_where_there_are_any)
{
	struct top_sample s = sample();

	s.nrank = 2;
	ck_assert_ptr_null(strstr(shown(&s), "MSG/s"));
	s.rank[1].class_calls[TOP_SEND] = 7;
	s.rank[0].messages_s = 12;
	s.rank[1].messages_s = (double)NAN;
	ck_assert_ptr_nonnull(strstr(shown(&s), "CALLS/s  MSG/s  OUT/s"));
	ck_assert_ptr_nonnull(strstr(shown(&s), "   12  "));
	top_sample_done(&s);
}

TEST(conspicuous_values_are_in_colour)
{
	const struct term t = { .is_tty = true, .has_color = true, .cols = 200 };
	struct buf b = BUF_INIT(1 << 16);
	struct top_sample s = sample();
	const char *at;

	s.nrank = 2;
	s.rank[1].is_slow = true;
	ck_assert_int_eq(top_show(&t, &s, &(struct top_look){ .row = SIZE_MAX }, &b), 0);
	at = strstr(buf_str(&b), term_paint(&t, TERM_YELLOW));
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_null(strstr(at + 1, term_paint(&t, TERM_YELLOW)));
	buf_done(&b);
	top_sample_done(&s);
}

/* A newline after the last line would scroll a full screen, so that the title disappears. */
TEST(a_screen_holds_its_title_whatever_there_is_to_show)
{
	static const size_t ranks[] = { 2, 15, 16, 17, 18, 64, 1000 }, nodes[] = { 1, 2, 5, 30 };
	static const unsigned size[][2] = {
		{ 24, 80 }, { 24, 40 }, { 24, 200 }, { 50, 132 }, { 12, 80 }
	};

	for (size_t k = 0; k < ARRAY_LEN(size); k++)
		for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
			for (size_t n = 0; n < ARRAY_LEN(nodes); n++)
				check_screen(size[k][0], size[k][1], ranks[i], nodes[n]);
}

static const char *title_at(unsigned cols, bool is_paused)
{
	const struct term t = { .is_tty = true, .is_raw = true, .rows = 24, .cols = cols };
	static char text[200];
	struct buf b = BUF_INIT(1000);

	top_show_title(
		&t, &(struct top_title){ 1700000000 * NSEC_PER_SEC, 1, "rank", is_paused, "", "" },
		&b);
	snprintf(text, sizeof(text), "%s", buf_str(&b));
	buf_done(&b);
	return text;
}

TEST(a_narrow_title_keeps_what_matters_most)
{
	ck_assert_str_eq(title_at(100, false),
			 "omig top  2023-11-14T22:13:20Z  every 1s  by rank  (? help, q quit)\n\n");
	ck_assert_str_eq(title_at(70, true),
			 "omig top  2023-11-14T22:13:20Z  PAUSED  every 1s  by rank\n\n");
	ck_assert_str_eq(title_at(40, true), "omig top  2023-11-14T22:13:20Z  PAUSED\n\n");
	ck_assert_str_eq(title_at(20, true), "omig top\n\n");
}

SUITE("top")
