/* SPDX-License-Identifier: Apache-2.0 */
/* Samples as records: written samples are read back, among any other contents. */
#include "common/base/rng.h"
#include "tests/suite.h"
#include "tests/unit/mainsm/history/history_samples.h"

#include <string.h>

#define N 200

static struct history_writer w;
static unsigned jobs, ranks;
static bool seen[N];

static void on_job(void *arg, const struct history_job *j)
{
	unsigned i = samples_check_job(j);

	ck_assert_uint_lt(i, N);
	ck_assert(!seen[i]);
	seen[i] = true;
	jobs++;
}

static void on_ranks(void *arg, const struct history_ranks *r)
{
	samples_check_ranks(r);
	ranks++;
}

static struct history_reader_report read_all(const uint8_t *p, size_t n)
{
	const struct history_visit visit = { on_job, on_ranks, NULL };
	struct history_reader *r = history_reader_new(&visit);
	struct history_reader_report report;

	memset(seen, 0, sizeof(seen));
	jobs = ranks = 0;
	ck_assert_int_eq(history_read(r, p, n), 0);
	history_reader_report(r, &report);
	history_reader_free(r);
	return report;
}

static void write_all(unsigned each_block)
{
	for (unsigned i = 0; i < N; i++) {
		ck_assert_int_eq(history_write_job(&w, samples_job(i), NULL), 0);
		ck_assert_int_eq(history_write_ranks(&w, samples_ranks(i), NULL), 0);
		if (i % each_block == each_block - 1)
			ck_assert_int_eq(history_writer_cut(&w, NULL), 0);
	}
	ck_assert_int_eq(history_writer_cut(&w, NULL), 0);
}

static void set_up(void)
{
	history_writer_init(&w, 77);
}

static void clean_up(void)
{
	history_writer_done(&w);
}

TEST(samples_are_read_as_written)
{
	write_all(6);
	ck_assert_uint_eq(read_all(w.out.out.p, w.out.out.n).bad, 0);
	ck_assert_uint_eq(jobs, N);
	ck_assert_uint_eq(ranks, N);
}

/* Each block describes itself: the loss of another block does not affect it. */
TEST(each_block_is_readable_without_others)
{
	struct evblock b;
	unsigned all = 0;

	write_all(7);
	for (size_t at = 0; at < w.out.out.n; at += b.bytes) {
		evblock_head(w.out.out.p + at, &b);
		ck_assert_uint_eq(read_all(w.out.out.p + at, b.bytes).bad, 0);
		all += jobs;
	}
	ck_assert_uint_eq(all, N);
}

TEST(changed_bytes_never_become_a_sample)
{
	struct buf copy = BUF_INIT(1u << 24);
	struct rng rng;

	rng_init(&rng, suite_seed(5));
	write_all(5);
	for (int i = 0; i < 300; i++) {
		buf_clear(&copy);
		buf_put(&copy, w.out.out.p, w.out.out.n);
		for (int k = 0; k < 20; k++)
			copy.p[rng_below(&rng, copy.n)] ^= (uint8_t)(1 + rng_below(&rng, 255));
		read_all(copy.p, copy.n - rng_below(&rng, 100));
		ck_assert_uint_lt(jobs, N);
	}
	buf_done(&copy);
}

TEST(sample_of_too_many_ranks_is_refused_alone)
{
	static struct history_rank many[HISTORY_RANKS_EACH_MAX + 1];
	struct history_ranks r = *samples_ranks(1);
	struct err e = { 0 };

	for (size_t i = 0; i <= HISTORY_RANKS_EACH_MAX; i++) {
		many[i].rank = (int64_t)i;
		for (unsigned c = 0; c < HISTORY_COLUMNS; c++)
			many[i].value[c] = (float)(i * (c + 1));
	}
	r.rank = many;
	r.n = HISTORY_RANKS_EACH_MAX + 1;
	ck_assert_int_eq(history_write_ranks(&w, &r, &e), -ERR_LIMIT);
	write_all(100);
	read_all(w.out.out.p, w.out.out.n);
	ck_assert_uint_eq(jobs, N);
	ck_assert_uint_eq(ranks, N);
}

/* Known fields of a later version are read. */
TEST(an_event_of_another_kind_is_passed_over)
{
	static const struct evfield field = { "x", EV_INT32 };
	const struct evtype t = { .name = "omig.history.more", .nfield = 1, .field = &field };
	const struct evvalue v = { .kind = EV_INT32, .i32 = 4 };

	ck_assert_int_eq(history_write_job(&w, samples_job(0), NULL), 0);
	ck_assert_int_eq(evwrite_define(&w.out, 9, &t, NULL), 0);
	ck_assert_int_eq(evwrite_event(&w.out, 9,
				       &(struct event){ .type = &t, .ticks = 1, .value = &v },
				       NULL),
			 0);
	ck_assert_int_eq(history_writer_cut(&w, NULL), 0);
	ck_assert_uint_eq(read_all(w.out.out.p, w.out.out.n).bad, 0);
	ck_assert_uint_eq(jobs, 1);
}

SUITE_WITH("history/sample", set_up, clean_up)
