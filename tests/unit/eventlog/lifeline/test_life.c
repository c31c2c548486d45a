/* SPDX-License-Identifier: Apache-2.0 */
/* Lifelines: lines of events that belong together, which step is slow, and pages on which names
 * stay names. */
#include "common/base/array.h"
#include "common/base/rng.h"
#include "common/base/str.h"
#include "eventlog/lifeline/lifepack.h"
#include "eventlog/lifeline/lifepage.h"
#include "eventlog/lifeline/lifetile.h"
#include "eventlog/lifeline/lifewords.h"
#include "tests/alloc_sweep.h"
#include "tests/suite.h"

#include <math.h>
#include <string.h>

#define MS NSEC_PER_MSEC
#define START (INT64_C(1795341600) * NSEC_PER_SEC)

static const struct life_options all = { .from = INT64_MIN, .to = INT64_MAX };

/* One event with a key and a number. */
static int put(struct life *l, const char *name, nsec_t at, const char *key, int n)
{
	const struct evfield field[] = { { "block.id", EV_STRING }, { "n", EV_INT32 } };
	const struct evtype type = { .name = name, .level = EV_INFO, .nfield = 2, .field = field };
	const struct evvalue value[] = {
		{ .kind = EV_STRING, .n = (uint32_t)strlen(key), .s = key },
		{ .kind = EV_INT32, .i32 = n }
	};
	const struct event ev = { .type = &type, .value = value, .wall_ns = START + at };

	return life_event(l, &ev, NULL);
}

static int put_load(struct life *l, const char *name, unsigned level, nsec_t at, struct evvalue v)
{
	const struct evfield field = { "cpu", v.kind };
	const struct evtype type = { .name = name, .level = level, .nfield = 1, .field = &field };
	const struct event ev = { .type = &type, .value = &v, .wall_ns = START + at };

	return life_event(l, &ev, NULL);
}

static struct life *begin(const struct life_options *w)
{
	struct life *l = life_new(w);

	ck_assert_ptr_nonnull(l);
	return l;
}

static const struct life_model *finish(struct life *l)
{
	const struct life_model *m;

	ck_assert_int_eq(life_finish(l, &m, NULL), 0);
	return m;
}

static void stages_are(const struct life_model *m, const char *const *name, unsigned n)
{
	ck_assert_uint_eq(m->nstage, n);
	for (unsigned i = 0; i < n; i++)
		ck_assert_str_eq(m->stage[i].name, name[i]);
}

TEST(stages_stand_as_lines_have_them_in_whatever_order_they_came)
{
	static const char *const want[] = { "a", "b", "c", "x", "y" };
	struct life *l = begin(&all);

	/* Two kinds of lines without common stages; the last event of a line arrived first. */
	put(l, "c", 30 * MS, "1", 0);
	put(l, "y", 9 * MS, "q", 0);
	put(l, "a", 10 * MS, "1", 0);
	put(l, "x", 8 * MS, "q", 0);
	put(l, "b", 20 * MS, "1", 0);
	put(l, "b", 22 * MS, "2", 0);
	put(l, "a", 22 * MS, "2", 0); /* at one time: as the others have it */
	stages_are(finish(l), want, 5);
	life_free(l);
}

TEST(stages_that_were_asked_for_are_the_ones_that_are_there)
{
	static const char *const want[] = { "c", "a", "none" };
	struct life_options w = all;
	const struct life_model *m;
	struct life *l;

	memcpy(w.stage, want, sizeof(want));
	w.nstage = 3;
	l = begin(&w);
	put(l, "a", 1, "1", 0);
	put(l, "b", 2, "1", 0);
	put(l, "c", 3, "1", 0);
	m = finish(l);
	stages_are(m, want, 3);
	ck_assert_uint_eq(m->outside, 1);
	ck_assert_uint_eq(m->backward, 1); /* a before c, contrary to the given order */
	life_free(l);
}

TEST(a_key_whose_first_stage_is_sent_again_begins_another_line)
{
	const struct life_model *m;
	struct life *l = begin(&all);

	for (int i = 0; i < 3; i++) {
		put(l, "read.start", i * 10 * MS, "7", 0);
		put(l, "read.retry", (i * 10 + 1) * MS, "7", 0);
		put(l, "read.retry", (i * 10 + 2) * MS, "7", 0); /* a repetition within is none */
		put(l, "read.end", (i * 10 + 3) * MS, "7", 0);
	}
	m = finish(l);
	ck_assert_uint_eq(m->nkey, 1);
	ck_assert_uint_eq(m->nline, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(m->line[i].n, 4);
		ck_assert_int_eq(m->line[i].at, (nsec_t)i * 10 * MS);
	}
	life_free(l);
}

TEST(the_slowest_step_is_first_with_its_median_p95_and_share)
{
	const struct life_model *m;
	struct life *l = begin(&all);
	struct buf before = BUF_INIT(1000), behind = BUF_INIT(1000);

	/* Reading takes 1 .. 100 ms, sending 1 ms. */
	for (int i = 1; i <= 100; i++) {
		char key[8];

		snprintf(key, sizeof(key), "%d", i);
		put(l, "disk.read.start", i * MS, key, 0);
		put(l, "disk.read.end", 2 * i * MS, key, 0);
		put(l, "sent", (2 * i + 1) * MS, key, 0);
	}
	m = finish(l);
	ck_assert_uint_eq(m->nstep, 2);
	ck_assert_str_eq(m->step[0].name, "disk.read");
	ck_assert_str_eq(m->step[1].name, "disk.read.end \xe2\x86\x92 sent");
	ck_assert_int_eq(m->step[0].median, 50 * MS);
	ck_assert_int_eq(m->step[0].p95, 95 * MS);
	ck_assert_int_eq(m->step[0].max, 100 * MS);
	ck_assert_uint_eq(m->step[0].n, 100);
	ck_assert_double_eq_tol(m->step[0].share, 5050.0 / 5150, 1e-9);
	ck_assert_str_eq(lifewords_verdict(m, &before, &behind), "disk.read");
	ck_assert_str_eq(
		buf_str(&behind),
		", 98.1 % of the time of all lines: median 50.0 ms, p95 95.0 ms, n = 100.");
	buf_done(&before);
	buf_done(&behind);
	life_free(l);
}

TEST(a_step_has_the_name_of_the_work_that_both_ends_are_of)
{
	static const char *const pair[][3] = {
		{ "Server_Send_Start", "Server_Send_End", "Server_Send" },
		{ "x.begin", "x.end", "x" },
		{ "readStart", "readEnd", "read" },
		{ "a.start", "b.end", "a.start \xe2\x86\x92 b.end" },
		{ ".start", ".end", "." },
	};

	for (size_t i = 0; i < ARRAY_LEN(pair); i++) {
		struct life *l = begin(&all);

		put(l, pair[i][0], 0, "1", 0);
		put(l, pair[i][1], 1, "1", 0);
		ck_assert_str_eq(finish(l)->step[0].name, pair[i][2]);
		life_free(l);
	}
}

TEST(missing_events_are_counted_by_stage)
{
	const struct life_model *m;
	struct life *l = begin(&all);

	for (int i = 0; i < 10; i++) {
		char key[8];

		snprintf(key, sizeof(key), "%d", i);
		put(l, "a", i, key, 0);
		if (i % 3)
			put(l, "b", i + 1, key, 0);
		put(l, "c", i + 2, key, 0);
		if (!i)
			put(l, "rare", i + 3, key, 0); /* one of ten: not missed */
	}
	m = finish(l);
	ck_assert_uint_eq(m->stage[1].missing, 4);
	ck_assert_uint_eq(m->stage[0].missing + m->stage[2].missing + m->stage[3].missing, 0);
	ck_assert(!m->stage[3].is_expected);
	ck_assert_uint_eq(m->complete, 6);
	life_free(l);
}

TEST(events_without_a_key_are_loads_with_numbers_and_else_marks)
{
	const struct life_model *m;
	struct life *l = begin(&all);

	put(l, "a", 0, "1", 0);
	put_load(l, "host.load", EV_INFO, 5 * MS, (struct evvalue){ .kind = EV_DOUBLE, .f64 = 40 });
	put_load(l, "host.load", EV_INFO, 2 * MS,
		 (struct evvalue){ .kind = EV_STRING, .n = 5, .s = "20.50" });
	put_load(l, "host.load", EV_INFO, 3 * MS,
		 (struct evvalue){ .kind = EV_DOUBLE, .f64 = (double)NAN });
	put_load(l, "retransmit", EV_WARN, 4 * MS, (struct evvalue){ .kind = EV_INT32, .i32 = 3 });
	put_load(l, "said", EV_INFO, 4 * MS,
		 (struct evvalue){ .kind = EV_STRING, .n = 2, .s = "hi" });
	m = finish(l);
	ck_assert_uint_eq(m->nseries, 3);
	ck_assert_str_eq(m->series[0].name, "host.load.cpu");
	ck_assert_uint_eq(m->series[0].n, 2);
	ck_assert_int_eq(m->series[0].sample[0].at, 2 * MS); /* in time */
	ck_assert_double_eq(m->series[0].min, 20.5);
	ck_assert_double_eq(m->series[0].max, 40);
	ck_assert_str_eq(m->series[1].name, "retransmit");
	ck_assert(m->series[1].is_marks && m->series[2].is_marks);
	life_free(l);
}

static bool is_large(const void *arg, const struct event *ev)
{
	return ev->value[1].i32 > *(const int *)arg;
}

TEST(a_part_of_the_time_and_some_of_the_lines_can_be_asked_for)
{
	static const int least = 5;
	struct life_options w = { .from = 10 * MS,
				  .is_from_relative = true,
				  .to = START + 50 * MS,
				  .where = is_large,
				  .where_arg = &least };
	const struct life_model *m;
	struct life *l = begin(&w);

	for (int i = 0; i < 8; i++) {
		char key[8];

		snprintf(key, sizeof(key), "%d", i);
		put(l, "a", i * 10 * MS, key, 0);
		/* one matching event is sufficient for the line */
		put(l, "b", i * 10 * MS + 1, key, i * 3);
	}
	m = finish(l);
	/* Events 2, 3, 4; of 5 only the part that does not match is within the time. */
	ck_assert_uint_eq(m->nline, 3);
	ck_assert_int_eq(m->start, START + 20 * MS);
	ck_assert_str_eq(m->key[m->line[0].key], "2");
	ck_assert_uint_eq(m->events, 16);
	ck_assert_uint_eq(m->npoint + m->outside, 16);
	life_free(l);
}

TEST(several_fields_name_a_line_together)
{
	struct life_options w = all;
	const struct life_model *m;
	struct life *l;

	w.key[0] = "n";
	w.key[1] = "block.id";
	w.nkey = 2;
	l = begin(&w);
	put(l, "a", 0, "x", 1);
	put(l, "b", 1, "x", 1);
	put(l, "a", 2, "x", 2);
	m = finish(l);
	ck_assert_uint_eq(m->nline, 2);
	ck_assert_str_eq(m->key[0], "1/x");
	life_free(l);
}

/* --- many, at random */

static struct life *random_life(uint64_t seed, int n)
{
	static const char *const name[] = { "a", "b.start", "b.end", "c", "d" };
	struct life *l = begin(&all);
	struct rng r;

	rng_init(&r, seed);
	for (int i = 0; i < n; i++) {
		char key[24];

		snprintf(key, sizeof(key), "%d", (int)rng_below(&r, (uint64_t)n / 5 + 1));
		ck_assert_int_eq(put(l, name[rng_below(&r, 5)],
				     (nsec_t)rng_below(&r, 1000 * (uint64_t)MS), key, i),
				 0);
	}
	return l;
}

TEST(every_event_is_in_one_line_in_time)
{
	struct life *l = random_life(suite_seed(5), 20000);
	const struct life_model *m = finish(l);
	uint64_t points = 0, steps = 0;

	for (size_t i = 0; i < m->nline; i++) {
		const struct life_line *x = &m->line[i];

		points += x->n;
		ck_assert(!i || m->line[i - 1].at <= x->at);
		ck_assert_int_eq(x->at, m->point[x->first].at);
		for (uint32_t k = 0; k < x->n; k++) {
			ck_assert_uint_eq(m->point[x->first + k].key, x->key);
			ck_assert(!k || m->point[x->first + k - 1].at <= m->point[x->first + k].at);
		}
	}
	for (size_t i = 0; i < m->nstep; i++)
		steps += m->step[i].n;
	ck_assert_uint_eq(points, 20000);
	ck_assert_uint_eq(steps, points - m->nline);
	life_free(l);
}

/* All cells of a picture together are the time of all lines, in whatever size they are drawn. */
TEST(density_is_the_time_that_lines_spend)
{
	struct life *l = random_life(suite_seed(6), 3000);
	const struct life_model *m = finish(l);
	double want = 0;

	for (size_t i = 0; i < m->nline; i++)
		for (uint32_t k = 1; k < m->line[i].n; k++) {
			const struct life_point *p = m->point + m->line[i].first + k - 1;

			/* along a stage too: that is one row, of one sub-row */
			want += (double)(p[1].at - p[0].at);
		}
	for (unsigned level = 0; level < 3; level++) {
		struct lifetile t;
		double sum = 0;

		ck_assert_int_eq(lifetile_draw(&t, m, level), 0);
		for (size_t i = 0; i < (size_t)t.rows * t.columns; i++)
			sum += (double)t.count[i];
		ck_assert_double_eq_tol(sum * (double)(m->end - m->start) / t.columns / want, 1,
					0.001);
		lifetile_done(&t);
	}
	life_free(l);
}

static uint32_t unpack_number(const uint8_t **p)
{
	uint32_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t c = *(*p)++;

		v |= (uint32_t)(c & 127) << shift;
		if (c < 128)
			return v;
	}
}

TEST(packed_cells_are_the_cells)
{
	struct life *l = random_life(suite_seed(7), 3000);
	struct buf b = BUF_INIT(1 << 24);
	struct lifetile t;
	size_t at = 0;

	ck_assert_int_eq(lifetile_draw(&t, finish(l), 1), 0);
	lifetile_pack(&b, &t);
	for (const uint8_t *p = b.p; p < b.p + b.n;) {
		unsigned shade = *p >> 4, n = *p & 15;

		p++;
		n = n ? n : unpack_number(&p);
		for (; n; n--, at++)
			ck_assert_uint_eq(lifetile_shade(&t, t.count[at]), shade);
	}
	ck_assert_uint_eq(at, (size_t)t.rows * t.columns);
	ck_assert_uint_lt(b.n, at / 2);
	buf_done(&b);
	lifetile_done(&t);
	life_free(l);
}

/* --- pages */

static size_t count(const struct buf *b, const char *word)
{
	size_t n = 0, len = strlen(word);

	for (size_t i = 0; i + len <= b->n; i++)
		n += !memcmp(b->p + i, word, len);
	return n;
}

#define EVIL "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\xff\x01]]>"

TEST(names_are_never_markup_nor_script)
{
	struct buf page = BUF_INIT(1 << 24), svg = BUF_INIT(1 << 24);
	struct life *l = begin(&all);
	const struct life_model *m;

	put(l, EVIL ".start", 0, EVIL, 1);
	put(l, EVIL ".end", MS, EVIL, 1);
	put_load(l, EVIL, EV_ERROR, 1, (struct evvalue){ .kind = EV_STRING, .n = 1, .s = "x" });
	m = finish(l);
	ck_assert_int_eq(
		lifepage_html(&page, m, &(struct lifepage_words){ EVIL, EVIL, EVIL }, NULL), 0);
	ck_assert_int_eq(lifepage_svg(&svg, m, EVIL, EVIL, NULL), 0);
	ck_assert_uint_eq(count(&page, "<script"), 2); /* the data, and ours */
	ck_assert_uint_eq(count(&page, "</script"), 2);
	ck_assert_uint_eq(count(&page, "<img") + count(&svg, "<img") + count(&svg, "<script"), 0);
	ck_assert(str_is_utf8(page.p, page.n) && str_is_utf8(svg.p, svg.n));
	ck_assert_uint_eq(count(&page, "\x01") + count(&svg, "\x01"), 0);
	ck_assert_uint_eq(count(&page, "Content-Security-Policy"), 1);
	ck_assert_uint_eq(count(&page, "http:") + count(&page, "https:"), 0);
	buf_done(&page);
	buf_done(&svg);
	life_free(l);
}

/* No events, one event, one time for all, lines of one event, no lines but loads. */
TEST(there_is_a_page_for_logs_with_little_in_them)
{
	for (int n = 0; n < 5; n++) {
		struct buf page = BUF_INIT(1 << 24), svg = BUF_INIT(1 << 24);
		struct life *l = begin(&all);
		const struct life_model *m;

		for (int i = 0; i < n && n < 4; i++)
			put(l, i % 2 ? "a" : "b", n == 2 ? 0 : i,
			    n == 3 ? (const char *const[]){ "1", "2", "3" }[i] : "1", 0);
		if (n == 4)
			put_load(l, "x", EV_INFO, 0,
				 (struct evvalue){ .kind = EV_INT32, .i32 = -7 });
		m = finish(l);
		ck_assert_int_eq(
			lifepage_html(&page, m, &(struct lifepage_words){ "t", "id", "" }, NULL),
			0);
		ck_assert_int_eq(lifepage_svg(&svg, m, "t", "id", NULL), 0);
		ck_assert_uint_eq(count(&svg, "nan") + count(&svg, "inf"), 0);
		ck_assert_uint_eq(count(&page, "class=\"verdict\""), 1);
		buf_done(&page);
		buf_done(&svg);
		life_free(l);
	}
}

TEST(times_at_the_ends_of_the_world_are_left_out)
{
	struct life *l = begin(&all);
	const struct life_model *m;

	put(l, "a", INT64_MAX - START, "1", 0);
	put(l, "a", -START - LIFE_WALL_MAX_NS, "1", 0);
	put(l, "b", LIFE_WALL_MAX_NS - START, "1", 0);
	put(l, "b", LIFE_WALL_MAX_NS - START + 1, "1", 0);
	m = finish(l);
	ck_assert_uint_eq(m->npoint, 2);
	ck_assert_uint_eq(m->outside, 2);
	ck_assert_int_eq(m->end - m->start, 2 * LIFE_WALL_MAX_NS);
	life_free(l);
}

TEST(more_stages_than_rows_are_counted)
{
	struct life *l = begin(&all);
	const struct life_model *m;

	for (int i = 0; i < LIFE_STAGES_MAX + 1; i++) {
		char name[8];

		snprintf(name, sizeof(name), "s%d", i);
		put(l, name, i, "1", 0);
	}
	m = finish(l);
	ck_assert_uint_eq(m->nstage, LIFE_STAGES_MAX);
	ck_assert_uint_eq(m->unshown, 1);
	ck_assert_uint_eq(m->stage[0].events, 1);
	life_free(l);
}

TEST(large_models_are_sampled)
{
	struct life_model m = { .npoint = LIFEPACK_POINTS_MAX - 1 };

	ck_assert_uint_eq(lifepack_sampling(&m), 1);
	m.npoint = 10 * (size_t)LIFEPACK_POINTS_MAX;
	ck_assert_uint_eq(lifepack_sampling(&m), 11);
}

static int make_page(void)
{
	struct buf page = BUF_INIT(1 << 24);
	struct life *l = life_new(&all);
	const struct life_model *m;
	int rc = l ? 0 : -ERR_NOMEM;

	for (int i = 0; i < 12 && !rc; i++)
		rc = put(l, i % 3 ? "b" : "a", i, i % 2 ? "1" : "2", 0);
	if (!rc)
		rc = put_load(l, "x", EV_INFO, 0, (struct evvalue){ .kind = EV_INT32, .i32 = 1 });
	if (!rc)
		rc = life_finish(l, &m, NULL);
	if (!rc)
		rc = lifepage_html(&page, m, &(struct lifepage_words){ "t", "id", "" }, NULL);
	buf_done(&page);
	life_free(l);
	return rc;
}

TEST(without_memory_there_is_no_page_and_no_leak)
{
	ALLOC_SWEEP (k) {
		int rc = make_page();
		bool has_failed = alloc_sweep_has_failed();

		alloc_sweep_pause();
		ck_assert_int_eq(!rc, !has_failed);
	}
}

SUITE("life")
