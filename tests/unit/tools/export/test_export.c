/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/clock.h"
#include "tests/suite.h"
#include "tools/export/export.h"

#include <math.h>
#include <string.h>

static struct buf out;

static const char *said(void)
{
	return buf_str(&out);
}

static struct metrics start(enum metrics_form form, size_t max)
{
	struct metrics m;

	buf_init(&out, 1 << 20);
	metrics_init(&m, &out, form, max);
	return m;
}

static const struct metric seconds = { "a_seconds", METRIC_COUNTER, "seconds",
				       "Quoted \"so\" and \\ so\nand so." };

TEST(a_counter_in_both_forms)
{
	struct metrics m = start(METRICS_OPEN, 10);

	metrics_family(&m, &seconds);
	metrics_count(&m, (struct metric_label[]){ { "x", "1" }, { "y", "" }, { 0 } }, 0.5, 12.25);
	metrics_end(&m);
	ck_assert_str_eq(said(),
			 "# TYPE a_seconds counter\n# UNIT a_seconds seconds\n"
			 "# HELP a_seconds Quoted \\\"so\\\" and \\\\ so\\nand so.\n"
			 "a_seconds_total{x=\"1\"} 0.5\na_seconds_created{x=\"1\"} 12.25\n# EOF\n");
	buf_done(&out);
	m = start(METRICS_PLAIN, 10);
	metrics_family(&m, &seconds);
	metrics_count(&m, NULL, 1e300, 12.25);
	metrics_end(&m);
	ck_assert_str_eq(said(), "# TYPE a_seconds_total counter\n"
				 "# HELP a_seconds_total Quoted \"so\" and \\\\ so\\nand "
				 "so.\na_seconds_total 1e+300\n");
	buf_done(&out);
}

TEST(hostile_values_of_labels_stay_inside_their_quotes)
{
	static const struct metric gauge = { "g", METRIC_GAUGE, "", "G." };
	struct metrics m = start(METRICS_OPEN, 10);

	metrics_family(&m, &gauge);
	metrics_sample(&m, (struct metric_label[]){ { "x", "a\"} 1\n# EOF\n\\" }, { 0 } }, -1);
	metrics_sample(&m, (struct metric_label[]){ { "x", "\xc3\xa9\xff\xc3" }, { 0 } },
		       (double)INFINITY);
	ck_assert_str_eq(said(),
			 "# TYPE g gauge\n# HELP g G.\ng{x=\"a\\\"} 1\\n# EOF\\n\\\\\"} -1\n"
			 "g{x=\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"} +Inf\n");
	buf_done(&out);
}

TEST(unknown_values_are_left_out)
{
	struct metrics m = start(METRICS_OPEN, 10);

	metrics_family(&m, &seconds);
	metrics_count(&m, NULL, (double)NAN, 1);
	metrics_family(&m, &seconds);
	metrics_end(&m);
	ck_assert_str_eq(said(), "# EOF\n");
	ck_assert_uint_eq(m.left_out, 0);
	buf_done(&out);
}

TEST(the_limit_of_series_cuts_and_counts)
{
	for (size_t max = 1; max < 5; max++) {
		struct metrics m = start(METRICS_PLAIN, max);

		metrics_family(&m, &seconds);
		for (int i = 0; i < 3; i++)
			metrics_sample(&m, NULL, i);
		ck_assert_uint_eq(m.series, max < 3 ? max : 3);
		ck_assert_uint_eq(m.left_out, max < 3 ? 3 - max : 0);
		buf_done(&out);
	}
}

/* --- counters that do not fall */

static struct export_totals totals;
static const struct export_place here = { "job", "site", "node" };
static nsec_t now;

static struct top_rank rank_with(double calls)
{
	struct top_rank r = {
		.token = "p_1_000001", .rank = 3, .time_ns = 1, .cpu_s = 1, .rss_bytes = 100
	};

	r.class_calls[TOP_COLLECTIVE] = calls;
	r.delay_ns[TOP_COLLECTIVE] = calls * 10;
	return r;
}

/* Returns the job's calls. r NULL: the process is not reported. */
static double after(const struct top_rank *r)
{
	struct export_group **g;
	double sum;
	size_t n;

	export_totals_begin(&totals);
	if (r)
		ck_assert_int_eq(export_totals_add(&totals, r, &here, now), 0);
	export_totals_end(&totals, now);
	g = export_totals_groups(&totals, &n);
	ck_assert_uint_eq(n, 1);
	sum = g[0]->sum.mpi[EXPORT_CALLS][TOP_COLLECTIVE];
	ck_assert_double_eq(g[0]->sum.mpi[EXPORT_TIME_NS][TOP_COLLECTIVE], sum * 10);
	free(g);
	return sum;
}

TEST(a_count_that_begins_again_continues)
{
	struct top_rank r = rank_with(10), nothing = rank_with(0);

	export_totals_init(&totals);
	now = 1;
	ck_assert_double_eq(after(&r), 10);
	r = rank_with(4);
	ck_assert_double_eq(after(&r), 14);
	ck_assert_uint_eq(totals.resets, 1);
	r = rank_with(6);
	ck_assert_double_eq(after(&r), 16);
	nothing.time_ns = 0; /* its counts could not be read */
	ck_assert_double_eq(after(&nothing), 16);
	ck_assert_double_eq(after(&r), 16);
	ck_assert_uint_eq(totals.resets, 1);
	export_totals_done(&totals);
}

TEST(a_process_that_ended_stays_in_the_sum)
{
	struct top_rank r = rank_with(10);

	export_totals_init(&totals);
	now = 1;
	after(&r);
	r.state = TOP_ENDED;
	after(&r);
	ck_assert_uint_eq(totals.process.n, 1);
	ck_assert_double_eq(after(NULL), 10);
	ck_assert_uint_eq(totals.process.n, 0);
	ck_assert_double_eq(after(NULL), 10);
	export_totals_done(&totals);
}

TEST(a_silent_process_is_not_counted_twice)
{
	struct top_rank r = rank_with(10);

	export_totals_init(&totals);
	now = 1;
	after(&r);
	ck_assert_double_eq(after(NULL), 10);
	r = rank_with(12);
	ck_assert_double_eq(after(&r), 12);
	export_totals_done(&totals);
}

TEST(a_job_that_is_over_is_forgotten_in_the_end)
{
	struct top_rank r = rank_with(10);
	size_t n;

	export_totals_init(&totals);
	now = 1;
	r.state = TOP_ENDED;
	after(&r);
	after(NULL);
	export_totals_begin(&totals);
	export_totals_end(&totals, now + 601 * NSEC_PER_SEC);
	free(export_totals_groups(&totals, &n));
	ck_assert_uint_eq(n, 0);
	export_totals_done(&totals);
}

TEST(an_export_of_nothing_is_whole)
{
	struct export x;

	export_init(&x);
	buf_init(&out, 1 << 20);
	export_write(&x, METRICS_OPEN, &out);
	ck_assert_ptr_nonnull(strstr(said(), "\nomig_up 0\n"));
	ck_assert_str_eq(said() + out.n - 6, "# EOF\n");
	buf_done(&out);
	export_done(&x);
}

SUITE("export")
