/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles: an lm adds up its ranks, since counting began or since a tool's mark. */
#include "common/base/array.h"
#include "common/base/limits.h"
#include "common/omis/text/status.h"
#include "common/ring/calls.h"
#include "tests/suite.h"
#include "tests/unit/lm/two_ranks.h"

#include <inttypes.h>

static const struct msg_reply *profile_as(uint32_t tool, const char *rest)
{
	char text[256];

	snprintf(text, sizeof(text), ":omig_calls_profile([%s,%s]%s)", rank0, rank1, rest);
	return world_ask_as(&w, tool, OBSERVER, text);
}

/* Rows after the twelve values of the host. */
static const char *rows_as(uint32_t tool, const char *rest)
{
	const struct msg_reply *r = profile_as(tool, rest);
	const char *at;

	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	at = strchr(entry_text(&r->entry[0]), '[');
	return at ? at : "";
}

static int64_t head_of(const char *rest, unsigned place)
{
	const char *at = entry_text(&profile_as(1, rest)->entry[0]);

	while (place--)
		at = strchr(at, ',') + 1;
	return strtoll(at, NULL, 10);
}

static void count(const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), ":omig_calls_enable([%s,%s],\"%s\")", rank0, rank1, what);
	world_ask_as(&w, 1, OBSERVER, text);
}

static void send(struct fake_segment *s, int64_t bytes, int64_t partner, uint64_t ticks)
{
	fake_segment_call(s, &(struct fake_call){ .name = "MPI_Send",
						  .bytes_out = bytes,
						  .partner = partner,
						  .ticks = ticks });
}

/* Delays depend on the clock of this machine: they are not compared. */
static const char *without_times(const char *rows, const unsigned *places, size_t n)
{
	static char text[512];
	size_t at = 0;
	unsigned place = 0;

	for (; *rows && at < sizeof(text) - 1; rows++) {
		bool is_time = false;

		place = *rows == '[' ? 0 : place + (*rows == ',');
		for (size_t i = 0; i < n; i++)
			is_time |= places[i] == place;
		if (!is_time || *rows == ',' || *rows == ']')
			text[at++] = *rows;
	}
	text[at] = 0;
	return text;
}

static const char *calls_of(const char *rest)
{
	static const unsigned times[] = { 3, 8 };

	return without_times(rows_as(1, rest), times, 2);
}

TEST(calls_of_all_ranks_are_one_row_with_the_rank_that_has_most)
{
	count("volume");
	send(&seg, 10, 1, 100000);
	send(&other, 20, 0, 900000);
	send(&other, 30, 0, 900000);
	ck_assert_str_eq(calls_of(",\"call\""), "[\"MPI_Send\",\"send\",3,,0,60,0,1,,2,0,0]");
	ck_assert_int_eq(head_of(",\"call\"", 2), 2); /* ranks */
	ck_assert_int_eq(head_of(",\"call\"", 3), 0); /* ended */
	ck_assert_int_eq(head_of(",\"call\"", 9), HOOK_COUNT | HOOK_TIME | HOOK_VOLUME);
}

TEST(each_tool_counts_from_its_own_mark)
{
	count("volume");
	send(&seg, 10, 1, 1000);
	ck_assert_str_eq(calls_of(",\"call\",1"), "[\"MPI_Send\",\"send\",1,,0,10,0,0,,1,0,0]");
	ck_assert_str_eq(calls_of(",\"call\",2"), "");
	send(&seg, 5, 1, 1000);
	ck_assert_str_eq(calls_of(",\"call\",2"), "[\"MPI_Send\",\"send\",1,,0,5,0,0,,1,0,0]");
	ck_assert_str_eq(calls_of(",\"call\",2"), "");
	ck_assert_str_eq(calls_of(",\"call\""), "[\"MPI_Send\",\"send\",2,,0,15,0,0,,1,0,0]");
	/* another tool has no mark */
	ck_assert_ptr_nonnull(strstr(rows_as(2, ",\"call\",2"), "[\"MPI_Send\",\"send\",2,"));
	ck_assert_int_eq(head_of(",\"call\",2", 6), 2);
}

TEST(ranks_and_pairs_are_rows_of_their_own)
{
	static const unsigned rank_times[] = { 1, 4, 7, 9 }, pair_times[] = { 3 };

	count("partner");
	send(&seg, 10, 1, 1000);
	send(&seg, 10, 1, 1000);
	send(&other, 7, 0, 500000);
	ck_assert_str_eq(without_times(rows_as(1, ",\"rank\""), rank_times, 4),
			 "[0,,0,2,,20,0,,\"MPI_Send\",],[1,,0,1,,7,0,,\"MPI_Send\",]");
	ck_assert_str_eq(without_times(rows_as(1, ",\"partner\",1"), pair_times, 1),
			 "[1,0,1,,7,0],[0,1,2,,20,0]");
	ck_assert_str_eq(rows_as(1, ",\"partner\",2"), "");
	send(&seg, 3, 1, 1000);
	ck_assert_str_eq(without_times(rows_as(1, ",\"partner\",2"), pair_times, 1),
			 "[0,1,1,,3,0]");
}

TEST(values_stay_after_the_end_of_a_rank)
{
	count("volume");
	send(&seg, 10, 1, 1000);
	fake_proc_end(fake_proc_find(&w.host, 100), 0);
	world_run(&w, SEC);
	send(&other, 1, 0, 900000);
	ck_assert_str_eq(calls_of(",\"call\""), "[\"MPI_Send\",\"send\",2,,0,11,0,1,,2,0,0]");
	ck_assert_int_eq(head_of(",\"call\"", 2), 2);
	ck_assert_int_eq(head_of(",\"call\"", 3), 1);
}

TEST(measured_time_survives_an_lm_up_to_the_age_of_the_process)
{
	ck_assert_int_eq(head_of(",\"call\"", 4), 2); /* untimed */
	count("count");
	ck_assert_int_eq(head_of(",\"call\"", 4), 2);
	count("time");
	ck_assert_int_eq(head_of(",\"call\"", 4), 0);
	ck_assert_uint_ne(seg.h->l.timed_since, 0);
	count("count");
	ck_assert_uint_eq(seg.h->l.timed_since, 0);
	ck_assert_uint_ne(seg.h->l.timed_before, 0);
	seg.h->l.timed_before = UINT64_MAX; /* the program can write there */
	ck_assert_int_lt(head_of(",\"call\"", 8), INT64_C(86400) * 365 * NSEC_PER_SEC * 100);
	ck_assert_int_ge(head_of(",\"call\"", 7), 0);
}

static void put_site(struct fake_segment *s, unsigned at, const struct seg_site *site)
{
	struct seg_module *m = (struct seg_module *)(void *)(s->base + s->h->module_offset);
	uint8_t *block = s->base + s->h->thread_offset;

	m[0] = (struct seg_module){
		.start = 0x5000, .end = 0x6000, .bias = 0x4000, .path = "/bin/heat"
	};
	((struct seg_site *)(void *)(block + s->h->site_offset))[at] = *site;
}

static struct seg_site site_of(uint64_t pc, uint64_t count)
{
	return (struct seg_site){ .key = pc,
				  .func = (uint32_t)call_find("MPI_Send"),
				  .depth = 2,
				  .pc = { pc, 0x77 },
				  .count = count,
				  .bytes_out = 8,
				  .delay = 1000 * count,
				  .longest = 700 };
}

TEST(sites_of_all_ranks_are_rows_with_file_and_address)
{
	static const unsigned times[] = { 3, 4, 8 };
	struct seg_site a = site_of(0x5010, 3), b = site_of(0x5020, 1);
	const char *text;

	count("site");
	ck_assert_uint_eq(fake_segment_hook(&seg, "MPI_Send") & HOOK_SITE, HOOK_SITE);
	put_site(&seg, 0, &a);
	put_site(&other, 5, &a);
	put_site(&other, 9, &b);
	text = without_times(rows_as(1, ",\"site\",1"), times, 3);
	ck_assert_ptr_nonnull(strstr(text, "[\"MPI_Send\","));
	ck_assert_ptr_nonnull(strstr(text, ",6,,,16,0,0,,2,[\"/bin/heat\",4112],[\"\",119]]"));
	ck_assert_ptr_nonnull(strstr(text, ",1,,,8,0,1,,1,[\"/bin/heat\",4128],[\"\",119]]"));
	a.count += 2;
	put_site(&seg, 0, &a);
	text = without_times(rows_as(1, ",\"site\",2"), times, 3);
	ck_assert_ptr_nonnull(strstr(text, ",2,,,0,0,0,,1,[\"/bin/heat\",4112]"));
	/* they stay when the rank has ended */
	fake_proc_end(fake_proc_find(&w.host, 200), 0);
	world_run(&w, SEC);
	ck_assert_ptr_nonnull(strstr(rows_as(1, ",\"site\""), "[\"/bin/heat\",4128]"));
}

static void put_size(struct fake_segment *s, unsigned at, uint64_t class, uint64_t count)
{
	uint8_t *block = s->base + s->h->thread_offset;
	uint64_t func = (uint64_t)call_find("MPI_Send");

	((struct seg_size *)(void *)(block + s->h->size_offset))[at] =
		(struct seg_size){ (func + 1) << 32 | class, count, 10 * count, 1000 * count };
}

TEST(sizes_of_all_ranks_are_rows_by_call_and_class)
{
	static const unsigned times[] = { 4 };

	count("volume");
	put_size(&seg, 0, 4, 3);
	put_size(&other, 5, 4, 1);
	put_size(&other, 6, SEG_SIZE_CLASSES - 1, 2);
	ck_assert_str_eq(without_times(rows_as(1, ",\"size\",1"), times, 1),
			 "[\"MPI_Send\",8,15,4,,40],[\"MPI_Send\",1073741824,-1,2,,20]");
	put_size(&seg, 0, 4, 5);
	ck_assert_str_eq(without_times(rows_as(1, ",\"size\",2"), times, 1),
			 "[\"MPI_Send\",8,15,2,,20]");
}

static void put_extent(struct fake_segment *s, uint64_t longest, uint64_t shortest)
{
	uint8_t *block = s->base + s->h->thread_offset;

	((struct seg_extent *)(void *)(block + s->h->extent_offset))[call_find("MPI_Send")] =
		(struct seg_extent){ longest, ~shortest };
}

/* "shortest,longest" of the one row */
static const char *extents(const char *rest)
{
	const char *rows = rows_as(1, rest), *at = rows + strlen(rows);

	for (unsigned commas = 0; at > rows && commas < 2; commas += *at == ',')
		at--;
	return at > rows ? at + 1 : "";
}

TEST(extents_are_hidden_by_what_was_before_a_mark)
{
	count("volume");
	send(&seg, 10, 1, 1000);
	put_extent(&seg, 1000, 1000);
	ck_assert_int_ne(strncmp(extents(",\"call\",1"), "0,0]", 4), 0);
	ck_assert_ptr_null(strstr(extents(",\"call\""), "-1"));
	ck_assert_str_eq(extents(",\"call\",2"), ""); /* no call since then */
	send(&seg, 10, 1, 1000);
	ck_assert_str_eq(extents(",\"call\",2"), "-1,-1]");
	send(&seg, 10, 1, 900000);
	put_extent(&seg, 900000, 1000);
	ck_assert_int_eq(strncmp(extents(",\"call\",2"), "-1,", 3), 0);
	send(&seg, 10, 1, 900000);
	put_extent(&seg, 900000, 1000);
	ck_assert_str_eq(extents(",\"call\",2"), "-1,-1]");
	/* a value unknown for one rank is unknown for all */
	send(&seg, 10, 1, 900000);
	send(&other, 10, 1, 900000);
	put_extent(&other, 900000, 900000);
	ck_assert_str_eq(extents(",\"call\",2"), "-1,-1]");
}

TEST(the_most_callers_that_a_tool_wants_are_noted)
{
	char text[256];

	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"site\",0,3)", rank0);
	world_ask_as(&w, 1, OBSERVER, text);
	ck_assert_uint_eq(seg.h->l.site_depth, 3);
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"site\",0,2)", rank0);
	world_ask_as(&w, 2, OBSERVER, text);
	ck_assert_uint_eq(seg.h->l.site_depth, 3);
	snprintf(text, sizeof(text), ":omig_calls_enable([%s],\"site\",0,5)", rank0);
	ck_assert_uint_eq(world_ask_as(&w, 2, OBSERVER, text)->entry[0].status,
			  STATUS_PARAMETER_ERROR);
}

TEST(only_files_of_the_process_are_looked_into)
{
	struct seg_site a = site_of(0x5010, 3);
	const struct msg_reply *r;
	char text[256];

	put_site(&seg, 0, &a);
	snprintf(text, sizeof(text), ":omig_source([%s],\"/etc/passwd\",[1])", rank0);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_ptr_nonnull(strstr(entry_text(&r->entry[0]), "has not loaded /etc/passwd"));
	snprintf(text, sizeof(text), ":omig_source([%s],\"/bin/heat\",[])", rank0);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_ptr_nonnull(strstr(entry_text(&r->entry[0]), "1 to 128 addresses"));
	/* this world has no lm-trace */
	snprintf(text, sizeof(text), ":omig_source([%s],\"/bin/heat\",[4112])", rank0);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_uint_ge(r->entry[0].status, STATUS_FIRST_ERROR);
}

/* --- a rank that fills its tables with entries that all differ */

static struct fake_segment full;

static void open_full(struct fake_segment *s, int32_t pid, char *token)
{
	const struct fake_rank r = {
		.pid = pid, .rank = pid - 300, .tid = (uint32_t)pid, .threads = SEG_THREADS_MAX
	};

	world_add_rank_with(&w, s, &r, token);
	for (unsigned i = 0; i < SEG_THREADS_MAX; i++)
		fake_segment_thread(s, i)->tid = r.tid + i;
	s->h->w.threads_used = SEG_THREADS_MAX;
}

static void *table_of(const struct fake_segment *s, unsigned thread, uint64_t offset)
{
	return (uint8_t *)fake_segment_thread(s, thread) + offset;
}

/* Rows of a profile, and the number of omitted ones. */
static unsigned rows_of(const char *tokens, const char *rest, int64_t *left_out)
{
	const struct msg_reply *r;
	const char *at;
	unsigned n = 0;
	char text[256];

	snprintf(text, sizeof(text), ":omig_calls_profile([%s],%s)", tokens, rest);
	r = world_ask(&w, OBSERVER, text);
	ck_assert_uint_eq(r->nentry, 1);
	ck_assert_uint_eq(r->entry[0].status, STATUS_OK);
	at = entry_text(&r->entry[0]);
	for (unsigned place = 0; place < 10; place++)
		at = strchr(at, ',') + 1;
	*left_out = strtoll(at, NULL, 10);
	for (unsigned depth = 0; *at; at++) {
		n += *at == '[' && !depth;
		depth = depth + (*at == '[') - (*at == ']');
	}
	return n;
}

TEST(sizes_of_a_full_table_have_a_row_each_or_are_counted)
{
	char token[TOKEN_BYTES];
	int64_t left_out;
	unsigned n = 0, rows;

	open_full(&full, 302, token);
	for (unsigned t = 0; t < SEG_THREADS_MAX; t++)
		for (unsigned i = 0; i < SEG_SIZES && n < call_count * SEG_SIZE_CLASSES; i++, n++)
			((struct seg_size *)table_of(&full, t, full.h->size_offset))[i] =
				(struct seg_size){ (uint64_t)(n / SEG_SIZE_CLASSES + 1) << 32 |
							   n % SEG_SIZE_CLASSES,
						   UINT64_C(1) << 40, UINT64_C(1) << 40, 1 };
	rows = rows_of(token, "\"size\",1", &left_out);
	ck_assert_uint_ge(rows, 4096);
	ck_assert_int_gt(left_out, 0);
	ck_assert_uint_eq(rows + (unsigned)left_out, n);
	ck_assert_uint_eq(rows_of(token, "\"size\",2", &left_out), 0);
	fake_segment_close(&full);
}

TEST(sites_of_a_full_table_have_a_row_each_or_are_counted)
{
	char token[TOKEN_BYTES];
	int64_t left_out;
	unsigned n = 0, rows;

	open_full(&full, 302, token);
	for (unsigned t = 0; t < SEG_THREADS_MAX; t++)
		for (unsigned i = 0; i < SEG_SITES; i++)
			((struct seg_site *)table_of(&full, t, full.h->site_offset))[i] =
				site_of(0x700000 + n++, 1);
	rows = rows_of(token, "\"site\",1", &left_out);
	ck_assert_uint_ge(rows, 1024);
	ck_assert_uint_le(rows, PROFILE_SITES_MAX);
	ck_assert_uint_eq(rows + (unsigned)left_out, n);
	ck_assert_uint_eq(rows_of(token, "\"site\",2", &left_out), 0);
	fake_segment_close(&full);
}

TEST(pairs_of_full_tables_take_no_row_of_other_ranks)
{
	static struct fake_segment many[3];
	const uint64_t func = (uint64_t)call_find("MPI_Send") + 1;
	char tokens[256], token[TOKEN_BYTES];
	int64_t left_out;
	unsigned n = 0;

	count("partner");
	send(&seg, 10, 1, UINT64_C(1) << 40);
	snprintf(tokens, sizeof(tokens), "%s", rank0);
	for (unsigned m = 0; m < ARRAY_LEN(many); m++) {
		open_full(&many[m], 302 + 100 * (int32_t)m, token);
		snprintf(tokens + strlen(tokens), sizeof(tokens) - strlen(tokens), ",%s", token);
		for (unsigned i = 0; i < SEG_THREADS_MAX * SEG_PARTNERS; i++, n++)
			((struct seg_partner *)table_of(
				&many[m], i / SEG_PARTNERS,
				many[m].h->partner_offset))[i % SEG_PARTNERS] =
				(struct seg_partner){ .key = func << 32 | i,
						      .count = 1,
						      .delay = 1 };
	}
	ck_assert_uint_eq(rows_of(tokens, "\"partner\",1", &left_out), PROFILE_PAIRS_MAX);
	ck_assert_int_eq(left_out, n + 1 - PROFILE_PAIRS_MAX);
	snprintf(tokens, sizeof(tokens), ":omig_calls_profile([%s,%s],\"partner\")", rank0, token);
	ck_assert_ptr_nonnull(
		strstr(entry_text(&world_ask(&w, OBSERVER, tokens)->entry[0]), "[0,1,1,"));
	for (unsigned m = 0; m < ARRAY_LEN(many); m++)
		fake_segment_close(&many[m]);
}

TEST(an_unknown_dimension_is_refused_with_the_list)
{
	const struct msg_reply *r = profile_as(1, ",\"colour\"");

	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
	ck_assert_str_eq(entry_text(&r->entry[0]), "by is one of: call, rank, partner, site, size");
	r = profile_as(1, ",\"call\",3");
	ck_assert_uint_eq(r->entry[0].status, STATUS_PARAMETER_ERROR);
}

SUITE_WITH("lm profile", open_ranks, close_ranks)
