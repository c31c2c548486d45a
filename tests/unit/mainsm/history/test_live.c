/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of hosts become the increases of an interval. */
#include "common/base/array.h"
#include "mainsm/history/live.h"
#include "tests/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T0 (INT64_C(1700000000) * NSEC_PER_SEC)
#define SEC NSEC_PER_SEC

static struct live live;
static struct directory *d;
static uint64_t round_number;

static void add_node(uint32_t number, const char *host)
{
	struct object *site, *node;

	ck_assert_int_eq(directory_add_site(d, 1, "s", &site), 0);
	ck_assert_int_eq(directory_add_node(d, number, host, site, SEC, &node), 0);
	directory_serve(d, node, number, 0);
}

static void set_process(uint32_t number, int rank, const char *job, uint32_t state)
{
	char token[32], node[16];
	struct msg_object o = { .token = token,
				.parent = node,
				.name = "heat2d",
				.job = job,
				.flavour = "",
				.pid = 100 + rank,
				.rank = rank,
				.world_size = 2,
				.state = state,
				.exit_status = state == MSG_STATE_ENDED ? 0 : -1 };
	struct msg_directory m = { .node = number, .object = &o, .nobject = 1 };
	struct err e = { 0 };

	snprintf(token, sizeof(token), "p_%u_a%05d", number, rank);
	snprintf(node, sizeof(node), "n_%u", number);
	ck_assert_msg(!directory_apply(d, number, &m, SEC, &e), "%s", e.text);
}

/* A host's answer: calls of MPI_Send, seconds of a processor, and one rank. */
struct answering {
	const char *node;
	int rank, calls;
	double age, cpu;
	int counts;
};

static void answer_by(const struct answering *a)
{
	struct reply *r = reply_new();
	char text[1024];

	snprintf(text, sizeof(text),
		 "1,\"j\",\"heat2d\",%d,2,1,1,1,%d,%d,1,1,%f,%f,1000.0,900.0,"
		 "[[\"MPI_Send\",\"send\",%d,%d,%d,0]],"
		 "[[%d,%d,0,%d,%f,1000.0,%d,%d,0,%d,0,0,0,0,0,0,0,0,0,0]]",
		 a->rank, a->counts & 1, a->counts >> 1, a->age, a->cpu, a->calls,
		 a->calls * 1000000, a->calls * 8, a->rank, 100 + a->rank, a->counts, a->cpu,
		 a->calls, a->calls * 8, a->calls * 1000000);
	ck_assert_int_eq(reply_add(r, 1, a->node, STATUS_OK, text), 0);
	live_add(&live, r, T0 + (nsec_t)(round_number * 10) * SEC);
	reply_free(r);
}

#define answer(...) answer_by(&(struct answering){ __VA_ARGS__ })

static struct history_job sample(void)
{
	struct live_job *j = smap_find(&live.jobs, "j");
	struct history_job out;

	ck_assert_ptr_nonnull(j);
	live_sample(j, T0 + (nsec_t)(round_number * 10) * SEC, &out);
	return out;
}

static void next(void)
{
	live_next(smap_find(&live.jobs, "j"));
	round_number++;
}

static void set_up(void)
{
	d = directory_new();
	live_init(&live, T0);
	round_number = 1;
	add_node(1, "n1");
	add_node(2, "n2");
	set_process(1, 0, "j", MSG_STATE_RUN);
	set_process(2, 1, "j", MSG_STATE_RUN);
	ck_assert(live_scan(&live, d));
}

static void clean_up(void)
{
	live_done(&live);
	directory_free(d);
}

TEST(a_job_that_began_here_counts_from_its_beginning)
{
	struct history_job s;

	answer("n_1", 0, 100, 4, 2, 3);
	answer("n_2", 1, 50, 4, 1, 1);
	s = sample();
	ck_assert_int_eq(s.span_ms, 4000);
	ck_assert_int_eq(s.call[0].count, 150);
	ck_assert_int_eq(s.call[0].bytes_out, 1200);
	ck_assert_int_eq(s.cpu_ms, 3000);
	ck_assert_int_eq(s.counted, 2);
	ck_assert_int_eq(s.volumes, 1);
	ck_assert_int_eq(s.nodes, 2);
	ck_assert_int_eq(s.missing, 0);
	ck_assert_int_eq(s.rss, 2000);
	ck_assert_int_eq(s.rss_max, 900);
	next();
	answer("n_1", 0, 130, 14, 3, 3);
	s = sample();
	ck_assert_int_eq(s.call[0].count, 30); /* n_2 did not answer */
	ck_assert_int_eq(s.missing, 1);
	ck_assert_int_eq(s.span_ms, 10000);
	next();
	answer("n_2", 1, 80, 24, 1, 1);
	ck_assert_int_eq(sample().call[0].count, 30);
}

TEST(of_a_job_that_was_there_before_only_what_is_seen_counts)
{
	answer("n_1", 0, 1000, 400, 200, 3);
	ck_assert_int_eq(sample().span_ms, 0);
	ck_assert_int_eq(sample().call[0].count, 0);
	next();
	answer("n_1", 0, 1010, 410, 201, 3);
	ck_assert_int_eq(sample().call[0].count, 10);
	ck_assert_int_eq(sample().cpu_ms, 1000);
}

TEST(totals_that_fall_are_reported)
{
	answer("n_1", 0, 100, 4, 2, 3);
	sample();
	next();
	answer("n_1", 0, 40, 14, 2, 3);
	ck_assert_int_eq(sample().call[0].count, 0);
	ck_assert(sample().flags & HISTORY_FELL);
	next();
	answer("n_1", 0, 41, 24, 2, 3);
	ck_assert_int_eq(sample().call[0].count, 1);
	ck_assert(!(sample().flags & HISTORY_FELL));
}

TEST(the_end_is_a_sample_and_no_other_follows)
{
	struct live_job *j = smap_find(&live.jobs, "j");

	answer("n_1", 0, 100, 4, 2, 3);
	sample();
	next();
	ck_assert(live_has_work(&live));
	set_process(1, 0, "j", MSG_STATE_ENDED);
	set_process(2, 1, "j", MSG_STATE_ENDED);
	ck_assert(live_scan(&live, d));
	answer("n_1", 0, 120, 14, 2, 0);
	ck_assert(sample().flags & HISTORY_ENDED);
	ck_assert_int_eq(sample().exit_status, 0);
	ck_assert_int_eq(sample().call[0].count, 20);
	ck_assert_int_eq(sample().counted, 1);
	next();
	ck_assert(!live_scan(&live, d));
	ck_assert(j->is_done);
	ck_assert(!live_has_work(&live));
	directory_branch_lost(d, 1, SEC);
	directory_branch_lost(d, 2, SEC);
	ck_assert_uint_eq(directory_forget(d, 10 * SEC, SEC), 2);
	live_scan(&live, d);
	ck_assert_uint_eq(live.jobs.n, 0);
}

TEST(rates_of_ranks_are_of_their_own_interval)
{
	struct live_job *j = smap_find(&live.jobs, "j");
	struct history_ranks r;

	answer("n_2", 1, 10, 5, 1, 3);
	answer("n_1", 0, 100, 5, 1, 3);
	ck_assert_uint_eq(live_order_ranks(j), 2);
	ck_assert_int_eq(live_ranks(j, d, 0, &r), 0);
	ck_assert_str_eq(r.nodes, "n1:0 n2:1");
	ck_assert_double_eq_tol((double)r.rank[0].value[HISTORY_CALLS_S], 20, 1e-5);
	free((void *)r.rank);
	free((void *)r.nodes);
	sample();
	next();
	answer("n_1", 0, 150, 15, 6, 1);
	ck_assert_uint_eq(live_order_ranks(j), 1);
	ck_assert_int_eq(live_ranks(j, d, 0, &r), 0);
	ck_assert_double_eq_tol((double)r.rank[0].value[HISTORY_CALLS_S], 5, 1e-5);
	ck_assert_double_eq_tol((double)r.rank[0].value[HISTORY_CPU], 0.5, 1e-5);
	ck_assert_double_eq_tol((double)r.rank[0].value[HISTORY_SHARES], 0.005, 1e-5);
	ck_assert(isnan(r.rank[0].value[HISTORY_OUT_S])); /* bytes were not counted */
	free((void *)r.rank);
	free((void *)r.nodes);
}

TEST(answers_that_make_no_sense_are_counted)
{
	static const char *const texts[] = { "",
					     "1,2,3",
					     "[",
					     "1,\"j\",\"p\",0,2,1,1,1,1,1,1,1,1,1,1,1,3,4",
					     "1,\"j\",\"p\",0,2,1,1,1,1,1,1,1,1,1,1,1,[[1]],[]",
					     "1,\"j\",\"p\",0,2,1,1,1,1,1,1,1,1,1,1,1,[],[[0,1]]" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct reply *r = reply_new();

		reply_add(r, 1, "n_1", STATUS_OK, texts[i]);
		live_add(&live, r, T0 + SEC);
		reply_free(r);
	}
	ck_assert_uint_eq(live.strange, 6);
}

SUITE_WITH("history/live", set_up, clean_up)
