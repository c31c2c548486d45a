/* SPDX-License-Identifier: Apache-2.0 */
/* omig measure: names of objects, and how a read is shown. */
#include "common/base/str.h"
#include "tests/suite.h"
#include "tools/measure/measurement.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* As omig_tree() reports it: two nodes of one site, and a rank on each. */
#define TREE                                                                      \
	"[s_1,\"\",\"site1\",\"up\"],[n_1,s_1,\"x\",\"up\",0,-1,0,\"\",\"\",-1,"  \
	"\"hostA\",0],"                                                           \
	"[n_2,s_1,\"y\",\"up\",0,-1,0,\"\",\"\",-1,\"hostB\",0],[p_1_aaaaaa,n_1," \
	"\"prog\",\"run\",41,0],"                                                 \
	"[p_2_bbbbbb,n_2,\"prog\",\"run\",42,1],[p_2_cccccc,n_2,\"sh\",\"run\",43,-1]"

static struct measurement_options options;
static struct measurement m;
static struct buf out;
static int64_t before; /* so many reads of an earlier mainsm */

static void open_all(void)
{
	options = (struct measurement_options){ .metric = "M" };
	before = 0;
	m = (struct measurement){ .options = &options, .unit = "B" };
	m.tree = omis_value_parse(TREE, strlen(TREE));
	ck_assert_ptr_nonnull(m.tree);
	out = BUF_INIT(1 << 20);
}

static void close_all(void)
{
	omis_value_free(m.tree);
	until_free(m.until);
	buf_done(&out);
}

static const char *label(const char *token)
{
	static char text[64];

	measurement_label(&m, token, text, sizeof(text));
	return text;
}

TEST(objects_have_names_for_people)
{
	ck_assert_str_eq(label(""), "all");
	ck_assert_str_eq(label("s_1"), "site1");
	ck_assert_str_eq(label("n_2"), "hostB");
	ck_assert_str_eq(label("p_2_bbbbbb"), "rank1@hostB");
	ck_assert_str_eq(label("p_2_cccccc"), "sh.43@hostB"); /* without MPI */
	ck_assert_str_eq(label("p_9_zzzzzz"), "p_9_zzzzzz");
}

TEST(objects_are_found_by_token_host_site_and_rank)
{
	ck_assert_int_eq(measurement_objects(&m, "all", &out), CMD_OK);
	ck_assert_uint_eq(out.n, 0);
	ck_assert_int_eq(measurement_objects(&m, "hostA,1,site1,p_2_cccccc,sh", &out), CMD_OK);
	ck_assert_str_eq(buf_str(&out), "n_1,p_2_bbbbbb,s_1,p_2_cccccc,p_2_cccccc");
	buf_clear(&out);
	ck_assert_int_eq(measurement_objects(&m, "hostA,hostC", &out), CMD_NOTFOUND);
	ck_assert_int_eq(measurement_objects(&m, "7", &out), CMD_NOTFOUND);
}

/* The same with two jobs on two nodes, which have a rank 0 each, and one of yesterday. */
#define JOBS                                                                         \
	"[s_1,\"\",\"site1\",\"up\"],[n_1,s_1,\"x\",\"up\",0,-1,0,\"\",\"\",-1,"     \
	"\"hostA\",0],"                                                              \
	"[p_1_aaaaaa,n_1,\"prog\",\"run\",41,0,2,\"one\"],[p_1_bbbbbb,n_1,\"prog\"," \
	"\"run\",42,0,1,\"two\"],"                                                   \
	"[p_1_cccccc,n_1,\"prog\",\"run\",43,1,2,\"one\"],[p_1_dddddd,n_1,\"prog\"," \
	"\"ended\",44,3,4,\"old\"]"

static void see(const char *tree)
{
	omis_value_free(m.tree);
	m.tree = omis_value_parse(tree, strlen(tree));
	ck_assert_ptr_nonnull(m.tree);
	measurement_note_jobs(&m);
}

TEST(ranks_are_those_of_the_job_that_is_asked)
{
	see(JOBS);
	options.job = "two";
	ck_assert_int_eq(measurement_objects(&m, "0", &out), CMD_OK);
	ck_assert_str_eq(buf_str(&out), "p_1_bbbbbb");
	ck_assert_int_eq(measurement_objects(&m, "1", &out), CMD_NOTFOUND);
	buf_clear(&out);
	options.job = "one";
	ck_assert_int_eq(measurement_objects(&m, "1,0,hostA", &out), CMD_OK);
	ck_assert_str_eq(buf_str(&out), "p_1_cccccc,p_1_aaaaaa,n_1");
}

TEST(a_rank_of_several_jobs_is_refused_without_a_job)
{
	see(JOBS);
	ck_assert_int_eq(measurement_objects(&m, "0", &out), CMD_USAGE);
	buf_clear(&out);
	ck_assert_int_eq(measurement_objects(&m, "1,p_1_bbbbbb", &out), CMD_OK);
	ck_assert_str_eq(buf_str(&out), "p_1_cccccc,p_1_bbbbbb");
	ck_assert_int_eq(measurement_objects(&m, "3", &out), CMD_NOTFOUND);
}

TEST(ranks_of_several_jobs_are_distinguished_by_their_names)
{
	see(JOBS);
	ck_assert_str_eq(label("p_1_aaaaaa"), "one:rank0@hostA");
	ck_assert_str_eq(label("p_1_bbbbbb"), "two:rank0@hostA");
	see(TREE);
	ck_assert_str_eq(label("p_1_aaaaaa"), "rank0@hostA");
	options.job = "one";
	see(JOBS);
	ck_assert_str_eq(label("p_1_aaaaaa"), "rank0@hostA");
}

/* The output on stdout. */
static char *shown(const char *part)
{
	static char text[4096];
	Omis_value *v = omis_value_parse(part, strlen(part));
	struct reading r = { .part = &v,
			     .npart = 1,
			     .cap = 1,
			     .before = before,
			     .gap_ns = before * 1000,
			     .is_cut = before };
	int saved = dup(STDOUT_FILENO);
	FILE *f = tmpfile();
	size_t n;

	ck_assert_ptr_nonnull(v);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	ck_assert(measurement_show(&m, &r));
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	omis_value_free(v);
	return text;
}

#define WHOLE \
	"6,3,2000000000,0,0,0,[p_1_aaaaaa,3,42.0,0.5,1500000000,1000000000,2000000000,1,1,\"\"]"
#define NONE                                                                         \
	"6,3,2000000000,0,0,0,[\"\",3,nan,0.0,1500000000,1000000000,2000000000,0,2," \
	"\"partial,missing\"]"

#define LOST "6,3,2000000000,0,0,0,[\"\",3,nan,0.0,1500000000,1000000000,2000000000,0,2,\"lost\"]"

TEST(a_line_has_value_bound_coverage_and_flags)
{
	ck_assert_str_eq(shown(WHOLE), "1970-01-01T00:00:01.500Z 3 rank0@hostA 42 B +-0.5 B 1/1\n");
	ck_assert(!m.is_partial);
	ck_assert_str_eq(shown(NONE), "1970-01-01T00:00:01.500Z 3 all - B 0/2 partial,missing\n");
	ck_assert(m.is_partial);
}

#define UNORDERED                                                                           \
	"6,3,2,0,0,0,[p_2_bbbbbb,3,2.0,0.0,1500000000,1,2,1,1,\"\"],[p_1_aaaaaa,3,1.0,0.0," \
	"1500000000,1,2,1,1,\"\"],[\"\",3,3.0,0.0,1500000000,1,2,2,2,\"\"]"

TEST(values_come_by_rank_behind_that_of_all)
{
	const char *text = shown(UNORDERED);

	ck_assert_ptr_nonnull(strstr(text, " all 3 B"));
	ck_assert(strstr(text, " all 3 B") < strstr(text, "rank0@hostA 1 B"));
	ck_assert(strstr(text, "rank0@hostA 1 B") < strstr(text, "rank1@hostB 2 B"));
}

#define PAIRS                                                                                   \
	"6,3,2,0,0,0,[p_1_aaaaaa,3,0.0,0.0,1500000000,1,2,1,1,\"\",p_1_aaaaaa],[p_1_aaaaaa,3,"  \
	"5.0,0.0,1500000000,1,2,1,1,\"\",p_2_bbbbbb],[p_2_bbbbbb,3,0.0,0.0,1500000000,1,2,0,1," \
	"\"partial\",p_1_aaaaaa]"

TEST(pairs_without_any_are_a_number_unless_they_are_partial)
{
	const char *text;

	options.each_partner = true;
	text = shown(PAIRS);
	ck_assert_ptr_nonnull(strstr(text, "rank0@hostA -> rank1@hostB 5 B 1/1\n"));
	ck_assert_ptr_nonnull(strstr(text, "rank1@hostB -> rank0@hostA 0 B 0/1 partial\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n1 more pair: 0\n"));
	options.metric = "Receive_volume";
	ck_assert_ptr_nonnull(strstr(shown(PAIRS), "rank0@hostA <- rank1@hostB"));
	options.csv = true;
	ck_assert_ptr_null(strstr(shown(PAIRS), "more pair"));
}

TEST(csv_has_a_head_once_and_no_value_is_empty)
{
	options.csv = true;
	ck_assert_str_eq(
		shown(WHOLE),
		"read,time_ns,object,label,vt,value,unit,error,k,n,oldest_ns,newest_ns,flags\n"
		"3,1500000000,p_1_aaaaaa,rank0@hostA,,42,B,0.5,1,1,1000000000,2000000000,\n");
	ck_assert_str_eq(shown(NONE),
			 "3,1500000000,,all,,,B,0,0,2,1000000000,2000000000,\"partial,missing\"\n");
}

TEST(reads_after_a_gap_continue_the_numbers_and_report_the_gap)
{
	before = 7;
	ck_assert_str_eq(shown(WHOLE),
			 "1970-01-01T00:00:01.500Z 10 rank0@hostA 42 B +-0.5 B 1/1 lost\n");
	ck_assert_str_eq(shown(NONE),
			 "1970-01-01T00:00:01.500Z 10 all - B 0/2 partial,missing,lost\n");
	ck_assert_str_eq(shown(LOST), "1970-01-01T00:00:01.500Z 10 all - B 0/2 lost\n");
	options.common.json = true;
	ck_assert_ptr_nonnull(
		strstr(shown(WHOLE), "\"read\":10,\"until_ns\":2000000000,\"gap_ns\":7000,"));
	ck_assert_ptr_nonnull(strstr(shown(WHOLE), "\"flags\":[\"lost\"]"));
}

TEST(json_has_null_where_there_is_no_value)
{
	options.common.json = true;
	ck_assert_str_eq(
		shown(NONE),
		"{\"metric\":\"M\",\"unit\":\"B\",\"read\":3,\"until_ns\":2000000000,\"gap_ns\":0,\"lost\":0,\"attached\":0,\"watched_since_ns\":null,\"values\":["
		"{\"object\":\"\",\"label\":\"all\",\"value\":null,\"error\":0,\"k\":0,\"n\":2,\"time_ns\":1500000000,"
		"\"oldest_ns\":1000000000,\"newest_ns\":2000000000,\"flags\":[\"partial\",\"missing\"]}]}\n");
}

TEST(a_histogram_is_no_missing_value)
{
	ck_assert_str_eq(
		shown("6,1,2,0,0,0,[\"\",1,[[0.0,0.0,2],[4.0,5.0,1]],0.0,1500000000,1,2,3,3,\"\"]"),
		"1970-01-01T00:00:01.500Z 1 all 2x[0,0] 1x[4,5] B 3/3\n");
	ck_assert(!m.is_partial);
}

#define TWO_BUCKETS "6,1,2,0,0,0,[\"\",1,[[0.0,0.0,2],[4.0,5.5,1]],0.0,1500000000,1,2,3,3,\"\"]"

TEST(csv_has_the_buckets_of_a_histogram)
{
	options.csv = true;
	ck_assert_ptr_nonnull(
		strstr(shown(TWO_BUCKETS), "\n1,1500000000,,all,,0:0:2 4:5.5:1,B,0,3,3,1,2,\n"));
}

#define TWO_OBJECTS                                                                                \
	"6,1,2,0,0,0,[\"\",1,[[p_1_000001,40.5,0.5],[p_1_000002,7.0,0.0]],0.5,1500000000,1,2,3,4," \
	"\"partial\"]"

TEST(a_value_of_an_object_has_its_label)
{
	options.tokens = true;
	ck_assert_str_eq(
		shown(TWO_OBJECTS),
		"1970-01-01T00:00:01.500Z 1 all p_1_000001 40.5 B, p_1_000002 7 B +-0.5 B 3/4 "
		"partial\n");
}

TEST(csv_has_the_objects_in_one_cell)
{
	options.tokens = options.csv = true;
	ck_assert_ptr_nonnull(strstr(
		shown(TWO_OBJECTS),
		"\n1,1500000000,,all,,p_1_000001=40.5; p_1_000002=7,B,0.5,3,4,1,2,partial\n"));
}

TEST(json_has_the_objects_beside_the_first_value)
{
	options.tokens = options.common.json = true;
	ck_assert_ptr_nonnull(strstr(
		shown(TWO_OBJECTS),
		"\"value\":40.5,\"error\":0.5,\"objects\":[{\"object\":\"p_1_000001\",\"label\":"
		"\"p_1_000001\",\"value\":40.5,\"error\":0.5},{\"object\":\"p_1_000002\",\"label\":"
		"\"p_1_000002\",\"value\":7,\"error\":0}],\"k\":3,"));
}

TEST(a_screen_has_a_line_for_each_object)
{
	options.tokens = true;
	m.term = (struct term){ .is_raw = true, .rows = 24, .cols = 80 };
	ck_assert_msg(strstr(shown(TWO_OBJECTS), "\n  1. p_1_000001  40.5 B  0.5 B"), "%s",
		      shown(TWO_OBJECTS));
	ck_assert_ptr_nonnull(strstr(shown(TWO_OBJECTS), "\n  2. p_1_000002     7 B"));
}

/* Checks a screen of that size: lines fit, the title is first. Returns the number of lines. */
static unsigned fits(const char *text, unsigned rows, unsigned cols)
{
	unsigned lines = 0, width = 0;

	ck_assert_int_eq(strncmp(text, "\033[H\033[Jomig measure M ", 21), 0);
	for (text += 6; *text; text++) {
		width = *text == '\n' ? 0 : width + 1;
		lines += *text == '\n';
		ck_assert_msg(width <= cols, "line %u is wider than the screen", lines);
	}
	ck_assert_uint_lt(lines, rows);
	return lines;
}

TEST(a_screen_is_never_wider_or_longer_than_the_terminal)
{
	struct buf part = BUF_INIT(1 << 16);

	m.term = (struct term){ .is_raw = true, .rows = 24, .cols = 40 };
	ck_assert_uint_eq(fits(shown(WHOLE), 24, 40), 4);
	buf_puts(&part, "6,3,2000000000,0,0,0");
	for (int i = 0; i < 30; i++)
		buf_printf(&part,
			   ",[p_9_%06d,3,42.0,0.5,1500000000,1,2,1,1,\"partial,late,missing\"]", i);
	ck_assert_uint_eq(fits(shown(buf_str(&part)), 24, 40), 23);
	ck_assert_ptr_nonnull(strstr(shown(buf_str(&part)), "\n... 11 more\n"));
	m.term.rows = 5;
	ck_assert_uint_eq(fits(shown(buf_str(&part)), 5, 40), 4);
	buf_done(&part);
}

TEST(a_histogram_on_a_screen_has_a_line_for_each_bucket)
{
	const char *text;

	m.term = (struct term){ .is_raw = true, .rows = 24, .cols = 80 };
	text = shown(TWO_BUCKETS);
	ck_assert_msg(strstr(text, "\nall           3 values"), "%s", text);
	ck_assert_msg(strstr(text, "\n  0 .. 0 B           2\n  4 .. 5.5 B         1\n"), "%s",
		      text);
	fits(text, 24, 80);
}

static bool refused(const char *part, int64_t objects)
{
	Omis_value *v = omis_value_parse(part, strlen(part));
	struct reading r = { .part = &v, .npart = 1, .cap = 1 };
	bool is;

	m.refused = objects;
	is = measurement_is_refused(&m, &r);
	omis_value_free(v);
	return is;
}

#define OF_TWO                                                                            \
	"6,3,2,0,0,0,[p_1_aaaaaa,3,nan,0.0,1,1,2,0,1,\"partial\"],[p_2_bbbbbb,3,nan,0.0," \
	"1,1,2,0,1,\"partial\"]"

TEST(metric_refused_by_all_objects_has_no_value)
{
	ck_assert(refused(NONE, 2));
	ck_assert(!refused(NONE, 1)); /* the other one is late */
	ck_assert(!refused(NONE, 0));
	ck_assert(!refused(WHOLE, 5));
	ck_assert(refused(OF_TWO, 2));
	ck_assert(!refused(OF_TWO, 1));
	ck_assert(!refused("6,3,2,0,0,0", 2)); /* no process yet */
}

/* --- --until */

/* A read of one part: values of an object, or of two. */
static int count_part(const char *part)
{
	Omis_value *v = omis_value_parse(part, strlen(part));
	struct reading r = { .part = &v, .npart = 1, .cap = 1 };
	int rc;

	ck_assert_ptr_nonnull(v);
	rc = measurement_count(&m, &r);
	omis_value_free(v);
	return rc;
}

static void count_values(double a, double b)
{
	char text[400];

	snprintf(
		text, sizeof(text),
		"6,3,2000000000,0,0,0,[p_1_aaaaaa,3,%f,0.0,1,1,2,1,1,\"\"],[p_2_bbbbbb,3,%f,0.0,1,1,"
		"2,1,1,\"\"]",
		a, b);
	ck_assert_int_eq(count_part(text), CMD_OK);
}

TEST(each_object_of_the_last_read_must_reach_the_rule)
{
	ck_assert_int_eq(stop_parse("n >= 3", &options.until, NULL), 0);
	ck_assert(!measurement_is_reached(&m));
	count_values(1, 2);
	count_values(1, NAN);
	count_values(1, 2);
	ck_assert(!measurement_is_reached(&m));
	count_values(1, 2);
	ck_assert(measurement_is_reached(&m));
}

TEST(an_object_that_has_gone_delays_nothing)
{
	ck_assert_int_eq(stop_parse("n >= 3", &options.until, NULL), 0);
	count_values(1, 2);
	ck_assert_int_eq(count_part(WHOLE), CMD_OK);
	ck_assert(!measurement_is_reached(&m));
	ck_assert_int_eq(count_part(WHOLE), CMD_OK);
	ck_assert(measurement_is_reached(&m));
	count_values(1, 2);
	ck_assert(!measurement_is_reached(&m));
	/* A read without values is not enough of them. */
	ck_assert_int_eq(count_part("6,3,2000000000,0,0,0"), CMD_OK);
	ck_assert(!measurement_is_reached(&m));
}

TEST(an_interval_is_of_the_values_that_were_delivered)
{
	ck_assert_int_eq(stop_parse("ci(0.95, plain) < 5%", &options.until, NULL), 0);
	/* cv 0.1: (2.0 * 0.1 / 0.05)^2 is 16, below the minimum of 30. */
	for (int i = 0; i < 30; i++) {
		ck_assert(!measurement_is_reached(&m));
		count_values(i % 2 ? 9 : 11, i % 2 ? 900 : 1100);
	}
	ck_assert(measurement_is_reached(&m));
}

TEST(a_histogram_has_no_interval)
{
	ck_assert_int_eq(stop_parse("n >= 1", &options.until, NULL), 0);
	ck_assert_int_eq(
		count_part("6,3,2000000000,0,0,0,[\"\",3,[[0.0,1.0,4]],0.5,1,1,2,1,1,\"\"]"),
		CMD_USAGE);
	ck_assert(!measurement_is_reached(&m));
}

TEST(without_a_rule_nothing_is_counted)
{
	ck_assert_int_eq(count_part(WHOLE), CMD_OK);
	ck_assert_ptr_null(m.until);
	ck_assert(!measurement_is_reached(&m));
	measurement_progress(&m, &out);
	ck_assert_uint_eq(out.n, 0);
}

TEST(progress_counts_the_objects_that_reached_the_rule)
{
	ck_assert_int_eq(stop_parse("n >= 2", &options.until, NULL), 0);
	count_values(1, NAN);
	count_values(1, 2);
	measurement_progress(&m, &out);
	ck_assert_str_eq(buf_str(&out), "until n >= 2: 1 of 2 have it\n\n");
}

TEST(where_mainsm_looks_at_the_rule_nothing_is_counted_here)
{
	const struct reading enough = { .is_enough = true };

	ck_assert_int_eq(stop_parse("n >= 1", &options.until, NULL), 0);
	m.by_mainsm = true;
	ck_assert_int_eq(count_part(WHOLE), CMD_OK);
	ck_assert(!measurement_is_reached(&m));
	ck_assert_int_eq(measurement_count(&m, &enough), CMD_OK);
	ck_assert(measurement_is_reached(&m));
	ck_assert_ptr_null(m.until);
	measurement_progress(&m, &out);
	ck_assert_str_eq(buf_str(&out), "until n >= 1: reached\n\n");
}

TEST(mainsm_is_asked_for_a_text_since_the_start)
{
	ck_assert_int_eq(stop_parse("ci(0.95) < 5%", &options.until, NULL), 0);
	ck_assert(!measurement_may_stop_there(&options)); /* a built-in metric */
	options.file = "a.pmsl";
	ck_assert(measurement_may_stop_there(&options));
	options.since_last = true;
	ck_assert(!measurement_may_stop_there(&options));
	options.since_last = false;
	options.rate = true;
	ck_assert(!measurement_may_stop_there(&options));
	options.rate = false;
	ck_assert_int_eq(stop_parse("ci(0.95, batches) < 5%", &options.until, NULL), 0);
	ck_assert(!measurement_may_stop_there(&options));
}

SUITE_WITH("measuring", open_all, close_all)
