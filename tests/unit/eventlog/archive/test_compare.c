/* SPDX-License-Identifier: Apache-2.0 */
#include "common/base/rng.h"
#include "eventlog/archive/arcompare.h"
#include "tests/unit/eventlog/archive/stored.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void is_about(double got, double want)
{
	ck_assert_msg(fabs(got - want) <= 1e-9 * fabs(want), "%.12g, not %.12g", got, want);
}

/* The example of SciPy's documentation: U = 17, p = 0.1113468... by the normal approximation with
 * continuity. */
TEST(ranks_are_those_of_the_textbook)
{
	double a[] = { 19, 22, 16, 29, 24, 19, 22, 16, 29, 24 },
	       b[] = { 20, 11, 17, 12, 20, 11, 17, 12 }, few[] = { 19, 22, 16, 29, 24 };
	double four[] = { 20, 11, 17, 12 }, above, u = 68, n = 18, ties = 9 * 6, variance;

	ck_assert(isnan(arstat_ranks(few, 5, four, 4, &above)));
	is_about(above, 17.0 / 20);
	variance = 10.0 * 8 / 12 * (n + 1 - ties / (n * (n - 1)));
	is_about(arstat_ranks(a, 10, b, 8, &above),
		 erfc((u - 40 - 0.5) / sqrt(variance) / sqrt(2)));
	is_about(above, 0.85);
}

TEST(equal_samples_do_not_differ)
{
	double a[20], b[20], above;
	struct arratio r;

	for (int i = 0; i < 20; i++)
		a[i] = b[i] = 3;
	is_about(arstat_ranks(a, 20, b, 20, &above), 1);
	is_about(above, 0.5);
	is_about(arstat_means((struct arsample){ a, 20 }, (struct arsample){ b, 20 }, 0.99, &r), 1);
	is_about(r.value, 1);
	r = arstat_medians(a, 20, b, 20, 0.99);
	is_about(r.low, 1);
	is_about(r.high, 1);
}

/* t = 1 / sqrt(2 * 20/9 / 10) = 1.5 with 18 degrees of freedom: 0.1510 in tables of Student's
 * distribution. */
TEST(means_are_compared_as_welch_did)
{
	double a[] = { 1, 2, 3, 4, 5, 1, 2, 3, 4, 5 }, b[] = { 2, 3, 4, 5, 6, 2, 3, 4, 5, 6 };
	struct arratio r;
	double p = arstat_means((struct arsample){ a, 10 }, (struct arsample){ b, 10 }, 0.95, &r);

	ck_assert_double_eq_tol(p, 0.1510, 5e-5);
	is_about(r.value, 0.75);
	ck_assert(r.low < 0.75 && r.high > 1);
}

TEST(holm_counts_all_of_them)
{
	double p[] = { 0.01, NAN, 0.04, 0.03, 0.005 }, want[] = { 0.03, NAN, 0.06, 0.06, 0.02 };

	ck_assert(!arstat_holm(p, 5));
	for (int i = 0; i < 5; i++)
		ck_assert(isnan(want[i]) ? isnan(p[i]) : fabs(p[i] - want[i]) < 1e-12);
}

TEST(of_few_or_no_values_nothing_is_known)
{
	double a[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, b[8] = { 0, 1, 1, 1, 1, 1, 1, 1 }, above = 7;
	struct arratio r = { 0 };

	ck_assert(isnan(arstat_ranks(a, 0, b, 8, &above)) && isnan(above));
	ck_assert(isnan(arstat_ranks(a, 8, b, 7, &above)) && !isnan(above));
	ck_assert(isnan(arstat_ranks(a, 7, b, 8, &above)) && !isnan(above));
	ck_assert(!isnan(arstat_ranks(a, 8, b, 8, &above)));
	ck_assert(isnan(arstat_medians(a, 0, b, 8, 0.95).value));
	ck_assert(isnan(arstat_medians(a, 8, b, 0, 0.95).value));
	r = arstat_medians(a, 8, a, 7, 0.95);
	ck_assert(isnan(r.low) && isnan(r.high));
	is_about(r.value, 4.5 / 4);
	r = arstat_medians(a, 7, a, 8, 0.95);
	ck_assert(isnan(r.low));
	is_about(r.value, 4 / 4.5);
	r = arstat_medians(a, 8, b, 8, 0.95); /* a value is 0 */
	ck_assert(isnan(r.low));
	is_about(r.value, 4.5);
	r = arstat_medians(a, 8, a, 8, 0.95);
	ck_assert(r.low < 1 && r.high > 1);
	is_about(r.low * r.high, 1);
	ck_assert(isnan(arstat_means((struct arsample){ a, 7 }, (struct arsample){ a, 8 }, 0.95,
				     &r)) &&
		  isnan(r.low));
	ck_assert(isnan(arstat_means((struct arsample){ a, 8 }, (struct arsample){ a, 7 }, 0.95,
				     &r)) &&
		  isnan(r.high));
	is_about(r.value, 4.5 / 4);
	for (int i = 0; i < 8; i++)
		b[i] = 9;
	is_about(arstat_means((struct arsample){ b, 8 }, (struct arsample){ b, 8 }, 0.95, &r), 1);
	for (int i = 0; i < 8; i++)
		a[i] = 3;
	ck_assert_double_eq(
		arstat_means((struct arsample){ a, 8 }, (struct arsample){ b, 8 }, 0.95, &r), 0);
	is_about(r.low, 1.0 / 3);
	is_about(r.high, 1.0 / 3);
}

/* Of powers of 2 the logarithms are known. The order statistics of 20 values are 13 apart, those of
 * 8 values 7. */
TEST(intervals_of_medians_are_those_of_the_order_statistics)
{
	static const struct {
		size_t n;
		double apart;
	} known[] = { { 20, 13 }, { 8, 7 } };
	const double z = 1.9599639845400545, z99 = 2.5758293035489004;
	double v[20];

	for (int i = 0; i < 20; i++)
		v[i] = ldexp(1, i);
	for (int i = 0; i < 2; i++) {
		double half = z * sqrt(2) * known[i].apart * log(2) / (2 * z99);
		struct arratio r = arstat_medians(v, known[i].n, v, known[i].n, 0.95);

		is_about(r.value, 1);
		is_about(log(r.high), half);
		is_about(log(r.low), -half);
	}
}

static double exponential(struct rng *r)
{
	return -log(1 - rng_double(r));
}

/*
 * Without a difference one in twenty is below 0.05, and intervals of 95 % contain the truth in 19
 * of 20.
 */
TEST(false_changes_have_the_stated_probability)
{
	struct rng r;
	int small[2] = { 0 }, outside = 0;

	rng_init(&r, suite_seed(11));
	for (int k = 0; k < 2000; k++) {
		double a[60], b[40], above;
		struct arratio of;

		for (int i = 0; i < 60; i++)
			a[i] = exponential(&r) + 0.1;
		for (int i = 0; i < 40; i++)
			b[i] = exponential(&r) + 0.1;
		small[0] += arstat_means((struct arsample){ a, 60 }, (struct arsample){ b, 40 },
					 0.95, &of) < 0.05;
		small[1] += arstat_ranks(a, 60, b, 40, &above) < 0.05;
		of = arstat_medians(a, 60, b, 40, 0.95);
		outside += of.low > 1 || of.high < 1;
	}
	for (int i = 0; i < 2; i++)
		ck_assert_msg(small[i] > 50 && small[i] < 150, "%d of 2000", small[i]);
	ck_assert_msg(outside < 150, "%d of 2000", outside);
}

/* --- two archives, the second one in another file */

/* A reader leaves SQLite's two files beside it. */
static void gone(struct archive *a, const char *path)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char name[80];

	archive_close(a);
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(strrchr(path, '/') - path), path);
	rmdir(name);
}

struct filling {
	const char *name;
	uint64_t seed;
	double slow;
	unsigned n;
	const char *only; /* an event of this archive alone; NULL: none */
};

static struct archive *filled(char out[64], const struct filling *w)
{
	struct archive *a;
	struct err e = { 0 };
	struct rng r;
	double t = 0;

	rng_init(&r, w->seed);
	snprintf(out, 64, "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(out));
	snprintf(out + strlen(out), 64 - strlen(out), "/%s.db", w->name);
	ck_assert_msg(!archive_open(out, AR_WRITE, 0, &a, &e), "%s", e.text);
	for (unsigned i = 0; i < w->n; i++) {
		double d = (2 + exponential(&r)) * w->slow;

		t += exponential(&r) * 10;
		stored_put(a,
			   (struct stored_at){
				   .stream = w->seed, .number = 4 * i, .ts = (int64_t)(t * 1e6) },
			   "read.start", "id", I32((int)i));
		stored_put(a,
			   (struct stored_at){ .stream = w->seed,
					       .number = 4 * i + 1,
					       .ts = (int64_t)((t + d) * 1e6) },
			   "read.end", "id", I32((int)i));
		stored_put(a,
			   (struct stored_at){ .stream = w->seed,
					       .number = 4 * i + 2,
					       .ts = (int64_t)(t * 1e6) },
			   "tick", "id", I32((int)i));
		if (w->only && i % 20 == 0)
			stored_put(a,
				   (struct stored_at){ .stream = w->seed,
						       .number = 4 * i + 3,
						       .ts = (int64_t)(t * 1e6) },
				   w->only, "id", I32((int)i));
	}
	stored_close(a);
	ck_assert_msg(!archive_open(out, AR_READ, 0, &a, &e), "%s", e.text);
	return a;
}

static const struct archange *find(const struct archange *c, size_t n, const char *name,
				   enum archange_what what)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(c[i].name, name) && c[i].what == what)
			return &c[i];
	ck_abort_msg("%s is not compared", name);
	return NULL;
}

static void is_verdict(enum archange_verdict want, const struct archange *c)
{
	ck_assert_msg(c->verdict == want, "%s: verdict %d, p %g, ratio %g (%g .. %g)", c->name,
		      c->verdict, c->p, c->ratio.value, c->ratio.low, c->ratio.high);
}

static const struct arcompare_options usual = { .least = 0.05, .level = 0.99 };

TEST(compare_finds_slower_new_and_gone_types_only)
{
	char p1[64], p2[64];
	struct archive *now = filled(p1, &(struct filling){ .name = "now",
							    .seed = 5,
							    .slow = 1.3,
							    .n = 800,
							    .only = "now.only" }),
		       *base = filled(p2, &(struct filling){ .name = "base",
							     .seed = 6,
							     .slow = 1,
							     .n = 800,
							     .only = "base.only" });
	struct archange *c;
	size_t n;
	struct err e = { 0 };

	ck_assert_msg(!arcompare_run(&(struct arcompared){ now, base }, &usual, &c, &n, &e), "%s",
		      e.text);
	ck_assert_uint_eq(n, 6);
	is_verdict(ARCHANGE_MORE, find(c, n, "read", ARCHANGE_DURATION));
	ck_assert_uint_eq(find(c, n, "read", ARCHANGE_DURATION)->n[0], 800);
	ck_assert_double_eq_tol(find(c, n, "read", ARCHANGE_DURATION)->ratio.value, 1.3, 0.1);
	is_verdict(ARCHANGE_NEW, find(c, n, "now.only", ARCHANGE_RATE));
	is_verdict(ARCHANGE_GONE, find(c, n, "base.only", ARCHANGE_RATE));
	ck_assert(!ARCHANGE_IS_SURE(find(c, n, "tick", ARCHANGE_RATE)->verdict));
	arcompare_free(c, n);
	ck_assert_msg(!arcompare_run(&(struct arcompared){ now, now }, &usual, &c, &n, &e), "%s",
		      e.text);
	for (size_t i = 0; i < n; i++)
		ck_assert(!ARCHANGE_IS_SURE(c[i].verdict));
	arcompare_free(c, n);
	gone(now, p1);
	gone(base, p2);
}

/* Ticks of a clock come at one rate in both: that is sure too. */
static struct archive *ticking(char out[64], const char *name, int64_t step, unsigned n)
{
	struct archive *a;
	struct err e = { 0 };

	snprintf(out, 64, "/tmp/omig-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(out));
	snprintf(out + strlen(out), 64 - strlen(out), "/%s.db", name);
	ck_assert_msg(!archive_open(out, AR_WRITE, 0, &a, &e), "%s", e.text);
	for (unsigned i = 0; i < n; i++)
		stored_put(a,
			   (struct stored_at){ .stream = 1, .number = i, .ts = (int64_t)i * step },
			   "tick", "id", I32((int)i));
	stored_put(a, (struct stored_at){ .stream = 1, .number = n, .ts = 1000 * 1000000 }, "edge",
		   "id", I32(0));
	stored_close(a);
	ck_assert_msg(!archive_open(out, AR_READ, 0, &a, &e), "%s", e.text);
	return a;
}

static enum archange_verdict verdict_of(const struct archive *now, const struct archive *base,
					double *p)
{
	enum archange_verdict v;
	struct archange *c;
	size_t n;

	ck_assert(!arcompare_run(&(struct arcompared){ now, base }, &usual, &c, &n, NULL));
	ck_assert_uint_eq(n, 2);
	v = find(c, n, "tick", ARCHANGE_RATE)->verdict;
	*p = find(c, n, "tick", ARCHANGE_RATE)->value[0];
	for (size_t i = 1; i < n; i++)
		ck_assert_int_le(c[i - 1].verdict, c[i].verdict);
	arcompare_free(c, n);
	return v;
}

TEST(rates_are_the_same_or_more_or_less)
{
	char p1[64], p2[64];
	struct archive *fast = ticking(p1, "fast", 100000, 10000),
		       *slow = ticking(p2, "slow", 200000, 5000);
	double rate;

	ck_assert_int_eq(verdict_of(fast, fast, &rate), ARCHANGE_SAME);
	is_about(rate, 10000);
	ck_assert_int_eq(verdict_of(fast, slow, &rate), ARCHANGE_MORE);
	is_about(rate, 10000);
	ck_assert_int_eq(verdict_of(slow, fast, &rate), ARCHANGE_LESS);
	is_about(rate, 5000);
	gone(fast, p1);
	gone(slow, p2);
}

/* One event, all at one time: no rate can be given. */
TEST(few_events_show_no_change)
{
	char p1[64], p2[64];
	struct archive *now = filled(
			       p1,
			       &(struct filling){ .name = "now", .seed = 5, .slow = 1, .n = 1 }),
		       *base = filled(p2, &(struct filling){
						  .name = "base", .seed = 6, .slow = 1, .n = 3 });
	struct archange *c;
	size_t n;

	ck_assert(!arcompare_run(&(struct arcompared){ now, base }, &usual, &c, &n, NULL));
	for (size_t i = 0; i < n; i++)
		ck_assert(!ARCHANGE_IS_SURE(c[i].verdict));
	is_verdict(ARCHANGE_FEW, find(c, n, "read", ARCHANGE_DURATION));
	arcompare_free(c, n);
	gone(now, p1);
	gone(base, p2);
}

SUITE("compare")
