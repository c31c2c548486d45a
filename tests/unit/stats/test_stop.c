/* SPDX-License-Identifier: Apache-2.0 */
/* Stop rules: their text, their meaning, and the coverage of their intervals. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "stats/interval.h"
#include "stats/stop.h"
#include "stats/student.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

static struct stop parsed(const char *text)
{
	struct err e = { 0 };
	struct stop s;

	ck_assert_msg(!stop_parse(text, &s, &e), "%s: %s", text, e.text);
	return s;
}

TEST(a_rule_reads_back_as_it_was_written)
{
	static const char *const texts[] = {
		"n >= 1000",
		"ci(0.95) < 5%",
		"ci(0.99, printed) < 7%",
		"ci(0.9, plain, batches, min 100) < 0.001",
		"ci(0.95) < 5% and n >= 500 or n >= 100000",
		"n >= 9007199254740992",
		"ci(0.95) < 0.0000001%",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct stop s = parsed(texts[i]), again;
		struct buf b = BUF_INIT(1000);

		stop_print(&s, &b);
		again = parsed(buf_str(&b));
		ck_assert_uint_eq(again.n, s.n);
		for (unsigned k = 0; k < s.n; k++) {
			ck_assert_double_eq(again.term[k].width, s.term[k].width);
			ck_assert_uint_eq(again.term[k].count, s.term[k].count);
		}
		if (i < 5)
			ck_assert_str_eq(buf_str(&b), texts[i]);
		buf_done(&b);
	}
}

TEST(space_and_percent_are_free)
{
	struct stop s = parsed("  ci( 95% ,min 5,plain )<=5 %  or n>=10 ");

	ck_assert_uint_eq(s.n, 2);
	ck_assert_double_eq(s.term[0].level, 0.95);
	ck_assert_double_eq(s.term[0].width, 0.05);
	ck_assert(s.term[0].is_relative);
	ck_assert_int_eq(s.term[0].reading, STOP_PLAIN);
	ck_assert_uint_eq(s.term[0].count_min, 5);
	ck_assert(s.term[1].is_alternative);
}

TEST(stop_rule_error_reports_its_column)
{
	static const struct {
		const char *text;
		int rc;
		unsigned col;
	} wrong[] = {
		{ "", ERR_PARSE, 1 },
		{ "n", ERR_PARSE, 2 },
		{ "n > 5", ERR_PARSE, 3 },
		{ "n >= 0", ERR_PARSE, 5 },
		{ "n >= 1.5", ERR_PARSE, 5 },
		{ "n >= 1e300", ERR_PARSE, 5 },
		{ "n >= -3", ERR_PARSE, 6 },
		{ "nn >= 3", ERR_PARSE, 1 },
		{ "ci < 5%", ERR_PARSE, 4 },
		{ "ci(0.95 < 5%", ERR_PARSE, 9 },
		{ "ci(0.95, exact) < 5%", ERR_PARSE, 10 },
		{ "ci(0.95) > 5%", ERR_PARSE, 10 },
		{ "ci(0.95) <", ERR_PARSE, 11 },
		{ "ci(0.95) < 5% or", ERR_PARSE, 17 },
		{ "ci(0.95) < 5%, n >= 3", ERR_PARSE, 14 },
		{ "ci(1) < 5%", ERR_INVALID, 0 },
		{ "ci(0) < 5%", ERR_INVALID, 0 },
		{ "ci(0.95) < 0", ERR_INVALID, 0 },
		{ "ci(0.95) < 0%", ERR_INVALID, 0 },
		{ "ci(0.95) < 100%", ERR_INVALID, 0 },
		{ "ci(nan) < 5%", ERR_PARSE, 4 },
		{ "n>=1 or n>=1 or n>=1 or n>=1 or n>=1 or n>=1 or n>=1 or n>=1 or n>=1", ERR_LIMIT,
		  0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err e = { 0 };
		struct stop s = { .n = 7 };

		ck_assert_msg(stop_parse(wrong[i].text, &s, &e) == -wrong[i].rc, "%s: %s",
			      wrong[i].text, e.text);
		ck_assert_msg(e.col == wrong[i].col || !wrong[i].col, "%s: %s (%u)", wrong[i].text,
			      e.text, e.col);
		ck_assert_uint_eq(s.n, 7);
	}
}

/* n values of that mean, whose variance (n - 1) is exactly that: half of them on each side. */
static void two_sided(struct moments *m, struct batches *b, unsigned n, double mean,
		      double variance)
{
	double off = sqrt(variance * (n - 1) / n);

	*m = (struct moments){ 0 };
	*b = (struct batches){ 0 };
	for (unsigned i = 0; i < n; i++) {
		moments_add(m, i % 2 ? mean + off : mean - off);
		batches_add(b, i % 2 ? mean + off : mean - off);
	}
}

static bool is_reached(const char *text, const struct moments *m, const struct batches *b)
{
	struct stop s = parsed(text);

	return stop_is_reached(&s, m, b);
}

TEST(each_stop_rule_stops_at_its_formula)
{
	struct moments m;
	struct batches b;
	double half;
	char text[80];

	two_sided(&m, &b, 100, 10, 4);
	half = student_two_sided(0.95, 99) * sqrt(4.0 / 100);
	for (int above = 0; above < 2; above++) {
		double ratio = half / 10 * (above ? 1 + 1e-9 : 1 - 1e-9);

		/* ratio = b / (1 + b), b / (1 - b), b */
		snprintf(text, sizeof(text), "ci(0.95) < %.17g%%", 100 * ratio / (1 - ratio));
		ck_assert_int_eq(is_reached(text, &m, &b), above);
		snprintf(text, sizeof(text), "ci(0.95,printed) < %.17g%%",
			 100 * ratio / (1 + ratio));
		ck_assert_int_eq(is_reached(text, &m, &b), above);
		snprintf(text, sizeof(text), "ci(0.95,plain) < %.17g%%", 100 * ratio);
		ck_assert_int_eq(is_reached(text, &m, &b), above);
		snprintf(text, sizeof(text), "ci(0.95) < %.17g", 10 * ratio);
		ck_assert_int_eq(is_reached(text, &m, &b), above);
	}
}

TEST(a_negative_mean_stops_but_as_printed)
{
	struct moments m;
	struct batches b;

	two_sided(&m, &b, 1000, -10, 1);
	ck_assert(is_reached("ci(0.95) < 5%", &m, &b));
	ck_assert(is_reached("ci(0.95, plain) < 5%", &m, &b));
	ck_assert(!is_reached("ci(0.95, printed) < 5%", &m, &b));
	two_sided(&m, &b, 1000, 0, 1);
	ck_assert(!is_reached("ci(0.95) < 5%", &m, &b));
	ck_assert(is_reached("ci(0.95) < 0.1", &m, &b));
}

TEST(fewer_than_the_minimum_never_stop)
{
	struct moments m;
	struct batches b;

	two_sided(&m, &b, 28, 10, 0.0001);
	ck_assert(!is_reached("ci(0.95) < 5%", &m, &b));
	ck_assert(is_reached("ci(0.95, min 28) < 5%", &m, &b));
	ck_assert(!is_reached("ci(0.95, min 29) < 5%", &m, &b));
	two_sided(&m, &b, 30, 10, 0.0001);
	ck_assert(is_reached("ci(0.95) < 5%", &m, &b));
	two_sided(&m, &b, 1, 10, 0);
	ck_assert(!is_reached("ci(0.95, min 1) < 5%", &m, &b));
	two_sided(&m, &b, 2, 10, 0);
	ck_assert(is_reached("ci(0.95, min 1) < 5%", &m, &b));
}

TEST(and_binds_closer_than_or)
{
	struct moments m;
	struct batches b;

	two_sided(&m, &b, 100, 10, 1);
	ck_assert(is_reached("n >= 100", &m, &b));
	ck_assert(!is_reached("n >= 101", &m, &b));
	ck_assert(is_reached("n >= 5 and n >= 100", &m, &b));
	ck_assert(!is_reached("n >= 5 and n >= 101", &m, &b));
	ck_assert(is_reached("n >= 5 or n >= 101 and n >= 102", &m, &b));
	ck_assert(is_reached("n >= 101 and n >= 1 or n >= 5", &m, &b));
	ck_assert(!is_reached("n >= 101 and n >= 1 or n >= 5 and n >= 102", &m, &b));
	ck_assert(!stop_is_reached(&(struct stop){ 0 }, &m, &b));
}

/* --- coverage: what an interval promises, in runs that are the same each time */

#define RUNS 1000

static double uniform(struct rng *r, double *state)
{
	return rng_double(r);
}

static double exponential(struct rng *r, double *state)
{
	return -log(1 - rng_double(r));
}

/* Box and Muller. */
static double normal(struct rng *r, double *state)
{
	return 1 + sqrt(-2 * log(1 - rng_double(r))) * cos(2 * M_PI * rng_double(r));
}

/* Waiting times of M/M/1 at a load of 0.8 (Lindley), from an empty queue; the mean is 4. Dependence
 * reaches far. */
static double waiting(struct rng *r, double *state)
{
	double v = *state;

	*state = fmax(0, v - log(1 - rng_double(r)) + log(1 - rng_double(r)) / 0.8);
	return v;
}

/* The same at 0.95; the mean is 19. */
static double waiting_long(struct rng *r, double *state)
{
	double v = *state;

	*state = fmax(0, v - log(1 - rng_double(r)) + log(1 - rng_double(r)) / 0.95);
	return v;
}

/* Each depends on the one before: correlation 0.8, mean 1, variance 1. */
static double dependent(struct rng *r, double *state)
{
	*state = 0.8 * *state + 0.6 * sqrt(12) * (rng_double(r) - 0.5);
	return 1 + *state;
}

typedef double (*next_fn)(struct rng *r, double *state);

struct coverage {
	unsigned inside, inside_batches, warned;
};

static struct coverage cover(next_fn next, double mean, unsigned n, unsigned runs, uint64_t seed)
{
	struct coverage c = { 0, 0, 0 };
	struct rng r;

	rng_init(&r, seed);
	for (unsigned run = 0; run < runs; run++) {
		struct moments m = { 0 };
		struct batches b = { 0 };
		struct interval i;
		double state = 0;

		for (unsigned k = 0; k < n; k++) {
			double v = next(&r, &state);

			moments_add(&m, v);
			batches_add(&b, v);
		}
		i = interval_of_mean(&m, 0.95);
		c.inside += fabs(i.mean - mean) <= i.half;
		i = interval_of_batches(&b, 0.95);
		c.inside_batches += fabs(i.mean - mean) <= i.half;
		c.warned += dependence_of(&m, &b) != DEPENDENCE_NONE;
	}
	return c;
}

static void expect_share(const char *what, unsigned count, unsigned of, double from, double to)
{
	double share = (double)count / of;

	printf("# %s: %.4f\n", what, share);
	ck_assert_msg(share >= from && share <= to, "%s: %g of %g to %g", what, share, from, to);
}

TEST(an_interval_of_95_percent_holds_the_truth_in_95_percent)
{
	struct coverage c = cover(normal, 1, 10, RUNS, 1);

	expect_share("ten normal values", c.inside, RUNS, 0.93, 0.97);
	c = cover(uniform, 0.5, 50, RUNS, 2);
	expect_share("fifty uniform values", c.inside, RUNS, 0.93, 0.97);
	expect_share("the same are warned of", c.warned, RUNS, 0, 0.04);
	c = cover(exponential, 1, 400, RUNS, 3);
	expect_share("four hundred exponential values", c.inside, RUNS, 0.93, 0.97);
	expect_share("and by batches", c.inside_batches, RUNS, 0.93, 0.97);
	expect_share("the same are warned of", c.warned, RUNS, 0, 0.04);
}

TEST(of_dependent_values_only_batches_hold_what_they_promise)
{
	struct coverage c = cover(dependent, 1, 3000, RUNS, 4);

	expect_share("dependent values, as if they were not", c.inside, RUNS, 0.3, 0.7);
	expect_share("they are warned of", c.warned, RUNS, 1, 1);
	expect_share("by batches", c.inside_batches, RUNS, 0.93, 0.97);
}

struct stopped {
	unsigned inside, inside_batches;
	double values;
	uint64_t least;
};

/* Runs until the rule holds. Returns how many contain the truth, and after how many values. */
static struct stopped run_until(const char *rule, next_fn next, double mean, unsigned runs,
				uint64_t seed)
{
	struct stop s = parsed(rule);
	struct stopped out = { .least = UINT64_MAX };
	struct rng r;

	rng_init(&r, seed);
	for (unsigned run = 0; run < runs; run++) {
		struct moments m = { 0 };
		struct batches b = { 0 };
		struct interval i;
		double state = 0;

		do {
			double v = next(&r, &state);

			moments_add(&m, v);
			batches_add(&b, v);
		} while (!stop_is_reached(&s, &m, &b));
		i = interval_of_mean(&m, 0.95);
		out.inside += fabs(i.mean - mean) <= i.half;
		i = interval_of_batches(&b, 0.95);
		out.inside_batches += fabs(i.mean - mean) <= i.half;
		out.values += (double)m.n / runs;
		out.least = m.n < out.least ? m.n : out.least;
	}
	printf("# %s: %.1f values, %llu at least, %u of %u, by batches %u\n", rule, out.values,
	       (unsigned long long)out.least, out.inside, runs, out.inside_batches);
	return out;
}

TEST(a_run_that_stops_by_itself_holds_the_truth_as_often)
{
	struct stopped s = run_until("ci(0.95) < 5%", exponential, 1, RUNS, 5);

	ck_assert(s.inside >= 930 && s.inside <= 970);
	/* With a cv of 1: (1.96 / (0.05 / 1.05))^2 = 1694, (1.96 / (0.05 / 0.95))^2 = 1387. */
	ck_assert(s.values > 1640 && s.values < 1720);
	s = run_until("ci(0.95, printed) < 5%", exponential, 1, 200, 6);
	ck_assert(s.values > 1340 && s.values < 1410);
	s = run_until("ci(0.95, plain) < 5%", exponential, 1, 200, 7);
	ck_assert(s.values > 1480 && s.values < 1560);
}

/*
 * In a long busy period waiting times hardly change: a few of them seem narrow, without information
 * about the mean.
 */
TEST(a_rule_by_batches_never_stops_within_one_busy_period)
{
	struct stop s = parsed("ci(0.95, batches) < 10%");
	unsigned early = 0;
	struct rng r;

	rng_init(&r, 12);
	for (unsigned run = 0; run < 3000; run++) {
		struct moments m = { 0 };
		struct batches b = { 0 };
		/* as in a queue of long ago */
		double state = rng_double(&r) < 0.95 ? -20 * log(1 - rng_double(&r)) : 0;
		bool has_stopped = false;

		for (unsigned k = 0; k < 100 && !has_stopped; k++) {
			double v = waiting_long(&r, &state);

			moments_add(&m, v);
			batches_add(&b, v);
			has_stopped = stop_is_reached(&s, &m, &b);
		}
		early += has_stopped;
	}
	ck_assert_uint_eq(early, 0);
}

/* OMIG_COVERAGE=N does N runs of each, which is the table of docs/stats.md. */
TEST(a_rule_by_batches_covers_dependent_values)
{
	const char *wish = getenv("OMIG_COVERAGE");
	unsigned runs = wish ? (unsigned)strtoul(wish, NULL, 10) : 20;
	struct stopped s = run_until("ci(0.95, batches) < 10%", waiting, 4, runs, 8);

	expect_share("load 0.8, 10 %", s.inside_batches, runs, 0.8, 1);
	ck_assert_uint_ge(s.least, 10000);
	if (!wish)
		return;
	s = run_until("ci(0.95, batches) < 5%", waiting, 4, runs, 9);
	expect_share("load 0.8, 5 %", s.inside_batches, runs, 0.9, 0.99);
	s = run_until("ci(0.95, batches) < 10%", waiting_long, 19, runs, 10);
	expect_share("load 0.95, 10 %", s.inside_batches, runs, 0.88, 0.99);
	s = run_until("ci(0.95, batches) < 10%", dependent, 1, runs, 11);
	expect_share("correlation 0.8, 10 %", s.inside_batches, runs, 0.9, 0.99);
}

SUITE("stop")
